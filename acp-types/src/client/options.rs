//! Options of a client connection, and its limits.
use crate::v1::initialization::{Implementation, ProtocolVersion};
use crate::v2::prompt_lifecycle::IdempotencyKey;
use crate::{v1, v2};
use alloc::format;
use core::time::Duration;

/// The largest number of digits of a turn.
const MAX_DIGITS: usize = 20;

/// Options of a [`Connection`](super::Connection): parameters of `initialize`, times and limits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The parameters of `initialize` in version 1; `None` if the client does not support it.
    pub v1: Option<v1::initialization::InitializeRequest>,
    /// The parameters of `initialize` in version 2, a preview; `None` if the client does not support
    /// it.
    ///
    /// If both are present, version 2 is requested, and the members of version 1 are sent in
    /// addition, so that an agent of either version finds its own.
    pub v2: Option<v2::initialization::InitializeRequest>,
    /// Time limit of a call, including `initialize` and session requests; one minute by default.
    pub call_timeout: Duration,
    /// Time limit of a turn, including waits for people; one day by default.
    pub turn_timeout: Duration,
    /// Version 2: the beginning of the `idempotencyKey` of each prompt without one; `None`, the
    /// default, for prompts without keys. A number of the turn follows.
    ///
    /// The text has to be different for each connection, also to another process of the agent: an
    /// agent takes a prompt with a used key for a repetition, and does not work on it. It has at most
    /// [`MAX_PROMPT_KEYS`](Self::MAX_PROMPT_KEYS) characters; with a longer one no keys are made.
    ///
    /// ```
    /// use acp_types::client::Options;
    /// use acp_types::v1::initialization::Implementation;
    /// use acp_types::v2::prompt_lifecycle::IdempotencyKey;
    ///
    /// let mut options = Options::new(Implementation::new("my-editor", "1.2.0"));
    /// options.prompt_keys = IdempotencyKey::new("6b1d1c4a-5f4e-4c55-9df8-0e6a3f2d7b10");
    /// ```
    pub prompt_keys: Option<IdempotencyKey>,
    /// The limits.
    pub limits: Limits,
}

impl Options {
    /// The largest number of characters of [`prompt_keys`](Self::prompt_keys).
    pub const MAX_PROMPT_KEYS: usize = IdempotencyKey::MAX_LENGTH - "-".len() - MAX_DIGITS;

    /// Creates the options of a client of both versions without capabilities, with default times
    /// and limits.
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
        Self::of(Some(one), Some(two))
    }

    /// Creates the options of a client for version 1 only, with default times and limits.
    pub fn v1(initialize: v1::initialization::InitializeRequest) -> Self {
        Self::of(Some(initialize), None)
    }

    /// Creates the options of a client for version 2 only, with default times and limits.
    pub fn v2(initialize: v2::initialization::InitializeRequest) -> Self {
        Self::of(None, Some(initialize))
    }

    /// Makes the key of the prompt with this number.
    pub(super) fn prompt_key(&self, number: u64) -> Option<IdempotencyKey> {
        let start = self.prompt_keys.as_ref()?.as_str();
        let is_short = start.chars().nth(Self::MAX_PROMPT_KEYS).is_none();
        IdempotencyKey::new(format!("{start}-{number}")).filter(|_| is_short)
    }

    fn of(
        v1: Option<v1::initialization::InitializeRequest>,
        v2: Option<v2::initialization::InitializeRequest>,
    ) -> Self {
        Self {
            v1,
            v2,
            call_timeout: Duration::from_secs(60),
            turn_timeout: Duration::from_secs(24 * 60 * 60),
            prompt_keys: None,
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
    /// Sessions, including those being opened; 4096 by default. Further sessions are
    /// [refused](super::SessionEvent::Refused) with [`CallError::Full`](super::CallError::Full).
    pub sessions: usize,
    /// Calls with an end that was not polled; 1024 by default. Further calls end at once with
    /// [`CallError::Full`](super::CallError::Full).
    pub calls: usize,
    /// Open requests of the agent; 1024 by default. Further requests are answered with an error.
    pub requests: usize,
    /// Updates that wait to be polled, in one session or outside of sessions; 4096 by default.
    /// Beyond it the oldest updates are dropped, and
    /// [`SessionEvent::Lagged`](super::SessionEvent::Lagged) counts them.
    pub events: usize,
    /// Bytes of the updates and requests of one session that wait to be polled; 32 MiB by default.
    /// Beyond it the oldest updates are dropped, and a request that still does not fit is answered
    /// with an error.
    pub event_bytes: usize,
    /// Updates that are kept for sessions with an unanswered `session/new` or `session/fork`; 256
    /// by default. Beyond it the oldest are dropped with a [`Diagnostic`](super::Diagnostic).
    pub early: usize,
    /// Bytes of those updates; 32 MiB by default.
    pub early_bytes: usize,
    /// Updates that are kept of a session that is being loaded; 20,000 by default. Beyond it the
    /// oldest are left out, and [`OpenedSession::left_out`](super::OpenedSession::left_out) counts
    /// them.
    pub replay: usize,
    /// Bytes of those updates; 32 MiB by default.
    pub replay_bytes: usize,
    /// Diagnostics that wait to be polled; 256 by default. Further ones are counted in
    /// [`Diagnostic::Missed`](super::Diagnostic::Missed).
    pub diagnostics: usize,
    /// Responses of the machine that wait to be transmitted; 4096 by default. Beyond it the
    /// connection closes with [`CloseReason::Congested`](super::CloseReason::Congested), since the
    /// agent sends requests without reading.
    pub replies: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 4096,
            calls: 1024,
            requests: 1024,
            events: 4096,
            event_bytes: 32 * 1024 * 1024,
            early: 256,
            early_bytes: 32 * 1024 * 1024,
            replay: 20_000,
            replay_bytes: 32 * 1024 * 1024,
            diagnostics: 256,
            replies: 4096,
        }
    }
}
