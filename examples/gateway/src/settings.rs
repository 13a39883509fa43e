//! What can be set: in a file, in the environment, on the command line, each over the one before.
use crate::access::Secret;
use agent_catalog::{CatalogError, LaunchError};
use agui_bridge::conversation as runs;
use chat_model::ModelSettings;
use run_telemetry::variable;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, io};

mod access;
mod address;
mod agent;
mod conversation;
mod environment;
mod limits;
mod mistake;
mod telemetry;

pub(crate) use agent::{AgentSettings, PageToolsBinding};
pub(crate) use conversation::{ForwardedSettings, Sessions};
use environment::AGENT_TOKEN_VARIABLE;
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
    /// A document of the official agent registry, with agents beside the known ones.
    pub(crate) agents_file: Option<PathBuf>,
    /// The working directory of sessions, where the agent has none of its own.
    pub(crate) cwd: Option<PathBuf>,
    /// Party that answers permission requests, unless the agent has a setting.
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
            agents_file: None,
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

/// Authentication of users. Without a setting the gateway is open to all that can reach it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AuthSettings {
    /// A bearer token for each name.
    pub(crate) tokens: BTreeMap<String, Secret>,
    /// A header in which a proxy names the user. The proxy has to remove it from requests of clients.
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
    Command(#[from] LaunchError),
    #[error("--agents: {0}")]
    Catalog(#[from] CatalogError),
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
    Telemetry(#[from] run_telemetry::ExportError),
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

    /// Returns the default agent. Without agents two scripted ones are added: an ACP agent and a model.
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
}

/// The name of an agent that was named nowhere.
const UNNAMED: &str = "agent";

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
