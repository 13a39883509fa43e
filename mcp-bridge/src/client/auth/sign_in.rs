//! One sign-in at an authorization server: its page, its redirect and its token.
use super::challenge::Challenge;
use super::credentials::{ClientRegistration, Credentials, TokenResponse};
use super::dpop::TokenBinding;
use super::metadata::{AuthorizationServerMetadata, ProtectedResourceMetadata};
use super::{AuthError, AuthRequest, discovery};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use core::fmt;
use jsonrpc_core::wire;
use sha2::{Digest, Sha256};
use url::Url;
use url::form_urlencoded::{self, Serializer};

/// Scope of refresh tokens.
///
/// Spec: [OpenID Connect Core, section
/// 11](https://openid.net/specs/openid-connect-core-1_0.html#OfflineAccess)
const OFFLINE_ACCESS: &str = "offline_access";

const CLIENT_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Verifier of PKCE, and state.
#[derive(Clone)]
pub(super) struct Secrets {
    verifier: String,
    state: String,
}

impl Secrets {
    pub(super) fn new(random: &[u8; 64]) -> Self {
        let (verifier, state) = random.split_at(32);
        Self { verifier: URL_SAFE_NO_PAD.encode(verifier), state: URL_SAFE_NO_PAD.encode(state) }
    }

    /// Returns the identifier of a JWT for a sign-in without a page: another one if the JWT is
    /// requested again.
    pub(super) fn assertion_id(&self, is_repeated: bool) -> &str {
        if is_repeated { &self.verifier } else { &self.state }
    }

    /// Spec: [RFC 7636, section 4.2](https://www.rfc-editor.org/rfc/rfc7636.html#section-4.2)
    fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(&self.verifier))
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

/// The authorization server of an MCP server, and the scopes to request.
#[derive(Debug)]
pub(super) struct AuthorizationTarget {
    /// The resource identifier, as published.
    pub(super) resource: String,
    pub(super) server: AuthorizationServerMetadata,
    pub(super) scopes: Vec<String>,
    pub(super) binding: TokenBinding,
    pub(super) secrets: Secrets,
}

