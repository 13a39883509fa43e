//! Options of a client connection, and its limits.
use crate::v1::initialization::{Implementation, ProtocolVersion};
use crate::{v1, v2};
use core::time::Duration;

/// Options of a [`Connection`](super::Connection): parameters of `initialize`, times and limits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The parameters of `initialize` in version 1; `None` if the client does not support it.
    pub v1: Option<v1::initialization::InitializeRequest>,
    /// The parameters of `initialize` in version 2, a draft; `None` if the client does not support it.
    ///
    /// If both are present, version 2 is requested, and the members of version 1 are sent in addition, so that an agent
    /// of either version finds its own.
    pub v2: Option<v2::initialization::InitializeRequest>,
    /// Time limit of a call, including `initialize` and session requests.
    pub call_timeout: Duration,
    /// Time limit of a turn, including waits for people.
    pub turn_timeout: Duration,
    /// The limits.
    pub limits: Limits,
}

impl Options {
    /// Default of [`call_timeout`](Self::call_timeout).
    pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(60);
    /// Default of [`turn_timeout`](Self::turn_timeout).
    pub const DEFAULT_TURN_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

    /// Creates the options of a client of both versions without capabilities, with default times and limits.
    ///
    /// ```
    /// use acp_types::client::Options;
    /// use acp_types::v1::initialization::Implementation;
    ///
    /// let options = Options::new(Implementation::new("my-editor", "1.2.0"));
    /// assert!(options.v1.is_some() && options.v2.is_some());
    /// ```
    pub fn new(program: Implementation) -> Self {
        let mut one = v1::initialization::InitializeRequest::new(ProtocolVersion::V1);
        one.client_info = Some(program.clone());
        let two = v2::initialization::InitializeRequest::new(ProtocolVersion::V2, program);
        Self::v1(one).with_v2(two)
    }

    /// Creates the options of a client for version 1 only, with default times and limits.
    pub fn v1(initialize: v1::initialization::InitializeRequest) -> Self {
        Self {
            v1: Some(initialize),
            v2: None,
            call_timeout: Self::DEFAULT_CALL_TIMEOUT,
            turn_timeout: Self::DEFAULT_TURN_TIMEOUT,
            limits: Limits::default(),
        }
    }

    /// Creates the options of a client for version 2 only, with default times and limits.
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

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Limits of a [`Connection`](super::Connection), and the effect of exceeding each.
///
/// Sizes are bytes of the received JSON text. The length of a line is limited by
/// [`Lines`](jsonrpc_core::framing::Lines).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Sessions, including those being opened. Further sessions are [refused](super::SessionEvent::Refused) with
    /// [`CallError::Full`](super::CallError::Full).
    pub sessions: usize,
    /// Calls with an end that was not polled. Further calls end at once with
    /// [`CallError::Full`](super::CallError::Full).
    pub calls: usize,
    /// Open requests of the agent. Further requests are answered with an error.
    pub requests: usize,
    /// Updates that wait to be polled, in one session or outside of sessions. Beyond it the oldest updates are dropped,
    /// and [`SessionEvent::Lagged`](super::SessionEvent::Lagged) counts them.
    pub events: usize,
    /// Bytes of the updates and requests of one session that wait to be polled. Beyond it the oldest updates are
    /// dropped, and a request that still does not fit is answered with an error.
    pub event_bytes: usize,
    /// Updates that are kept for sessions with an unanswered `session/new` or `session/fork`. Beyond it the oldest are
    /// dropped with a [`Diagnostic`](super::Diagnostic).
    pub early: usize,
    /// Bytes of those updates.
    pub early_bytes: usize,
    /// Updates that are kept of a session that is being loaded. Beyond it the oldest are left out, and
    /// [`Opened::left_out`](super::Opened::left_out) counts them.
    pub replay: usize,
    /// Bytes of those updates.
    pub replay_bytes: usize,
    /// Diagnostics that wait to be polled. Further ones are counted in
    /// [`Diagnostic::Missed`](super::Diagnostic::Missed).
    pub diagnostics: usize,
    /// Responses of the machine that wait to be transmitted. Beyond it the connection closes with
    /// [`CloseReason::Congested`](super::CloseReason::Congested), since the agent sends requests without reading.
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
