//! The agents of the settings: ACP agents and models, and how their threads are served.
use crate::history::OpenStore;
use crate::hub::{
    AgentSetup, Isolation, SignInPlace, ThreadState, Unavailable, UserAgent, UserAgents,
};
use crate::login::{CallbackSites, LoginAgent, Logins};
use crate::model::ChatModel;
use crate::run::StartError;
use crate::settings::{AgentSettings, PageToolsBinding, Permission, Settings, SettingsError};
use crate::store::ThreadName;
use crate::telemetry::Telemetry;
use crate::tools::sources::ServerOptions;
use crate::tools::{EventHandler, Offered, PageServer, PageServers, Toolbox};
use acp_types::v1::initialization::Implementation;
use agui_bridge::conversation::{Conversation, ConversationOptions, PageTools, RememberedSession};
use agui_bridge::hub::HubOptions;
use agui_bridge::{ElicitationMode, Options, PermissionMode, Policy};
use agui_types::capabilities::AgentCapabilities;
use host::catalog::{Catalog, Programs};
use host::files::Root;
use host::http::Principal;
use host::permissions::{Files, Rules};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Maximum duration of a turn, including the time in which the agent waits for a user. The
/// conversation limits the time in which the agent works.
const TURN_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// An agent.
#[derive(Debug)]
pub(crate) enum Agents {
    Acp(Box<AcpAgents>),
    Model(Arc<ChatModel>),
}

/// An ACP agent, and how its threads are served.
#[derive(Debug)]
pub(crate) struct AcpAgents {
    pub(crate) users: Arc<UserAgents>,
    name: String,
    is_local: bool,
    binding: PageToolsBinding,
    own_tools: Option<bool>,
}

impl Agents {
    pub(crate) fn new(
        settings: &Settings,
        name: &str,
        agent: &AgentSettings,
        toolbox: &Arc<Toolbox>,
        telemetry: &Telemetry,
        removed: &mpsc::UnboundedSender<String>,
    ) -> Result<Self, SettingsError> {
        let permission = agent.permission.unwrap_or(settings.permission);
        let Some(model) = &agent.model else {
            let acp = AcpAgents::new(settings, name, agent, telemetry, removed.clone())?;
            return Ok(Self::Acp(Box::new(acp)));
        };
        let wrong = |why: String| SettingsError::Agent { agent: name.to_owned(), why };
        if agent.command.is_some() || agent.url.is_some() {
            return Err(SettingsError::TwoWays(name.to_owned()));
        }
        if agent.token.is_some() || agent.token_file.is_some() || agent.token_variable.is_some() {
            let why = "a model has its key in `model.key-variable`, not a `token`";
            return Err(wrong(why.to_owned()));
        }
        let of_process = [
            ("isolation", agent.isolation == Isolation::User),
            ("home", agent.home),
            ("root", agent.root.is_some()),
            ("fs", agent.fs.is_some()),
            ("terminal", agent.terminal.is_some()),
        ];
        if let Some((name, _)) = of_process.into_iter().find(|(_, is_set)| *is_set) {
            let why = "expected an agent with a process, got a model; remove the setting";
            return Err(wrong(format!("{name}: {why}")));
        }
        let legacy_interrupts = permission == Permission::AskByInterrupt;
        let model = ChatModel::new(name, model, legacy_interrupts, toolbox.clone());
        Ok(Self::Model(Arc::new(model.map_err(|error| wrong(error.to_string()))?)))
    }

    /// Returns the capabilities of the agent. Connects to an ACP agent.
    pub(crate) async fn capabilities(
        &self,
        name: &str,
        user: &Principal,
    ) -> Result<AgentCapabilities, Unavailable> {
        match self {
            Self::Model(model) => Ok(model.capabilities().await),
            Self::Acp(acp) => acp.users.capabilities(name, user.as_str()).await,
        }
    }

    /// Returns the directory of the files that the agent of a user may read.
    pub(crate) fn root(&self, user: &Principal) -> Option<Arc<Root>> {
        self.users()?.find(user.as_str())?.root.clone()
    }

    /// Returns the connections to an ACP agent.
    pub(crate) fn users(&self) -> Option<&Arc<UserAgents>> {
        match self {
            Self::Model(_) => None,
            Self::Acp(acp) => Some(&acp.users),
        }
    }

