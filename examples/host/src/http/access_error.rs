//! Why settings of access cannot be used.
use crate::http::oidc::SourceError;
use crate::http::secret::{MIN_LOCAL_TOKEN, MIN_TOKEN};
use crate::http::tls::TlsError;
use std::net::SocketAddr;

/// The settings of access cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// A listener beyond loopback without users.
    #[error(
        "--listen: others can reach {0}: set auth.tokens, auth.oidc.issuer or auth.trusted-header"
    )]
    Open(SocketAddr),
    /// A listener beyond loopback in clear.
    #[error(
        "--listen: others can reach {0}, and read tokens and chats: set site.tls-cert and site.tls-key; or allow it with \
         --clear-text, for example behind a TLS proxy"
    )]
    ClearText(SocketAddr),
    /// A certificate that cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Users, and no authentication.
    #[error(
        "auth.required: expected true with auth.tokens, auth.oidc or auth.trusted-header, got false (--no-auth)"
    )]
    Contradiction,
    /// An empty token.
    #[error("auth.tokens.{0}: expected a token, got an empty one")]
    EmptyToken(String),
    /// A token that can be guessed.
    #[error(
        "auth.tokens.{0}: expected at least {MIN_LOCAL_TOKEN} characters, got {1}; `openssl rand -hex 16` prints a token"
    )]
    GuessableToken(String, usize),
    /// A setting that was written below the tokens.
    #[error("auth.tokens.{0}: expected the name of a user, got a setting; write it in [auth]")]
    SettingAsUser(String),
    /// A token that can be guessed, on a listener beyond loopback.
    #[error(
        "auth.tokens.{0}: expected at least {MIN_TOKEN} characters, got fewer; `openssl rand -hex 16` prints a token"
    )]
    ShortToken(String),
    /// A trusted header of any sender.
    #[error(
        "auth.trusted-proxies: expected the addresses of the proxies that set auth.trusted-header, such as 127.0.0.1, got none"
    )]
    Proxies,
    /// Not a name of a header.
    #[error("auth.trusted-header: `{0}` is no name of a header")]
    Header(String),
    /// Settings of an OpenID provider without the provider.
    #[error("auth.oidc: expected auth.oidc.issuer beside the other settings, got none")]
    OidcIssuer,
    /// An OpenID provider without an audience: its tokens for other servers would be accepted.
    #[error("auth.oidc.audience: expected the `aud` of tokens for this server, got none")]
    OidcAudience,
    /// No permitted algorithm.
    #[error(
        "auth.oidc.algorithms: expected at least one of RS256, PS256, ES256 and EdDSA, got none"
    )]
    OidcAlgorithms,
    /// No claim for the name of a user.
    #[error("auth.oidc.user-claim: expected the name of a claim, such as sub, got an empty one")]
    OidcUserClaim,
    /// Two sources of keys.
    #[error("auth.oidc: expected one of jwks-file and jwks-url, got both")]
    OidcTwoSources,
    /// The keys of an OpenID provider cannot be read: the setting, and the reason.
    #[error("{0}: {1}")]
    OidcSource(&'static str, SourceError),
    /// The HTTP client cannot be created.
    #[error("auth.oidc: no HTTP client: {0}")]
    OidcClient(String),
    /// Not an origin.
    #[error("site.origins: expected scheme://host, got `{0}`")]
    Origin(String),
    /// The system provides no random numbers.
    #[error("cannot generate a token: {0}")]
    Random(String),
}
