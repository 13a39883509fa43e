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
    /// Time limit of a call to the client; [`Duration::MAX`] by default, since people answer some calls.
    pub call_timeout: Duration,
    /// The limits.
    pub limits: Limits,
}

impl Options {
    /// Creates the options of an agent for version 1 only, without deadlines and with the default limits.
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
    /// Open requests of the client. Further requests are answered with an error.
    pub requests: usize,
    /// Calls with an end that was not polled. Further calls end at once with
    /// [`CallError::Full`](super::CallError::Full).
    pub calls: usize,
    /// Notifications that wait to be polled. Beyond it the oldest are dropped with
    /// [`Diagnostic::Dropped`](super::Diagnostic::Dropped).
    pub events: usize,
    /// Bytes of the requests and notifications that wait to be polled. Beyond it the oldest notifications are dropped,
    /// and a request that still does not fit is answered with an error.
    pub event_bytes: usize,
    /// Diagnostics that wait to be polled. Further ones are counted in
    /// [`Diagnostic::Missed`](super::Diagnostic::Missed).
    pub diagnostics: usize,
    /// Responses that wait to be transmitted. Beyond it the connection closes with
    /// [`CloseReason::Congested`](super::CloseReason::Congested).
    pub replies: usize,
}

impl Limits {
    /// Default of [`requests`](Self::requests).
    pub const DEFAULT_REQUESTS: usize = 1024;
    /// Default of [`calls`](Self::calls).
    pub const DEFAULT_CALLS: usize = 1024;
    /// Default of [`events`](Self::events).
    pub const DEFAULT_EVENTS: usize = 1024;
    /// Default of [`event_bytes`](Self::event_bytes): 64 MiB.
    pub const DEFAULT_EVENT_BYTES: usize = 64 * 1024 * 1024;
    /// Default of [`diagnostics`](Self::diagnostics).
    pub const DEFAULT_DIAGNOSTICS: usize = 256;
    /// Default of [`replies`](Self::replies).
    pub const DEFAULT_REPLIES: usize = 4096;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests: Self::DEFAULT_REQUESTS,
            calls: Self::DEFAULT_CALLS,
            events: Self::DEFAULT_EVENTS,
            event_bytes: Self::DEFAULT_EVENT_BYTES,
            diagnostics: Self::DEFAULT_DIAGNOSTICS,
            replies: Self::DEFAULT_REPLIES,
        }
    }
}
