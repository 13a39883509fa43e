//! Settings of an agent connection, and its bounds.
use crate::v1::initialization::ProtocolVersion;
use alloc::vec::Vec;
use core::time::Duration;

/// Settings of a [`Connection`](super::Connection): versions, times, and bounds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The versions that the agent speaks.
    pub versions: Vec<ProtocolVersion>,
    /// Time that the client has to answer a call. People answer some of them: [`Duration::MAX`] unless set.
    pub call_timeout: Duration,
    /// The bounds.
    pub limits: Limits,
}

impl Options {
    /// An agent that speaks version 1 alone, without deadlines and with the default bounds.
    pub fn v1() -> Self {
        Self::new([ProtocolVersion::V1])
    }

    /// An agent that speaks these versions.
    pub fn new(versions: impl IntoIterator<Item = ProtocolVersion>) -> Self {
        Self {
            versions: versions.into_iter().collect(),
            call_timeout: Duration::MAX,
            limits: Limits::default(),
        }
    }

    /// Replaces the bounds.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Bounds of a [`Connection`](super::Connection), and what happens past each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Requests of the client that are not answered. Past it requests are answered with an error.
    pub requests: usize,
    /// Calls whose end has not been polled. Past it a call ends at once with [`CallError::Full`](super::CallError::Full).
    pub calls: usize,
    /// Notifications that wait to be polled. Past it the oldest are dropped with [`Diagnostic::Dropped`](super::Diagnostic::Dropped).
    pub events: usize,
    /// Bytes of the requests and notifications that wait to be polled. Past it the oldest notifications are dropped, and a
    /// request that has no room without them is answered with an error.
    pub event_bytes: usize,
    /// Diagnostics that wait to be polled. Past it further ones are counted in [`Diagnostic::Missed`](super::Diagnostic::Missed).
    pub diagnostics: usize,
    /// Answers that wait to be transmitted. Past it the connection closes with [`CloseReason::Congested`](super::CloseReason::Congested).
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
