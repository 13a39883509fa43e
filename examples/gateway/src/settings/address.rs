//! Transport and credentials of an agent.
use super::{AgentSettings, Settings, SettingsError};
use crate::telemetry::variable;
use axum::http::HeaderValue;
use host::catalog::{Catalog, Launch, Programs};
use host::http::Secret;
use host::process::own_program;
use host::transport::{Address, Remote, RemoteError};
use std::collections::BTreeMap;
use std::fs;

/// The `User-Agent` header of requests to agents.
const USER_AGENT: &str = concat!("spanwire-gateway/", env!("CARGO_PKG_VERSION"));

impl AgentSettings {
    /// Returns the transport. A command does not inherit the variables with secrets. A missing
    /// command is an error at startup.
    pub(crate) fn address(
        &self,
        name: &str,
        settings: &Settings,
    ) -> Result<Address, SettingsError> {
        let secrets = settings.secret_variables();
        let wrong = |why: String| SettingsError::Agent { agent: name.to_owned(), why };
        let authorization = self.authorization().map_err(wrong)?;
        if authorization.is_some() && self.url.is_none() {
            return Err(wrong("a `token` is for an agent behind a `url`".to_owned()));
        }
        match (&self.command, &self.url) {
            (Some(_), Some(_)) => Err(SettingsError::TwoWays(name.to_owned())),
            (None, None) => {
                let own = own_program()?.to_string_lossy().into_owned();
                let words = vec![own, "demo-agent".to_owned()];
                let variables = BTreeMap::new();
                Ok(Address::Command { words, secrets, variables })
            }
            (None, Some(url)) => {
                let url = url.clone();
                let h2c = self.h2c;
                let user_agent = USER_AGENT;
                let remote = Remote { url, authorization, h2c, user_agent };
                remote.address().map_err(|error| match error {
                    RemoteError::Url(url) => SettingsError::Url(url),
                    error => wrong(error.to_string()),
                })
            }
            (Some(command), None) => {
                let catalog = Catalog::load(settings.agents_file.as_deref())?;
                if let Some(warning) = catalog.warning() {
                    tracing::warn!(agent = name, "{warning}");
                }
                let launch = catalog.launch(command, &Programs::of_environment())?;
                let Launch { words, variables, is_downloaded, .. } = launch;
                if is_downloaded {
                    tracing::warn!(agent = name, "not installed; running {}", words.join(" "));
                }
                Ok(Address::Command { words, secrets, variables })
            }
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
        Remote::bearer(token.reveal()).map(Some).map_err(|error| error.to_string())
    }
}
