//! Users and their credentials: a bearer token, a session in its place, a token of an OpenID provider, or a header of a proxy.
use crate::oidc::{Oidc, OidcSettings, TokenError};
use crate::proxies::TrustedProxies;
use crate::{AccessError, Secret};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// Minimum number of characters of a token, unless the listener is on loopback.
pub const MIN_TOKEN: usize = 16;

/// Bytes of a generated token.
const GENERATED: usize = 16;

/// User of a generated token.
const GENERATED_USER: &str = "user";

/// Maximum size of a token of an OpenID provider in a cookie, in bytes. Browsers ignore a cookie of more than 4096 bytes.
const MAX_COOKIE: usize = 3800;

/// Separate the digests of a session from that of its token.
const COOKIE_DOMAIN: &[u8] = b"http-access cookie\0";
const KEY_DOMAIN: &[u8] = b"http-access key\0";

/// Header with the key of a session.
pub(crate) const KEY_HEADER: HeaderName = HeaderName::from_static("sign-in-key");

/// A user. The empty name is that of all callers of a server without authentication.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl From<&str> for Principal {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl Principal {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Authentication of users.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AuthSettings {
    /// Whether callers need credentials. Without `tokens`, `trusted_header` and `oidc`, a token is generated at each start.
    pub required: bool,
    /// A bearer token for each name.
    pub tokens: BTreeMap<String, Secret>,
    /// A header in which a proxy names the user. The proxy has to remove it from requests of clients.
    pub trusted_header: Option<String>,
    /// Addresses of the proxies that may set the header. From others it is ignored.
    pub trusted_proxies: TrustedProxies,
    /// A provider of users with signed tokens.
    pub oidc: OidcSettings,
}

impl Default for AuthSettings {
    fn default() -> Self {
        let (trusted_proxies, oidc) = (TrustedProxies::default(), OidcSettings::default());
        let (tokens, trusted_header) = (BTreeMap::new(), None);
        Self { required: true, tokens, trusted_header, trusted_proxies, oidc }
    }
}

impl AuthSettings {
    /// Checks that no token is empty, which would leave the server open by mistake.
    ///
    /// # Errors
    /// [`AccessError::EmptyToken`]
    pub fn check_tokens(&self) -> Result<(), AccessError> {
        match self.tokens.iter().find(|(_, token)| token.reveal().is_empty()) {
            Some((user, _)) => Err(AccessError::EmptyToken(user.clone())),
            None => Ok(()),
        }
    }

    /// Returns whether callers can have different names.
    #[must_use]
    pub fn has_several_users(&self) -> bool {
        let are_named = self.trusted_header.is_some() || self.oidc.issuer.is_some();
        self.tokens.len() > 1 || are_named
    }
}

/// Result of looking for credentials in a request.
#[derive(Debug, PartialEq)]
pub(crate) enum Credentials {
    Valid(Principal),
    Missing,
    Invalid,
    /// A token of the OpenID provider is not accepted.
    Rejected(TokenError),
    /// A trusted proxy names several users, or not in UTF-8.
    Unclear,
}

/// The users of a server.
#[derive(Debug)]
pub(crate) struct Users {
    tokens: Vec<Token>,
    trusted_header: Option<HeaderName>,
    trusted_proxies: TrustedProxies,
    pub(crate) oidc: Option<Arc<Oidc>>,
    required: bool,
    /// Whether the token was generated at the start.
    pub(crate) is_generated: bool,
    /// Whether a token can be guessed in reasonable time.
    pub(crate) is_guessable: bool,
}

#[derive(Debug)]
struct Token {
    user: Principal,
    digest: [u8; 32],
    /// Stands for the token. It cannot be turned back into a token of sufficient length.
    session: Session,
}

/// A session of a browser, in place of a token.
///
/// A browser sends the cookies of a host to all ports of that host, also to a server that an agent has started. The cookie is
/// therefore valid only with its key, which the page keeps: storage of pages is separate for each port.
///
/// Spec: [RFC 6265, section 8.5](https://www.rfc-editor.org/rfc/rfc6265#section-8.5)
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) cookie: String,
    pub(crate) key: String,
}

