//! Sign-in of the client: performs the requests of an [`Authorizer`], and shows its page to the
//! user.
use crate::failure::failure;
use crate::random::random_bytes;
use async_trait::async_trait;
use futures::StreamExt;
use mcp_bridge::client::auth::{
    AssertionRequest, AuthError, AuthEvent, AuthOptions, AuthRequest, Authorizer, Credentials,
};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Response};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

mod hand_over;
mod proofs;

use hand_over::HandOver;
pub use hand_over::OpenPage;
pub use proofs::ProofSigner;
use proofs::{DPOP, nonce};

/// Time limit of a request to an authorization server.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time limit of the user to sign in.
const USER_PATIENCE: Duration = Duration::from_secs(600);

/// Maximum number of sign-ins for one request.
const MAX_SIGN_INS: usize = 3;

/// Shows the page of a sign-in to the user.
#[async_trait]
pub trait Browser: Send + Sync + 'static {
    /// Opens the page at `url`.
    ///
    /// # Errors
    /// Returns an error if the page cannot be opened.
    async fn open(&self, url: &str) -> io::Result<()>;

    /// Waits for the next URL that a page redirects to.
    ///
    /// # Errors
    /// Returns an error if no page can redirect.
    async fn redirect(&self) -> io::Result<String>;
}

/// Provides the JWTs of a client that signs in without a user.
#[async_trait]
pub trait Assertions: Send + Sync + 'static {
    /// Returns a JWT: one that the client signs, or one of a third party. See
    /// [`Grant`](mcp_bridge::client::auth::Grant).
    ///
    /// # Errors
    /// Returns an error if there is no JWT. The sign-in fails.
    async fn assertion(&self, request: &AssertionRequest) -> io::Result<String>;
}

/// Keeps the credentials of one server between runs of a program, or for several programs.
#[async_trait]
pub trait CredentialStore: Send + Sync + 'static {
    /// Returns the credentials, if there are any.
    async fn load(&self) -> Option<Credentials>;

    /// Stores credentials, replacing the previous ones. Failures are for the log of the store.
    async fn save(&self, credentials: &Credentials);

    /// Removes the credentials. Failures are for the log of the store.
    async fn remove(&self);
}

/// Signs in at a server when it requires authorization, and again when it requires more.
///
/// With a [`Browser`], a request waits while the user signs in. A server for users with browsers
/// elsewhere is created [without](Self::without_browser) one: a request that requires the user
/// fails, [`begin`](Self::begin) and [`finish`](Self::finish) sign in, and
/// [`sign_out`](Self::sign_out) ends that. A program that acts for itself signs in [without a
/// user](Self::without_user).
///
/// Tokens are bound to the key of the options, if they have one, and its
/// [signer](Self::with_signer) signs a proof for each request.
pub struct SignIn {
    http: reqwest::Client,
    url: String,
    options: AuthOptions,
    user: User,
    signer: Option<Arc<dyn ProofSigner>>,
    authorizer: Mutex<Authorizer>,
    waited: StdMutex<SignInTime>,
}

/// The way to the user.
enum User {
    Browser(Arc<dyn Browser>),
    Elsewhere(Box<HandOver>),
    None(Option<Arc<dyn Assertions>>),
}

/// Time spent in sign-ins.
#[derive(Default)]
struct SignInTime {
    total: Duration,
    /// Start of the sign-in in progress.
    since: Option<Instant>,
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").field("authorizer", &self.authorizer).finish_non_exhaustive()
    }
}

impl SignIn {
    /// Creates the sign-in at the server at `url`, with the credentials of an earlier one, if any.
    ///
    /// `http` sends the requests. It must not follow redirects.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid, or is neither HTTPS nor on this machine.
    pub fn new(
        http: reqwest::Client,
        url: &str,
        options: AuthOptions,
        credentials: Option<Credentials>,
        browser: Arc<dyn Browser>,
    ) -> Result<Self, AuthError> {
        let mut sign_in = Self::with_user(http, url, options, User::Browser(browser))?;
        if let Some(credentials) = credentials {
            let authorizer = sign_in.authorizer.into_inner().with_credentials(credentials);
            sign_in.authorizer = Mutex::new(authorizer);
        }
        Ok(sign_in)
    }

