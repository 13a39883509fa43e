//! Errors of starting a run, and of inputs beside it.
use agui_bridge::conversation::RunRefused;
use agui_bridge::hub::HubRefused;
use agui_bridge::input::InputError;
use run_store::{StoreError, TooManyReaders};

/// A run does not begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("a run is going on in this thread")]
    Busy,
    /// A run id names one run.
    #[error("another run has this id")]
    OtherRun,
    /// The same, for a run of another gateway.
    #[error("another run has this id")]
    Known,
    #[error("there is no agent `{0}`")]
    UnknownAgent(String),
    #[error(transparent)]
    Readers(#[from] TooManyReaders),
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
    /// The thread was given to another gateway just now.
    #[error("another gateway has the thread")]
    Moved,
    /// Another gateway has the thread, and refuses the run: a status of HTTP, and the reason.
    #[error("{1}")]
    Elsewhere(u16, String),
    /// The run with this id was resumed with the same answers.
    #[error("run {0} has these answers already")]
    Resumed(String),
}

impl From<HubRefused> for StartError {
    fn from(refused: HubRefused) -> Self {
        match refused {
            HubRefused::Run(RunRefused::OtherRun) => Self::OtherRun,
            HubRefused::Run(RunRefused::Resumed(run)) => Self::Resumed(run.to_string()),
            HubRefused::Run(RunRefused::Input(error)) => Self::Input(error),
            HubRefused::Run(_) => Self::Busy,
            _ => Self::Overloaded,
        }
    }
}