impl Session {
    fn new(token: &[u8]) -> Self {
        let digest = |domain| {
            hexadecimal(&Sha256::new().chain_update(domain).chain_update(token).finalize())
        };
        Self { cookie: digest(COOKIE_DOMAIN), key: digest(KEY_DOMAIN) }
    }

    /// Splits a token of an OpenID provider: the key is its signature.
    fn of_signed(token: &[u8]) -> Option<Self> {
        let (content, signature) = std::str::from_utf8(token).ok()?.rsplit_once('.')?;
        (content.len() <= MAX_COOKIE)
            .then(|| Self { cookie: content.to_owned(), key: signature.to_owned() })
    }
}

impl Token {
    fn new(user: &str, token: &str) -> Self {
        let (digest, session) = (Sha256::digest(token).into(), Session::new(token.as_bytes()));
        Self { user: user.into(), digest, session }
    }
}

impl Users {
    /// Returns the users, and the generated token if there is one.
    pub(crate) fn new(
        settings: &AuthSettings,
        listen: SocketAddr,
    ) -> Result<(Self, Option<Secret>), AccessError> {
        let AuthSettings { required, tokens, trusted_header, trusted_proxies, oidc } = settings;
        let oidc = Oidc::new(oidc)?;
        let is_configured = !tokens.is_empty() || trusted_header.is_some() || oidc.is_some();
        if !required && is_configured {
            return Err(AccessError::Contradiction);
        }
        if !listen.ip().is_loopback() && !is_configured {
            return Err(AccessError::Open(listen));
        }
        if trusted_header.is_some() && trusted_proxies.is_empty() {
            return Err(AccessError::Proxies);
        }
        settings.check_tokens()?;
        let short = tokens.iter().find(|(_, token)| token.reveal().chars().count() < MIN_TOKEN);
        if let Some((user, _)) = short.filter(|_| !listen.ip().is_loopback()) {
            return Err(AccessError::ShortToken(user.clone()));
        }
        let trusted_header = trusted_header
            .as_ref()
            .map(|name| name.parse().map_err(|_| AccessError::Header(name.clone())))
            .transpose()?;
        let mut users = Self {
            tokens: tokens.iter().map(|(user, token)| Token::new(user, token.reveal())).collect(),
            trusted_header,
            trusted_proxies: trusted_proxies.clone(),
            oidc,
            required: *required,
            is_generated: false,
            is_guessable: short.is_some(),
        };
        if is_configured || !required {
            return Ok((users, None));
        }
        let mut bytes = [0; GENERATED];
        getrandom::fill(&mut bytes).map_err(|error| AccessError::Random(error.to_string()))?;
        let token = hexadecimal(&bytes);
        users.tokens.push(Token::new(GENERATED_USER, &token));
        users.is_generated = true;
        Ok((users, Some(token.into())))
    }

    /// Looks for the credentials of a request. A session is valid with its key only, unless pages have no scripts.
    ///
    /// Spec: [RFC 6750, section 2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1)
    pub(crate) fn credentials(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        needs_key: bool,
    ) -> Credentials {
        if !self.required {
            return Credentials::Valid("".into());
        }
        let header = self.trusted_header.as_ref();
        let header =
            header.filter(|_| peer.is_some_and(|peer| self.trusted_proxies.contains(peer)));
        let named = header.map(|name| headers.get_all(name).iter().collect::<Vec<_>>());
        match named.as_deref() {
            None | Some([]) => {}
            Some([name]) if name.is_empty() => {}
            Some([name]) => {
                return match std::str::from_utf8(name.as_bytes()) {
                    Ok(name) => Credentials::Valid(name.into()),
                    Err(_) => Credentials::Unclear,
                };
            }
            // A proxy that adds its header to that of a client does not say which one is right.
            Some(_) => return Credentials::Unclear,
        }
        if let Some(authorization) = headers.get(header::AUTHORIZATION) {
            let given = authorization.as_bytes().split_at_checked("Bearer ".len());
            return match given {
                Some((scheme, given)) if scheme.eq_ignore_ascii_case(b"Bearer ") => {
                    self.with_token(given)
                }
                _ => Credentials::Missing,
            };
        }
        let Some(cookie) = cookie_of(headers, &cookie_name(headers)) else {
            return Credentials::Missing;
        };
        let key = headers.get(KEY_HEADER).map(HeaderValue::as_bytes);
        if needs_key && key.is_none() {
            return Credentials::Missing;
        }
        match self.with_session(cookie.as_bytes(), key.filter(|_| needs_key)) {
            Credentials::Invalid if self.is_guessable => Credentials::Invalid,
            // A session of an earlier start, or with an expired token, is no attempt to guess.
            Credentials::Invalid => Credentials::Missing,
            Credentials::Rejected(error) if error.is_about_token() => Credentials::Missing,
            credentials => credentials,
        }
    }