    /// Creates the sign-in at the server at `url` of a program that acts for itself, by the grant
    /// of the options. Grants with JWTs require `assertions`.
    ///
    /// `http` sends the requests. It must not follow redirects.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid, or is neither HTTPS nor on this machine.
    pub fn without_user(
        http: reqwest::Client,
        url: &str,
        options: AuthOptions,
        assertions: Option<Arc<dyn Assertions>>,
    ) -> Result<Self, AuthError> {
        Self::with_user(http, url, options, User::None(assertions))
    }

    fn with_user(
        http: reqwest::Client,
        url: &str,
        options: AuthOptions,
        user: User,
    ) -> Result<Self, AuthError> {
        let authorizer = Mutex::new(Authorizer::new(url, options.clone())?);
        let url = url.to_owned();
        let signer = None;
        let waited = StdMutex::default();
        Ok(Self { http, url, options, user, signer, authorizer, waited })
    }

    /// Returns the credentials, to be stored for the next run of the program. Waits for a sign-in
    /// in progress.
    pub async fn credentials(&self) -> Option<Credentials> {
        self.authorizer.lock().await.credentials().cloned()
    }

    /// Returns the time spent in sign-ins so far. It does not count towards the time limits of
    /// requests.
    pub(crate) fn waited(&self) -> Duration {
        let waited = self.waited.lock().unwrap_or_else(PoisonError::into_inner);
        waited.total + waited.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Sends a request. Signs in if the server requires it, and sends the request again.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: RequestBuilder,
    ) -> Result<Response, String> {
        let (http, request) = request.build_split();
        let request = request.map_err(failure)?;
        let mut sign_ins = 0;
        let mut is_repeated = false;
        loop {
            let mut attempt = request.try_clone().ok_or("the request cannot be repeated")?;
            let (authorization, is_bound) = self.authorize(&mut attempt).await?;
            let response = http.execute(attempt).await.map_err(failure)?;
            let status = response.status().as_u16();
            let header = challenge(&response);
            let header = header.as_deref();
            let needs_nonce = is_bound && Authorizer::needs_nonce(status, header);
            if let Some(nonce) = nonce(&response) {
                if needs_nonce {
                    self.authorizer.lock().await.handle_server_nonce(nonce);
                } else if let Ok(mut authorizer) = self.authorizer.try_lock() {
                    // A response does not wait for a sign-in in progress.
                    authorizer.handle_server_nonce(nonce);
                }
            }
            if needs_nonce && !is_repeated {
                is_repeated = true;
                continue;
            }
            let is_challenge = !needs_nonce && Authorizer::is_challenge(status, header);
            if sign_ins == MAX_SIGN_INS || !is_challenge {
                return Ok(response);
            }
            sign_ins += 1;
            is_repeated = false;
            let renewal = self.clone().renew(authorization, status, header.map(str::to_owned));
            let renewed = match &self.user {
                User::Browser(_) | User::None(_) => renewal.await,
                // The user does not wait, and a dropped request would lose the next refresh token.
                User::Elsewhere(_) => hand_over::to_its_end(renewal).await,
            };
            renewed.map_err(|error| error.to_string())?;
        }
    }

    /// Signs in, unless another request has done so since this one was sent.
    async fn renew(
        self: Arc<Self>,
        rejected: Option<String>,
        status: u16,
        header: Option<String>,
    ) -> Result<(), AuthError> {
        let mut authorizer = self.authorizer.lock().await;
        if authorizer.authorization() != rejected {
            return Ok(());
        }
        let header = header.as_deref();
        if let User::Elsewhere(user) = &self.user
            && self.loaded(user, &mut authorizer, status, header).await?
        {
            return Ok(());
        }
        let _waiting = SignInTimer::new(&self.waited);
        authorizer.handle_challenge(status, header, random()?);
        loop {
            match (self.perform(&mut authorizer).await?, &self.user) {
                (AuthEvent::Open { url }, User::Browser(browser)) => {
                    ask_user(&**browser, &mut authorizer, &url).await;
                }
                (AuthEvent::Assert(request), User::None(Some(assertions))) => {
                    match assertions.assertion(&request).await {
                        Ok(jwt) => authorizer.handle_assertion(&jwt),
                        Err(error) => authorizer.cancel(&error.to_string()),
                    }
                }
                (AuthEvent::Open { .. }, _) => return Err(hand_over::needs_user(status)),
                (AuthEvent::Assert(_), _) => authorizer.cancel("the program provides no JWT"),
                _ => break,
            }
        }
        if let User::Elsewhere(user) = &self.user {
            user.keep(&authorizer).await;
        }
        Ok(())
    }

