//! Handing spans on: to a collector, to a file, or to both, without ever waiting for them.

mod collector;
mod http_client;
mod json_lines;
mod metrics;
mod tls;

pub(crate) use collector::{Collector, Tally, Transport};
pub(crate) use json_lines::JsonLines;
pub(crate) use metrics::{Metrics, Seen, complaint};

use crate::cli::{Options, SpanOptions};
use crate::line_file::{LineFile, OpenError};
use collector::{Address, MetricCollector, Signal};
use core::time::Duration;
use opentelemetry::Key;
use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanData, SpanProcessor};
use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;

const SERVICE_NAME: Key = Key::from_static_str("service.name");

/// Where spans are to go.
#[derive(Debug)]
pub(crate) struct Destinations {
    pub(crate) collector: Option<Collector>,
    pub(crate) file: Option<PathBuf>,
    pub(crate) resource: Resource,
}

/// Spans cannot go where they are to go.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    /// Not over HTTP.
    #[error(
        "the collector's address has to be http://HOST:PORT or https://HOST:PORT, not {endpoint:?}"
    )]
    Scheme { endpoint: String },
    /// A file that the environment names is not what it should be.
    #[error("{variable} names {path:?}, which cannot be used: {why}")]
    Certificate { variable: String, path: String, why: String },
    /// TLS cannot be used on this system.
    #[error("TLS cannot be used: {0}")]
    Tls(String),
    /// Not a URL.
    #[error("the collector's address {endpoint:?} cannot be used: {source}")]
    Url { endpoint: String, source: ExporterBuildError },
    /// Not a file that can be written to.
    #[error(transparent)]
    File(#[from] OpenError),
}

impl Destinations {
    /// What the options ask for, and where they do not, the environment: a collector if one is named, or if there is no
    /// file. Nothing is sent yet.
    ///
    /// # Errors
    /// The collector's address is no URL that can be used.
    pub(crate) fn new(options: &SpanOptions, runtime: &Handle) -> Result<Self, ExportError> {
        let resource = resource(options.service_name.clone());
        if is_disabled() {
            return Ok(Self { collector: None, file: None, resource });
        }
        let file = options.file.clone();
        let (endpoint, protocol) = (options.otlp_endpoint.as_deref(), options.protocol);
        let collector = match Address::named(Signal::Traces, endpoint, protocol) {
            _ if is_none("OTEL_TRACES_EXPORTER") => None,
            None if file.is_some() => None,
            address => {
                let address =
                    address.unwrap_or_else(|| Address::of_this_machine(Signal::Traces, protocol));
                Some(Collector::new(address, &resource, runtime)?)
            }
        };
        Ok(Self { collector, file, resource })
    }
}

/// Writes spans to a file, and sends them in batches from a thread of its own. What does not fit into its queues is
/// dropped and counted.
#[derive(Debug)]
pub(crate) struct Exporter {
    batches: Option<(BatchSpanProcessor, Arc<Tally>)>,
    file: Option<(JsonLines, LineFile)>,
}

impl Exporter {
    /// # Errors
    /// The file cannot be written to.
    pub(crate) fn new(destinations: Destinations) -> Result<Self, ExportError> {
        let batches = destinations.collector.map(|collector| {
            let tally = collector.tally();
            (BatchSpanProcessor::builder(collector).build(), tally)
        });
        let file = match &destinations.file {
            Some(path) => Some((JsonLines::new(&destinations.resource), LineFile::append(path)?)),
            None => None,
        };
        Ok(Self { batches, file })
    }

    /// Spans go somewhere.
    pub(crate) fn has_destination(&self) -> bool {
        self.batches.is_some() || self.file.is_some()
    }

    /// Queues a span.
    pub(crate) fn export(&mut self, span: SpanData) {
        let Some((processor, tally)) = &self.batches else {
            if let Some((lines, file)) = &mut self.file {
                file.offer(lines.line(span));
            }
            return;
        };
        if let Some((lines, file)) = &mut self.file {
            file.offer(lines.line(span.clone()));
        }
        tally.count_made();
        processor.on_end(span);
    }

    /// How many spans were for the collector so far, and how many it took.
    pub(crate) fn counts(&self) -> (u64, u64) {
        self.batches.as_ref().map(|(_, tally)| tally.counts()).unwrap_or_default()
    }

    /// Sends what is queued, for as long as `timeout`.
    pub(crate) fn shutdown(&self, timeout: Duration) {
        if let Some((processor, _)) = &self.batches {
            // What did not get through shows in the tally.
            let _ = processor.shutdown_with_timeout(timeout);
        }
    }

    /// What becomes of the spans, also while the exporter is busy elsewhere.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome {
            tally: self.batches.as_ref().map(|(_, tally)| Arc::clone(tally)),
            file: self.file.as_ref().map(|(_, file)| file.clone()),
        }
    }
}

/// What became of the spans of an [`Exporter`].
#[derive(Debug)]
pub(crate) struct Outcome {
    tally: Option<Arc<Tally>>,
    file: Option<LineFile>,
}

impl Outcome {
    /// Lets the file be written, until `deadline`; then says what was lost.
    pub(crate) fn finish(&self, deadline: Instant) -> impl Iterator<Item = String> {
        let unsent = self.tally.as_ref().and_then(|tally| tally.complaint());
        let unwritten = self.file.as_ref().and_then(|file| file.finish("spans", deadline));
        unsent.into_iter().chain(unwritten)
    }
}

/// What an option or the environment asks for: metrics of what passes.
pub(crate) fn wants_metrics(options: &Options) -> bool {
    options.metrics || variable("OTEL_METRICS_EXPORTER").as_deref() == Some("otlp")
}

/// The metrics that the options and the environment ask for; nothing is sent yet.
///
/// # Errors
/// The collector's address is no URL that can be used.
pub(crate) fn metrics(options: &Options, runtime: &Handle) -> Result<Option<Metrics>, ExportError> {
    let is_wanted = wants_metrics(options) || options.self_metrics;
    if !is_wanted || is_disabled() || is_none("OTEL_METRICS_EXPORTER") {
        return Ok(None);
    }
    let spans = &options.spans;
    let named = Address::named(Signal::Metrics, spans.otlp_endpoint.as_deref(), spans.protocol);
    let address =
        named.unwrap_or_else(|| Address::of_this_machine(Signal::Metrics, spans.protocol));
    let collector = MetricCollector::new(address, runtime)?;
    let schema_url = spans.reading.profile.profile().schema_url();
    let resource = resource(spans.service_name.clone());
    Ok(Some(Metrics::new(collector, resource, schema_url, options.self_metrics)))
}

/// Nothing goes to a collector or to a file.
///
/// Spec: [General SDK configuration](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration)
fn is_disabled() -> bool {
    variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// A variable asks for no exporter.
///
/// Spec: [Exporter selection](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#exporter-selection)
fn is_none(variable_name: &str) -> bool {
    variable(variable_name).as_deref() == Some("none")
}

/// Who the spans are from: the name given, else the environment's word, else this program.
fn resource(service_name: Option<String>) -> Resource {
    let detected = Resource::builder().build();
    let named = detected
        .get_ref(&SERVICE_NAME)
        .is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    match service_name.filter(|name| !name.is_empty()) {
        Some(name) => Resource::builder().with_service_name(name).build(),
        None if named => detected,
        None => Resource::builder().with_service_name(env!("CARGO_PKG_NAME")).build(),
    }
}

/// A variable of the environment; an empty one is not set.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
