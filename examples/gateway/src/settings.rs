//! What can be set: in a file, in the environment, on the command line, each over the one before.
use crate::access::Secret;
use acp_host::host::FsAccess;
use acp_otlp::variable;
use agui_bridge::conversation as runs;
use chat_model::ModelSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, io};
use toml::{Table, Value};

mod access;
mod address;
mod conversation;
mod limits;
mod mistake;
mod telemetry;

pub(crate) use conversation::{ForwardedSettings, Sessions};
pub(crate) use limits::{Limits, Seconds, Times};
use mistake::Mistake;
pub(crate) use telemetry::TelemetrySettings;

/// All that can be set, with what it is unless it is set.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    /// Where to listen; port 0 picks a free one.
    pub(crate) listen: SocketAddr,
    /// Which of `agents` serves requests that name none; the only one needs no name.
    pub(crate) default_agent: Option<String>,
    /// The working directory of sessions, where the agent has none of its own.
    pub(crate) cwd: Option<PathBuf>,
    /// Who answers permission requests, where the agent does not say.
    pub(crate) permission: Permission,
    /// What becomes of a run in a thread that has one.
    pub(crate) when_busy: WhenBusy,
    pub(crate) times: Times,
    pub(crate) limits: Limits,
    pub(crate) site: SiteSettings,
    pub(crate) auth: AuthSettings,
    pub(crate) replicas: ReplicaSettings,
    pub(crate) telemetry: TelemetrySettings,
    /// The agents, by name.
    pub(crate) agents: BTreeMap<String, AgentSettings>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8787).into(),
            default_agent: None,
            cwd: None,
            permission: Permission::Ask,
            when_busy: WhenBusy::Reject,
            times: Times::default(),
            limits: Limits::default(),
            site: SiteSettings::default(),
            auth: AuthSettings::default(),
            replicas: ReplicaSettings::default(),
            telemetry: TelemetrySettings::default(),
            agents: BTreeMap::new(),
        }
    }
}

/// How to reach an agent: by a command, or a URL; a model has neither, nor has the demo agent.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AgentSettings {
    /// A command that talks over its stdin and stdout; split into words as a shell would, run without one.
    pub(crate) command: Option<String>,
    /// A WebSocket, `ws://…` or `wss://…`, or an endpoint of Streamable HTTP, `http://…` or `https://…`.
    pub(crate) url: Option<String>,
    /// The bearer token that it is sent there.
    pub(crate) token: Option<Secret>,
    /// A file with that token.
    pub(crate) token_file: Option<PathBuf>,
    /// The variable of the environment that has it.
    pub(crate) token_variable: Option<String>,
    /// Whether it is spoken to in HTTP/2 behind `http://…`, where that cannot be agreed on.
    pub(crate) h2c: bool,
    /// The authentication method to use once connected.
    pub(crate) authenticate: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) permission: Option<Permission>,
    /// The directory that it may use through the gateway; without one it may use neither files nor terminals.
    pub(crate) root: Option<PathBuf>,
    /// What it may do with the files there.
    pub(crate) fs: Option<FsAccess>,
    /// Whether it may run commands, which begin there and may do whatever the gateway may.
    pub(crate) terminal: Option<bool>,
    /// How long its sessions last.
    pub(crate) sessions: Sessions,
    /// What pages may ask of a session beside their messages.
    pub(crate) forwarded: ForwardedSettings,
    /// How it is given the page's tools.
    pub(crate) page_tools: PageToolsBinding,
    /// Whether it is given the gateway's own tools over MCP; unless it is set, beside those of a page.
    pub(crate) gateway_tools: Option<bool>,
    /// A model with the gateway's tools and the page's, without ACP.
    pub(crate) model: Option<ModelSettings>,
}

/// How an ACP agent is given the page's tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PageToolsBinding {
    /// As an MCP server of the gateway's, over HTTP where the agent speaks it, else on stdio.
    #[default]
    Mcp,
    /// In the `_meta` of its sessions, to be called by an extension method.
    Contextual,
    /// Not at all.
    Off,
}

/// The site that the gateway is.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SiteSettings {
    /// Names that it is called by; its addresses and `localhost` go without saying.
    pub(crate) hosts: Vec<String>,
    /// Other sites whose pages may use it, as `https://app.example`.
    pub(crate) origins: Vec<String>,
    /// What agents reach it by, as `http://gateway.internal:8787`; the address that it listens on unless it is set.
    pub(crate) agents_url: Option<String>,
}

/// Who may use the gateway: anybody who can reach it, unless something is set.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AuthSettings {
    /// A bearer token for each name.
    pub(crate) tokens: BTreeMap<String, Secret>,
    /// A header in which a proxy says who is there. The proxy has to remove it from what comes from outside.
    pub(crate) trusted_header: Option<String>,
}

/// What this gateway shares with others that serve the same threads.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ReplicaSettings {
    /// The address of a Redis server, `redis://…`; without one the gateway is alone. It may have a password.
    pub(crate) store: Option<Secret>,
    /// What all keys there begin with.
    pub(crate) prefix: String,
    /// After how long without a sign of life a gateway is taken for dead.
    pub(crate) lease: Seconds,
}

