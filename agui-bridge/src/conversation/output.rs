//! Outputs of a conversation: commands for the agent's connection, events of runs, notices for the
//! program.
use super::session_settings::Setting;
use super::{RememberedSession, RunRefused};
use crate::frontend_tool::Outcome;
use crate::{Answer, Response};
use acp_types::client::RequestKey;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::elicitation::ElicitationAction;
use acp_types::v1::session_config_options::InitialSessionConfigOption;
use acp_types::v1::session_cursors::CursorId;
use acp_types::v1::session_setup::{McpServer, SessionId};
use agui_types::event::Event;
use agui_types::id::{RunId, ToolCallId};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Meta, Raw};
use serde::{Deserialize, Serialize};

/// Number of a session within its conversation. Numbers are not reused.
///
/// It exists before the agent has named the session, and distinguishes events of a released session
/// from those of the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionNumber(pub(super) u64);

/// Identifies a change of a setting, until [`Notice::SettingEnded`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SettingKey(pub(super) u64);

/// Identifies a question of a program's tool, until [`Notice::QuestionAnswered`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct QuestionKey(pub(super) u64);

/// A command for the client's side of the agent's connection.
///
/// At most one session is open: between two [`Open`](Self::Open) there is a
/// [`Release`](Self::Release), unless the connection was lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Command {
    /// Opens a session. `SessionEvent::Opened` or `Refused` follows.
    Open(SessionNumber, Box<OpenSession>),
    /// Sends a prompt. `SessionEvent::TurnEnded` follows.
    Prompt {
        /// Session of the prompt.
        session: SessionNumber,
        /// Content of the prompt.
        blocks: Vec<ContentBlock>,
        /// Name of the skill that the prompt begins with, in version 2. The user's message named it
        /// after a `/`.
        #[serde(default)]
        skill: Option<String>,
        /// `_meta` of the request.
        meta: Option<Meta>,
    },
    /// Cancels the turn of a session.
    Cancel {
        /// Session of the turn.
        session: SessionNumber,
        /// Time limit for the end of the turn.
        grace: Duration,
    },
    /// Answers a request of the agent.
    Reply {
        /// Session of the request.
        session: SessionNumber,
        /// The request that was passed in.
        #[serde(with = "super::requests::request_key")]
        request: RequestKey,
        /// The response.
        reply: AgentReply,
    },
    /// Changes a setting of a session.
    Set {
        /// Session of the setting.
        session: SessionNumber,
        /// Key to pass in with the result. Without a key the result is not needed.
        key: Option<SettingKey>,
        /// Setting and value.
        setting: Setting,
    },
    /// Asks the agent for the settings that a session would begin with (`session/options`).
    /// [`handle_options`](super::Conversation::handle_options) takes the result.
    AskOptions {
        /// Key to pass in with the result.
        key: SettingKey,
        /// Absolute path of the session's working folder.
        cwd: String,
    },
    /// Releases a session: its turn is cancelled, its open requests are answered, later events are
    /// dropped, and it is closed if the agent supports `session/close`.
    Release(SessionNumber),
}

/// A session to open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenSession {
    /// Method of opening.
    pub origin: SessionOrigin,
    /// Absolute path of the session's working folder.
    pub cwd: String,
    /// MCP servers of the session.
    pub mcp_servers: Vec<McpServer>,
    /// Instructions for the model.
    pub system_prompt: Option<String>,
    /// Initial values of config options, for an agent that accepts them.
    #[serde(default)]
    pub config_options: Vec<InitialSessionConfigOption>,
    /// `_meta` of the request.
    pub meta: Option<Meta>,
}

/// Method of opening a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SessionOrigin {
    /// `session/new`.
    New,
    /// `session/load`: the agent replays the conversation.
    Load(SessionId),
    /// `session/resume`.
    Resume(SessionId),
    /// `session/fork`, at a cursor of the session or of the whole session.
    Fork(SessionId, Option<CursorId>),
}

/// The response to a request of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AgentReply {
    /// The result of a permission request or of an elicitation.
    Answer(Answer),
    /// The result of an extension method.
    Result(Raw),
    /// An error.
    Error(ErrorObject),
}

/// An output of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// The run.
    pub run_id: RunId,
    /// The output.
    pub output: RunOutput,
}

