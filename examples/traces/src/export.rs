//! Export of spans to a collector, to a file, or to both, without blocking.

mod json_lines;
mod proxy_metrics;

pub(crate) use json_lines::JsonLines;
pub(crate) use proxy_metrics::ProxyTotals;

use crate::PROGRAM;
use crate::cli::{Options, SpanOptions};
use crate::line_file::{LineFile, OpenError};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use proxy_metrics::ProxyMetrics;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Handle;
use traces::otlp::{
    Address, Collector, CollectorOptions, ExportError, Exports, Logs, MetricCollector, Metrics,
    Signal, is_disabled,
};

/// Destinations of spans.
#[derive(Debug)]
pub(crate) struct Destinations {
    pub(crate) collector: Option<Collector>,
    pub(crate) file: Option<PathBuf>,
    pub(crate) resource: Resource,
}

impl Destinations {
    /// Reads the destinations from the options and the environment. A collector is used if it is
    /// configured explicitly or there is no file. Nothing is sent yet.
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
        let collector = options.collector();
        let is_used = Signal::Traces.exporter_of_environment(PROGRAM) != Some(false)
            && (file.is_none() || Address::is_named(Signal::Traces, &collector));
        let address = is_used.then(|| Address::new(PROGRAM, Signal::Traces, &collector));
        let collector = address.map(|address| Collector::new(address, &resource, runtime));
        Ok(Self { collector: collector.transpose()?, file, resource })
    }

    /// Returns the file only, for a session without a usable collector.
    pub(crate) fn file_only(options: &SpanOptions, resource: Resource) -> Self {
        Self { collector: None, file: options.file.clone(), resource }
    }
}

impl SpanOptions {
    fn collector(&self) -> CollectorOptions {
        let endpoint = self.otlp_endpoint.clone();
        let transport = self.protocol;
        CollectorOptions { endpoint, transport, backend: self.backend }
    }
}

/// Exports to collectors, and writes spans to a file. Spans beyond the queue size are dropped and
/// counted.
#[derive(Debug)]
pub(crate) struct Exporter {
    pub(crate) to_collectors: Arc<Exports>,
    file: Option<(JsonLines, LineFile)>,
    /// Metrics of the proxy itself.
    pub(crate) own: Option<ProxyMetrics>,
}

impl Exporter {
    pub(crate) fn new(
        to_collectors: Exports,
        file: Option<(JsonLines, LineFile)>,
        own: Option<ProxyMetrics>,
    ) -> Self {
        Self { to_collectors: Arc::new(to_collectors), file, own }
    }

    /// Returns whether spans have a destination.
    pub(crate) fn has_destination(&self) -> bool {
        self.to_collectors.has_spans() || self.file.is_some()
    }

    /// Returns the file of spans.
    pub(crate) fn file(&self) -> Option<&LineFile> {
        self.file.as_ref().map(|(_, file)| file)
    }

    /// Queues a span, if it is sampled.
    pub(crate) fn export(&mut self, span: SpanData) {
        if !span.span_context.is_sampled() {
            return;
        }
        match &mut self.file {
            Some((lines, file)) if self.to_collectors.has_spans() => {
                file.offer(lines.line(span.clone()));
            }
            Some((lines, file)) => return file.offer(lines.line(span)),
            None => {}
        }
        self.to_collectors.export(span);
    }
}

/// Opens the file of spans.
///
/// # Errors
/// Returns an error if the file cannot be opened.
pub(crate) fn span_file(
    file: Option<PathBuf>,
    resource: &Resource,
) -> Result<Option<(JsonLines, LineFile)>, OpenError> {
    let file = file.as_deref().map(LineFile::append).transpose()?;
    Ok(file.map(|file| (JsonLines::new(resource), file)))
}

/// Creates the destination of log records that the options or the environment enable. Nothing is
/// sent yet.
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
    let address = Address::new(PROGRAM, Signal::Logs, &options.collector());
    Logs::new(address, resource, options.reading.profile().schema_url(), runtime).map(Some)
}

/// Returns whether the options or the environment enable metrics of the traffic.
pub(crate) fn measures_traffic(options: &Options) -> bool {
    Signal::Metrics.exporter_of_environment(PROGRAM).unwrap_or(options.metrics)
}

/// Creates the metrics that the options and the environment enable, and those of the proxy itself.
/// Nothing is sent yet.
///
/// # Errors
/// Returns an error if the URL of the collector is invalid.
pub(crate) fn metrics(
    options: &Options,
    resource: Resource,
    runtime: &Handle,
) -> Result<(Option<Metrics>, Option<ProxyMetrics>), ExportError> {
    let is_off = Signal::Metrics.exporter_of_environment(PROGRAM) == Some(false);
    if is_disabled() || is_off || !(measures_traffic(options) || options.self_metrics) {
        return Ok((None, None));
    }
    let spans = &options.spans;
    let address = Address::new(PROGRAM, Signal::Metrics, &spans.collector());
    let collector = MetricCollector::new(address, runtime)?;
    let schema_url = spans.reading.profile().schema_url();
    let metrics = Metrics::new(PROGRAM, collector, resource, schema_url);
    let own = options.self_metrics.then(|| ProxyMetrics::new(metrics.meter()));
    Ok((Some(metrics), own))
}
