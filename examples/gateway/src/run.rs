//! What the threads of agents and those of models share: why a run does not begin, and why it ends.
use crate::hub::NoAgent;
use crate::store::{StoreError, TooManyReaders};
use agui_bridge::CancelReason;
use agui_bridge::conversation::RunRefused;
use agui_bridge::hub::HubRefused;
use agui_bridge::input::InputError;
use std::sync::Arc;
use tokio::sync::SetOnce;
use tokio_util::sync::CancellationToken;

/// A run does not begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("a run is going on in this thread")]
    Busy,
    /// Another run has the id.
    #[error("another run has this id")]
    OtherRun,
    /// A run of another gateway has the id.
    #[error("another run has this id")]
    Known,
    #[error("there is no agent `{0}`")]
    UnknownAgent(String),
    #[error(transparent)]
    Readers(#[from] TooManyReaders),
    #[error(transparent)]
    NoAgent(#[from] NoAgent),
    /// The input cannot be mapped to a prompt.
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("too many threads are open, or too many runs are going on")]
    Overloaded,
    /// A user has filled the share of a limit.
    #[error(
        "{0} {1} of yours are active, which is the limit for one user; try again when one has ended"
    )]
    UserLimit(usize, &'static str),
    #[error("{name}: expected at most {limit} bytes, got {length}")]
    LongId { name: &'static str, limit: usize, length: usize },
    #[error("the gateway is ending")]
    Ending,
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread has moved to another gateway.
    #[error("another gateway has the thread")]
    Moved,
    /// The gateway that owns the thread refuses the run, with an HTTP status and a reason.
    #[error("{1}")]
    Elsewhere(u16, String),
    /// The run with this id had the same answers, and is not kept any more.
    #[error("run {0} has these answers already")]
    Resumed(String),
}

impl From<HubRefused> for StartError {
    fn from(refused: HubRefused) -> Self {
        match refused {
            HubRefused::Run(RunRefused::OtherRun) => Self::OtherRun,
            HubRefused::Run(RunRefused::Input(error)) => Self::Input(error),
            HubRefused::Run(_) => Self::Busy,
            _ => Self::Overloaded,
        }
    }
}

/// The reason for which a run is to end, once there is one.
pub(crate) type Cancel = Arc<SetOnce<CancelReason>>;

/// Cancels a run. Of several reasons the first counts.
pub(crate) fn request_cancel(cancel: &Cancel, reason: CancelReason) {
    let _earlier = cancel.set(reason);
}

/// Waits for all tokens.
pub(crate) async fn all_cancelled(tokens: Vec<CancellationToken>) {
    for token in tokens {
        token.cancelled().await;
    }
}
