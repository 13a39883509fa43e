//! Limits of the state of trackers, and counters of data that exceeded them.
/// Counters of data that was not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Lines that are not JSON-RPC messages, as far as they are checked.
    pub invalid_lines: u64,
    /// Messages with params or a result that do not match their method. Their spans exist, with fewer attributes.
    pub undecodable: u64,
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
/// Small values have fixed limits: names and ids are truncated to [`MAX_NAME_BYTES`](crate::attribute::MAX_NAME_BYTES),
/// and content as described in [`messages`](crate::messages).
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
    /// Maximum number of known sessions. A session without open spans is evicted for a new one.
    pub sessions: usize,
    /// Maximum number of open spans.
    pub open_spans: usize,
    /// Maximum number of records waiting for [`Tracker::poll`](super::Tracker::poll).
    pub records: usize,
    /// Maximum number of events per span.
    pub events_per_span: usize,
}

impl Limits {
    /// Default of [`sessions`](Self::sessions).
    pub const SESSIONS: usize = 256;
    /// Default of [`open_spans`](Self::open_spans).
    pub const OPEN_SPANS: usize = 1024;
    /// Default of [`records`](Self::records).
    pub const RECORDS: usize = 8192;
    /// Default of [`events_per_span`](Self::events_per_span), the same as in the [OpenTelemetry
    /// SDKs](https://opentelemetry.io/docs/specs/otel/trace/sdk/#span-limits).
    pub const EVENTS_PER_SPAN: usize = 128;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: Self::SESSIONS,
            open_spans: Self::OPEN_SPANS,
            records: Self::RECORDS,
            events_per_span: Self::EVENTS_PER_SPAN,
        }
    }
}
