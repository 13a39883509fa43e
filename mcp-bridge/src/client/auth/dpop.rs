//! Tokens that are bound to a key of the client (DPoP).
use super::challenge::Challenge;
use super::metadata::{AuthorizationServerMetadata, ProtectedResourceMetadata};
use super::{AuthError, Authorizer, Credentials};
use alloc::format;
use alloc::string::String;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use core::fmt;
use core::time::Duration;
use jsonrpc_core::wire::Raw;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Maximum length of a nonce in bytes. Longer ones are ignored.
const MAX_NONCE: usize = 1024;

/// The public key of a client, which tokens are bound to (DPoP). A stolen token is useless without
/// the private key.
///
/// The private key stays with the program, which signs a [proof](DpopProof) for each request. It
/// keeps the key as long as the [credentials](super::Credentials): with another key, the user has
/// to sign in again.
///
/// Spec: [DPoP Profile for
/// MCP](https://github.com/modelcontextprotocol/ext-auth/blob/pieterkasselman-dpop-extension/specification/draft/dpop-extension.mdx),
/// [RFC 9449](https://www.rfc-editor.org/rfc/rfc9449.html)
#[derive(Clone)]
#[non_exhaustive]
pub struct DpopKey {
    pub(super) alg: String,
    jwk: Raw,
    /// Whether all tokens have to be bound. If `false`, the default, tokens are bound where the MCP
    /// server names DPoP, in its challenge or its metadata, and its authorization server supports
    /// the algorithm; and elsewhere they are bearer tokens.
    pub is_required: bool,
}

impl DpopKey {
    /// Creates the key with this JWS algorithm, such as `ES256`, and this JSON Web Key, without the
    /// private members.
    pub fn new(alg: impl Into<String>, jwk: Raw) -> Self {
        Self { alg: alg.into(), jwk, is_required: false }
    }
}

impl fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DpopKey").field("alg", &self.alg).finish_non_exhaustive()
    }
}

/// A proof of possession of a [key](DpopKey) for one request, to be signed and sent as the `DPoP`
/// header. Each request needs its own, a repeated one too.
///
/// Spec: [RFC 9449, section 4.2](https://www.rfc-editor.org/rfc/rfc9449.html#section-4.2)
///
/// ```
/// use mcp_bridge::client::auth::DpopProof;
/// use core::time::Duration;
///
/// /// Returns the value of the header.
/// fn header(proof: &DpopProof, now: Duration, id: &str, sign: impl Fn(&[u8]) -> String) -> String {
///     let input = proof.signing_input(now, id);
///     let signature = sign(input.as_bytes());
///     format!("{input}.{signature}")
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct DpopProof {
    alg: String,
    jwk: Raw,
    htm: String,
    htu: String,
    ath: Option<String>,
    pub(super) nonce: Option<String>,
}

#[derive(Serialize)]
struct Header<'a> {
    typ: &'static str,
    alg: &'a str,
    jwk: &'a Raw,
}

#[derive(Serialize)]
struct Claims<'a> {
    jti: &'a str,
    htm: &'a str,
    htu: &'a str,
    iat: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ath: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
}

impl DpopProof {
    pub(super) fn new(
        key: &DpopKey,
        htm: &str,
        url: &str,
        access_token: Option<&str>,
        nonce: Option<&str>,
    ) -> Self {
        let htu = url.split(['?', '#']).next().unwrap_or_default();
        Self {
            alg: key.alg.clone(),
            jwk: key.jwk.clone(),
            htm: htm.into(),
            htu: htu.into(),
            ath: access_token.map(|token| URL_SAFE_NO_PAD.encode(Sha256::digest(token))),
            nonce: nonce.map(Into::into),
        }
    }

    /// Returns the header and the claims of the JWT, encoded for the signature. The JWT is this
    /// text, a dot, and the signature in base64url without padding.
    ///
    /// `issued_at` is the time since the Unix epoch, and `id` an unpredictable text for this
    /// request only, of at least 96 bits.
    ///
    /// Spec: [RFC 7515, section 5.1](https://www.rfc-editor.org/rfc/rfc7515.html#section-5.1)
    pub fn signing_input(&self, issued_at: Duration, id: &str) -> String {
        let header = Header { typ: "dpop+jwt", alg: &self.alg, jwk: &self.jwk };
        let claims = Claims {
            jti: id,
            htm: &self.htm,
            htu: &self.htu,
            iat: issued_at.as_secs(),
            ath: self.ath.as_deref(),
            nonce: self.nonce.as_deref(),
        };
        format!("{}.{}", encoded(&header), encoded(&claims))
    }
}

fn encoded(part: &impl Serialize) -> String {
    // Serialization of strings does not fail.
    URL_SAFE_NO_PAD.encode(serde_json::to_string(part).unwrap_or_default())
}