    /// Performs the requests of a sign-in or a sign-out, until the user has to open a page or the
    /// end.
    async fn perform(&self, authorizer: &mut Authorizer) -> Result<AuthEvent, AuthError> {
        while let Some(request) = authorizer.poll_request() {
            let proof = match &request.proof {
                Some(proof) => match self.sign(proof).await {
                    Ok(proof) => Some(proof),
                    Err(error) => {
                        authorizer.cancel(&error.to_string());
                        break;
                    }
                },
                None => None,
            };
            match timeout(PATIENCE, self.fetch(request, proof)).await {
                Ok(Ok((status, nonce, body))) => {
                    nonce.iter().for_each(|nonce| authorizer.handle_nonce(nonce));
                    authorizer.handle_response(status, &body);
                }
                Ok(Err(reason)) => authorizer.handle_unreachable(&reason),
                Err(_) => authorizer.handle_unreachable("no response in time"),
            }
        }
        match authorizer.poll_event() {
            Some(AuthEvent::Failed(error)) => Err(error),
            Some(event) => Ok(event),
            None => Err(unexpected()),
        }
    }

    /// Returns the status, the nonce and the body of a response.
    async fn fetch(
        &self,
        request: AuthRequest,
        proof: Option<HeaderValue>,
    ) -> Result<(u16, Option<String>, String), String> {
        let AuthRequest { url, body, authorization, .. } = request;
        let mut builder = match body {
            Some((kind, body)) => self.http.post(url).header(CONTENT_TYPE, kind).body(body),
            None => self.http.get(url),
        };
        if let Some(authorization) = authorization {
            builder = builder.header(AUTHORIZATION, authorization);
        }
        if let Some(proof) = proof {
            builder = builder.header(DPOP, proof);
        }
        let response = builder.header(ACCEPT, "application/json").send().await.map_err(failure)?;
        let status = response.status().as_u16();
        let nonce = nonce(&response).map(str::to_owned);
        let mut chunks = response.bytes_stream();
        let mut body = Vec::new();
        while let Some(chunk) = chunks.next().await {
            body.extend_from_slice(&chunk.map_err(failure)?);
            if body.len() > Authorizer::MAX_RESPONSE {
                return Err("the response is too large".to_owned());
            }
        }
        Ok((status, nonce, String::from_utf8_lossy(&body).into_owned()))
    }
}

/// Opens the page and waits until it redirects.
async fn ask_user(browser: &dyn Browser, authorizer: &mut Authorizer, url: &str) {
    let redirected = async {
        browser.open(url).await?;
        loop {
            // A redirect of another page is ignored.
            if authorizer.handle_redirect(&browser.redirect().await?).is_ok() {
                return io::Result::Ok(());
            }
        }
    };
    let problem = match timeout(USER_PATIENCE, redirected).await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the user did not sign in in time".to_owned(),
    };
    authorizer.cancel(&problem);
}

/// Returns the error of a sign-in without a next step.
fn unexpected() -> AuthError {
    AuthError::Cancelled("the sign-in does not continue".to_owned())
}

/// Returns the random bytes of one sign-in.
fn random() -> Result<[u8; 64], AuthError> {
    random_bytes().map_err(|error| AuthError::Cancelled(error.to_string()))
}

/// Measures the time of a sign-in until it ends or its future is dropped.
struct SignInTimer<'a>(&'a StdMutex<SignInTime>);

impl<'a> SignInTimer<'a> {
    fn new(waited: &'a StdMutex<SignInTime>) -> Self {
        waited.lock().unwrap_or_else(PoisonError::into_inner).since = Some(Instant::now());
        Self(waited)
    }
}

impl Drop for SignInTimer<'_> {
    fn drop(&mut self) {
        let mut waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = waited.since.take().map(|since| since.elapsed()).unwrap_or_default();
        waited.total += passed;
    }
}

/// Returns the `WWW-Authenticate` headers of a response.
fn challenge(response: &Response) -> Option<String> {
    let headers = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let headers: Vec<_> = headers.filter_map(|header| header.to_str().ok()).collect();
    (!headers.is_empty()).then(|| headers.join(", "))
}
