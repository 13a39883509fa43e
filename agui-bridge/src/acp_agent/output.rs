//! Outputs of the reverse bridge, questions to the user, and errors of prompts.
#[cfg(doc)]
use super::AcpAgent;
use acp_types::v1::elicitation::{CreateElicitationRequest, ElicitationAction};
use acp_types::v1::prompt_turn::{PromptResponse, SessionNotification};
use acp_types::v1::tool_calls::{RequestPermissionOutcome, RequestPermissionRequest};
use agui_types::id::{InterruptId, RunId};
use agui_types::input::RunAgentInput;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::{ErrorCode, ErrorObject};

/// The next action of the program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// Sends the input to the AG-UI agent. Its events go to [`AcpAgent::handle_event`].
    Run(Box<RunAgentInput>),
    /// Sends `session/update` to the editor.
    Update(Box<SessionNotification>),
    /// Asks the editor's user. The answer goes to [`AcpAgent::handle_answer`].
    Ask(InterruptId, Question),
    /// Ends the AG-UI agent's run, for example by closing the stream. The end goes to
    /// [`AcpAgent::handle_stream_end`].
    CancelRun(RunId),
    /// Responds to the editor's prompt.
    Respond(Result<PromptResponse, ErrorObject>),
    /// An event, or a part of it, that the editor does not receive; for a log.
    Lost(LostEvent),
}

/// A question to the editor's user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// Sent as `session/request_permission`.
    Permission(Box<RequestPermissionRequest>),
    /// Sent as `elicitation/create`, for clients that support forms.
    Elicitation(CreateElicitationRequest),
}

/// The answer of the editor's user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum QuestionAnswer {
    /// Answer to a permission request.
    Permission(RequestPermissionOutcome),
    /// Answer to an elicitation.
    Elicitation(ElicitationAction),
    /// No answer: the editor returned an error.
    Failed,
}

/// An event that the editor does not receive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{event}: {why}")]
#[non_exhaustive]
pub struct LostEvent {
    /// Type of the event.
    pub event: String,
    /// The reason.
    pub why: String,
}

/// An error accepting a prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The session is in a turn.
    #[error("the session is in a turn")]
    Busy,
    /// The prompt names another session.
    #[error("at /sessionId: expected this session")]
    Session,
    /// The prompt is empty.
    #[error("at /prompt: expected content")]
    Empty,
    /// The prompt has content of an unknown type.
    #[error("at /prompt/{0}: unknown content")]
    Unknown(usize),
}

impl PromptError {
    /// Returns the error response to the prompt.
    pub fn to_error(&self) -> ErrorObject {
        let code = match self {
            Self::Busy => ErrorCode::INVALID_REQUEST,
            Self::Session | Self::Empty | Self::Unknown(_) => ErrorCode::INVALID_PARAMS,
        };
        ErrorObject::new(code, format!("{self}"))
    }
}