impl fmt::Debug for DpopProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DpopProof").finish_non_exhaustive()
    }
}

/// Whether the token of a sign-in is bound to the key of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenBinding {
    /// The token request has no proof.
    Bearer,
    /// The token request has a proof. The authorization server decides.
    Offered,
    /// The token request has a proof. An unbound token is rejected.
    Required,
}

impl TokenBinding {
    /// Returns whether a token of this type is bound.
    ///
    /// Spec: [RFC 9449, section 5](https://www.rfc-editor.org/rfc/rfc9449.html#section-5)
    pub(super) fn of_token(self, token_type: &str) -> Result<bool, AuthError> {
        let is = |name| token_type.eq_ignore_ascii_case(name);
        let expected = match self {
            Self::Bearer | Self::Offered if is("Bearer") => return Ok(false),
            Self::Offered | Self::Required if is("DPoP") => return Ok(true),
            Self::Bearer => "Bearer",
            Self::Offered => "DPoP or Bearer",
            Self::Required => "DPoP",
        };
        Err(AuthError::TokenType { expected, actual: token_type.into() })
    }
}

/// Returns a nonce that a proof can contain.
///
/// Spec: [RFC 9449, section 8.1](https://www.rfc-editor.org/rfc/rfc9449.html#section-8.1)
pub(super) fn valid_nonce(nonce: &str) -> Option<String> {
    let is_permitted = |byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~');
    let is_valid = (1..=MAX_NONCE).contains(&nonce.len()) && nonce.bytes().all(is_permitted);
    is_valid.then(|| nonce.into())
}

impl Authorizer {
    /// Returns the proof for a request to the MCP server, with
    /// [`authorization`](Self::authorization), if its token is bound to the key of the client.
    /// `method` is the HTTP method.
    pub fn proof(&self, method: &str) -> Option<DpopProof> {
        let key = self.options.dpop_key.as_ref()?;
        let bound = self.credentials.as_ref().filter(|credentials| credentials.is_bound)?;
        let token = Some(&*bound.access_token);
        let nonce = self.nonce.as_deref();
        Some(DpopProof::new(key, method, self.server.as_str(), token, nonce))
    }

    /// Returns whether the MCP server rejected a request, with this status and `WWW-Authenticate`
    /// header, only because its proof lacks the nonce of the response. Pass that to
    /// [`handle_server_nonce`](Self::handle_server_nonce), and send the request again with a new
    /// [`proof`](Self::proof), once.
    ///
    /// Spec: [RFC 9449, section 9](https://www.rfc-editor.org/rfc/rfc9449.html#section-9)
    pub fn needs_nonce(status: u16, header: Option<&str>) -> bool {
        status == 401 && header.is_some_and(|header| Challenge::read(header).needs_nonce)
    }

    /// Handles the `DPoP-Nonce` header of a response of the MCP server, with any status. Later
    /// proofs contain the nonce.
    pub fn handle_server_nonce(&mut self, nonce: &str) {
        self.nonce = valid_nonce(nonce).or(self.nonce.take());
    }

    /// Decides whether the token of a sign-in is bound.
    pub(super) fn binding(
        &self,
        challenge: &Challenge,
        resource: &ProtectedResourceMetadata,
        server: &AuthorizationServerMetadata,
        previous: Option<&Credentials>,
    ) -> Result<TokenBinding, AuthError> {
        let is_demanded = resource.dpop_bound_access_tokens_required == Some(true);
        let Some(key) = &self.options.dpop_key else {
            return if is_demanded { Err(AuthError::NoDpopKey) } else { Ok(TokenBinding::Bearer) };
        };
        let issuer_algs = server.dpop_signing_alg_values_supported.as_deref().unwrap_or_default();
        let server_algs = resource.dpop_signing_alg_values_supported.as_deref();
        let is_possible = issuer_algs.contains(&key.alg)
            && server_algs.is_none_or(|algs| algs.contains(&key.alg))
            && (challenge.dpop_algs.is_empty() || challenge.dpop_algs.contains(&key.alg));
        // Many authorization servers support DPoP for servers that accept bearer tokens only.
        let is_named = challenge.is_dpop
            || server_algs.is_some()
            || previous.is_some_and(|previous| previous.is_bound);
        match (is_demanded || key.is_required, is_possible) {
            (true, true) => Ok(TokenBinding::Required),
            (true, false) => Err(AuthError::NoDpop(server.issuer.clone())),
            (false, true) if is_named => Ok(TokenBinding::Offered),
            (false, _) => Ok(TokenBinding::Bearer),
        }
    }

    pub(super) fn issuer_nonce(&self, server: &AuthorizationServerMetadata) -> Option<&str> {
        let (issuer, nonce) = self.issuer_nonce.as_ref()?;
        (*issuer == server.issuer).then_some(nonce)
    }
}
