//! Metrics of the proxy itself.

use opentelemetry::metrics::{Counter, Meter};

/// Totals since the start of the proxy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProxyTotals {
    /// Messages that were analyzed.
    pub(crate) messages: u64,
    /// Bytes that were not analyzed because they arrived too fast.
    pub(crate) unread_bytes: u64,
    /// Messages that were too long to be analyzed.
    pub(crate) long_messages: u64,
    /// Lines that are not messages.
    pub(crate) invalid_lines: u64,
    /// Messages that do not match their method.
    pub(crate) undecodable: u64,
    /// Responses without a request.
    pub(crate) unmatched_responses: u64,
    /// Spans, events and measurements beyond the limits.
    pub(crate) dropped_records: u64,
    /// Spans for the collector.
    pub(crate) spans: u64,
    /// Spans that the collector accepted.
    pub(crate) delivered_spans: u64,
}

/// The instruments of the proxy.
#[derive(Debug)]
pub(crate) struct ProxyMetrics {
    instruments: [Counter<u64>; 9],
    last: ProxyTotals,
}

impl ProxyMetrics {
    pub(crate) fn new(meter: &Meter) -> Self {
        let counter = |name, unit, description| {
            meter.u64_counter(name).with_unit(unit).with_description(description).build()
        };
        let instruments = [
            counter("acp_traces.messages", "{message}", "Number of messages that were looked at."),
            counter(
                "acp_traces.unread",
                "By",
                "Bytes that passed faster than they could be looked at.",
            ),
            counter(
                "acp_traces.long_messages",
                "{message}",
                "Number of messages that were too long to be looked at.",
            ),
            counter(
                "acp_traces.invalid_lines",
                "{line}",
                "Number of lines that are not JSON-RPC messages.",
            ),
            counter(
                "acp_traces.undecodable",
                "{message}",
                "Number of messages that do not fit their methods.",
            ),
            counter(
                "acp_traces.unmatched_responses",
                "{message}",
                "Number of responses without a request.",
            ),
            counter(
                "acp_traces.dropped_records",
                "{record}",
                "Number of spans, events and values that exceeded a limit.",
            ),
            counter("acp_traces.spans", "{span}", "Number of spans for the collector."),
            counter(
                "acp_traces.spans.delivered",
                "{span}",
                "Number of spans that the collector accepted.",
            ),
        ];
        let mut own = Self { instruments, last: ProxyTotals::default() };
        // Counters start at zero, so that absence of events is visible.
        own.instruments.iter_mut().for_each(|counter| counter.add(0, &[]));
        own
    }

    /// Adds the increases since the last call.
    pub(crate) fn add(&mut self, totals_now: ProxyTotals) {
        let totals = totals_now.totals();
        let before = self.last.totals();
        for ((counter, total), before) in self.instruments.iter().zip(totals).zip(before) {
            counter.add(total.saturating_sub(before), &[]);
        }
        self.last = totals_now;
    }
}

impl ProxyTotals {
    /// Returns the totals in the order of the instruments.
    fn totals(&self) -> [u64; 9] {
        [
            self.messages,
            self.unread_bytes,
            self.long_messages,
            self.invalid_lines,
            self.undecodable,
            self.unmatched_responses,
            self.dropped_records,
            self.spans,
            self.delivered_spans,
        ]
    }
}
