//! Transport and credentials of an agent.
use super::{AgentSettings, SettingsError};
use acp_host::process::own_program;
use acp_host::transport::{Address, Remote};
use axum::http::{HeaderValue, Uri};
use http_access::Secret;
use run_telemetry::variable;
use std::fs;

/// The `User-Agent` header of requests to agents.
const USER_AGENT: &str = concat!("spanwire-gateway/", env!("CARGO_PKG_VERSION"));

impl AgentSettings {
    /// Returns the transport. A command does not inherit the variables of `secrets`. A missing command is an error at
    /// startup.
    pub(crate) fn address(
        &self,
        name: &str,
        secrets: Vec<String>,
    ) -> Result<Address, SettingsError> {
        let wrong = |why: String| SettingsError::Agent { agent: name.to_owned(), why };
        let authorization = self.authorization().map_err(wrong)?;
        if authorization.is_some() && self.url.is_none() {
            return Err(wrong("a `token` is for an agent behind a `url`".to_owned()));
        }
        match (&self.command, &self.url) {
            (Some(_), Some(_)) => Err(SettingsError::TwoWays(name.to_owned())),
            (None, None) => {
                let own = own_program()?.to_string_lossy().into_owned();
                Ok(Address::Command { words: vec![own, "demo-agent".to_owned()], secrets })
            }
            (None, Some(url)) => {
                let uri = url.parse::<Uri>().ok().filter(|uri| uri.host().is_some());
                let uri = uri.ok_or_else(|| SettingsError::Url(url.clone()))?;
                let has_user = uri.authority().is_some_and(|host| host.as_str().contains('@'));
                if authorization.is_some() && has_user {
                    return Err(wrong(
                        "expected a `token` or a user in `url`, got both".to_owned(),
                    ));
                }
                if self.h2c && uri.scheme_str() != Some("http") {
                    return Err(wrong("`h2c` is for an agent behind `http://…`".to_owned()));
                }
                let (url, h2c, user_agent) = (url.clone(), self.h2c, USER_AGENT);
                let remote = Remote { url, authorization, h2c, user_agent };
                match uri.scheme_str() {
                    Some("ws" | "wss") => Ok(Address::WebSocket(remote)),
                    Some("http" | "https") => Ok(Address::Http(remote)),
                    _ => Err(SettingsError::Url(remote.url)),
                }
            }
            (Some(command), None) => Address::command(command, secrets)
                .map_err(|error| SettingsError::Command(error.to_string())),
        }
    }

    /// Returns the header with the token, which is hidden in debug output and in errors.
    ///
    /// Spec: [RFC 6750, section 2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1)
    fn authorization(&self) -> Result<Option<HeaderValue>, String> {
        let token = match (&self.token, &self.token_file, &self.token_variable) {
            (None, None, None) => return Ok(None),
            (Some(token), None, None) => token.clone(),
            (None, Some(path), None) => match fs::read_to_string(path) {
                Ok(text) => Secret::from(text.trim().to_owned()),
                Err(error) => return Err(format!("token-file: {}: {error}", path.display())),
            },
            (None, None, Some(name)) => match variable(name) {
                Some(token) => Secret::from(token),
                None => return Err(format!("token-variable: {name} has no token in it")),
            },
            _ => {
                let expected = "one of `token`, `token-file` and `token-variable`";
                return Err(format!("expected {expected}, got more"));
            }
        };
        let is_of_token = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        let token = Some(token.reveal()).filter(|token| !token.is_empty());
        let header = token
            .filter(|token| token.chars().all(is_of_token))
            .and_then(|token| HeaderValue::from_str(&format!("Bearer {token}")).ok());
        let mut header = header.ok_or("what is set as `token` cannot be a bearer token")?;
        header.set_sensitive(true);
        Ok(Some(header))
    }
}
