//! Sign-in of a user with a browser elsewhere, in two steps: the page to open, and the redirect of that page.
use super::{CredentialStore, HandOver, SignIn, User, Waited, random};
use mcp_bridge::client::auth::{AuthError, AuthOptions, Authorizer, Credentials};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use tokio::sync::Mutex;

/// Returns the error of a request that only the user can permit.
pub(super) fn needs_user(status: u16) -> AuthError {
    let purpose = if status == 403 { " again, and to grant further permissions" } else { "" };
    AuthError::Cancelled(format!("a user has to sign in at the server{purpose}"))
}

impl HandOver {
    fn set_challenge(&self, challenge: Option<(u16, Option<String>)>) {
        *self.challenge.lock().unwrap_or_else(PoisonError::into_inner) = challenge;
    }

    fn challenge(&self) -> Option<(u16, Option<String>)> {
        self.challenge.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores the credentials after a sign-in.
    pub(super) async fn keep(&self, authorizer: &Authorizer) {
        self.set_challenge(None);
        if let Some(credentials) = authorizer.credentials() {
            self.store.save(credentials).await;
        }
    }
}

impl SignIn {
    /// Creates the sign-in at the server at `url` of users with browsers elsewhere. Tokens are refreshed without the user.
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
        let authorizer = Authorizer::new(url, options.clone())?;
        let (challenge, opened) = (StdMutex::default(), Mutex::default());
        Ok(Self {
            http,
            url: url.to_owned(),
            options,
            user: User::Elsewhere(Box::new(HandOver { store, challenge, opened })),
            authorizer: Mutex::new(authorizer),
            waited: StdMutex::new(Waited::default()),
        })
    }

    /// Returns whether the server has rejected a request that only the user can permit.
    pub fn needs_user(&self) -> bool {
        matches!(&self.user, User::Elsewhere(user) if user.challenge().is_some())
    }

    /// Begins a sign-in of the user. Returns the page to open, which redirects to `redirect_uri`; or `None` if the stored
    /// credentials were refreshed instead. An earlier sign-in that waits for its page is replaced.
    ///
    /// # Errors
    /// Returns an error if the authorization server cannot be used, or this sign-in has a [`Browser`](super::Browser).
    pub async fn begin(&self, redirect_uri: &str) -> Result<Option<String>, AuthError> {
        let User::Elsewhere(user) = &self.user else { return Err(AuthError::OtherSignIn) };
        let (status, header) = user.challenge().unwrap_or((401, None));
        let credentials = user.store.load().await;
        let mut authorizer = self.authorizer(Some(redirect_uri), credentials)?;
        authorizer.handle_challenge(status, header.as_deref(), random()?);
        let page = self.perform(&mut authorizer).await?;
        match page {
            Some(_) => *user.opened.lock().await = Some(authorizer),
            None => self.accept(user, authorizer).await,
        }
        Ok(page)
    }

    /// Ends the sign-in with the URL that the page redirected to.
    ///
    /// # Errors
    /// Returns an error if the sign-in was rejected, or if the redirect belongs to another one, which continues to wait.
    pub async fn finish(&self, redirect: &str) -> Result<(), AuthError> {
        let User::Elsewhere(user) = &self.user else { return Err(AuthError::OtherSignIn) };
        let mut opened = user.opened.lock().await;
        let mut authorizer = opened.take().ok_or(AuthError::OtherSignIn)?;
        if let Err(error) = authorizer.handle_redirect(redirect) {
            *opened = Some(authorizer);
            return Err(error);
        }
        self.perform(&mut authorizer).await?;
        self.accept(user, authorizer).await;
        Ok(())
    }

    async fn accept(&self, user: &HandOver, authorizer: Authorizer) {
        user.keep(&authorizer).await;
        *self.authorizer.lock().await = authorizer;
    }

    /// Replaces rejected credentials by those of the store, if these are newer. Without any, an error is returned, so that no
    /// client is registered for nothing.
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
