//! The exports of a program to collectors: spans, log records and metrics, each if it is enabled.

use crate::otlp::batches::Batches;
use crate::otlp::collector::Collector;
use crate::otlp::logs::{LogEvent, Logs};
use crate::otlp::metrics::Metrics;
use core::time::Duration;
use opentelemetry::trace::SpanContext;
use opentelemetry_sdk::trace::SpanData;
use semconv_map::metric::Measurement;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The enabled exports. None of them blocks the caller.
#[derive(Debug, Default)]
pub struct Exports {
    spans: Option<Batches>,
    logs: Option<Logs>,
    metrics: Option<Mutex<Metrics>>,
    /// The last failure of the metrics export, which is available while they are sent.
    metrics_error: Option<Arc<Mutex<Option<String>>>>,
}

impl Exports {
    /// Starts the enabled exports.
    pub fn new(spans: Option<Collector>, logs: Option<Logs>, metrics: Option<Metrics>) -> Self {
        let metrics_error = metrics.as_ref().map(Metrics::error);
        Self {
            spans: spans.map(Batches::new),
            logs,
            metrics: metrics.map(Mutex::new),
            metrics_error,
        }
    }

    /// Returns whether spans are exported.
    pub fn has_spans(&self) -> bool {
        self.spans.is_some()
    }

    /// Returns whether log records are exported.
    pub fn has_logs(&self) -> bool {
        self.logs.is_some()
    }

    /// Returns whether metrics are exported.
    pub fn has_metrics(&self) -> bool {
        self.metrics.is_some()
    }

    /// Queues a span, if it is sampled.
    pub fn export(&self, span: SpanData) {
        if let Some(spans) = self.spans.as_ref().filter(|_| span.span_context.is_sampled()) {
            spans.export(span);
        }
    }

    /// Queues a log record.
    pub fn log(&self, event: LogEvent) {
        if let Some(logs) = &self.logs {
            logs.record(event);
        }
    }

    /// Records a measurement that was made in `span`.
    pub fn measure(&self, measured: Measurement, span: Option<&SpanContext>) {
        if let Some(metrics) = &self.metrics {
            metrics.lock().unwrap_or_else(PoisonError::into_inner).record(measured, span);
        }
    }

    /// Returns the number of spans created and delivered so far.
    pub fn span_counts(&self) -> (u64, u64) {
        self.spans.as_ref().map(|spans| spans.tally().counts()).unwrap_or_default()
    }

    /// Sends the rest concurrently. Spans and log records have this time; metrics have that of
    /// their requests.
    pub fn shutdown(&self, timeout: Duration) {
        thread::scope(|scope| {
            if let Some(logs) = &self.logs {
                scope.spawn(move || logs.shutdown(timeout));
            }
            if let Some(metrics) = &self.metrics {
                scope.spawn(|| metrics.lock().unwrap_or_else(PoisonError::into_inner).shutdown());
            }
            if let Some(spans) = &self.spans {
                spans.shutdown(timeout);
            }
        });
    }

    /// Describes what was not delivered.
    pub fn complaints(&self) -> Vec<String> {
        let spans = self.spans.as_ref().map(Batches::tally);
        let sent = spans.into_iter().chain(self.logs.as_ref().map(Logs::tally));
        let metrics = self.metrics_error.as_ref();
        let metrics =
            metrics.and_then(|it| it.lock().unwrap_or_else(PoisonError::into_inner).take());
        sent.filter_map(|tally| tally.complaint()).chain(metrics).collect()
    }
}
