//! Sign-in at servers that require authorization: OAuth 2.1 with PKCE, for servers of both
//! generations, and [grants](Grant) of clients without a user.
//!
//! An [`Authorizer`] performs no I/O. It returns the HTTP requests to send and the page that the
//! user opens; the caller passes it the responses, and the URL that the page redirects to.
//!
//! | step | specification |
//! |---|---|
//! | the server rejects a request with status 401 or 403 | [RFC 6750](https://www.rfc-editor.org/rfc/rfc6750.html#section-3) |
//! | metadata of the server | [RFC 9728](https://www.rfc-editor.org/rfc/rfc9728.html) |
//! | metadata of the authorization server | [RFC 8414](https://www.rfc-editor.org/rfc/rfc8414.html), OpenID Connect Discovery |
//! | identity of the client: registered in advance, URL of a metadata document, or dynamic registration | [RFC 7591](https://www.rfc-editor.org/rfc/rfc7591.html) |
//! | sign-in of the user, with PKCE and the issuer in the response | [OAuth 2.1](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1-13), [RFC 9207](https://www.rfc-editor.org/rfc/rfc9207.html) |
//! | revocation of the tokens at the end | [RFC 7009](https://www.rfc-editor.org/rfc/rfc7009.html) |
//! | token for this server only | [RFC 8707](https://www.rfc-editor.org/rfc/rfc8707.html) |
//! | token for the holder of a [key](DpopKey) only, if the client has one | [RFC 9449](https://www.rfc-editor.org/rfc/rfc9449.html) |
//!
//! An expired token is refreshed without the user. A server that requires further scopes causes a
//! sign-in with the previous and the further scopes. After a change of the authorization server the
//! client is registered again.
//!
//! Spec: [Authorization](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization)
//! (2026-07-28), [the
//! same](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization) (2025-11-25)
//!
//! ```
//! use mcp_bridge::client::auth::{AuthEvent, AuthOptions, Authorizer};
//!
//! let options = AuthOptions::new("Spanwire", "http://127.0.0.1:7777/callback");
//! let mut authorizer = Authorizer::new("https://mcp.example/mcp", options)?;
//! let sent = |authorizer: &mut Authorizer| authorizer.poll_request().ok_or("nothing to send");
//!
//! // A request was rejected. 64 random bytes protect the sign-in; these are for the example only.
//! authorizer.handle_challenge(401, Some("Bearer scope=\"read\""), [7; 64]);
//! assert_eq!(sent(&mut authorizer)?.url, "https://mcp.example/.well-known/oauth-protected-resource/mcp");
//! authorizer.handle_response(200, r#"{"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"]}"#);
//! assert_eq!(sent(&mut authorizer)?.url, "https://as.example/.well-known/oauth-authorization-server");
//! authorizer.handle_response(200, r#"{"issuer":"https://as.example","authorization_endpoint":"https://as.example/authorize",
//!     "token_endpoint":"https://as.example/token","registration_endpoint":"https://as.example/register",
//!     "code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["none"]}"#);
//! assert_eq!(sent(&mut authorizer)?.url, "https://as.example/register");
//! authorizer.handle_response(201, r#"{"client_id":"c1"}"#);
//!
//! let Some(AuthEvent::Open { url }) = authorizer.poll_event() else { return Err("no page".into()) };
//! assert!(url.starts_with("https://as.example/authorize?response_type=code&client_id=c1&"));
//! // The page redirects to the callback, with the state of the sign-in.
//! let state = url.split_once("&state=").and_then(|(_, rest)| rest.split('&').next()).ok_or("no state")?;
//! authorizer.handle_redirect(&format!("http://127.0.0.1:7777/callback?code=x1&state={state}"))?;
//! assert_eq!(sent(&mut authorizer)?.url, "https://as.example/token");
//! authorizer.handle_response(200, r#"{"access_token":"t1","token_type":"Bearer"}"#);
//! assert!(matches!(authorizer.poll_event(), Some(AuthEvent::SignedIn)));
//! assert_eq!(authorizer.authorization().as_deref(), Some("Bearer t1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use alloc::collections::VecDeque;
use alloc::string::String;
use challenge::Challenge;
use core::fmt;
use url::Url;

mod challenge;
mod credentials;
mod discovery;
mod dpop;
mod error;
mod grant;
pub mod metadata;
mod response;
mod sign_in;
mod sign_out;
mod step;
mod steps;
mod token_proof;

