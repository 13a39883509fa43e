//! Sign-in of a user with a browser elsewhere, in two steps: the page to open, and the redirect of
//! that page.
use super::{CredentialStore, SignIn, User, random, unexpected};
use crate::random::random_bytes;
use mcp_bridge::client::auth::{AuthError, AuthEvent, AuthOptions, Authorizer, Credentials};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

/// Sign-in of a user with a browser elsewhere.
pub(super) struct HandOver {
    store: Arc<dyn CredentialStore>,
    /// Whether there are credentials, as far as known.
    has_credentials: AtomicBool,
    /// The challenge that only the user can resolve: status and header.
    challenge: StdMutex<Option<(u16, Option<String>)>>,
    /// The sign-in that waits for its page, and the secret of the browser.
    opened: StdMutex<Option<(Authorizer, String)>>,
}

/// The page of a sign-in.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenPage {
    /// The URL for the user's browser.
    pub url: String,
    /// Secret of that browser, for example in a cookie. Only the browser that began a sign-in can
    /// finish it: in another browser, another user would sign in with their own account.
    pub browser: String,
}

impl fmt::Debug for OpenPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenPage")
    }
}

/// Returns the error of a request that only the user can permit.
pub(super) fn needs_user(status: u16) -> AuthError {
    if status == 403 { AuthError::NeedsScopes } else { AuthError::NeedsUser }
}

/// Runs a future to its end, even if the caller is dropped.
pub(super) async fn to_its_end<T: Send + 'static>(
    future: impl Future<Output = Result<T, AuthError>> + Send + 'static,
) -> Result<T, AuthError> {
    let ended = tokio::spawn(future).await;
    ended.unwrap_or_else(|error| Err(AuthError::Cancelled(error.to_string())))
}

impl HandOver {
    fn set_challenge(&self, challenge: Option<(u16, Option<String>)>) {
        *self.challenge.lock().unwrap_or_else(PoisonError::into_inner) = challenge;
    }

    fn challenge(&self) -> Option<(u16, Option<String>)> {
        self.challenge.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_opened(&self, opened: Option<(Authorizer, String)>) {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = opened;
    }

    /// Ends the wait for the page, if the redirect is that of the page, in the browser that began
    /// the sign-in.
    fn returned(&self, redirect: &str, browser: &str) -> Result<Authorizer, AuthError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((authorizer, secret)) = &mut *opened else { return Err(AuthError::OtherSignIn) };
        if !is_same(secret, browser) {
            return Err(AuthError::OtherBrowser);
        }
        authorizer.handle_redirect(redirect)?;
        opened.take().map(|(authorizer, _)| authorizer).ok_or(AuthError::OtherSignIn)
    }

    /// Stores the credentials after a sign-in.
    pub(super) async fn keep(&self, authorizer: &Authorizer) {
        self.set_challenge(None);
        if let Some(credentials) = authorizer.credentials() {
            self.has_credentials.store(true, Ordering::Relaxed);
            self.store.save(credentials).await;
        }
    }
}

/// Compares secrets in a time that does not depend on their content.
fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    one.len() == other.len() && pairs.fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

impl SignIn {
    /// Creates the sign-in at the server at `url` of users with browsers elsewhere. Tokens are
    /// refreshed without the user.
    ///
    /// `http` sends the requests. It must not follow redirects.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid, or is neither HTTPS nor on this machine.
    pub fn without_browser(
        http: reqwest::Client,
        url: &str,
        options: AuthOptions,
        store: Arc<dyn CredentialStore>,
    ) -> Result<Self, AuthError> {
        let challenge = StdMutex::default();
        let opened = StdMutex::default();
        let user = HandOver { store, has_credentials: AtomicBool::new(false), challenge, opened };
        Self::with_user(http, url, options, User::Elsewhere(Box::new(user)))
    }

    /// Returns [`AuthError::NeedsUser`] or [`AuthError::NeedsScopes`] if the server has rejected a
    /// request that only the user can permit.
    pub fn user_error(&self) -> Option<AuthError> {
        let User::Elsewhere(user) = &self.user else { return None };
        user.challenge().map(|(status, _)| needs_user(status))
    }

    /// Returns whether a user can sign out. Stored credentials count after their first use.
    pub fn has_credentials(&self) -> bool {
        matches!(&self.user, User::Elsewhere(user) if user.has_credentials.load(Ordering::Relaxed))
    }

