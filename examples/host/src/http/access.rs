//! The users and the site of one server.
use crate::http::body::body_length;
use crate::http::failures::Failures;
use crate::http::grant::Grant;
use crate::http::oidc::TokenError;
use crate::http::quotas::{Quotas, RequestPermit, UserLimits};
use crate::http::request_refusal::RequestRefusal;
use crate::http::sessions::{CurrentSession, Sessions};
use crate::http::site::Site;
use crate::http::users::{
    AuthSettings, Credentials, KEY_HEADER, Users, bearer_token, cookie_name, cookies_of,
};
use crate::http::{AccessError, Connection, Secret, SessionLimits, SessionStore, SiteSettings};
use axum::http::HeaderValue;
use axum::http::request::Parts;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use tower_http::cors::CorsLayer;

/// Target of records for an audit log.
pub(crate) const AUDIT: &str = "audit";

/// The users and the site of one server.
#[derive(Debug)]
pub struct Access {
    pub(crate) site: Site,
    listen: SocketAddr,
    users: RwLock<Arc<Users>>,
    failures: Failures,
    quotas: Quotas,
    pub(crate) sessions: Sessions,
    /// Whether a cookie is valid with its key only.
    pub(crate) needs_key: bool,
}

/// A request with a user.
pub(crate) struct Admission {
    pub(crate) grant: Grant,
    pub(crate) session: Option<CurrentSession>,
    pub(crate) at_work: RequestPermit,
}

impl Access {
    /// Returns the access to a server on this address. The token is the generated one, unless users
    /// are configured or authentication is not required.
    ///
    /// # Errors
    /// The settings cannot be used.
    pub fn new(
        site: &SiteSettings,
        auth: &AuthSettings,
        limits: UserLimits,
        listen: SocketAddr,
    ) -> Result<(Self, Option<Secret>), AccessError> {
        let (users, token) = Users::new(auth, listen)?;
        if !listen.ip().is_loopback() && site.tls_cert.is_none() && !site.clear_text {
            return Err(AccessError::ClearText(listen));
        }
        let failures = Failures::default();
        let quotas = Quotas::new(limits);
        let users = RwLock::new(Arc::new(users));
        let site = Site::new(site)?;
        let sessions = Sessions::new(SessionLimits::default());
        Ok((Self { site, listen, users, failures, quotas, sessions, needs_key: true }, token))
    }

    /// Sets the limits of sessions.
    #[must_use]
    pub fn with_session_limits(self, limits: SessionLimits) -> Self {
        Self { sessions: Sessions::new(limits), ..self }
    }

    /// Accepts a cookie without its key, for pages without scripts. Other servers on this host
    /// receive the cookie too.
    #[must_use]
    pub fn without_scripts(self) -> Self {
        Self { needs_key: false, ..self }
    }

    /// Replaces the users. A generated token stays valid if the settings still have no users.
    /// Sessions of tokens that are not valid any more end with their streams; other requests at
    /// work go on.
    ///
    /// # Errors
    /// The settings cannot be used. The earlier users stay.
    pub fn reload(&self, auth: &AuthSettings) -> Result<(), AccessError> {
        let (users, generated) = Users::new(auth, self.listen)?;
        if let (Some(new), Some(earlier)) = (&users.oidc, &self.users().oidc) {
            new.inherit(earlier);
        }
        if generated.is_none() || !self.users().is_generated {
            let users = Arc::new(users);
            *self.users.write().unwrap_or_else(PoisonError::into_inner) = users.clone();
            self.sessions.keep_those_of(&users);
        }
        Ok(())
    }

    /// Ends sessions when they are over. With a store, they survive the program, and those of other
    /// servers are known.
    pub fn watch_sessions(
        self: Arc<Self>,
        store: Option<Arc<dyn SessionStore>>,
    ) -> impl Future<Output = ()> + Send {
        if let Some(store) = store {
            self.sessions.set_store(store);
        }
        async move { self.sessions.watch().await }
    }

    /// Reads the keys of the OpenID provider, if there is one. Without this, the first request with
    /// a token does so.
    pub async fn load_keys(self: Arc<Self>) {
        if let Some(oidc) = &self.users().oidc {
            oidc.load().await;
        }
    }

