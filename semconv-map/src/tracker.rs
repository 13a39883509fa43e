//! The state machine: lines of both directions in, spans out.
use crate::policy::Policy;
use crate::span::Record;
use core::time::Duration;

/// Who sent a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// The client (an editor) to the agent.
    ClientToAgent,
    /// The agent to the client.
    AgentToClient,
}

/// Why nothing more will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CloseReason {
    /// The client closed its side: what is open ends as an error, `client_closed`.
    ClientClosed,
    /// The agent ended or closed its side: what is open ends as an error, `agent_exited`.
    AgentExited,
    /// The observer stops while both sides go on: what is open ends without an error.
    ObserverStopped,
}

/// What was not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Lines that are not a JSON-RPC message.
    pub invalid_lines: u64,
    /// Messages whose params or result are not what their method says; their spans are there, with less in them.
    pub undecodable: u64,
    /// Responses to requests that were not seen, or not tracked.
    pub unmatched_responses: u64,
    /// Spans that did not fit into the limits.
    pub dropped_spans: u64,
    /// Events that did not fit into the limits.
    pub dropped_events: u64,
}

/// How much a [`Tracker`] keeps at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Sessions that are known at the same time; a session without open spans makes room for a new one.
    pub sessions: usize,
    /// Spans that are open at the same time.
    pub open_spans: usize,
    /// Records that wait for [`Tracker::poll`].
    pub records: usize,
    /// Events of one span.
    pub events_per_span: usize,
}

impl Limits {
    /// The default of [`sessions`](Self::sessions).
    pub const SESSIONS: usize = 256;
    /// The default of [`open_spans`](Self::open_spans).
    pub const OPEN_SPANS: usize = 1024;
    /// The default of [`records`](Self::records).
    pub const RECORDS: usize = 8192;
    /// The default of [`events_per_span`](Self::events_per_span), that of the
    /// [OpenTelemetry SDKs](https://opentelemetry.io/docs/specs/otel/trace/sdk/#span-limits).
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

/// Turns the lines of one connection, both directions, into spans.
#[derive(Debug)]
pub struct Tracker {
    policy: Policy,
    limits: Limits,
    counters: Counters,
}

impl Tracker {
    /// A tracker of one connection, with the default [`Limits`].
    pub fn new(policy: Policy) -> Self {
        Self::with_limits(policy, Limits::default())
    }

    /// A tracker of one connection.
    pub fn with_limits(policy: Policy, limits: Limits) -> Self {
        Self { policy, limits, counters: Counters::default() }
    }

    /// Takes in one line, with or without its newline. `now` counts from a moment of the caller's choosing (the Unix
    /// epoch for most exporters); a `now` before the last one counts as the last one.
    pub fn handle_line(&mut self, direction: Direction, now: Duration, line: &[u8]) {
        let _ = (direction, now, line, &self.policy, &self.limits);
    }

    /// Takes in that nothing more will come, and ends every open span.
    pub fn close(&mut self, now: Duration, reason: CloseReason) {
        let _ = (now, reason);
    }

    /// The next record, in the order of what happened; call it until it gives nothing.
    pub fn poll(&mut self) -> Option<Record> {
        None
    }

    /// What was not recorded so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