impl Default for ReplicaSettings {
    fn default() -> Self {
        let lease = Seconds(Duration::from_secs(10));
        Self { store: None, prefix: "gateway".to_owned(), lease }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Permission {
    /// Ask a person: a run is interrupted for it, and the next one brings the answer. Clients before 1.0 are asked in
    /// the stream.
    Ask,
    /// The same, and clients before 1.0 are interrupted too.
    AskByInterrupt,
    /// Ask a person in the stream, which stays open meanwhile.
    AskInStream,
    /// Allow once, whatever it is.
    Allow,
    /// Reject once, whatever it is.
    Reject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WhenBusy {
    /// Refuse it.
    Reject,
    /// Let it wait for its turn.
    Queue,
    /// Stop the one that is going on.
    Supersede,
}

impl From<WhenBusy> for runs::WhenBusy {
    fn from(rule: WhenBusy) -> Self {
        match rule {
            WhenBusy::Reject => Self::Reject,
            WhenBusy::Queue => Self::Queue,
            WhenBusy::Supersede => Self::Supersede,
        }
    }
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("--config: {path}: {error}", path = .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("--config: {path}: {error}", path = .path.display())]
    Parse { path: PathBuf, error: Mistake },
    #[error("{name}: {error}")]
    Variable { name: String, error: Mistake },
    #[error("cannot write the settings: {0}")]
    Write(#[from] toml::ser::Error),
    #[error("--agent: {0}")]
    Command(String),
    #[error("--agent-url: expected ws://…, wss://…, http://… or https://…, got `{0}`")]
    Url(String),
    #[error("agents.{0}: expected one of `command`, `url` and `model`")]
    TwoWays(String),
    #[error("agents.{agent}: {why}")]
    Agent { agent: String, why: String },
    #[error("default-agent: expected one of {expected}, got {got}")]
    DefaultAgent { expected: String, got: String },
    #[error("--cwd: {0}")]
    Cwd(String),
    #[error("site.origins: expected scheme://host, got `{0}`")]
    Origin(String),
    #[error("auth.tokens.{0}: expected a token, got an empty one")]
    Token(String),
    #[error("auth.trusted-header: `{0}` is no name of a header")]
    Header(String),
    #[error("telemetry: {0}")]
    Telemetry(#[from] acp_otlp::ExportError),
    #[error("replicas.store: {0}")]
    Store(String),
    #[error("--listen: others can reach {0}: set auth.tokens or auth.trusted-header")]
    Open(SocketAddr),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Settings {
    /// Reads the file, if there is one, and the environment.
    pub(crate) fn load(file: Option<PathBuf>) -> Result<Self, SettingsError> {
        let settings = match file {
            None => Self::default(),
            Some(path) => match fs::read_to_string(&path) {
                Err(error) => return Err(SettingsError::Read { path, error }),
                Ok(text) => toml::from_str(&text).map_err(|error| SettingsError::Parse {
                    path,
                    error: Mistake::new(&text, &error),
                })?,
            },
        };
        settings.with_environment()
    }

    /// Each setting that is one value has a variable: `GATEWAY_LISTEN`, `GATEWAY_TIMES_TURN`. One agent may be there
    /// as `GATEWAY_AGENT`, or `GATEWAY_AGENT_URL` with `GATEWAY_AGENT_TOKEN`; one token of a user as `GATEWAY_TOKEN`.
    fn with_environment(mut self) -> Result<Self, SettingsError> {
        self.name_agent(variable("GATEWAY_AGENT"), variable(AGENT_URL_VARIABLE));
        if let Ok(token) = env::var(TOKEN_VARIABLE) {
            self.auth.tokens.insert(UNNAMED_USER.to_owned(), token.into());
        }
        if let Some((user, _)) =
            self.auth.tokens.iter().find(|(_, token)| token.reveal().is_empty())
        {
            return Err(SettingsError::Token(user.clone()));
        }
        own(&mut self.listen, "GATEWAY_LISTEN")?;
        own(&mut self.default_agent, "GATEWAY_DEFAULT_AGENT")?;
        own(&mut self.cwd, "GATEWAY_CWD")?;
        own(&mut self.permission, "GATEWAY_PERMISSION")?;
        own(&mut self.when_busy, "GATEWAY_WHEN_BUSY")?;
        own(&mut self.replicas.store, STORE_VARIABLE)?;
        own(&mut self.replicas.prefix, "GATEWAY_REPLICAS_PREFIX")?;
        own(&mut self.replicas.lease, "GATEWAY_REPLICAS_LEASE")?;
        self.telemetry.read_environment()?;
        group(&mut self.times, "GATEWAY_TIMES_")?;
        group(&mut self.limits, "GATEWAY_LIMITS_")?;
        Ok(self)
    }

    /// Takes an agent that has no name, where there is one, before all others.
    pub(crate) fn name_agent(&mut self, command: Option<String>, url: Option<String>) {
        if command.is_some() || url.is_some() {
            let token = url.as_ref().and_then(|_| variable(AGENT_TOKEN_VARIABLE));
            let token = token.map(Secret::from);
            let agent = AgentSettings { command, url, token, ..AgentSettings::default() };
            self.agents.insert(UNNAMED.to_owned(), agent);
            self.default_agent = Some(UNNAMED.to_owned());
        }
    }

    /// The default agent. Where there is none there are two for demonstrations: an ACP agent and a model, both scripted.
    pub(crate) fn agent_mut(&mut self) -> Result<(&str, &mut AgentSettings), SettingsError> {
        if self.agents.is_empty() {
            let model = Some(ModelSettings::default());
            let hybrid = AgentSettings { model, ..AgentSettings::default() };
            self.agents.insert("hybrid".to_owned(), hybrid);
            self.agents.insert("demo".to_owned(), AgentSettings::default());
            self.default_agent.get_or_insert_with(|| "demo".to_owned());
        }
        let only = (self.agents.len() == 1).then(|| self.agents.keys().next().cloned()).flatten();
        let name = self.default_agent.clone().or(only);
        let expected = self.agents.keys().cloned().collect::<Vec<_>>().join(", ");
        let got = name.clone().unwrap_or_else(|| "none".to_owned());
        match name.and_then(|name| self.agents.get_mut(&name)) {
            Some(agent) => Ok((self.default_agent.insert(got), agent)),
            None => Err(SettingsError::DefaultAgent { expected, got }),
        }
    }

    /// The variables with secrets, which are not for agents: the gateway's own, and those that these settings name.
    pub(crate) fn secret_variables(&self) -> Vec<String> {
        let own = SECRET_VARIABLES.map(str::to_owned);
        let agents = self.agents.values();
        let models = agents.clone().filter_map(|agent| agent.model.as_ref());
        let keys = models.filter_map(|model| model.key_variable.clone());
        let tokens = agents.filter_map(|agent| agent.token_variable.clone());
        own.into_iter().chain(keys).chain(tokens).collect()
    }

    /// The settings as a file.
    pub(crate) fn to_toml(&self) -> Result<String, SettingsError> {
        Ok(toml::to_string_pretty(self)?)
    }
}

/// The variables with secrets of the gateway's own; an address may have some in it.
const SECRET_VARIABLES: [&str; 4] =
    [TOKEN_VARIABLE, AGENT_URL_VARIABLE, AGENT_TOKEN_VARIABLE, STORE_VARIABLE];

const TOKEN_VARIABLE: &str = "GATEWAY_TOKEN";
const AGENT_URL_VARIABLE: &str = "GATEWAY_AGENT_URL";
const AGENT_TOKEN_VARIABLE: &str = "GATEWAY_AGENT_TOKEN";
const STORE_VARIABLE: &str = "GATEWAY_REPLICAS_STORE";

/// The name of an agent that was named nowhere.
const UNNAMED: &str = "agent";

/// Whose token it is that was named nowhere.
const UNNAMED_USER: &str = "user";

/// The directory of sessions, as the absolute path that ACP wants.
pub(crate) fn working_directory(cwd: Option<&Path>) -> Result<String, SettingsError> {
    let path = match cwd {
        Some(path) => std::path::absolute(path)?,
        None => env::current_dir()?,
    };
    if !path.is_dir() {
        return Err(SettingsError::Cwd(format!("{} is not a directory", path.display())));
    }
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| SettingsError::Cwd(format!("{} is not UTF-8", path.display())))
}

/// Takes what a variable says, if there is one.
fn own<T: DeserializeOwned>(setting: &mut T, name: &str) -> Result<(), SettingsError> {
    if let Some(text) = variable(name) {
        let value = scalar(text).try_into();
        *setting = value.map_err(|error| wrong_variable(name, &error))?;
    }
    Ok(())
}

/// The same for each setting of a group.
fn group<T: Serialize + DeserializeOwned>(
    settings: &mut T,
    prefix: &str,
) -> Result<(), SettingsError> {
    for setting in Table::try_from(&*settings)?.keys() {
        let name = prefix.to_owned() + &setting.replace('-', "_").to_uppercase();
        let Some(text) = variable(&name) else { continue };
        let mut table = Table::try_from(&*settings)?;
        table.insert(setting.clone(), scalar(text));
        *settings = table.try_into().map_err(|error| wrong_variable(&name, &error))?;
    }
    Ok(())
}

fn wrong_variable(name: &str, error: &toml::de::Error) -> SettingsError {
    SettingsError::Variable { name: name.to_owned(), error: Mistake::new("", error) }
}

/// A number or a truth where it is one.
fn scalar(text: String) -> Value {
    let integer = text.parse().map(Value::Integer);
    let number = integer.or_else(|_| text.parse().map(Value::Float));
    let scalar = number.or_else(|_| text.parse().map(Value::Boolean));
    scalar.unwrap_or(Value::String(text))
}
