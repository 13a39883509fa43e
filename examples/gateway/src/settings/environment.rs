//! Settings in variables of the environment.
use super::{McpServerSettings, Mistake, Settings, SettingsError, UserSettings};
use crate::telemetry::{HEADER_VARIABLES, variable};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::env;
use toml::{Table, Value};

/// Variables with secrets of the gateway. A URL may contain a secret.
const SECRET_VARIABLES: [&str; 5] =
    [TOKEN_VARIABLE, AGENT_URL_VARIABLE, AGENT_TOKEN_VARIABLE, STORE_VARIABLE, SHARED_VARIABLE];

const TOKEN_VARIABLE: &str = "GATEWAY_TOKEN";
const AGENT_URL_VARIABLE: &str = "GATEWAY_AGENT_URL";
pub(super) const AGENT_TOKEN_VARIABLE: &str = "GATEWAY_AGENT_TOKEN";
const STORE_VARIABLE: &str = "GATEWAY_STORE";
/// The earlier name of that variable.
const SHARED_VARIABLE: &str = "GATEWAY_REPLICAS_STORE";

/// User of the token from the environment.
const UNNAMED_USER: &str = "user";

impl Settings {
    /// Each setting with one value has a variable, such as `GATEWAY_LISTEN` or
    /// `GATEWAY_TIMES_TURN`. One agent can be set by `GATEWAY_AGENT`, or `GATEWAY_AGENT_URL` with
    /// `GATEWAY_AGENT_TOKEN`; the token of one user by `GATEWAY_TOKEN`.
    pub(super) fn with_environment(mut self) -> Result<Self, SettingsError> {
        self.name_agent(variable("GATEWAY_AGENT"), variable(AGENT_URL_VARIABLE));
        if let Ok(token) = env::var(TOKEN_VARIABLE) {
            self.auth.tokens.insert(UNNAMED_USER.to_owned(), token.into());
        }
        self.auth.check_tokens()?;
        own(&mut self.auth.required, "GATEWAY_AUTH_REQUIRED")?;
        own(&mut self.listen, "GATEWAY_LISTEN")?;
        own(&mut self.default_agent, "GATEWAY_DEFAULT_AGENT")?;
        own(&mut self.agents_file, "GATEWAY_AGENTS_FILE")?;
        own(&mut self.cwd, "GATEWAY_CWD")?;
        own(&mut self.audit_log, "GATEWAY_AUDIT_LOG")?;
        own(&mut self.audit_content, "GATEWAY_AUDIT_CONTENT")?;
        own(&mut self.permission, "GATEWAY_PERMISSION")?;
        own(&mut self.when_busy, "GATEWAY_WHEN_BUSY")?;
        own(&mut self.login, "GATEWAY_LOGIN")?;
        own(&mut self.replicas.store, SHARED_VARIABLE)?;
        self.store = self.store.or(self.replicas.store.take());
        own(&mut self.store, STORE_VARIABLE)?;
        own(&mut self.store_key_file, "GATEWAY_STORE_KEY_FILE")?;
        own(&mut self.replicas.prefix, "GATEWAY_REPLICAS_PREFIX")?;
        own(&mut self.replicas.lease, "GATEWAY_REPLICAS_LEASE")?;
        own(&mut self.auth.trusted_header, "GATEWAY_AUTH_TRUSTED_HEADER")?;
        own(&mut self.auth.trusted_proxies, "GATEWAY_AUTH_TRUSTED_PROXIES")?;
        group(&mut self.auth.oidc, "GATEWAY_AUTH_OIDC_")?;
        self.telemetry.read_environment()?;
        group(&mut self.site, "GATEWAY_SITE_")?;
        group(&mut self.times, "GATEWAY_TIMES_")?;
        group(&mut self.limits, "GATEWAY_LIMITS_")?;
        Ok(self)
    }

    /// Returns the variables with secrets, which agents do not inherit: those of the gateway and of
    /// these settings.
    pub(crate) fn secret_variables(&self) -> Vec<String> {
        let own = SECRET_VARIABLES.iter().chain(&HEADER_VARIABLES).map(|it| (*it).to_owned());
        let agents = self.agents.values();
        let models = agents.clone().filter_map(|agent| agent.model.as_ref());
        let keys = models.filter_map(|model| model.key_variable.clone());
        let tokens = agents.filter_map(|agent| agent.token_variable.clone());
        let servers = self.mcp_servers.values().flat_map(McpServerSettings::secret_variables);
        let users = self.users.values().flat_map(UserSettings::secret_variables);
        own.chain(keys).chain(tokens).chain(servers).chain(users).collect()
    }
}

/// Sets a value from its variable, if it is set.
pub(super) fn own<T: DeserializeOwned>(setting: &mut T, name: &str) -> Result<(), SettingsError> {
    if let Some(text) = variable(name) {
        let value = scalar(text).try_into();
        *setting = value.map_err(|error| wrong_variable(name, &error))?;
    }
    Ok(())
}

/// Sets each value of a group from its variable. Values without a default are JSON; lists are
/// separated by commas.
pub(super) fn group<T: Serialize + DeserializeOwned>(
    settings: &mut T,
    prefix: &str,
) -> Result<(), SettingsError> {
    let named = serde_json::to_value(&*settings).unwrap_or_default();
    for (setting, value) in named.as_object().into_iter().flatten() {
        let name = prefix.to_owned() + &setting.replace('-', "_").to_uppercase();
        let Some(text) = variable(&name) else { continue };
        let mut table = Table::try_from(&*settings)?;
        let list = || text.split(',').map(|entry| entry.trim().into()).collect();
        let new = if value.is_array() { Value::Array(list()) } else { scalar(text.clone()) };
        table.insert(setting.clone(), new);
        *settings = table.clone().try_into().or_else(|error| {
            // A text may consist of digits.
            table.insert(setting.clone(), Value::String(text));
            table.try_into().map_err(|_| wrong_variable(&name, &error))
        })?;
    }
    Ok(())
}

fn wrong_variable(name: &str, error: &toml::de::Error) -> SettingsError {
    SettingsError::Variable { name: name.to_owned(), error: Mistake::new("", error) }
}

/// Returns a text as a number or boolean, if it is one.
fn scalar(text: String) -> Value {
    let integer = text.parse().map(Value::Integer);
    let number = integer.or_else(|_| text.parse().map(Value::Float));
    let scalar = number.or_else(|_| text.parse().map(Value::Boolean));
    scalar.unwrap_or(Value::String(text))
}
