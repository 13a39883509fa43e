//! Agents behind a URL.
use super::Address;
use reqwest::header::HeaderValue;
use reqwest::{StatusCode, Url};
use std::time::Duration;

/// How long a connection may take to open.
pub(super) const DIAL_TIME: Duration = Duration::from_secs(10);

/// Maximum number of bytes of a message, as of a line.
pub(super) const MAX_FRAME: usize = jsonrpc_core::framing::Lines::DEFAULT_LIMIT;

/// Replaces the token where an agent repeats it.
const HIDDEN: &str = "(hidden)";

/// An agent behind a URL.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Where it is.
    pub url: String,
    /// The `Authorization` header with the bearer token, marked as sensitive.
    pub authorization: Option<HeaderValue>,
    /// Whether it speaks HTTP/2 without TLS.
    ///
    /// Spec: [RFC 9113, section 3.3](https://www.rfc-editor.org/rfc/rfc9113#section-3.3)
    pub h2c: bool,
    /// The `User-Agent` header.
    pub user_agent: &'static str,
}

/// The description of an agent behind a URL is contradictory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The URL has another scheme, or no host.
    #[error("expected ws://…, wss://…, http://… or https://…, got `{0}`")]
    Url(String),
    /// There are two credentials.
    #[error("expected a `token` or a user in `url`, got both")]
    Credentials,
    /// The token has characters that a bearer token cannot have.
    #[error("what is set as `token` cannot be a bearer token")]
    Token,
    /// HTTP/2 without TLS is for `http://…`.
    #[error("`h2c` is for an agent behind `http://…`")]
    H2c,
}

impl Remote {
    /// Returns the header with a bearer token, which is not shown where the header is printed. Nor
    /// does the error show it.
    ///
    /// Spec: [RFC 6750, section 2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1)
    ///
    /// # Errors
    /// The token is empty, or has characters that a bearer token cannot have.
    pub fn bearer(token: &str) -> Result<HeaderValue, RemoteError> {
        let is_of_token = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        if token.is_empty() || !token.chars().all(is_of_token) {
            return Err(RemoteError::Token);
        }
        let header = HeaderValue::from_str(&format!("Bearer {token}"));
        let mut header = header.map_err(|_| RemoteError::Token)?;
        header.set_sensitive(true);
        Ok(header)
    }

    /// Returns the address: a WebSocket or Streamable HTTP, by the scheme of the URL.
    ///
    /// # Errors
    /// See [`RemoteError`].
    pub fn address(self) -> Result<Address, RemoteError> {
        let url = Url::parse(&self.url).ok().filter(Url::has_host);
        let url = url.ok_or_else(|| RemoteError::Url(redacted(&self.url)))?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if self.authorization.is_some() && has_user {
            return Err(RemoteError::Credentials);
        }
        if self.h2c && url.scheme() != "http" {
            return Err(RemoteError::H2c);
        }
        match url.scheme() {
            "ws" | "wss" => Ok(Address::WebSocket(self)),
            "http" | "https" => Ok(Address::Http(self)),
            _ => Err(RemoteError::Url(redacted(&self.url))),
        }
    }

    /// Describes a status 401 or 403.
    pub(super) fn denied(&self, status: StatusCode, said: &str) -> Option<String> {
        if ![StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status) {
            return None;
        }
        let with = if self.authorization.is_some() { "with this token" } else { "without a token" };
        let why = format!("the agent denies access {with}: {status}: {said}");
        Some(why.trim_end_matches(": ").to_owned())
    }

    /// Returns the agent's words without the token.
    pub(super) fn quote(&self, said: &str) -> String {
        let token = self.authorization.as_ref().and_then(|header| header.to_str().ok());
        match token.and_then(|header| header.strip_prefix("Bearer ")) {
            Some(token) => said.replace(token, HIDDEN),
            None => said.to_owned(),
        }
    }
}

/// Returns a URL without its user, query and fragment, which may be secrets. Other text is returned
/// as it is.
#[must_use]
pub fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}
