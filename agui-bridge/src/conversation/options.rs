//! Configuration of a conversation, and the features of the agent that it depends on.
use super::WhenBusy;
use crate::{Options, frontend_tool, input};
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
    /// Absolute path of the folder that sessions work in.
    pub cwd: String,
    /// MCP servers of every session.
    pub mcp_servers: Vec<McpServer>,
    /// Translation of the agent's traffic into events.
    pub translator: Options,
    /// Mapping of inputs to sessions and prompts.
    pub rules: input::Rules,
    /// Way in which an agent reaches the page's tools.
    pub page_tools: PageTools,
    /// Behaviour of the page's tools.
    pub frontend: frontend_tool::Options,
    /// Treatment of a run that arrives while another one is open.
    pub when_busy: WhenBusy,
    /// Time within which a cancelled turn has to end; 10 s. The session is left after it.
    pub cancel_grace: Duration,
    /// Time that a run waits for its turn; without limit unless it is set.
    pub queue_wait: Option<Duration>,
    /// Runs that wait at most; 8.
    pub max_queued: usize,
    /// Inputs of runs that are recognised when they are repeated; 64. The oldest ended runs are forgotten first.
    pub max_known_runs: usize,
    /// Questions of the program's own tools that are open at most; 64.
    pub max_questions: usize,
}

impl ConversationOptions {
    /// Creates the defaults for sessions in a folder.
    pub fn new(cwd: impl Into<String>) -> Self {
        Self {
            cwd: cwd.into(),
            mcp_servers: Vec::new(),
            translator: Options::new(),
            rules: input::Rules::new(),
            page_tools: PageTools::default(),
            frontend: frontend_tool::Options::new(),
            when_busy: WhenBusy::default(),
            cancel_grace: Duration::from_secs(10),
            queue_wait: None,
            max_queued: 8,
            max_known_runs: 64,
            max_questions: 64,
        }
    }
}

/// Way in which an agent reaches the page's tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PageTools {
    /// The agent is given no tools of the page.
    #[default]
    Off,
    /// The [extension method](crate::contextual_tools): tools are announced in `_meta`, and acknowledged at once.
    Contextual,
    /// An MCP server of the program, whose calls come by
    /// [`handle_tool_call`](super::Conversation::handle_tool_call).
    Mcp {
        /// Descriptions of the server by transport, the preferred one first. A session is given the first one that the agent
        /// can reach.
        servers: Vec<McpServer>,
        /// Whether sessions are given the server also while the page offers no tools.
        always: bool,
    },
}

/// Features of an agent that a conversation depends on, as its `initialize` response has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentFeatures {
    /// Name and version of the agent.
    pub info: Option<Implementation>,
    /// Content that prompts may have.
    pub prompt: PromptCapabilities,
    /// Whether the agent serves `session/load`. A program clears it for a transport on which the response may overtake the
    /// updates before it.
    pub load: bool,
    /// Whether the agent serves `session/resume`.
    pub resume: bool,
    /// Whether the agent serves `session/fork`.
    pub fork: bool,
    /// Whether the agent reaches MCP servers over HTTP.
    pub mcp_http: bool,
    /// Whether the agent reaches MCP servers over server-sent events.
    pub mcp_sse: bool,
    /// Whether the agent reaches MCP servers that it has to start itself. A program clears it where the agent does not run on
    /// the same machine.
    pub mcp_stdio: bool,
    /// Whether a session takes a `systemPrompt`.
    pub system_prompt: bool,
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
        }
    }
}

impl From<&v2::initialization::InitializeResponse> for AgentFeatures {
    fn from(response: &v2::initialization::InitializeResponse) -> Self {
        let capabilities = response.capabilities.clone().unwrap_or_default();
        let session = capabilities.session.map(|session| *session).unwrap_or_default();
        let (mcp, content) = (session.mcp.unwrap_or_default(), session.prompt.unwrap_or_default());
        let mut prompt = PromptCapabilities::new();
        prompt.image = Some(content.image.is_some());
        prompt.audio = Some(content.audio.is_some());
        prompt.embedded_context = Some(content.embedded_context.is_some());
        let info = Implementation::new(&*response.info.name, &*response.info.version);
        Self {
            info: Some(info),
            prompt,
            load: false,
            // Every agent that has sessions resumes them.
            resume: true,
            fork: session.fork.is_some(),
            mcp_http: mcp.http.is_some(),
            mcp_sse: false,
            mcp_stdio: mcp.stdio.is_some(),
            system_prompt: session.system_prompt.is_some(),
        }
    }
}

impl AgentFeatures {
    /// Whether the agent can connect to an MCP server that is described in this way.
    pub(super) fn reaches(&self, server: &McpServer) -> bool {
        match server {
            McpServer::Http(_) => self.mcp_http,
            McpServer::Sse(_) => self.mcp_sse,
            McpServer::Stdio(_) => self.mcp_stdio,
            _ => false,
        }
    }
}