    /// Returns the user of a token: of the settings, or of the OpenID provider.
    pub(crate) fn with_token(&self, token: &[u8]) -> Credentials {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let known = self.matching(|known| known.digest.ct_eq(&digest).into());
        known.map_or_else(|| self.with_signed(token), Credentials::Valid)
    }

    fn with_session(&self, cookie: &[u8], key: Option<&[u8]>) -> Credentials {
        let known = self.matching(|Token { session, .. }| {
            let is_key = key.map_or(1.into(), |key| session.key.as_bytes().ct_eq(key));
            (session.cookie.as_bytes().ct_eq(cookie) & is_key).into()
        });
        let signed = || self.with_signed(&[cookie, key.unwrap_or_default()].join(&b'.'));
        known.map_or_else(signed, Credentials::Valid)
    }

    /// Returns the user of a token of the OpenID provider.
    fn with_signed(&self, token: &[u8]) -> Credentials {
        let Some(oidc) = &self.oidc else { return Credentials::Invalid };
        oidc.user(token).map_or_else(Credentials::Rejected, Credentials::Valid)
    }

    /// Returns the session for a valid token; `None` if the token does not fit into one. It stands for a token of the settings.
    /// A token of the OpenID provider is split: it expires, and all replicas can verify it.
    pub(crate) fn session(&self, token: &[u8]) -> Option<Session> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        if self.matching(|known| known.digest.ct_eq(&digest).into()).is_some() {
            return Some(Session::new(token));
        }
        Session::of_signed(token)
    }

    /// Compares all tokens, so that the time does not depend on which one matches.
    fn matching(&self, is_it: impl Fn(&Token) -> bool) -> Option<Principal> {
        let matching = self.tokens.iter().filter(|known| is_it(known));
        matching.fold(None, |_, known| Some(known.user.clone()))
    }
}

/// Returns the name of the cookie, with the port that the client uses.
pub(crate) fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    format!("gateway-{}", cookie_suffix(host))
}

/// Returns the port of a host, for the name of a cookie: servers on different ports of one host share the cookies of that
/// host. `web` for the default port.
#[must_use]
pub fn cookie_suffix(host: &str) -> &str {
    let port = host.rsplit_once(':').map(|(_, port)| port);
    port.filter(|port| port.parse::<u16>().is_ok()).unwrap_or("web")
}

/// Returns the token or session of a request, which the OpenID provider may have signed.
pub(crate) fn signed_token(headers: &HeaderMap) -> Option<Cow<'_, [u8]>> {
    if let Some(given) = headers.get(header::AUTHORIZATION) {
        return Some(given.as_bytes().split_at_checked("Bearer ".len())?.1.into());
    }
    let content = cookie_of(headers, &cookie_name(headers))?.as_bytes();
    Some([content, headers.get(KEY_HEADER)?.as_bytes()].join(&b'.').into())
}

/// Returns the value of a cookie of a request.
#[must_use]
pub fn cookie_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lists = headers.get_all(header::COOKIE).into_iter().filter_map(|list| list.to_str().ok());
    let mut pairs = lists.flat_map(|list| list.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
