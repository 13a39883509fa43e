//! Limits of the state of trackers, and counters of data that exceeded them.
/// Counters of data that was not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Lines that are not JSON-RPC messages, as far as they are checked.
    pub invalid_lines: u64,
    /// Messages with params or a result that do not match their method. Their spans exist, with
    /// fewer attributes.
    pub undecodable: u64,
    /// Agents that answered `initialize` with an unknown protocol version. They are read as agents
    /// of version 1.
    pub unknown_versions: u64,
    /// Responses to requests that were not observed or not tracked.
    pub unmatched_responses: u64,
    /// Spans beyond the limits.
    pub dropped_spans: u64,
    /// Events beyond the limits.
    pub dropped_events: u64,
    /// Measurements beyond the limits.
    pub dropped_metrics: u64,
}

/// Limits of the state of a [`Tracker`](super::Tracker).
///
/// Small values have fixed limits: names and ids are truncated to
/// [`MAX_NAME_BYTES`](crate::attribute::MAX_NAME_BYTES), and content as described in
/// [`messages`](crate::messages).
///
/// ```
/// use semconv_map::{Limits, Policy, Tracker};
///
/// let mut limits = Limits::default();
/// limits.open_spans = 64;
/// let tracker = Tracker::with_limits(Policy::default(), limits);
/// assert_eq!(tracker.counters().dropped_spans, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of known sessions, 256 by default. A session without open spans is evicted
    /// for a new one.
    pub sessions: usize,
    /// Maximum number of open spans, 1024 by default.
    pub open_spans: usize,
    /// Maximum number of records waiting for [`Tracker::poll`](super::Tracker::poll), 8192 by
    /// default.
    pub records: usize,
    /// Maximum number of events per span, 128 by default as in the [OpenTelemetry
    /// SDKs](https://opentelemetry.io/docs/specs/otel/trace/sdk/#span-limits).
    pub events_per_span: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sessions: 256, open_spans: 1024, records: 8192, events_per_span: 128 }
    }
}
