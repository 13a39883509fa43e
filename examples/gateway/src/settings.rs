//! Settings: from a file, the environment and the command line. Later sources override earlier
//! ones.
use crate::history::{PlaceError, StorePlace};
use crate::hub::{McpServerError, McpServerSettings, SpaceError, UserSettings};
use crate::model::ModelSettings;
use crate::telemetry::variable;
use agui_bridge::conversation as runs;
use host::catalog::{Catalog, CatalogError, LaunchError, Programs};
use host::http::{AccessError, AuthSettings, Secret, SiteSettings};
use host::permissions::Rule;
use host::transport::redacted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, io};
use toml::Value;

mod access;
mod address;
mod agent;
mod environment;
mod limits;
mod mistake;
mod telemetry;

pub(crate) use agent::{AgentSettings, PageToolsBinding};
use environment::AGENT_TOKEN_VARIABLE;
pub(crate) use limits::{Limits, Seconds, Times, shares};
use mistake::Mistake;
pub(crate) use telemetry::TelemetrySettings;

/// All settings, with their defaults.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    /// Address to listen on; port 0 selects a free port.
    pub(crate) listen: SocketAddr,
    /// Name of the default agent; not required for a single agent.
    pub(crate) default_agent: Option<String>,
    /// A document of the official agent registry, with agents in addition to the known ones.
    pub(crate) agents_file: Option<PathBuf>,
    /// Working directory of sessions, unless the agent sets its own.
    pub(crate) cwd: Option<PathBuf>,
    /// Where conversations are kept; by default in a file of the user.
    pub(crate) store: Option<StorePlace>,
    /// The key of secrets in the store; by default beside the file of the store.
    pub(crate) store_key_file: Option<PathBuf>,
    /// A file for records of requests and decisions of users.
    pub(crate) audit_log: Option<PathBuf>,
    /// Whether the records contain texts of users and agents.
    pub(crate) audit_content: bool,
    /// How permission requests are answered, unless the agent has a setting.
    pub(crate) permission: Permission,
    /// How a run in a thread with an active run is handled.
    pub(crate) when_busy: WhenBusy,
    /// Whether users may log in to agents; by default if there is one user and one gateway.
    pub(crate) login: Option<bool>,
    pub(crate) times: Times,
    pub(crate) limits: Limits,
    pub(crate) site: SiteSettings,
    pub(crate) auth: AuthSettings,
    pub(crate) replicas: ReplicaSettings,
    pub(crate) telemetry: TelemetrySettings,
    /// Rules that answer permission requests; the first match decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) permission_rules: Vec<Rule>,
    /// MCP servers for the sessions of agents, by name.
    pub(crate) mcp_servers: BTreeMap<String, McpServerSettings>,
    /// The agents, by name.
    pub(crate) agents: BTreeMap<String, AgentSettings>,
    /// Settings of users, by name.
    pub(crate) users: BTreeMap<String, UserSettings>,
    /// Whether there are no agents in the settings.
    #[serde(skip)]
    pub(crate) is_demo: bool,
    /// Installed agents, offered beside those for a demonstration.
    #[serde(skip)]
    pub(crate) offered: BTreeMap<String, AgentSettings>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8787).into(),
            default_agent: None,
            agents_file: None,
            cwd: None,
            store: None,
            store_key_file: None,
            audit_log: None,
            audit_content: false,
            permission: Permission::Ask,
            when_busy: WhenBusy::Reject,
            login: None,
            times: Times::default(),
            limits: Limits::default(),
            site: SiteSettings::default(),
            auth: AuthSettings::default(),
            replicas: ReplicaSettings::default(),
            telemetry: TelemetrySettings::default(),
            permission_rules: Vec::new(),
            mcp_servers: BTreeMap::new(),
            agents: BTreeMap::new(),
            users: BTreeMap::new(),
            is_demo: false,
            offered: BTreeMap::new(),
        }
    }
}

