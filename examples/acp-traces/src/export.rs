//! Export of spans to a collector, to a file, or to both, without blocking.

mod json_lines;
mod own_metrics;

pub(crate) use json_lines::JsonLines;
pub(crate) use own_metrics::Seen;

use crate::PROGRAM;
use crate::cli::{Options, SpanOptions};
use crate::line_file::{LineFile, OpenError};
use acp_otlp::{
    Address, Batches, Collector, ExportError, LogEvent, Logs, MetricCollector, Metrics, Signal,
    Tally, is_disabled,
};
use core::time::Duration;
use opentelemetry::trace::SpanContext;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use own_metrics::Own;
use semconv_map::metric::Measurement;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;
use tokio::runtime::Handle;

/// Destinations of spans.
#[derive(Debug)]
pub(crate) struct Destinations {
    pub(crate) collector: Option<Collector>,
    pub(crate) file: Option<PathBuf>,
    pub(crate) resource: Resource,
}

impl Destinations {
    /// Reads the destinations from the options and the environment. A collector is used if it is configured explicitly
    /// or there is no file. Nothing is sent yet.
    ///
    /// # Errors
    /// Returns an error if the URL of the collector is invalid.
    pub(crate) fn new(
        options: &SpanOptions,
        resource: Resource,
        runtime: &Handle,
    ) -> Result<Self, ExportError> {
        if is_disabled() {
            return Ok(Self { collector: None, file: None, resource });
        }
        let file = options.file.clone();
        let endpoint = options.otlp_endpoint.as_deref();
        let protocol = options.backend.transport(Signal::Traces, options.protocol);
        let collector = match Address::named(PROGRAM, Signal::Traces, endpoint, protocol) {
            _ if Signal::Traces.exporter_of_environment(PROGRAM) == Some(false) => None,
            None if file.is_some() => None,
            address => {
                let address = address.unwrap_or_else(|| {
                    Address::of_backend(PROGRAM, Signal::Traces, options.backend, protocol)
                });
                Some(Collector::new(address.for_backend(options.backend), &resource, runtime)?)
            }
        };
        Ok(Self { collector, file, resource })
    }

    /// Returns the file only, for a session without a usable collector.
    pub(crate) fn file_only(options: &SpanOptions, resource: Resource) -> Self {
        Self { collector: None, file: options.file.clone(), resource }
    }
}

/// Writes spans to a file, and sends them in batches from a dedicated thread. Spans beyond the queue size are dropped
/// and counted.
#[derive(Debug)]
pub(crate) struct Exporter {
    batches: Option<Batches>,
    file: Option<(JsonLines, LineFile)>,
    logs: Option<Logs>,
}

impl Exporter {
    /// # Errors
    /// Returns an error if the file cannot be opened, with an exporter without the file.
    pub(crate) fn new(destinations: Destinations) -> Result<Self, Box<(Self, OpenError)>> {
        let batches = destinations.collector.map(Batches::new);
        match destinations.file.as_deref().map(LineFile::append).transpose() {
            Ok(file) => {
                let file = file.map(|file| (JsonLines::new(&destinations.resource), file));
                Ok(Self { batches, file, logs: None })
            }
            Err(error) => Err(Box::new((Self { batches, file: None, logs: None }, error))),
        }
    }

    /// Sets the destination of log records.
    pub(crate) fn with_logs(mut self, logs: Option<Logs>) -> Self {
        self.logs = logs;
        self
    }

    /// Returns whether log records have a destination.
    pub(crate) fn has_logs(&self) -> bool {
        self.logs.is_some()
    }

    /// Returns whether spans have a destination.
    pub(crate) fn has_destination(&self) -> bool {
        self.batches.is_some() || self.file.is_some()
    }

    /// Queues a span.
    pub(crate) fn export(&mut self, span: SpanData) {
        let Some(batches) = &self.batches else {
            if let Some((lines, file)) = &mut self.file {
                file.offer(lines.line(span));
            }
            return;
        };
        if let Some((lines, file)) = &mut self.file {
            file.offer(lines.line(span.clone()));
        }
        batches.export(span);
    }

    /// Queues a log record.
    pub(crate) fn export_log(&self, event: LogEvent) {
        if let Some(logs) = &self.logs {
            logs.record(event);
        }
    }

    /// Returns the number of spans for the collector, and the number of delivered spans.
    pub(crate) fn counts(&self) -> (u64, u64) {
        self.batches.as_ref().map(|batches| batches.tally().counts()).unwrap_or_default()
    }

    /// Sends the queued spans and log records concurrently, for at most `timeout`.
    pub(crate) fn shutdown(&self, timeout: Duration) {
        thread::scope(|scope| {
            if let Some(logs) = &self.logs {
                scope.spawn(move || logs.shutdown(timeout));
            }
            if let Some(batches) = &self.batches {
                batches.shutdown(timeout);
            }
        });
    }

