//! Settings of a client connection, and its bounds.
use crate::{v1, v2};
use core::time::Duration;

/// Settings of a [`Connection`](super::Connection): what `initialize` says, times, and bounds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The parameters of `initialize` in version 1; `None` if the client does not speak it.
    pub v1: Option<v1::initialization::InitializeRequest>,
    /// The parameters of `initialize` in version 2, a draft; `None` if the client does not speak it.
    ///
    /// Where both are present, version 2 is asked for, and the members of version 1 are sent beside those of version 2, so
    /// that an agent of either version finds its own.
    pub v2: Option<v2::initialization::InitializeRequest>,
    /// Time that the agent has to answer a call, `initialize` and the opening of a session among them.
    pub call_timeout: Duration,
    /// Time that a turn may take in all, waiting for people included.
    pub turn_timeout: Duration,
    /// The bounds.
    pub limits: Limits,
}

impl Options {
    /// Default of [`call_timeout`](Self::call_timeout).
    pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(60);
    /// Default of [`turn_timeout`](Self::turn_timeout).
    pub const DEFAULT_TURN_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

    /// A client that speaks version 1 alone, with default times and bounds.
    pub fn v1(initialize: v1::initialization::InitializeRequest) -> Self {
        Self {
            v1: Some(initialize),
            v2: None,
            call_timeout: Self::DEFAULT_CALL_TIMEOUT,
            turn_timeout: Self::DEFAULT_TURN_TIMEOUT,
            limits: Limits::default(),
        }
    }

    /// A client that speaks version 2 alone, with default times and bounds.
    pub fn v2(initialize: v2::initialization::InitializeRequest) -> Self {
        Self {
            v1: None,
            v2: Some(initialize),
            call_timeout: Self::DEFAULT_CALL_TIMEOUT,
            turn_timeout: Self::DEFAULT_TURN_TIMEOUT,
            limits: Limits::default(),
        }
    }

    /// Offers version 2 as well.
    #[must_use]
    pub fn with_v2(mut self, initialize: v2::initialization::InitializeRequest) -> Self {
        self.v2 = Some(initialize);
        self
    }

    /// Replaces the bounds.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Bounds of a [`Connection`](super::Connection), and what happens past each.
///
/// Bytes are those of JSON text as it came. What the framing allows for one line is a bound of
/// [`Lines`](jsonrpc_core::framing::Lines).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Sessions, those that are being opened included. Past it a session is [refused](super::SessionEvent::Refused) with
    /// [`CallError::Full`](super::CallError::Full).
    pub sessions: usize,
    /// Calls whose end has not been polled. Past it a call ends at once with
    /// [`CallError::Full`](super::CallError::Full).
    pub calls: usize,
    /// Requests of the agent that are not answered. Past it requests are answered with an error.
    pub requests: usize,
    /// Updates that wait in one session, or in the connection outside of sessions, to be polled. Past it the oldest
    /// updates are dropped, and [`SessionEvent::Lagged`](super::SessionEvent::Lagged) counts them.
    pub events: usize,
    /// Bytes of the updates and requests that wait in one session to be polled. Past it the oldest updates are dropped,
    /// and a request that has no room without updates is answered with an error.
    pub event_bytes: usize,
    /// Updates that are kept for sessions whose `session/new` or `session/fork` is not answered. Past it the oldest are
    /// dropped with a [`Diagnostic`](super::Diagnostic).
    pub early: usize,
    /// Bytes of those.
    pub early_bytes: usize,
    /// Updates that are kept of a session that is being loaded. Past it the oldest are left out, and
    /// [`Opened::left_out`](super::Opened::left_out) counts them.
    pub replay: usize,
    /// Bytes of those.
    pub replay_bytes: usize,
    /// Diagnostics that wait to be polled. Past it further ones are counted in
    /// [`Diagnostic::Missed`](super::Diagnostic::Missed).
    pub diagnostics: usize,
    /// Answers that the machine gives by itself and that wait to be transmitted. Past it the connection closes with
    /// [`CloseReason::Congested`](super::CloseReason::Congested): the agent asks without reading.
    pub replies: usize,
}

impl Limits {
    /// Default of [`sessions`](Self::sessions).
    pub const DEFAULT_SESSIONS: usize = 4096;
    /// Default of [`calls`](Self::calls).
    pub const DEFAULT_CALLS: usize = 1024;
    /// Default of [`requests`](Self::requests).
    pub const DEFAULT_REQUESTS: usize = 1024;
    /// Default of [`events`](Self::events).
    pub const DEFAULT_EVENTS: usize = 4096;
    /// Default of [`event_bytes`](Self::event_bytes): 32 MiB.
    pub const DEFAULT_EVENT_BYTES: usize = 32 * 1024 * 1024;
    /// Default of [`early`](Self::early).
    pub const DEFAULT_EARLY: usize = 256;
    /// Default of [`early_bytes`](Self::early_bytes): 32 MiB.
    pub const DEFAULT_EARLY_BYTES: usize = 32 * 1024 * 1024;
    /// Default of [`replay`](Self::replay).
    pub const DEFAULT_REPLAY: usize = 20_000;
    /// Default of [`replay_bytes`](Self::replay_bytes): 32 MiB.
    pub const DEFAULT_REPLAY_BYTES: usize = 32 * 1024 * 1024;
    /// Default of [`diagnostics`](Self::diagnostics).
    pub const DEFAULT_DIAGNOSTICS: usize = 256;
    /// Default of [`replies`](Self::replies).
    pub const DEFAULT_REPLIES: usize = 4096;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: Self::DEFAULT_SESSIONS,
            calls: Self::DEFAULT_CALLS,
            requests: Self::DEFAULT_REQUESTS,
            events: Self::DEFAULT_EVENTS,
            event_bytes: Self::DEFAULT_EVENT_BYTES,
            early: Self::DEFAULT_EARLY,
            early_bytes: Self::DEFAULT_EARLY_BYTES,
            replay: Self::DEFAULT_REPLAY,
            replay_bytes: Self::DEFAULT_REPLAY_BYTES,
            diagnostics: Self::DEFAULT_DIAGNOSTICS,
            replies: Self::DEFAULT_REPLIES,
        }
    }
}
