//! Options of an agent connection, and its limits.
use crate::v1::initialization::ProtocolVersion;
use alloc::vec::Vec;
use core::time::Duration;

/// Options of a [`Connection`](super::Connection): versions, times and limits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The versions that the agent supports.
    pub versions: Vec<ProtocolVersion>,
    /// Time limit of a call to the client; [`Duration::MAX`] by default, since people answer some
    /// calls.
    pub call_timeout: Duration,
    /// The limits.
    pub limits: Limits,
}

impl Options {
    /// Creates the options of an agent for version 1 only, without deadlines and with the default
    /// limits.
    pub fn v1() -> Self {
        Self::new([ProtocolVersion::V1])
    }

    /// Creates the options of an agent for these versions.
    pub fn new(versions: impl IntoIterator<Item = ProtocolVersion>) -> Self {
        Self {
            versions: versions.into_iter().collect(),
            call_timeout: Duration::MAX,
            limits: Limits::default(),
        }
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Limits of a [`Connection`](super::Connection), and the effect of exceeding each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Open requests of the client; 1024 by default. Further requests are answered with an error.
    pub requests: usize,
    /// Calls with an end that was not polled; 1024 by default. Further calls end at once with
    /// [`CallError::Full`](super::CallError::Full).
    pub calls: usize,
    /// Notifications that wait to be polled; 1024 by default. Beyond it the oldest are dropped with
    /// [`Diagnostic::Dropped`](super::Diagnostic::Dropped).
    pub events: usize,
    /// Bytes of the requests and notifications that wait to be polled; 64 MiB by default. Beyond it
    /// the oldest notifications are dropped, and a request that still does not fit is answered with
    /// an error.
    pub event_bytes: usize,
    /// Diagnostics that wait to be polled; 256 by default. Further ones are counted in
    /// [`Diagnostic::Missed`](super::Diagnostic::Missed).
    pub diagnostics: usize,
    /// Answered prompts of version 2 with an `idempotencyKey` that are remembered; 1024 by default.
    /// A repetition of one that is forgotten is reported like a new prompt.
    pub prompt_keys: usize,
    /// Responses that wait to be transmitted; 4096 by default. Beyond it the connection closes with
    /// [`CloseReason::Congested`](super::CloseReason::Congested).
    pub replies: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests: 1024,
            calls: 1024,
            events: 1024,
            event_bytes: 64 * 1024 * 1024,
            diagnostics: 256,
            prompt_keys: 1024,
            replies: 4096,
        }
    }
}