pub use credentials::{ClientRegistration, Credentials};
pub use dpop::{DpopKey, DpopProof};
pub use error::AuthError;
pub use grant::{AssertionRequest, Grant};
use sign_in::Secrets;
use step::{SignInStart, Step};

/// Identity of a client for [`Authorizer`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuthOptions {
    /// Name of the client, for the user.
    pub client_name: String,
    /// URL that the page redirects to: a loopback address of this machine, or HTTPS. Unused by
    /// grants without a page.
    pub redirect_uri: String,
    /// URL of a metadata document of this client. It is the client id where authorization servers
    /// support such ids.
    ///
    /// Spec: [Client ID Metadata
    /// Documents](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#client-id-metadata-documents)
    pub metadata_url: Option<String>,
    /// Registration in advance. It is used with its issuer only.
    pub registration: Option<ClientRegistration>,
    /// The way to obtain tokens.
    pub grant: Grant,
    /// The key that tokens are bound to (DPoP). Without one, tokens are bearer tokens.
    pub dpop_key: Option<DpopKey>,
}

impl AuthOptions {
    /// Creates options of a client that registers itself.
    pub fn new(client_name: impl Into<String>, redirect_uri: impl Into<String>) -> Self {
        Self {
            client_name: client_name.into(),
            redirect_uri: redirect_uri.into(),
            metadata_url: None,
            registration: None,
            grant: Grant::default(),
            dpop_key: None,
        }
    }
}

/// An HTTP request to send. It contains secrets.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthRequest {
    /// The URL. Do not follow redirects.
    pub url: String,
    /// Media type and text of the body of a `POST` request. `None` for a `GET` request.
    pub body: Option<(&'static str, String)>,
    /// Value of the `Authorization` header.
    pub authorization: Option<String>,
    /// The proof to sign, for the `DPoP` header, if the client has a [key](AuthOptions::dpop_key).
    /// Pass the `DPoP-Nonce` header of the response to [`Authorizer::handle_nonce`].
    pub proof: Option<DpopProof>,
}

impl fmt::Debug for AuthRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthRequest").field("url", &self.url).finish_non_exhaustive()
    }
}

/// An event of an [`Authorizer`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AuthEvent {
    /// The user has to open a page and sign in. The page then redirects to
    /// [`AuthOptions::redirect_uri`]; pass the URL to [`Authorizer::handle_redirect`].
    Open {
        /// URL of the page.
        url: String,
    },
    /// The client has to provide a JWT, for a [`Grant`] that needs one; pass it to
    /// [`Authorizer::handle_assertion`].
    Assert(AssertionRequest),
    /// The sign-in succeeded. Send the rejected request again, with [`Authorizer::authorization`].
    SignedIn,
    /// The credentials are forgotten.
    SignedOut {
        /// Whether the tokens were revoked. `false` if the authorization server cannot, or there
        /// were no tokens.
        is_revoked: bool,
    },
    /// The sign-in or the sign-out failed.
    Failed(AuthError),
}

/// Signs in at one MCP server.
///
/// The [module](self) has an example.
pub struct Authorizer {
    server: Url,
    options: AuthOptions,
    step: Step,
    credentials: Option<Credentials>,
    /// The last nonce of the MCP server, for proofs.
    nonce: Option<String>,
    /// The last nonce of an authorization server, with its issuer.
    issuer_nonce: Option<(String, String)>,
    request: Option<AuthRequest>,
    events: VecDeque<AuthEvent>,
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer")
            .field("server", &self.server.as_str())
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}

impl Authorizer {
    /// Maximum size of a response, in bytes. The caller need not read more.
    pub const MAX_RESPONSE: usize = 1 << 20;

    /// Creates the authorizer of the MCP server at `server`.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid, or is neither HTTPS nor on this machine.
    pub fn new(server: &str, options: AuthOptions) -> Result<Self, AuthError> {
        let server = discovery::secure_url("server", server)?;
        Ok(Self {
            server,
            options,
            step: Step::Idle,
            credentials: None,
            nonce: None,
            issuer_nonce: None,
            request: None,
            events: VecDeque::new(),
        })
    }

