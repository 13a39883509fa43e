//! What a thread is told, and what it answers when it cannot.
use super::{Changed, ResultError, SessionView};
use crate::agent::{Agent, Trouble};
use acp_types::v1::elicitation::ElicitationAction;
use agui_bridge::frontend_tool::ToolResult;
use agui_bridge::input::InputError;
use agui_bridge::{AnswerError, PermissionAnswer};
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use run_store::{RunLog, StoreError, TooManyReaders};
use semconv_map::trace_context::TraceContext;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A run that was asked for.
#[derive(Debug)]
pub(crate) struct Run {
    /// What was asked for.
    pub(crate) input: RunAgentInput,
    /// The connection to the agent that is to do it, or why there is none; nothing where none is needed.
    pub(crate) agent: Option<Result<Arc<Agent>, Trouble>>,
    /// Where its events go.
    pub(crate) log: Arc<RunLog>,
    /// Whether it is to stop.
    pub(crate) cancel: CancellationToken,
    /// Its span, if it is traced.
    pub(crate) span: Option<TraceContext>,
}

/// Why a run does not begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// One at a time.
    #[error("a run is going on in this thread")]
    Busy,
    /// A run is named once.
    #[error("another run has this id")]
    OtherRun,
    /// A run is named once, and this one was begun by another gateway.
    #[error("another run has this id")]
    Known,
    #[error("there is no agent `{0}`")]
    UnknownAgent(String),
    #[error(transparent)]
    Readers(#[from] TooManyReaders),
    /// The input asks for something that cannot be done.
    #[error(transparent)]
    Input(#[from] InputError),
    /// There is too much already.
    #[error("too many threads are open, or too many runs are going on")]
    Overloaded,
    /// Nothing begins any more.
    #[error("the gateway is ending")]
    Ending,
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread was given to another gateway just now.
    #[error("another gateway has the thread")]
    Moved,
    /// Another gateway has the thread, and refuses it: a status of HTTP, and why.
    #[error("{1}")]
    Elsewhere(u16, String),
    /// The answers that it brings have resumed that run.
    #[error("run {0} has these answers already")]
    Resumed(String),
}

/// Hears whether a run has begun.
pub(crate) type Reply = oneshot::Sender<Result<(), StartError>>;

/// What a thread is told.
#[derive(Debug)]
pub(crate) enum Command {
    /// Begin a run.
    Run(Box<Run>, Reply),
    /// Answer what the agent asked.
    Answer(String, UserAnswer, oneshot::Sender<Result<(), AnswerError>>),
    /// Tell of the agent's session, if there is one.
    Session(oneshot::Sender<Option<SessionView>>),
    /// A setting of the session has another value.
    Changed(Changed),
    /// A tool of the page's has its result.
    ToolResult(ToolCallId, ToolResult, oneshot::Sender<Result<(), ResultError>>),
}

/// What somebody answers aside from a run's input.
#[derive(Clone, Debug)]
pub(crate) enum UserAnswer {
    Permission(PermissionAnswer),
    Elicitation(ElicitationAction),
    /// Nothing, whatever was asked.
    Cancelled,
}