/// The output of a run: events from `RUN_STARTED` to `RUN_FINISHED` or `RUN_ERROR`, or a refusal
/// without events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RunOutput {
    /// An event of the stream.
    Event(Event),
    /// A run that was [queued](super::Acceptance::Queued) does not begin: this run had the same
    /// answers. Its events are the response.
    Again(RunId),
    /// A run that was [queued](super::Acceptance::Queued) does not begin.
    Refused(RunRefused),
}

/// A notice for the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Notice {
    /// The outcome of a call of a page tool, once.
    ToolAnswered(ToolCallId, Outcome),
    /// A call of a page tool still waits. Report progress if the caller requested it.
    ToolAlive(ToolCallId),
    /// The page's tools changed; see [`tools`](super::Conversation::tools).
    ToolsChanged,
    /// A request of the agent or of a program's tool was answered, by the user or without.
    RequestAnswered(Box<Response>),
    /// The answer to a question of a program's tool, once.
    QuestionAnswered(QuestionKey, ElicitationAction),
    /// A setting was changed or refused, once.
    SettingEnded(SettingKey, Result<(), SettingError>),
    /// The session that was to be opened without a run is open, or cannot be opened for this
    /// reason; see [`handle_preparation`](super::Conversation::handle_preparation).
    Prepared(Result<(), String>),
    /// The agent works outside of a run: [`has_activity`](super::Conversation::has_activity) is
    /// `true` from now on, until a run begins.
    Activity,
    /// Data with which another process can continue the session. It replaces earlier data.
    Remember(Box<RememberedSession>),
    /// The stored session cannot be continued.
    Forget,
    /// The agent opened a session only without these transports of the page's MCP server. A
    /// [hub](crate::hub) handles it.
    ServersRefused(super::RefusedServers),
    /// Something was dropped or replaced.
    Diagnostic(ConversationDiagnostic),
}

/// A setting was not changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The agent refused the change.
    #[error("the agent refused the change: {}", .0.message)]
    Refused(ErrorObject),
    /// The agent does not respond, or is gone.
    #[error("{0}")]
    Failed(String),
}

/// Something that a conversation dropped or replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationDiagnostic {
    /// A member of `forwardedProps` that is not allowed was dropped.
    #[error("at {0}: a property that is not allowed")]
    PropertyLeftOut(String),
    /// The value of a config option is neither a string nor a boolean.
    #[error("config option `{0}`: expected a string or a boolean")]
    ConfigValue(String),
    /// The agent supports none of the descriptions of the page's MCP server.
    #[error("the agent cannot reach the MCP server of the page's tools")]
    ToolsUnreachable,
    /// The agent refused a session with the page's MCP server. The session is opened over another
    /// transport, or without it.
    #[error("the agent refused the MCP server of the page's tools: {0}")]
    ServerRefused(String),
    /// The agent does not support the transport of a configured MCP server, which is left out.
    #[error(
        "the agent does not support the transport of the MCP server `{0}`; its tools are missing"
    )]
    ServerUnreachable(String),
    /// The agent refuses sessions with these configured MCP servers, which are left out.
    #[error("the agent refuses sessions with the MCP servers {0}; their tools are missing")]
    ServersLeftOut(String),
    /// A contextual tool of the page is not offered to the agent.
    #[error("the agent is not offered a tool of the page: {0}")]
    ToolSkipped(String),
    /// The agent called a contextual tool without its prefix.
    #[error("the agent calls `{0}` without the prefix of the page's tools")]
    MissingPrefix(String),
    /// A call of a contextual tool was acknowledged, but cannot be shown.
    #[error("a call of the page's tool `{0}` is not shown: {1}")]
    CallNotShown(String, String),
    /// A session was replaced by a new one, since it could not be continued.
    #[error("the session of the thread cannot be continued: {0}")]
    SessionLost(String),
    /// The agent refused to fork the session, at its cursor or for a branch. A new session is
    /// opened instead.
    #[error("the agent does not fork the session: {0}")]
    ForkRefused(String),
    /// A cancelled turn did not end in time, and its session was released.
    #[error("the agent did not end a cancelled turn")]
    GraceOver,
    /// Texts for the next prompt were dropped because of their number.
    #[error("{0} late results of tools were dropped")]
    LateResultsDropped(usize),
}
