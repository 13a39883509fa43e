//! The agents of a server, and the open or last login of each.
use crate::hub::{AgentConnection, LoginState, UserAgents};
use crate::login::attempt::{Attempt, Progress, explain};
use crate::login::callback_sites::CallbackSites;
use crate::login::error::LoginError;
use crate::login::method::{Kind, Method, methods};
use crate::tools::Offered;
use acp_types::client::{AgentResponse, Call, Initialization, InitializeResponse};
use acp_types::v1::authentication::{
    AuthState, AuthStatusRequest, AuthStatusResponse, LogoutRequest,
};
use acp_types::v1::dispatch::AgentResponse as AgentResponseV1;
use acp_types::v2::dispatch::AgentResponse as AgentResponseV2;
use agui_bridge::excerpt;
use core::time::Duration;
use host::catalog::{Agent, Catalog, Programs};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Timeout of `auth/status`.
const STATUS_TIME: Duration = Duration::from_secs(5);

/// Maximum number of bytes of a name in a message.
const MAX_NAME: usize = 200;

/// Maximum number of open logins that one user has begun.
const MAX_OF_USER: usize = 4;

/// An agent of the server.
#[derive(Debug)]
pub struct LoginAgent {
    name: String,
    /// `None` for a model without ACP.
    users: Option<Arc<UserAgents>>,
    known: Option<Agent>,
}

/// The agents of a server, and the open or last login of each.
#[derive(Debug)]
pub struct Logins {
    agents: Vec<LoginAgent>,
    /// Known agents that could be installed.
    missing: Vec<Agent>,
    /// MCP servers at which users may have to sign in.
    pub(crate) servers: Offered,
    pub(crate) callback_sites: CallbackSites,
    pub(crate) is_enabled: bool,
    /// By agent, and by user unless users share the agent.
    attempts: Mutex<BTreeMap<(String, String), Arc<Attempt>>>,
}

/// What a user has to do before an agent can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum AgentState {
    Ready,
    NeedsLogin,
    NotInstalled,
}

/// An agent for the list of a page.
#[derive(Debug, Serialize)]
pub(crate) struct AgentEntry {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    state: AgentState,
    /// How the agent is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    install: Option<String>,
    /// Whether the agent runs, and supports `logout`.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    logout: bool,
}

/// The agents for the list of a page.
#[derive(Debug, Serialize)]
pub(crate) struct List {
    agents: Vec<AgentEntry>,
    /// Agents that are not installed.
    missing: Vec<AgentEntry>,
}

/// The login of an agent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoginDescription {
    /// Whether a login can begin.
    enabled: bool,
    state: AgentState,
    methods: Vec<Method>,
    /// Whether the agent supports `logout`.
    logout: bool,
    /// Accounts of the agent, if it reports them.
    accounts: Vec<String>,
    /// The user's open or last login.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<Progress>,
}

impl LoginAgent {
    /// Creates an agent with the command line of its settings, if it has one. `users` is `None` for
    /// a model.
    pub fn new(
        name: &str,
        command: Option<&str>,
        users: Option<Arc<UserAgents>>,
        catalog: &Catalog,
    ) -> Self {
        let known = command.and_then(|command| catalog.of_command(command)).cloned();
        Self { name: name.to_owned(), users, known }
    }

    /// Returns the state of the user's agent.
    fn state(&self, user: &str) -> AgentState {
        let agent = self.users.as_ref().and_then(|users| users.find(user));
        let needs_login = agent.is_some_and(|agent| agent.connection.needs_login());
        if needs_login { AgentState::NeedsLogin } else { AgentState::Ready }
    }

    fn listed(&self, user: &str) -> AgentEntry {
        let title = self.known.as_ref().map(|agent| agent.title.clone());
        let running = self.users.as_ref().and_then(|users| users.find(user));
        let initialized = running.and_then(|agent| agent.connection.known());
        let logout = initialized.is_some_and(|it| abilities(&it).0);
        let state = self.state(user);
        AgentEntry { name: self.name.clone(), title, state, install: None, logout }
    }

    /// Returns the user's connection, and opens it if it is not open.
    async fn connection(&self, user: &str) -> Result<Arc<AgentConnection>, LoginError> {
        let users = self.users.as_ref().ok_or_else(|| LoginError::Model(self.name.clone()))?;
        let agent = users.open(user).await;
        let agent = agent.map_err(|why| LoginError::Unavailable(why.to_string()))?;
        Ok(agent.connection.clone())
    }

