//! Configuration of a conversation, and features of the agent.
use super::{RefusedServers, WhenBusy};
use crate::{Options, SignIn, frontend_tool, input};
use acp_types::v1::initialization::{Implementation, InitializeResponse, PromptCapabilities};
use acp_types::v1::session_setup::McpServer;
use acp_types::v2;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// Configuration of a [`Conversation`](super::Conversation).
///
/// ```
/// use agui_bridge::conversation::{ConversationOptions, WhenBusy};
///
/// let mut options = ConversationOptions::new("/home/me/project");
/// options.when_busy = WhenBusy::Queue;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConversationOptions {
    /// Absolute path of the working folder of sessions.
    pub cwd: String,
    /// Instructions for the model in each session; none by default. For an agent without
    /// `systemPrompt` they are a text before the first prompt of a new session.
    #[serde(default)]
    pub system_prompt: Option<String>,
    /// MCP servers of each session. A server over a transport that the agent does not support is
    /// left out, with a [diagnostic](super::ConversationDiagnostic::ServerUnreachable).
    pub mcp_servers: Vec<McpServer>,
    /// Translation of the agent's messages into events.
    pub translator: Options,
    /// Mapping of inputs to sessions and prompts.
    pub rules: input::Rules,
    /// Access of the agent to the page's tools.
    pub page_tools: PageTools,
    /// Behaviour of the page's tools.
    pub frontend: frontend_tool::FrontendToolOptions,
    /// Treatment of a run that arrives while another one is open.
    pub when_busy: WhenBusy,
    /// Time limit for a cancelled turn; 10 s. After it the session is released.
    pub cancel_grace: Duration,
    /// Time limit for a waiting run; none by default.
    pub queue_wait: Option<Duration>,
    /// Maximum number of waiting runs; 8.
    pub max_queued: usize,
    /// Number of inputs that are recognized when repeated; 64. Runs that ended first are forgotten
    /// first.
    pub max_known_runs: usize,
    /// Maximum number of open questions of the program's tools; 64.
    pub max_questions: usize,
    /// Next steps of a user if the agent requires a login; none by default. The methods are named
    /// in any case.
    pub sign_in: SignIn,
}

impl ConversationOptions {
    /// Creates the defaults for sessions in a folder.
    pub fn new(cwd: impl Into<String>) -> Self {
        Self {
            cwd: cwd.into(),
            system_prompt: None,
            mcp_servers: Vec::new(),
            translator: Options::new(),
            rules: input::Rules::new(),
            page_tools: PageTools::default(),
            frontend: frontend_tool::FrontendToolOptions::new(),
            when_busy: WhenBusy::default(),
            cancel_grace: Duration::from_secs(10),
            queue_wait: None,
            max_queued: 8,
            max_known_runs: 64,
            max_questions: 64,
            sign_in: SignIn::default(),
        }
    }
}

/// Access of an agent to the page's tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PageTools {
    /// The agent has no tools of the page.
    #[default]
    Off,
    /// The [extension method](crate::contextual_tools). Tools are announced in `_meta`, and
    /// acknowledged immediately.
    Contextual,
    /// An MCP server of the program. Its calls are passed to
    /// [`handle_tool_call`](super::Conversation::handle_tool_call).
    Mcp {
        /// Descriptions of the server by transport, in order of preference. A session gets the
        /// first one that the agent supports.
        servers: Vec<McpServer>,
        /// Whether sessions have the server even while the page offers no tools.
        always: bool,
    },
}

/// Features of an agent that a conversation depends on, from the response to `initialize`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentFeatures {
    /// Name and version of the agent.
    pub info: Option<Implementation>,
    /// Content that prompts may have.
    pub prompt: PromptCapabilities,
    /// Whether the agent supports `session/load`. Clear it for a transport in which the response
    /// can overtake earlier updates.
    pub load: bool,
    /// Whether the agent supports `session/resume`.
    pub resume: bool,
    /// Whether the agent supports `session/fork`.
    pub fork: bool,
    /// Whether the agent supports MCP servers over HTTP.
    pub mcp_http: bool,
    /// Whether the agent supports MCP servers over server-sent events.
    pub mcp_sse: bool,
    /// Whether the agent can start MCP servers. Clear it for an agent on another machine.
    pub mcp_stdio: bool,
    /// Whether a session accepts a `systemPrompt`.
    pub system_prompt: bool,
    /// Whether the agent supports `session/options`, and `configOptions` of session setup.
    pub options: bool,
    /// Whether a prompt may begin with a skill.
    #[serde(default)]
    pub skills: bool,
    /// MCP servers that the agent has refused in earlier sessions.
    pub refused: RefusedServers,
}

impl From<&InitializeResponse> for AgentFeatures {
    fn from(response: &InitializeResponse) -> Self {
        let capabilities = response.agent_capabilities.clone().unwrap_or_default();
        let session = capabilities.session_capabilities.unwrap_or_default();
        let mcp = capabilities.mcp_capabilities.unwrap_or_default();
        Self {
            info: response.agent_info.clone(),
            prompt: capabilities.prompt_capabilities.unwrap_or_default(),
            load: capabilities.load_session == Some(true),
            resume: session.resume.is_some(),
            fork: session.fork.is_some(),
            mcp_http: mcp.http == Some(true),
            mcp_sse: mcp.sse == Some(true),
            mcp_stdio: true,
            system_prompt: session.system_prompt.is_some(),
            options: session.options.is_some(),
            skills: false,
            refused: RefusedServers::default(),
        }
    }
}

impl From<&v2::initialization::InitializeResponse> for AgentFeatures {
    fn from(response: &v2::initialization::InitializeResponse) -> Self {
        let capabilities = response.capabilities.clone().unwrap_or_default();
        let session = capabilities.session.map(|session| *session).unwrap_or_default();
        let mcp = session.mcp.unwrap_or_default();
        let content = session.prompt.unwrap_or_default();
        let mut prompt = PromptCapabilities::new();
        prompt.image = Some(content.image.is_some());
        prompt.audio = Some(content.audio.is_some());
        prompt.embedded_context = Some(content.embedded_context.is_some());
        let skills = content.skill.is_some();
        Self {
            info: Some(response.info.clone()),
            prompt,
            load: false,
            // Version 2 requires `session/resume` of each agent with sessions.
            resume: true,
            fork: session.fork.is_some(),
            mcp_http: mcp.http.is_some(),
            mcp_sse: false,
            mcp_stdio: mcp.stdio.is_some(),
            system_prompt: session.system_prompt.is_some(),
            options: session.options.is_some(),
            skills,
            refused: RefusedServers::default(),
        }
    }
}

impl AgentFeatures {
    /// Removes the transports of servers that the agent refuses.
    pub(super) fn remove_transports(&mut self, refused: RefusedServers) {
        self.mcp_http &= !refused.http;
        self.mcp_sse &= !refused.sse;
        self.mcp_stdio &= !refused.stdio;
    }

    /// Returns whether the agent can connect to an MCP server with this description.
    pub(super) fn reaches(&self, server: &McpServer) -> bool {
        match server {
            McpServer::Http(_) => self.mcp_http,
            McpServer::Sse(_) => self.mcp_sse,
            McpServer::Stdio(_) => self.mcp_stdio,
            _ => false,
        }
    }
}