    pub(crate) fn users(&self) -> Arc<Users> {
        self.users.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the cross-origin rules.
    pub fn cors(&self) -> CorsLayer {
        self.site.cors()
    }

    /// Returns the user of a request, and counts the request.
    pub(crate) async fn admit(&self, request: &Parts) -> Result<Admission, RequestRefusal> {
        if Site::is_embedded(request) {
            return Err(RequestRefusal::foreign("pages of other sites may not use this gateway"));
        }
        let (grant, session) = self.identify(request).await?;
        let connection = request.extensions.get::<Connection>();
        if let Some(connection) = connection {
            connection.authenticated();
        }
        let body = body_length(request);
        let now = Instant::now();
        let at_work = self.quotas.begin(&grant.user, connection.cloned(), body, now);
        let at_work = at_work.map_err(|over| RequestRefusal::later(&over, over.wait))?;
        let at_work = at_work.of_session(session.as_ref().map(|session| session.end.clone()));
        Ok(Admission { grant, session, at_work })
    }

    /// Returns the user of a request, and the session if it belongs to one.
    async fn identify(
        &self,
        request: &Parts,
    ) -> Result<(Grant, Option<CurrentSession>), RequestRefusal> {
        let address = request.extensions.get::<Connection>().map(|it| it.peer().ip());
        let credentials = match self.users().without_token(&request.headers, address) {
            Some(credentials) => credentials,
            None => match bearer_token(&request.headers) {
                Some(Some(token)) => self.attempt(address, token).await?,
                Some(None) => Credentials::Missing,
                None => {
                    let session = self.session(request).await;
                    let session = session.ok_or_else(|| RequestRefusal::unknown(None))?;
                    let credential = String::new();
                    let grant = Grant { user: session.user.clone(), credential, until: None };
                    return Ok((grant, Some(session)));
                }
            },
        };
        match credentials {
            Credentials::Valid(grant) => Ok((grant, None)),
            Credentials::Missing | Credentials::Invalid => Err(RequestRefusal::unknown(None)),
            Credentials::Unclear => Err(RequestRefusal::malformed(
                "expected one user in the header of the proxy, in UTF-8",
            )),
            Credentials::Rejected(TokenError::NoKeys(wait)) => {
                Err(RequestRefusal::without_keys(&TokenError::NoKeys(wait), wait))
            }
            Credentials::Rejected(error) if error.is_about_token() => {
                Err(RequestRefusal::unknown(Some(&error)))
            }
            Credentials::Rejected(error) => Err(RequestRefusal::forbidden(&error)),
        }
    }

    /// Returns whether a request has valid credentials, for routes that others may call as well.
    pub async fn is_of_user(&self, request: &Parts) -> bool {
        self.identify(request).await.is_ok()
    }

    /// Returns the session of a request. Its secrets cannot be guessed, so that failures of its
    /// address do not matter.
    async fn session(&self, request: &Parts) -> Option<CurrentSession> {
        let key = request.headers.get(KEY_HEADER).map(HeaderValue::as_bytes);
        let key = if self.needs_key { Some(key?) } else { None };
        self.session_of(request, key).await
    }

    /// Returns the session of the cookie of a browser, with its key or for a page without scripts.
    pub(crate) async fn session_of(
        &self,
        request: &Parts,
        key: Option<&[u8]>,
    ) -> Option<CurrentSession> {
        let name = cookie_name(request);
        let users = self.users();
        let find = || {
            let mut cookies = cookies_of(&request.headers, &name);
            cookies.find_map(|cookie| self.sessions.find(cookie, key, &users))
        };
        if let Some(session) = find() {
            return Some(session);
        }
        let has_cookie = cookies_of(&request.headers, &name).next().is_some();
        if has_cookie && self.sessions.refresh().await { find() } else { None }
    }

    /// Checks a token, unless its sender has to wait. A valid token that cannot be guessed is
    /// always accepted, so that other processes of the same address cannot lock its user out.
    pub(crate) async fn attempt(
        &self,
        address: Option<IpAddr>,
        token: &[u8],
    ) -> Result<Credentials, RequestRefusal> {
        let users = self.users();
        // Also for an address that has to wait: others behind the same proxy may have tokens with a
        // new key.
        if let Some(oidc) = &users.oidc {
            oidc.prepare(token).await;
        }
        let now = Instant::now();
        let wait = self.failures.wait(address, now);
        let credentials = match wait {
            Some(_) if users.is_guessable => Credentials::Invalid,
            _ => users.with_token(token),
        };
        let reason = match &credentials {
            Credentials::Invalid => Some("the token is unknown".to_owned()),
            Credentials::Rejected(TokenError::NoKeys(_)) => None,
            Credentials::Rejected(error) => Some(error.to_string()),
            Credentials::Valid(_) | Credentials::Missing | Credentials::Unclear => None,
        };
        if let Some(reason) = reason {
            if self.failures.count(address, now) {
                let address = address.map(|address| address.to_string()).unwrap_or_default();
                tracing::warn!(address, reason, "a request with an invalid token was refused");
                tracing::info!(target: AUDIT, event = "login.refused", address, reason);
            }
            if let Some(wait) = wait {
                return Err(RequestRefusal::later(&"too many invalid tokens", wait));
            }
        }
        Ok(credentials)
    }
}