    /// Returns whether the agent can be reached. Models and agents that are only offered are not
    /// probed.
    pub(crate) async fn is_ready(&self) -> Option<bool> {
        match self.users() {
            None => Some(true),
            Some(users) => users.is_ready().await,
        }
    }

    /// Returns the last known state, without an effect on the agent.
    pub(crate) fn last_health(&self) -> Option<bool> {
        self.users().map_or(Some(true), |users| users.last_health())
    }

    pub(crate) async fn shut_down(&self) {
        if let Some(users) = self.users() {
            users.shut_down().await;
        }
    }
}

/// What makes the ids of a thread unique.
pub(crate) struct ThreadIds {
    /// Secret from agents.
    pub(crate) interrupt_prefix: String,
    pub(crate) id_scope: String,
}

impl AcpAgents {
    fn new(
        settings: &Settings,
        name: &str,
        agent: &AgentSettings,
        telemetry: &Telemetry,
        removed: mpsc::UnboundedSender<String>,
    ) -> Result<Self, SettingsError> {
        let spaces = agent.spaces(name, settings)?;
        let access = agent.access(name)?;
        let cwd = agent.session_directory(name, access.as_ref(), settings.cwd.as_deref())?;
        let times = &settings.times;
        let limits = &settings.limits;
        let mut conversation = ConversationOptions::new(cwd);
        conversation.translator = translator(agent.permission.unwrap_or(settings.permission));
        conversation.translator.times.turn = Some(times.turn.0);
        conversation.translator.times.answer = Some(times.question.0);
        conversation.system_prompt.clone_from(&agent.system_prompt);
        conversation.rules = crate::hub::input_rules(agent.sessions, &agent.forwarded);
        conversation.mcp_servers = crate::hub::mcp_servers(&settings.mcp_servers, name)?;
        conversation.when_busy = settings.when_busy.into();
        conversation.cancel_grace = times.cancel_grace.0;
        conversation.queue_wait = Some(times.queue.0);
        conversation.max_queued = limits.queue;
        conversation.sign_in.command.clone_from(&agent.command);
        let step = "restart the gateway with `--authenticate {id}`";
        conversation.sign_in.authenticate = Some(step.to_owned());
        let mut options = HubOptions::new(conversation.clone());
        options.max_threads = limits.threads;
        // A question expires before its thread.
        options.idle = times.idle.0.max(times.question.0 + times.cancel_grace.0);
        let catalog = Catalog::load(settings.agents_file.as_deref())?;
        let refused = catalog.refused_transports(agent.command.as_deref());
        refused.for_each(|transport| options.refused_servers.add_transport(transport));
        let address = agent.address(name, settings)?;
        let is_local = address.is_local();
        options.agent_is_local = is_local;
        // Over HTTP the response to `session/load` may precede earlier updates.
        options.can_load = !address.is_http();
        let has_login = is_local && cfg!(unix) && settings.has_login();
        let files = if is_local { Files::Local } else { Files::Remote };
        let mut info = Implementation::new("spanwire-gateway", env!("CARGO_PKG_VERSION"));
        info.title = Some("Spanwire gateway".to_owned());
        let mut client =
            agent.version.offer(info, &conversation.translator, access.as_ref(), has_login);
        client.call_timeout = times.answer.0;
        client.turn_timeout = TURN_TIME;
        let setup = AgentSetup {
            address,
            client,
            authenticate: agent.authenticate.clone(),
            access,
            rules: Rules::new(&settings.permission_rules, name, files),
            exit_grace: times.exit_grace.0,
            is_optional: settings.offered.contains_key(name),
            telemetry: telemetry.clone(),
        };
        let users = UserAgents::new(setup, options, spaces, limits.user_agents, removed);
        let binding = agent.page_tools;
        let own_tools = agent.gateway_tools;
        Ok(Self { users, name: name.to_owned(), is_local, binding, own_tools })
    }