/// Returns the scopes to request: those of the challenge or else all of the server, together with
/// those requested before.
///
/// Spec: [Scope Selection
/// Strategy](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-selection-strategy)
pub(super) fn scopes(
    challenge: &Challenge,
    resource: &ProtectedResourceMetadata,
    offered: &[String],
    previous: Option<&Credentials>,
) -> Vec<String> {
    let required = match challenge.scopes.is_empty() {
        true => resource.scopes_supported.as_deref().unwrap_or_default(),
        false => &challenge.scopes[..],
    };
    // Without another scope, the authorization server selects the scopes.
    let offline = offered.iter().filter(|scope| *scope == OFFLINE_ACCESS && !required.is_empty());
    let mut scopes = previous.map(|previous| previous.scopes.clone()).unwrap_or_default();
    for scope in required.iter().chain(offline) {
        if !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
    scopes
}

/// Checks that the authorization server has a page, with PKCE.
pub(super) fn check_page(server: &AuthorizationServerMetadata) -> Result<(), AuthError> {
    let methods = server.code_challenge_methods_supported.as_deref().unwrap_or_default();
    if !methods.iter().any(|method| method == "S256") {
        return Err(AuthError::NoPkce(server.issuer.clone()));
    }
    page_url(server).map(drop)
}

fn page_url(server: &AuthorizationServerMetadata) -> Result<Url, AuthError> {
    let endpoint = server.authorization_endpoint.as_deref();
    let endpoint = endpoint.ok_or_else(|| AuthError::NoPage(server.issuer.clone()))?;
    discovery::secure_url("authorization endpoint", endpoint)
}

/// A sign-in of a known client.
#[derive(Debug)]
pub(super) struct SignIn {
    pub(super) found: AuthorizationTarget,
    client: ClientRegistration,
    /// The last token request with a proof.
    pub(super) sent: Option<AuthRequest>,
    /// Whether the token is requested again with a nonce.
    pub(super) is_repeated: bool,
}

impl SignIn {
    pub(super) fn new(found: AuthorizationTarget, client: ClientRegistration) -> Self {
        Self { found, client, sent: None, is_repeated: false }
    }

    /// Returns the URL of the page that the user opens.
    pub(super) fn page(&self, redirect_uri: &str) -> Result<String, AuthError> {
        let AuthorizationTarget { resource, server, scopes, secrets, .. } = &self.found;
        let mut url = page_url(server)?;
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.client.client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("code_challenge", &secrets.challenge())
            .append_pair("code_challenge_method", "S256")
            .append_pair("state", &secrets.state)
            .append_pair("resource", resource);
        if !scopes.is_empty() {
            query.append_pair("scope", &scopes.join(" "));
        }
        if scopes.iter().any(|scope| scope == OFFLINE_ACCESS) {
            query.append_pair("prompt", "consent");
        }
        drop(query);
        Ok(url.into())
    }

    /// Returns whether a redirect belongs to this sign-in.
    pub(super) fn owns(&self, redirect: &str) -> bool {
        parameter(redirect, "state").is_some_and(|state| *state == self.found.secrets.state)
    }

    /// Returns the authorization code of a redirect.
    pub(super) fn code(&self, redirect: &str) -> Result<String, AuthError> {
        let server = &self.found.server;
        let issuer = parameter(redirect, "iss");
        let is_required = server.authorization_response_iss_parameter_supported == Some(true);
        // Compared without normalization, see RFC 9207, section 2.4.
        let is_valid = issuer.as_deref().map_or(!is_required, |issuer| issuer == server.issuer);
        if !is_valid {
            let actual = issuer.unwrap_or_default().into_owned();
            return Err(AuthError::Issuer { expected: server.issuer.clone(), actual });
        }
        if let Some(error) = parameter(redirect, "error") {
            let description = parameter(redirect, "error_description");
            let description = description.map(|text| format!(": {text}")).unwrap_or_default();
            return Err(AuthError::Denied(format!("{error}{description}")));
        }
        let code = parameter(redirect, "code").filter(|code| !code.is_empty());
        code.map(Cow::into_owned).ok_or(AuthError::NoCode)
    }

    /// Returns the request of a token for an authorization code.
    pub(super) fn exchange(&self, code: &str, redirect_uri: &str) -> AuthRequest {
        let pairs = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", &self.found.secrets.verifier),
        ];
        self.token_request(&pairs, None)
    }

    /// Returns the request of a new token for a refresh token, if there is one.
    pub(super) fn refresh(&self, previous: &Credentials) -> Option<AuthRequest> {
        let token = previous.refresh_token.as_deref()?;
        let pairs = [("grant_type", "refresh_token"), ("refresh_token", token)];
        Some(self.token_request(&pairs, None))
    }

    /// Returns the request of a token without a page. The client authenticates with
    /// `client_assertion`, or as it is registered.
    pub(super) fn grant(
        &self,
        pairs: &[(&str, &str)],
        client_assertion: Option<&str>,
    ) -> AuthRequest {
        let scopes = self.found.scopes.join(" ");
        let scope = (!scopes.is_empty()).then_some(("scope", &*scopes));
        let pairs: Vec<_> = pairs.iter().copied().chain(scope).collect();
        self.token_request(&pairs, client_assertion)
    }

    fn token_request(&self, pairs: &[(&str, &str)], client_assertion: Option<&str>) -> AuthRequest {
        let AuthorizationTarget { resource, server, .. } = &self.found;
        let mut body = Serializer::new(String::new());
        body.extend_pairs(pairs).append_pair("resource", resource);
        let authorization = match client_assertion {
            Some(jwt) => {
                body.append_pair("client_assertion_type", CLIENT_ASSERTION)
                    .append_pair("client_assertion", jwt);
                None
            }
            None => self.client.authenticate(server, &mut body),
        };
        let body = Some(("application/x-www-form-urlencoded", body.finish()));
        AuthRequest { url: server.token_endpoint.clone(), body, authorization, proof: None }
    }

    /// Reads a token response. `previous` are the credentials that were refreshed.
    pub(super) fn credentials(
        self,
        previous: Option<Credentials>,
        body: &str,
    ) -> Result<Credentials, AuthError> {
        let token = wire::decode_serde::<TokenResponse>(body);
        let token = token.map_err(|error| AuthError::Decode { what: "token endpoint", error })?;
        let is_bound = self.found.binding.of_token(&token.token_type)?;
        let is_header_value = |byte: u8| (b'!'..=b'~').contains(&byte);
        if token.access_token.is_empty() || !token.access_token.bytes().all(is_header_value) {
            return Err(AuthError::NoHeaderValue);
        }
        let (scopes, earlier) = match previous {
            Some(previous) => (previous.scopes, previous.refresh_token),
            None => (self.found.scopes, None),
        };
        Ok(Credentials {
            registration: self.client,
            resource: self.found.resource,
            scopes,
            access_token: token.access_token,
            is_bound,
            refresh_token: token.refresh_token.or(earlier),
        })
    }
}

/// Returns a parameter of the query of a URL.
fn parameter<'a>(url: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let query = url.split_once('?')?.1;
    let query = query.split('#').next().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value)
}