    /// Returns the delivery state, which is also available while the exporter is in use.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome {
            tally: self.batches.as_ref().map(|batches| Arc::clone(batches.tally())),
            logs: self.logs.as_ref().map(|logs| Arc::clone(logs.tally())),
            file: self.file.as_ref().map(|(_, file)| file.clone()),
        }
    }
}

/// Delivery state of the spans and log records of an [`Exporter`].
#[derive(Debug)]
pub(crate) struct Outcome {
    tally: Option<Arc<Tally>>,
    logs: Option<Arc<Tally>>,
    file: Option<LineFile>,
}

impl Outcome {
    /// Waits for the file until `deadline`. Returns descriptions of lost spans and log records.
    pub(crate) fn finish(&self, deadline: Instant) -> impl Iterator<Item = String> {
        let sent = [&self.tally, &self.logs].into_iter().flatten();
        let unsent: Vec<_> = sent.filter_map(|tally| tally.complaint()).collect();
        let unwritten = self.file.as_ref().and_then(|file| file.finish("spans", deadline));
        unsent.into_iter().chain(unwritten)
    }
}

/// Metrics of the traffic, and of the proxy itself.
#[derive(Debug)]
pub(crate) struct Measuring {
    metrics: Metrics,
    /// Whether the traffic is measured, and not only the proxy.
    of_traffic: bool,
    own: Option<Own>,
}

impl Measuring {
    /// Returns whether the traffic is measured.
    pub(crate) fn is_of_traffic(&self) -> bool {
        self.of_traffic
    }

    /// Records a measurement in `span`, if metrics of the traffic are enabled.
    pub(crate) fn record(&mut self, measured: Measurement, span: Option<&SpanContext>) {
        self.metrics.record(measured, span);
    }

    /// Records the totals of the proxy.
    pub(crate) fn see(&mut self, seen: Seen) {
        if let Some(own) = &mut self.own {
            own.add(seen);
        }
    }

    /// Sends the remaining metrics.
    pub(crate) fn shutdown(&self) {
        self.metrics.shutdown();
    }

    /// Returns the last failure as text, which may change at any time. `None` after a success.
    pub(crate) fn error(&self) -> Arc<Mutex<Option<String>>> {
        self.metrics.error()
    }
}

/// Creates the destination of log records that the options or the environment enable. Nothing is sent yet.
///
/// # Errors
/// Returns an error if the URL of the collector is invalid.
pub(crate) fn logs(
    options: &SpanOptions,
    resource: Resource,
    runtime: &Handle,
) -> Result<Option<Logs>, ExportError> {
    let is_wanted = || Signal::Logs.exporter_of_environment(PROGRAM).unwrap_or(options.logs);
    if is_disabled() || !is_wanted() {
        return Ok(None);
    }
    let endpoint = options.otlp_endpoint.as_deref();
    let protocol = options.backend.transport(Signal::Logs, options.protocol);
    let named = Address::named(PROGRAM, Signal::Logs, endpoint, protocol);
    let address =
        named.unwrap_or_else(|| Address::of_this_machine(PROGRAM, Signal::Logs, protocol));
    let address = address.for_backend(options.backend);
    Logs::new(address, resource, options.reading.profile().schema_url(), runtime).map(Some)
}

/// Creates the metrics that the options and the environment enable. Nothing is sent yet.
///
/// # Errors
/// Returns an error if the URL of the collector is invalid.
pub(crate) fn metrics(
    options: &Options,
    resource: Resource,
    runtime: &Handle,
) -> Result<Option<Measuring>, ExportError> {
    if is_disabled() {
        return Ok(None);
    }
    let of_environment = Signal::Metrics.exporter_of_environment(PROGRAM);
    let of_traffic = options.metrics || of_environment == Some(true);
    if of_environment == Some(false) || !(of_traffic || options.self_metrics) {
        return Ok(None);
    }
    let spans = &options.spans;
    let endpoint = spans.otlp_endpoint.as_deref();
    let protocol = spans.backend.transport(Signal::Metrics, spans.protocol);
    let named = Address::named(PROGRAM, Signal::Metrics, endpoint, protocol);
    let address =
        named.unwrap_or_else(|| Address::of_this_machine(PROGRAM, Signal::Metrics, protocol));
    let collector = MetricCollector::new(address.for_backend(spans.backend), runtime)?;
    let schema_url = spans.reading.profile().schema_url();
    let metrics = Metrics::new(PROGRAM, collector, resource, schema_url);
    let own = options.self_metrics.then(|| Own::new(metrics.meter()));
    Ok(Some(Measuring { metrics, of_traffic, own }))
}