    /// Returns the name of the login of a user.
    fn login(&self, user: &str) -> (String, String) {
        let is_shared = self.users.as_ref().is_none_or(|users| users.shared().is_some());
        (self.name.clone(), if is_shared { String::new() } else { user.to_owned() })
    }

    /// Connects to the agent of a user, and returns its methods.
    async fn methods(&self, user: &str) -> Result<(Box<Initialization>, Vec<Method>), LoginError> {
        let connection = self.connection(user).await?;
        let initialized = connection.initialized().await;
        let initialized = initialized.map_err(|why| LoginError::Unavailable(why.to_string()))?;
        let methods = methods(&initialized, connection.command().as_ref(), self.known.as_ref());
        Ok((initialized, methods))
    }
}

impl Logins {
    /// Creates the logins of agents, in the order of the list; the first is the default one.
    /// Without `is_enabled`, logins and sign-ins at servers cannot begin.
    pub fn new(
        agents: Vec<LoginAgent>,
        servers: Offered,
        callback_sites: CallbackSites,
        is_enabled: bool,
    ) -> Self {
        let attempts = Mutex::default();
        Self { agents, missing: Vec::new(), servers, callback_sites, is_enabled, attempts }
    }

    /// Adds the agents of a catalogue that are not installed to the list.
    #[must_use]
    pub fn with_missing(mut self, catalog: &Catalog, programs: &Programs) -> Self {
        let missing = catalog.agents().iter().filter(|agent| !agent.is_installed(programs));
        self.missing = missing.cloned().collect();
        self
    }

    /// Returns the names of the agents that have refused a session because of a missing login, of
    /// those that users share.
    pub fn needing_login(&self) -> Vec<&str> {
        let is_shared = |agent: &&LoginAgent| agent.login("other").1.is_empty();
        let needing = self.agents.iter().filter(is_shared);
        let needing = needing.filter(|agent| agent.state("") == AgentState::NeedsLogin);
        needing.map(|agent| agent.name.as_str()).collect()
    }

    pub(crate) fn list(&self, user: &str) -> List {
        let missing = self.missing.iter().map(|agent| AgentEntry {
            name: agent.id.clone(),
            title: Some(agent.title.clone()),
            state: AgentState::NotInstalled,
            install: Some(agent.install_hint()),
            logout: false,
        });
        let agents = self.agents.iter().map(|agent| agent.listed(user)).collect();
        List { agents, missing: missing.collect() }
    }

    pub(crate) async fn describe(
        &self,
        agent: &str,
        user: &str,
    ) -> Result<LoginDescription, LoginError> {
        let agent = self.agent(agent)?;
        let (initialized, methods) = agent.methods(user).await?;
        let (logout, has_status) = abilities(&initialized);
        let mut state = agent.state(user);
        let mut accounts = Vec::new();
        if has_status && let Ok(connection) = agent.connection(user).await {
            let call = Call::new(&AuthStatusRequest::new()).with_timeout(STATUS_TIME);
            let status = connection.call(call).await.ok().and_then(|it| status_of(it.value));
            if let Some(status) = status {
                if matches!(status.state.or_unknown(), AuthState::Unauthenticated) {
                    state = AgentState::NeedsLogin;
                }
                let labels = status.accounts.iter().flatten();
                accounts = labels.map(|account| excerpt(&account.label, MAX_NAME)).collect();
            }
        }
        let attempt = self.attempt(&agent.name, user).ok();
        let attempt = attempt.map(|attempt| attempt.progress().borrow().clone());
        Ok(LoginDescription { enabled: self.is_enabled, state, methods, logout, accounts, attempt })
    }