    /// Begins a sign-in of the user. Returns the page to open, which redirects to `redirect_uri`;
    /// or `None` if the stored credentials were refreshed instead. An earlier sign-in that waits
    /// for its page is replaced.
    ///
    /// # Errors
    /// Returns an error if the authorization server cannot be used, or this sign-in is not for
    /// users with browsers elsewhere.
    pub async fn begin(
        self: &Arc<Self>,
        redirect_uri: &str,
    ) -> Result<Option<OpenPage>, AuthError> {
        let this = self.clone();
        let redirect_uri = redirect_uri.to_owned();
        to_its_end(async move {
            let User::Elsewhere(user) = &this.user else { return Err(AuthError::OtherSignIn) };
            // A refresh token may be valid once, so no request refreshes at the same time.
            let mut current = this.authorizer.lock().await;
            let (status, header) = user.challenge().unwrap_or((401, None));
            let credentials = user.store.load().await;
            let mut authorizer = this.authorizer(Some(&redirect_uri), credentials)?;
            authorizer.handle_challenge(status, header.as_deref(), random()?);
            match this.perform(&mut authorizer).await? {
                AuthEvent::Open { url } => {
                    let secret = random_bytes::<32>();
                    let secret = secret.map_err(|error| AuthError::Cancelled(error.to_string()))?;
                    let browser: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
                    user.set_opened(Some((authorizer, browser.clone())));
                    Ok(Some(OpenPage { url, browser }))
                }
                AuthEvent::SignedIn => {
                    user.keep(&authorizer).await;
                    *current = authorizer;
                    Ok(None)
                }
                _ => Err(unexpected()),
            }
        })
        .await
    }

    /// Ends the sign-in with the URL that the page redirected to, and the secret of the browser
    /// that followed it.
    ///
    /// # Errors
    /// Returns an error if the sign-in was rejected, or if the redirect belongs to another one or
    /// comes from another browser, and the sign-in continues to wait.
    pub async fn finish(self: &Arc<Self>, redirect: &str, browser: &str) -> Result<(), AuthError> {
        let User::Elsewhere(user) = &self.user else { return Err(AuthError::OtherSignIn) };
        let this = self.clone();
        let mut authorizer = user.returned(redirect, browser)?;
        to_its_end(async move {
            let User::Elsewhere(user) = &this.user else { return Err(AuthError::OtherSignIn) };
            let mut current = this.authorizer.lock().await;
            let AuthEvent::SignedIn = this.perform(&mut authorizer).await? else {
                return Err(unexpected());
            };
            user.keep(&authorizer).await;
            *current = authorizer;
            Ok(())
        })
        .await
    }

    /// Signs out: removes the credentials, and returns whether the authorization server has revoked
    /// them. `false` if it cannot.
    ///
    /// # Errors
    /// Returns an error if the credentials are removed, but the authorization server did not answer
    /// the request to revoke them; or if this sign-in is not for users with browsers elsewhere.
    pub async fn sign_out(self: &Arc<Self>) -> Result<bool, AuthError> {
        let this = self.clone();
        to_its_end(async move {
            let User::Elsewhere(user) = &this.user else { return Err(AuthError::OtherSignIn) };
            let mut leaving = {
                let mut current = this.authorizer.lock().await;
                let stored = user.store.load().await.or_else(|| current.credentials().cloned());
                user.store.remove().await;
                user.set_opened(None);
                user.set_challenge(Some((401, None)));
                user.has_credentials.store(false, Ordering::Relaxed);
                *current = this.authorizer(None, None)?;
                this.authorizer(None, stored)?
            };
            leaving.handle_sign_out();
            match this.perform(&mut leaving).await? {
                AuthEvent::SignedOut { is_revoked } => Ok(is_revoked),
                _ => Err(unexpected()),
            }
        })
        .await
    }

    /// Replaces rejected credentials by those of the store, if these are newer. Without any, an
    /// error is returned, so that no client is registered for nothing.
    pub(super) async fn loaded(
        &self,
        user: &HandOver,
        authorizer: &mut Authorizer,
        status: u16,
        header: Option<&str>,
    ) -> Result<bool, AuthError> {
        user.set_challenge(Some((status, header.map(str::to_owned))));
        let rejected = authorizer.authorization();
        let stored = user.store.load().await.or_else(|| authorizer.credentials().cloned());
        let stored = stored.ok_or_else(|| needs_user(status))?;
        user.has_credentials.store(true, Ordering::Relaxed);
        *authorizer = self.authorizer(None, Some(stored))?;
        let is_newer = authorizer.authorization() != rejected;
        if is_newer {
            user.set_challenge(None);
        }
        Ok(is_newer)
    }

    fn authorizer(
        &self,
        redirect_uri: Option<&str>,
        credentials: Option<Credentials>,
    ) -> Result<Authorizer, AuthError> {
        let mut options = self.options.clone();
        // With another redirect URI, the client would be registered again.
        let registered = credentials.as_ref().and_then(Credentials::redirect_uri);
        if let Some(uri) = redirect_uri.or(registered) {
            options.redirect_uri = uri.to_owned();
        }
        let authorizer = Authorizer::new(&self.url, options)?;
        Ok(match credentials {
            Some(credentials) => authorizer.with_credentials(credentials),
            None => authorizer,
        })
    }
}
