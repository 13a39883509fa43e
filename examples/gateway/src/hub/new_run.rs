//! A run to start, and the answer to its client.
use crate::store::RunLog;
use agui_bridge::CancelReason;
use agui_bridge::conversation::RunRequest;
use agui_bridge::hub::HubRefused;
use agui_types::id::RunId;
use semconv_map::trace_context::TraceContext;
use std::sync::Arc;
use tokio::sync::{SetOnce, oneshot};

/// The beginning of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStart {
    /// The run has begun.
    Begun,
    /// No run begins: this earlier run had the same input or the same answers.
    Again(RunId),
}

/// Takes the beginning of a run.
pub type Reply = oneshot::Sender<Result<RunStart, HubRefused>>;

/// A run to start.
#[derive(Debug)]
pub struct NewRun {
    /// The input, with the earlier messages that it leaves out.
    pub run: RunRequest,
    /// The log that its events go to.
    pub log: Arc<RunLog>,
    /// Its span, if it is traced.
    pub span: Option<TraceContext>,
    /// The reason for which the run is to end, once there is one. One that there is before the run
    /// begins keeps its prompt from the agent; a later one is to be passed to
    /// [`AgentConnection::cancel`](crate::hub::AgentConnection::cancel) as well.
    pub cancel: Arc<SetOnce<CancelReason>>,
}