/// How the store is shared with other gateways of the same threads.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ReplicaSettings {
    /// The earlier name of the general setting `store`.
    #[serde(skip_serializing)]
    pub(crate) store: Option<StorePlace>,
    /// Prefix of all keys.
    pub(crate) prefix: String,
    /// Time without a heartbeat after which a gateway counts as dead.
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
    /// Ask the user by an interrupt, which the next run answers. Clients before 1.0 are asked in
    /// the stream.
    Ask,
    /// Ask by an interrupt, also for clients before 1.0.
    AskByInterrupt,
    /// Ask the user in the stream, which stays open.
    AskInStream,
    /// Allow each request once.
    Allow,
    /// Reject each request once.
    Reject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WhenBusy {
    /// Reject the new run.
    Reject,
    /// Queue the new run.
    Queue,
    /// Cancel the active run.
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

/// The settings are invalid.
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
    #[error("--agent: {0}; `gateway agents` lists the known agents")]
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
    #[error(transparent)]
    Users(#[from] SpaceError),
    #[error(transparent)]
    McpServer(#[from] McpServerError),
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("telemetry: {0}")]
    Telemetry(#[from] crate::telemetry::ExportError),
    #[error("--store: {0}")]
    Store(#[from] PlaceError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Removes the users and queries of all URLs, also of those in the words of a command.
fn redact(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("://") => {
            *text = text.split(' ').map(redacted).collect::<Vec<_>>().join(" ");
        }
        Value::Array(values) => values.iter_mut().for_each(redact),
        Value::Table(table) => table.iter_mut().for_each(|(_, value)| redact(value)),
        _ => {}
    }
}

impl Settings {
    /// Reads the file, if any, and the environment.
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

    /// Returns the settings as a file, without secrets: values of secret settings, and users and
    /// queries of URLs.
    pub(crate) fn printed(&self) -> Result<String, SettingsError> {
        let mut settings = Value::try_from(self)?;
        redact(&mut settings);
        Ok(toml::to_string_pretty(&settings)?)
    }

    /// Moves the agent without a name, if any, to the front.
    pub(crate) fn name_agent(&mut self, command: Option<String>, url: Option<String>) {
        if command.is_some() || url.is_some() {
            let token = url.as_ref().and_then(|_| variable(AGENT_TOKEN_VARIABLE));
            let token = token.map(Secret::from);
            let agent = AgentSettings { command, url, token, ..AgentSettings::default() };
            self.agents.insert(UNNAMED.to_owned(), agent);
            self.default_agent = Some(UNNAMED.to_owned());
        }
    }

    /// Returns the agents, also those that are only offered.
    pub(crate) fn all_agents(&self) -> impl Iterator<Item = (&String, &AgentSettings)> {
        self.agents.iter().chain(&self.offered)
    }

    /// Returns the URL of the store that other gateways share, if there is one.
    pub(crate) fn shared_store(&self) -> Option<&Secret> {
        match &self.store {
            Some(StorePlace::Redis(url)) => Some(url),
            _ => None,
        }
    }

    /// Returns whether users may log in to agents, which several users and gateways share.
    pub(crate) fn has_login(&self) -> bool {
        let is_alone = !self.auth.has_several_users() && self.shared_store().is_none();
        self.login.unwrap_or(is_alone)
    }

    /// Returns the default agent. Without agents two scripted ones are added: an ACP agent and a
    /// model. If only this machine and its user have access, installed agents are offered as well.
    pub(crate) fn agent_mut(&mut self) -> Result<(&str, &mut AgentSettings), SettingsError> {
        if self.agents.is_empty() {
            let model = Some(ModelSettings::default());
            let hybrid = AgentSettings { model, ..AgentSettings::default() };
            self.agents.insert("hybrid".to_owned(), hybrid);
            self.agents.insert("demo".to_owned(), AgentSettings::default());
            self.default_agent.get_or_insert_with(|| "demo".to_owned());
            self.is_demo = true;
            if self.auth.required && self.listen.ip().is_loopback() {
                let catalog = Catalog::load(self.agents_file.as_deref())?;
                for id in catalog.installed(&Programs::of_environment()) {
                    let command = Some(id.to_owned());
                    let agent = AgentSettings { command, ..AgentSettings::default() };
                    self.offered.insert(id.to_owned(), agent);
                }
            }
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

/// The name of an agent without a configured name.
const UNNAMED: &str = "agent";

/// Returns the directory of sessions as an absolute path, which ACP requires.
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