    /// Opens the conversation of a thread. Returns `false` if it is open.
    pub(crate) fn open_thread(
        &self,
        user: &UserAgent,
        key: &ThreadName,
        names: ThreadIds,
        servers: &Arc<PageServers>,
        remembered: watch::Sender<Option<RememberedSession>>,
    ) -> Result<bool, StartError> {
        let mut options = user.conversation.clone();
        options.translator.interrupt_prefix = names.interrupt_prefix;
        options.translator.id_scope = names.id_scope;
        let name = key.text();
        let events = {
            let connection = Arc::downgrade(&user.connection);
            let name = name.clone();
            move |event| {
                if let Some(connection) = connection.upgrade() {
                    connection.handle_page(&name, event);
                }
            }
        };
        let page = self.page_tools(&key.user, servers, &mut options, Arc::new(events));
        let mut conversation = Conversation::new(options);
        if let Some(session) = remembered.borrow().clone() {
            conversation = conversation.with_remembered(session);
        }
        if let Some(page) = &page {
            page.offer(conversation.tools());
        }
        let state = ThreadState::new(page, remembered);
        Ok(user.connection.open_thread(&name, conversation, state)?)
    }

    /// Returns the MCP server of a thread, if it has one. Adds it and the relays to the sessions.
    fn page_tools(
        &self,
        user: &str,
        servers: &Arc<PageServers>,
        options: &mut ConversationOptions,
        events: EventHandler,
    ) -> Option<PageServer> {
        let is_page = self.binding == PageToolsBinding::Mcp;
        let is_contextual = self.binding == PageToolsBinding::Contextual;
        options.page_tools = if is_contextual { PageTools::Contextual } else { PageTools::Off };
        if !is_page && !servers.has_relays(&self.name) {
            return None;
        }
        let opened = servers.open_one(user, &self.name, self.own_tools.unwrap_or(true), events);
        let opened = opened.and_then(|opened| {
            options.mcp_servers.extend(opened.relays(self.is_local)?);
            if is_page {
                let stdio = opened.over_stdio(&options.frontend)?;
                let servers = vec![opened.over_http(&options.frontend), stdio];
                options.page_tools =
                    PageTools::Mcp { servers, always: self.own_tools == Some(true) };
            }
            Ok(opened)
        });
        opened.inspect_err(|error| tracing::error!(%error, "a thread has no MCP servers")).ok()
    }
}

/// Connects to the MCP servers of models and relays.
pub(crate) fn offered_servers(
    settings: &Settings,
    store: &OpenStore,
) -> Result<Offered, SettingsError> {
    let models = settings.agents.iter().filter(|(_, agent)| agent.model.is_some());
    let mut options = ServerOptions::new("spanwire-gateway", env!("CARGO_PKG_VERSION"));
    options.secrets = settings.secret_variables();
    options.start_time = settings.times.answer.0;
    options.call_time = settings.times.turn.0;
    options.exit_grace = settings.times.exit_grace.0;
    let key_file = settings.store_key_file.clone().or_else(|| store.key_file());
    let place = SignInPlace::new(store.runs.clone(), key_file, "Spanwire gateway");
    let servers = &settings.mcp_servers;
    let models = models.map(|(name, _)| name);
    Ok(crate::hub::offered_servers(servers, models, &options, &place)?)
}

/// Returns the logins of agents, the default one first.
pub(crate) fn logins(
    settings: &Settings,
    agents: &BTreeMap<String, Agents>,
    servers: Offered,
    address: SocketAddr,
) -> Result<Logins, SettingsError> {
    let catalog = Catalog::load(settings.agents_file.as_deref())?;
    let sites = CallbackSites::new(&settings.site, address);
    let mut all: Vec<_> = settings.all_agents().collect();
    all.sort_by_key(|(name, _)| settings.default_agent.as_ref() != Some(name));
    let all = all.into_iter().map(|(name, agent)| {
        let users = agents.get(name).and_then(Agents::users).cloned();
        LoginAgent::new(name, agent.command.as_deref(), users, &catalog)
    });
    let logins = Logins::new(all.collect(), servers, sites, settings.has_login());
    let programs = Programs::of_environment();
    Ok(if settings.is_demo { logins.with_missing(&catalog, &programs) } else { logins })
}

/// Returns the handling of permission requests and elicitations.
fn translator(permission: Permission) -> Options {
    let mut options = Options::new();
    options.legacy_interrupts = permission == Permission::AskByInterrupt;
    let decide = |policy| (PermissionMode::Policy(policy), ElicitationMode::Decline);
    (options.permission, options.elicitation) = match permission {
        Permission::Ask | Permission::AskByInterrupt => {
            (PermissionMode::Interrupt, ElicitationMode::Interrupt)
        }
        Permission::AskInStream => (PermissionMode::InStream, ElicitationMode::InStream),
        Permission::Allow => decide(Policy::allow_all()),
        Permission::Reject => decide(Policy::reject_all()),
    };
    options
}
