//! The agents that serve threads, and how threads use each.
use crate::agent::{AgentPool, Offers, Trouble};
use crate::capabilities::{self, Asks};
use crate::settings::{AgentSettings, PageToolsBinding, Permission, Settings, SettingsError};
use agent_tools::Toolbox;
use agui_bridge::{ElicitationMode, Options, PermissionMode, Policy, input};
use agui_types::capabilities::AgentCapabilities;
use chat_model::ChatModel;
use run_telemetry::Telemetry;
use std::sync::Arc;

/// One of the agents that serve threads, and how threads use it.
#[derive(Debug)]
pub(crate) enum Agents {
    Acp(Box<AcpAgents>),
    Model(Arc<ChatModel>),
}

impl Agents {
    pub(crate) fn new(
        settings: &Settings,
        name: &str,
        agent: &AgentSettings,
        toolbox: &Arc<Toolbox>,
        telemetry: &Telemetry,
    ) -> Result<Self, SettingsError> {
        let permission = agent.permission.unwrap_or(settings.permission);
        let Some(model) = &agent.model else {
            return Ok(Self::Acp(Box::new(AcpAgents::new(settings, name, agent, telemetry)?)));
        };
        let wrong = |why: String| SettingsError::Agent { agent: name.to_owned(), why };
        if agent.command.is_some() || agent.url.is_some() {
            return Err(SettingsError::TwoWays(name.to_owned()));
        }
        if agent.token.is_some() || agent.token_file.is_some() || agent.token_variable.is_some() {
            let why = "a model has its key in `model.key-variable`, not a `token`";
            return Err(wrong(why.to_owned()));
        }
        let legacy_interrupts = permission == Permission::AskByInterrupt;
        let model = ChatModel::new(model, legacy_interrupts, toolbox.clone());
        Ok(Self::Model(Arc::new(model.map_err(|error| wrong(error.to_string()))?)))
    }

    /// What it can do; an ACP agent is greeted for it, if it was not yet.
    pub(crate) async fn capabilities(
        &self,
        name: &str,
        toolbox: &Toolbox,
    ) -> Result<AgentCapabilities, Trouble> {
        Ok(match self {
            Self::Model(_) => capabilities::of_model(name, toolbox.registry()),
            Self::Acp(agents) => {
                let asks = match agents.options.permission {
                    PermissionMode::Interrupt => Asks::Interrupts,
                    PermissionMode::InStream => Asks::InStream,
                    _ => Asks::Nobody,
                };
                capabilities::of_acp(name, &agents.pool.agent().await?.info, asks)
            }
        })
    }

    /// Tries whether it can be reached. A model is asked only when somebody wants something of it.
    pub(crate) async fn is_ready(&self) -> bool {
        match self {
            Self::Model(_) => true,
            Self::Acp(agents) => agents.pool.probe().await,
        }
    }

    pub(crate) async fn shut_down(&self) {
        if let Self::Acp(agents) = self {
            agents.pool.shut_down().await;
        }
    }
}

/// An ACP agent.
#[derive(Debug)]
pub(crate) struct AcpAgents {
    pub(crate) pool: AgentPool,
    pub(crate) options: Options,
    pub(crate) page_tools: PageToolsBinding,
    pub(crate) own_tools: Option<bool>,
    /// How inputs become prompts.
    pub(crate) input: input::Rules,
    pub(crate) cwd: String,
}

impl AcpAgents {
    fn new(
        settings: &Settings,
        name: &str,
        agent: &AgentSettings,
        telemetry: &Telemetry,
    ) -> Result<Self, SettingsError> {
        let access = agent.access(name)?;
        let cwd = agent.session_directory(name, access.as_ref(), settings.cwd.as_deref())?;
        let mut options = Options::new();
        let permission = agent.permission.unwrap_or(settings.permission);
        options.legacy_interrupts = permission == Permission::AskByInterrupt;
        (options.permission, options.elicitation) = match permission {
            Permission::Ask | Permission::AskByInterrupt => {
                (PermissionMode::Interrupt, ElicitationMode::Interrupt)
            }
            Permission::AskInStream => (PermissionMode::InStream, ElicitationMode::InStream),
            Permission::Allow => {
                (PermissionMode::Policy(Policy::allow_all()), ElicitationMode::Decline)
            }
            Permission::Reject => {
                (PermissionMode::Policy(Policy::reject_all()), ElicitationMode::Decline)
            }
        };
        options.times.turn = Some(settings.times.turn.0);
        options.times.answer = Some(settings.times.question.0);
        let address = agent.address(name, settings.secret_variables())?;
        let elicits = options.elicitation != ElicitationMode::Decline;
        let login = agent.authenticate.clone();
        let offers = Offers { elicits, access };
        let pool = AgentPool::new(address, login, offers, settings.times, telemetry.clone());
        let (page_tools, own_tools) = (agent.page_tools, agent.gateway_tools);
        let input = agent.input_rules();
        Ok(Self { pool, options, page_tools, own_tools, input, cwd })
    }
}
