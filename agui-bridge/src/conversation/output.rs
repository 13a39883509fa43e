//! Outputs of a conversation: commands for the agent's connection, events of runs, notices for the program.
use super::{Remembered, RunRefused};
use crate::Answer;
use crate::frontend_tool::Outcome;
use acp_types::client::RequestKey;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::elicitation::ElicitationAction;
use acp_types::v1::session_config_options::{SessionConfigId, SessionConfigOptionValue};
use acp_types::v1::session_modes::SessionModeId;
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

/// Number of a session within its conversation, unique for the life of the conversation.
///
/// It exists before the agent has named the session, and separates events of a session that was left from those of the
/// current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionNumber(pub(super) u64);

/// Identifies a setting that the program changes, until [`Notice::SettingEnded`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SettingKey(pub(super) u64);

/// Identifies a question of a tool of the program, until [`Notice::QuestionAnswered`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct QuestionKey(pub(super) u64);

/// A command for the client's side of the agent's connection.
///
/// At most one session is open at a time: between two [`Open`](Self::Open) there is a [`Release`](Self::Release), unless
/// the connection was lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Command {
    /// Open a session. It ends with `SessionEvent::Opened` or `Refused`.
    Open(SessionNumber, Box<OpenSession>),
    /// Send a prompt. It ends with `SessionEvent::TurnEnded`.
    Prompt {
        /// Session of the prompt.
        session: SessionNumber,
        /// Content of the prompt.
        blocks: Vec<ContentBlock>,
        /// `_meta` of the request.
        meta: Option<Meta>,
    },
    /// Cancel the turn of a session.
    Cancel {
        /// Session of the turn.
        session: SessionNumber,
        /// Time within which the turn has to end.
        grace: Duration,
    },
    /// Answer a request of the agent.
    Reply {
        /// Session of the request.
        session: SessionNumber,
        /// Request, as it was handed in.
        #[serde(with = "super::requests::request_key")]
        request: RequestKey,
        /// Answer.
        reply: AgentReply,
    },
    /// Change a setting of a session.
    Set {
        /// Session of the setting.
        session: SessionNumber,
        /// Key to hand in with the result, where the result matters.
        key: Option<SettingKey>,
        /// Setting and value.
        setting: Setting,
    },
    /// Leave a session: its turn is cancelled, its open requests are answered, later events are dropped, and it is closed
    /// where the agent serves `session/close`.
    Release(SessionNumber),
}

/// A session to open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenSession {
    /// Method of opening.
    pub origin: SessionOrigin,
    /// Absolute path of the folder that the session works in.
    pub cwd: String,
    /// MCP servers of the session.
    pub mcp_servers: Vec<McpServer>,
    /// Instructions for the model.
    pub system_prompt: Option<String>,
    /// `_meta` of the request.
    pub meta: Option<Meta>,
}

/// Method of opening a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SessionOrigin {
    /// `session/new`.
    New,
    /// `session/load`: the agent repeats the conversation.
    Load(SessionId),
    /// `session/resume`.
    Resume(SessionId),
    /// `session/fork`.
    Fork(SessionId),
}

/// Answer to a request of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AgentReply {
    /// Result of a permission request or of an elicitation.
    Answer(Answer),
    /// Result of an extension method.
    Result(Raw),
    /// Error.
    Error(ErrorObject),
}

/// A setting of a session and its new value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Setting {
    /// `session/set_mode`.
    Mode(SessionModeId),
    /// `session/set_config_option`.
    ConfigOption(SessionConfigId, SessionConfigOptionValue),
}

/// An output of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// Run of the output.
    pub run_id: RunId,
    /// Output.
    pub output: RunOutput,
}

/// Output of a run: events from `RUN_STARTED` to `RUN_FINISHED` or `RUN_ERROR`, or a refusal and no event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RunOutput {
    /// Event of the stream.
    Event(Event),
    /// A run that was [queued](super::Accepted::Queued) does not begin.
    Refused(RunRefused),
}

/// A notice for the program that runs the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Notice {
    /// A call of a page's tool has its outcome, once.
    ToolAnswered(ToolCallId, Outcome),
    /// A call of a page's tool still waits: the time to report progress, where the caller wants it.
    ToolAlive(ToolCallId),
    /// The page's tools have changed; see [`tools`](super::Conversation::tools).
    ToolsChanged,
    /// A question of a tool of the program has its answer, once.
    QuestionAnswered(QuestionKey, ElicitationAction),
    /// A setting was changed or refused, once.
    SettingEnded(SettingKey, Result<(), SettingError>),
    /// The session can be continued by another process with this; it replaces what was remembered before.
    Remember(Box<Remembered>),
    /// The session that was remembered cannot be continued.
    Forget,
    /// Something was dropped or replaced.
    Diagnostic(ConversationDiagnostic),
}

/// A setting was not changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The agent refuses it.
    #[error("the agent refuses: {}", .0.message)]
    Refused(ErrorObject),
    /// The agent does not answer, or is gone.
    #[error("{0}")]
    Failed(String),
}

/// Something that a conversation dropped or replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationDiagnostic {
    /// A member of `forwardedProps` is not allowed.
    #[error("at {0}: a property that is not allowed")]
    PropertyLeftOut(String),
    /// The value of a config option is neither a string nor a boolean.
    #[error("config option `{0}`: expected a string or a boolean")]
    ConfigValue(String),
    /// The agent reaches none of the descriptions of the page's MCP server.
    #[error("the agent cannot reach the MCP server of the page's tools")]
    ToolsUnreachable,
    /// A contextual tool of the page is not offered to the agent.
    #[error("the agent is not offered a tool of the page: {0}")]
    ToolSkipped(String),
    /// The agent calls a contextual tool without its prefix.
    #[error("the agent calls `{0}` without the prefix of the page's tools")]
    MissingPrefix(String),
    /// A call of a contextual tool was acknowledged, and cannot be shown.
    #[error("a call of the page's tool `{0}` is not shown: {1}")]
    CallNotShown(String, String),
    /// A session was not continued; a new one takes its place.
    #[error("the session of the thread cannot be continued: {0}")]
    SessionLost(String),
    /// A cancelled turn did not end in time, and its session was left.
    #[error("the agent does not end a cancelled turn")]
    GraceOver,
    /// Texts for the next prompt were dropped because there were too many.
    #[error("{0} late results of tools were dropped")]
    LateResultsDropped(usize),
}
