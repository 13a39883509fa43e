//! Identity of a client at an authorization server, and its tokens.
use super::metadata::AuthorizationServerMetadata;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use core::fmt;
use serde::{Deserialize, Serialize};
use url::form_urlencoded::{Serializer, byte_serialize};

/// The identity of a client at one authorization server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRegistration {
    pub(super) issuer: String,
    pub(super) client_id: String,
    client_secret: Option<String>,
    /// Client authentication at the token endpoint, if the authorization server decided it.
    method: Option<String>,
    /// The redirect URI that was registered. `None` if the client was not registered dynamically.
    redirect_uri: Option<String>,
}

/// Tokens and client registration, to be stored between runs of a program. They are secrets.
///
/// They belong to one MCP server and one authorization server, and are not used with others. Tokens
/// that are bound to a [key](super::DpopKey) need the same key in the next run.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    pub(super) registration: ClientRegistration,
    pub(super) resource: String,
    /// The scopes that were requested.
    pub(super) scopes: Vec<String>,
    pub(super) access_token: String,
    /// Whether the access token is bound to the key of the client (DPoP).
    #[serde(default)]
    pub(super) is_bound: bool,
    pub(super) refresh_token: Option<String>,
}

impl ClientRegistration {
    /// Creates the registration of a client that was registered at `issuer` in advance. A client
    /// without a secret is a public client. The id of a workload without one is empty.
    pub fn new(
        issuer: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: Option<String>,
    ) -> Self {
        let issuer = issuer.into();
        let client_id = client_id.into();
        Self { issuer, client_id, client_secret, method: None, redirect_uri: None }
    }

    /// Creates the registration from the response of an authorization server.
    pub(super) fn registered(
        issuer: &str,
        response: RegistrationResponse,
        redirect_uri: &str,
    ) -> Self {
        let RegistrationResponse { client_id, client_secret, token_endpoint_auth_method } =
            response;
        Self {
            issuer: issuer.into(),
            client_id,
            client_secret,
            method: token_endpoint_auth_method,
            redirect_uri: Some(redirect_uri.into()),
        }
    }

    /// Returns whether the registration can be used for a sign-in.
    pub(super) fn fits(&self, issuer: &str, redirect_uri: &str) -> bool {
        let is_registered = self.redirect_uri.as_deref().is_none_or(|it| it == redirect_uri);
        self.issuer == issuer && is_registered
    }

    /// Adds the client authentication to a token request. Returns the `Authorization` header, if
    /// the method uses one.
    ///
    /// Spec: [RFC 6749, section 2.3.1](https://www.rfc-editor.org/rfc/rfc6749.html#section-2.3.1)
    pub(super) fn authenticate(
        &self,
        server: &AuthorizationServerMetadata,
        body: &mut Serializer<'_, String>,
    ) -> Option<String> {
        let Some(secret) = &self.client_secret else {
            self.identify(body);
            return None;
        };
        let supported = server.token_endpoint_auth_methods_supported.as_deref();
        let has = |method: &str| {
            supported.map_or(method == BASIC, |supported| supported.iter().any(|it| it == method))
        };
        let method = match &self.method {
            Some(method) => method.as_str(),
            None if has(BASIC) => BASIC,
            None if has(POST) => POST,
            None => "none",
        };
        match method {
            BASIC => {
                let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encode(&self.client_id), encode(secret));
                Some(format!("Basic {}", STANDARD.encode(pair)))
            }
            POST => {
                body.append_pair("client_id", &self.client_id).append_pair("client_secret", secret);
                None
            }
            _ => {
                self.identify(body);
                None
            }
        }
    }

    fn identify(&self, body: &mut Serializer<'_, String>) {
        if !self.client_id.is_empty() {
            body.append_pair("client_id", &self.client_id);
        }
    }
}

const BASIC: &str = "client_secret_basic";
const POST: &str = "client_secret_post";

impl Credentials {
    /// Returns the value of the `Authorization` header.
    pub fn authorization(&self) -> String {
        let scheme = if self.is_bound { "DPoP" } else { "Bearer" };
        format!("{scheme} {}", self.access_token)
    }

    /// Returns the redirect URI of a client that was registered dynamically. Its refresh and
    /// further sign-ins need the same one.
    pub fn redirect_uri(&self) -> Option<&str> {
        self.registration.redirect_uri.as_deref()
    }
}

impl fmt::Debug for ClientRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientRegistration")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("registration", &self.registration)
            .field("resource", &self.resource)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

/// A dynamic registration.
///
/// Spec: [RFC 7591, section 2](https://www.rfc-editor.org/rfc/rfc7591.html#section-2)
#[derive(Serialize)]
pub(super) struct RegistrationRequest<'a> {
    pub(super) client_name: &'a str,
    pub(super) redirect_uris: [&'a str; 1],
    pub(super) grant_types: [&'static str; 2],
    pub(super) response_types: [&'static str; 1],
    pub(super) token_endpoint_auth_method: &'static str,
    pub(super) application_type: &'static str,
    /// Spec: [RFC 9449, section 5.2](https://www.rfc-editor.org/rfc/rfc9449.html#section-5.2)
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(super) dpop_bound_access_tokens: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
}

impl<'a> RegistrationRequest<'a> {
    pub(super) fn new(
        client_name: &'a str,
        redirect_uri: &'a str,
        server: &AuthorizationServerMetadata,
        scopes: &[String],
        dpop_bound_access_tokens: bool,
    ) -> Self {
        let supported = server.token_endpoint_auth_methods_supported.as_deref().unwrap_or_default();
        // A program on the user's machine cannot keep a secret, so it asks for none if it may.
        let method = ["none", BASIC, POST].into_iter();
        let method = method.into_iter().find(|method| supported.iter().any(|it| it == method));
        // Authorization servers reject a registration with scopes that they do not list, such as
        // those of a resource.
        let listed = server.scopes_supported.as_deref();
        let lists = |scope| listed.is_none_or(|listed| listed.contains(scope));
        let is_listed = !scopes.is_empty() && scopes.iter().all(lists);
        Self {
            client_name,
            redirect_uris: [redirect_uri],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: method.unwrap_or(BASIC),
            application_type: if is_native(redirect_uri) { "native" } else { "web" },
            dpop_bound_access_tokens,
            scope: is_listed.then(|| scopes.join(" ")),
        }
    }
}

/// Returns whether a redirect leads to a program on the user's machine: to a loopback address, or a
/// scheme of its own.
fn is_native(redirect_uri: &str) -> bool {
    !redirect_uri.starts_with("https:")
}

/// Spec: [RFC 7591, section 3.2.1](https://www.rfc-editor.org/rfc/rfc7591.html#section-3.2.1)
#[derive(Deserialize)]
pub(super) struct RegistrationResponse {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

/// Spec: [RFC 6749, section 5.1](https://www.rfc-editor.org/rfc/rfc6749.html#section-5.1)
#[derive(Deserialize)]
pub(super) struct TokenResponse {
    pub(super) access_token: String,
    pub(super) token_type: String,
    pub(super) refresh_token: Option<String>,
}

/// Spec: [RFC 6749, section 5.2](https://www.rfc-editor.org/rfc/rfc6749.html#section-5.2)
#[derive(Deserialize)]
pub(super) struct ErrorResponse {
    pub(super) error: String,
    pub(super) error_description: Option<String>,
}

impl ErrorResponse {
    pub(super) fn message(self) -> String {
        match self.error_description {
            Some(description) => format!("{}: {description}", self.error),
            None => self.error,
        }
    }
}