    /// Begins a login.
    pub(crate) async fn begin(
        &self,
        agent: &str,
        user: &str,
        method_id: &str,
        entered: BTreeMap<String, String>,
    ) -> Result<Progress, LoginError> {
        self.check_enabled()?;
        let agent = self.agent(agent)?;
        let (_, methods) = agent.methods(user).await?;
        let ids: Vec<_> = methods.iter().map(|method| format!("`{}`", method.id)).collect();
        let valid = match ids.is_empty() {
            true => "the agent has none".to_owned(),
            false => format!("the agent has {}", ids.join(", ")),
        };
        let method =
            methods.into_iter().find(|method| method.id == method_id).ok_or_else(|| {
                LoginError::UnknownMethod { got: excerpt(method_id, MAX_NAME), valid }
            })?;
        if let Kind::Manual { step } = method.kind {
            return Err(LoginError::Manual(step));
        }
        let values = method.values(entered)?;
        let connection = agent.connection(user).await?;
        let (attempt, typed) = Attempt::new(user, method);
        let attempt = Arc::new(attempt);
        let progress = attempt.progress().borrow().clone();
        {
            let mut attempts = self.attempts();
            if attempts.get(&agent.login(user)).is_some_and(|open| open.is_running()) {
                return Err(LoginError::GoingOn);
            }
            let open = attempts.values().filter(|open| open.user == user && open.is_running());
            if open.count() >= MAX_OF_USER {
                return Err(LoginError::TooMany(MAX_OF_USER));
            }
            attempts.insert(agent.login(user), attempt.clone());
        }
        let name = agent.name.clone();
        tokio::spawn(async move { attempt.run(&name, &connection, values, typed).await });
        Ok(progress)
    }

    pub(crate) fn follow(
        &self,
        agent: &str,
        user: &str,
    ) -> Result<watch::Receiver<Progress>, LoginError> {
        Ok(self.attempt(agent, user)?.progress())
    }

    pub(crate) fn type_text(
        &self,
        agent: &str,
        user: &str,
        text: String,
    ) -> Result<(), LoginError> {
        self.attempt(agent, user)?.type_text(text)
    }

    /// Cancels the user's login.
    pub(crate) fn cancel(&self, agent: &str, user: &str) -> Result<(), LoginError> {
        let attempt = self.attempt(agent, user)?;
        if !attempt.is_running() {
            return Err(LoginError::None);
        }
        attempt.cancel();
        Ok(())
    }

    pub(crate) async fn log_out(&self, agent: &str, user: &str) -> Result<(), LoginError> {
        self.check_enabled()?;
        let agent = self.agent(agent)?;
        let (initialized, _) = agent.methods(user).await?;
        if !abilities(&initialized).0 {
            return Err(LoginError::NoLogout);
        }
        let connection = agent.connection(user).await?;
        let ended = connection.call(Call::new(&LogoutRequest::new())).await;
        ended.map_err(|error| LoginError::Refused(explain(error)))?;
        tracing::info!(agent = agent.name, user, "logged out");
        // Sessions of an agent at work stay as they are.
        if let Err(error) = connection.restart(LoginState::default()) {
            tracing::info!(%error, "not restarted after a logout");
        }
        Ok(())
    }

    fn check_enabled(&self) -> Result<(), LoginError> {
        if self.is_enabled { Ok(()) } else { Err(LoginError::Off) }
    }

    fn agent(&self, name: &str) -> Result<&LoginAgent, LoginError> {
        let found = self.agents.iter().find(|agent| agent.name == name);
        found.ok_or_else(|| LoginError::UnknownAgent(excerpt(name, MAX_NAME)))
    }

    /// Returns the user's open or last login to an agent.
    fn attempt(&self, agent: &str, user: &str) -> Result<Arc<Attempt>, LoginError> {
        let login = self.agent(agent)?.login(user);
        let attempt = self.attempts().get(&login).filter(|attempt| attempt.user == user).cloned();
        attempt.ok_or(LoginError::None)
    }

    fn attempts(&self) -> MutexGuard<'_, BTreeMap<(String, String), Arc<Attempt>>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn status_of(response: AgentResponse) -> Option<AuthStatusResponse> {
    match response {
        AgentResponse::V1(AgentResponseV1::AuthStatusResponse(status))
        | AgentResponse::V2(AgentResponseV2::AuthStatusResponse(status)) => Some(*status),
        _ => None,
    }
}

/// Returns whether the agent supports `logout` and `auth/status`.
fn abilities(initialized: &Initialization) -> (bool, bool) {
    match &initialized.response.value {
        InitializeResponse::V1(response) => {
            let auth = response.agent_capabilities.as_ref().and_then(|it| it.auth.as_ref());
            auth.map_or((false, false), |auth| (auth.logout.is_some(), auth.status.is_some()))
        }
        InitializeResponse::V2(response) => {
            let auth = response.capabilities.as_ref().and_then(|it| it.auth.as_ref());
            // Each agent with methods supports `auth/logout`.
            let has_methods = response.auth_methods.as_ref().is_some_and(|it| !it.is_empty());
            (has_methods, auth.is_some_and(|auth| auth.status.is_some()))
        }
        _ => (false, false),
    }
}
