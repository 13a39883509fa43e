//! Users and their credentials: a bearer token, a token of an OpenID provider, or a header of a
//! proxy.
use crate::hexadecimal::hexadecimal;
use crate::http::grant::Grant;
use crate::http::oidc::{Oidc, OidcSettings, TokenError};
use crate::http::proxies::TrustedProxies;
use crate::http::secret::{MIN_LOCAL_TOKEN, MIN_TOKEN};
use crate::http::{AccessError, Principal, Secret};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, header};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// Bytes of a generated token.
const GENERATED: usize = 16;

/// Names of the settings of [`AuthSettings`] in a file.
const SETTINGS: [&str; 5] = ["required", "tokens", "trusted-header", "trusted-proxies", "oidc"];

/// User of a generated token.
const GENERATED_USER: &str = "user";

/// Separates the digest that binds a session to a token from other digests of the token.
const GRANT_DOMAIN: &[u8] = b"http-access session\0";

/// Maximum number of cookies of one name that are tried. Servers on other ports of the host can set
/// further ones.
const MAX_COOKIES: usize = 8;

/// Header with the key of a session.
pub(crate) const KEY_HEADER: HeaderName = HeaderName::from_static("sign-in-key");

/// Authentication of users.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AuthSettings {
    /// Whether callers need credentials. Without `tokens`, `trusted_header` and `oidc`, a token is
    /// generated at each start.
    pub required: bool,
    /// A bearer token for each name.
    pub tokens: BTreeMap<String, Secret>,
    /// A header in which a proxy names the user. The proxy has to remove it from requests of
    /// clients.
    pub trusted_header: Option<String>,
    /// Addresses of the proxies that may set the header. From others it is ignored.
    pub trusted_proxies: TrustedProxies,
    /// A provider of users with signed tokens.
    pub oidc: OidcSettings,
}

impl Default for AuthSettings {
    fn default() -> Self {
        let trusted_proxies = TrustedProxies::default();
        let oidc = OidcSettings::default();
        let tokens = BTreeMap::new();
        let trusted_header = None;
        Self { required: true, tokens, trusted_header, trusted_proxies, oidc }
    }
}

impl AuthSettings {
    /// Checks that no token is empty, which would leave the server open by mistake, or shorter than
    /// [`MIN_LOCAL_TOKEN`], and that no user has the name of a setting of `[auth]`, which was
    /// written below `[auth.tokens]` by mistake.
    ///
    /// # Errors
    /// [`AccessError::EmptyToken`], [`AccessError::GuessableToken`], [`AccessError::SettingAsUser`]
    pub fn check_tokens(&self) -> Result<(), AccessError> {
        for (user, token) in &self.tokens {
            if SETTINGS.contains(&user.as_str()) {
                return Err(AccessError::SettingAsUser(user.clone()));
            }
            match token.reveal().chars().count() {
                0 => return Err(AccessError::EmptyToken(user.clone())),
                length if length < MIN_LOCAL_TOKEN => {
                    return Err(AccessError::GuessableToken(user.clone(), length));
                }
                _ => {}
            }
        }
        Ok(())
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
    Valid(Grant),
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
    /// Whether callers can have different names.
    pub(crate) has_several: bool,
    /// Whether a token can be guessed in reasonable time.
    pub(crate) is_guessable: bool,
}

#[derive(Debug)]
struct Token {
    user: Principal,
    digest: [u8; 32],
}

impl Token {
    fn new(user: &str, token: &str) -> Self {
        Self { user: user.into(), digest: Sha256::digest(token).into() }
    }

    fn grant(&self) -> Grant {
        let credential = Sha256::new().chain_update(GRANT_DOMAIN).chain_update(self.digest);
        let credential = hexadecimal(&credential.finalize());
        Grant { user: self.user.clone(), credential, until: None }
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
            has_several: settings.has_several_users(),
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

    /// Returns the credentials of a request that needs no token: a proxy names its user, or the
    /// server has no authentication.
    pub(crate) fn without_token(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Option<Credentials> {
        let named = |name: &str| {
            let credential = String::new();
            Credentials::Valid(Grant { user: name.into(), credential, until: None })
        };
        if !self.required {
            return Some(named(""));
        }
        let header = self.trusted_header.as_ref();
        let header =
            header.filter(|_| peer.is_some_and(|peer| self.trusted_proxies.contains(peer)))?;
        match &*headers.get_all(header).iter().collect::<Vec<_>>() {
            [] => None,
            [name] if name.is_empty() => None,
            [name] => {
                Some(std::str::from_utf8(name.as_bytes()).map_or(Credentials::Unclear, named))
            }
            // A proxy that adds its header to that of a client does not say which one is right.
            _ => Some(Credentials::Unclear),
        }
    }

    /// Returns the user of a token: of the settings, or of the OpenID provider.
    pub(crate) fn with_token(&self, token: &[u8]) -> Credentials {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let known = self.matching(|known| known.digest.ct_eq(&digest).into());
        known.map_or_else(|| self.with_signed(token), Credentials::Valid)
    }

    /// Returns whether a user still has the token, or the provider, with which a session began.
    pub(crate) fn has_granted(&self, (user, credential): (&str, &str)) -> bool {
        let is_signed = self.oidc.as_ref().is_some_and(|oidc| oidc.credential() == credential);
        let mut of_user = self.tokens.iter().filter(|token| token.user.as_str() == user);
        is_signed || of_user.any(|token| token.grant().credential == credential)
    }

    /// Returns the user of a token of the OpenID provider.
    fn with_signed(&self, token: &[u8]) -> Credentials {
        let Some(oidc) = &self.oidc else { return Credentials::Invalid };
        oidc.user(token).map_or_else(Credentials::Rejected, Credentials::Valid)
    }

    /// Compares all tokens, so that the time does not depend on which one matches.
    fn matching(&self, is_it: impl Fn(&Token) -> bool) -> Option<Grant> {
        let matching = self.tokens.iter().filter(|known| is_it(known));
        matching.fold(None, |_, known| Some(known.grant()))
    }
}

/// Returns the name of the cookie, with the port that the client uses.
pub(crate) fn cookie_name(request: &Parts) -> String {
    let host = request.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or(request.uri.authority().map(Authority::as_str)).unwrap_or_default();
    format!("gateway-{}", cookie_suffix(host))
}

/// Returns the port of a host, for the name of a cookie: servers on different ports of one host
/// share the cookies of that host. `web` for the default port.
#[must_use]
pub fn cookie_suffix(host: &str) -> &str {
    let port = host.rsplit_once(':').map(|(_, port)| port);
    port.filter(|port| port.parse::<u16>().is_ok()).unwrap_or("web")
}

/// Returns the bearer token of a request. The inner value is `None` with other credentials.
///
/// Spec: [RFC 6750, section 2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1)
pub(crate) fn bearer_token(headers: &HeaderMap) -> Option<Option<&[u8]>> {
    let given = headers.get(header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = given.split_at_checked("Bearer ".len()).unwrap_or_default();
    Some(scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token))
}

/// Returns the values of a cookie of a request: the same name may have been set for several paths
/// and by other ports.
pub fn cookies_of<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lists = headers.get_all(header::COOKIE).into_iter().filter_map(|list| list.to_str().ok());
    let pairs = lists.flat_map(|list| list.split(';')).filter_map(|pair| pair.split_once('='));
    let named = pairs.filter(move |(key, _)| key.trim() == name);
    named.map(|(_, value)| value.trim()).take(MAX_COOKIES)
}