    /// Sets the credentials of an earlier sign-in.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Returns the credentials, to be stored after each [`AuthEvent::SignedIn`].
    pub fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }

    /// Returns the value of the `Authorization` header for requests to the server. A token that is
    /// bound to a key needs a [`proof`](Self::proof) as well. `None` is returned if the token is
    /// bound and the client has no key, or if it is not bound and the key is
    /// [required](DpopKey::is_required).
    pub fn authorization(&self) -> Option<String> {
        let key = self.options.dpop_key.as_ref();
        let is_usable = |it: &&Credentials| match it.is_bound {
            true => key.is_some(),
            false => key.is_none_or(|key| !key.is_required),
        };
        self.credentials.as_ref().filter(is_usable).map(Credentials::authorization)
    }

    /// Returns whether a sign-in can resolve a response with this status and `WWW-Authenticate`
    /// header: 401, or 403 for a token with too few scopes. A request that only [lacks a
    /// nonce](Self::needs_nonce) is repeated without a sign-in.
    pub fn is_challenge(status: u16, header: Option<&str>) -> bool {
        let is_short_of_scopes =
            || header.is_some_and(|header| Challenge::read(header).needs_scopes);
        status == 401 || (status == 403 && is_short_of_scopes())
    }

    /// Handles a rejected request: its status, 401 or 403, and the value of its `WWW-Authenticate`
    /// header.
    ///
    /// `random` are unpredictable bytes, used for this sign-in only. A sign-in in progress is
    /// replaced.
    pub fn handle_challenge(&mut self, status: u16, header: Option<&str>, random: [u8; 64]) {
        let challenge = header.map(Challenge::read).unwrap_or_default();
        let mut places = match &challenge.resource_metadata {
            Some(place) => VecDeque::from([place.clone()]),
            None => discovery::resource_metadata(&self.server),
        };
        let begun =
            SignInStart { challenge, needs_scopes: status == 403, secrets: Secrets::new(&random) };
        self.request = None;
        self.events.clear();
        let next = self.fetch(&mut places, AuthError::NoResourceMetadata);
        let next = next.map(|()| Step::Resource { begun, places });
        self.settle(next);
    }

    /// Returns the next request to send. Its response belongs to
    /// [`handle_response`](Self::handle_response).
    pub fn poll_request(&mut self) -> Option<AuthRequest> {
        self.request.take()
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<AuthEvent> {
        self.events.pop_front()
    }

    /// Handles the response to the last request.
    pub fn handle_response(&mut self, status: u16, body: &str) {
        let step = core::mem::replace(&mut self.step, Step::Idle);
        let next = match step {
            Step::Resource { begun, places } => self.handle_resource(begun, places, status, body),
            Step::Server { begun, resource, issuer, places } => {
                self.handle_server(begun, resource, issuer, places, status, body)
            }
            Step::Registration(found) => self.handle_registration(found, status, body),
            Step::Token(sign_in, previous) => self.handle_token(sign_in, previous, status, body),
            Step::Leaving(credentials, places) => {
                self.handle_leaving(credentials, places, status, body)
            }
            Step::Revoking(revoking) => self.handle_revoked(revoking, status, body),
            step @ (Step::Idle | Step::Opened(_) | Step::Asserting(_)) => Ok(step),
        };
        self.settle(next);
    }

    /// Handles the failure of the last request: there is no response. The sign-in fails.
    pub fn handle_unreachable(&mut self, reason: &str) {
        let what = match self.step {
            Step::Idle | Step::Opened(_) | Step::Asserting(_) => return,
            Step::Resource { .. } => "server",
            Step::Server { .. } | Step::Leaving(..) => "authorization server",
            Step::Revoking(_) => "revocation endpoint",
            Step::Registration(_) => "registration endpoint",
            Step::Token(..) => "token endpoint",
        };
        self.settle(Err(AuthError::Unreachable { what, reason: reason.into() }));
    }

    /// Ends a sign-in in progress, such as one that the user does not complete.
    pub fn cancel(&mut self, reason: &str) {
        if !matches!(self.step, Step::Idle) {
            self.settle(Err(AuthError::Cancelled(reason.into())));
        }
    }

    /// Handles the URL that the page redirected to.
    ///
    /// # Errors
    /// Returns an error if the redirect belongs to another sign-in. A sign-in in progress continues
    /// to wait.
    pub fn handle_redirect(&mut self, url: &str) -> Result<(), AuthError> {
        let sign_in = match core::mem::replace(&mut self.step, Step::Idle) {
            Step::Opened(sign_in) => sign_in,
            other => {
                self.step = other;
                return Err(AuthError::OtherSignIn);
            }
        };
        if !sign_in.owns(url) {
            self.step = Step::Opened(sign_in);
            return Err(AuthError::OtherSignIn);
        }
        let next = sign_in.code(url).map(|code| {
            let request = sign_in.exchange(&code, &self.options.redirect_uri);
            self.send(sign_in, None, request)
        });
        self.settle(next);
        Ok(())
    }
}
