//! Errors of sign-ins.
use alloc::string::String;
use jsonrpc_core::wire::DecodeError;

/// The reason why a sign-in failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// A URL is malformed, or uses plain HTTP to another machine.
    #[error("invalid URL of the {what}: expected https, or http to this machine, got `{url}`")]
    Url {
        /// Meaning of the URL.
        what: &'static str,
        /// The URL.
        url: String,
    },
    /// A server at a public address names a place in the network of this program.
    #[error("the URL of the {what} is not public, unlike that of the server: `{url}`")]
    Private {
        /// Meaning of the URL.
        what: &'static str,
        /// The URL.
        url: String,
    },
    /// The server requires authorization, but has no metadata.
    #[error("the server requires authorization, but has no protected resource metadata")]
    NoResourceMetadata,
    /// The metadata belongs to another server.
    #[error("the metadata belongs to `{actual}`, not to `{expected}`")]
    Resource {
        /// URL of the server.
        expected: String,
        /// The resource of the metadata.
        actual: String,
    },
    /// The metadata of the server lists no authorization server.
    #[error("the metadata of the server lists no authorization server")]
    NoAuthorizationServer,
    /// The authorization server has no metadata.
    #[error("the authorization server `{0}` has no metadata")]
    NoServerMetadata(String),
    /// The metadata of the authorization server, or its response, names another issuer.
    #[error("expected the issuer `{expected}`, got `{actual}`")]
    Issuer {
        /// Issuer that the server lists.
        expected: String,
        /// The issuer received; empty if it is missing.
        actual: String,
    },
    /// The authorization server has no page at which users sign in.
    #[error("the authorization server `{0}` has no page at which users sign in")]
    NoPage(String),
    /// The authorization server does not support PKCE with S256.
    #[error("the authorization server `{0}` does not support PKCE with S256")]
    NoPkce(String),
    /// The authorization server does not register clients, or the client has to be registered in
    /// advance.
    #[error(
        "the authorization server `{0}` does not know this client: register this client there, and configure its id"
    )]
    NoRegistration(String),
    /// The authorization server rejects the client, or the grant of the client.
    #[error(
        "the authorization server rejects this client ({0}): check its id, its secret or key, and the grants of its registration"
    )]
    Client(String),
    /// The response of an endpoint is an error.
    #[error("the {what} responded with status {status}: {message}")]
    Status {
        /// The endpoint.
        what: &'static str,
        /// HTTP status.
        status: u16,
        /// Error code and description, if the response contains them.
        message: String,
    },
    /// The response of an endpoint is invalid.
    #[error("invalid response of the {what}: {error}")]
    Decode {
        /// The endpoint.
        what: &'static str,
        /// The reason.
        error: DecodeError,
    },
    /// The redirect belongs to another sign-in. The sign-in still waits.
    #[error("the redirect belongs to another sign-in")]
    OtherSignIn,
    /// The authorization server rejected the sign-in, or the user did.
    #[error("the sign-in was rejected: {0}")]
    Denied(String),
    /// The redirect contains no code.
    #[error("the redirect contains no authorization code")]
    NoCode,
    /// The token has a type that the sign-in cannot use.
    #[error("expected a token of type {expected}, got `{actual}`")]
    TokenType {
        /// The types that can be used.
        expected: &'static str,
        /// The type of the token.
        actual: String,
    },
    /// The token contains characters that no header permits, or is empty.
    #[error("the token is not the value of a header")]
    NoHeaderValue,
    /// The server requires tokens that are bound to a key (DPoP), and the client has none.
    #[error("the server requires tokens that are bound to a key (DPoP), and this client has none")]
    NoDpopKey,
    /// Tokens have to be bound to the key of the client (DPoP), and the authorization server or the
    /// MCP server does not support its algorithm.
    #[error(
        "tokens of the authorization server `{0}` cannot be bound to the key of this client (DPoP)"
    )]
    NoDpop(String),
    /// The server rejects a token with all scopes that it requires.
    #[error("the server rejects the token, although the scopes it requires were requested: `{0}`")]
    Scope(String),
    /// Another browser returned from the page than the one that began the sign-in, which still
    /// waits.
    #[error("it was begun in another browser")]
    OtherBrowser,
    /// A request requires a sign-in of a user.
    #[error("a user has to sign in at the server")]
    NeedsUser,
    /// A request requires that the user grants further scopes.
    #[error("a user has to sign in at the server again, and to grant further permissions")]
    NeedsScopes,
    /// An endpoint cannot be reached.
    #[error("no response from the {what}: {reason}")]
    Unreachable {
        /// The endpoint.
        what: &'static str,
        /// The reason.
        reason: String,
    },
    /// The sign-in was cancelled.
    #[error("the sign-in was cancelled: {0}")]
    Cancelled(String),
}
