//! Handing spans to a collector, without ever waiting for it.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use opentelemetry::Key;
use opentelemetry_otlp::{ExporterBuildError, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanData, SpanExporter, SpanProcessor};
use std::env;
use std::sync::{Arc, Mutex, PoisonError};

/// Where collectors listen for OTLP over gRPC.
///
/// Spec: [OTLP exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#configuration-options)
const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:4317";

/// What names the collector when no option does, the first one that is set.
const ENDPOINT_VARIABLES: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

const SERVICE_NAME: Key = Key::from_static_str("service.name");

/// Sends spans in batches from a thread of its own. What does not fit into its queue is dropped and counted.
#[derive(Debug)]
pub(crate) struct Exporter {
    processor: BatchSpanProcessor,
    tally: Arc<Tally>,
}

impl Exporter {
    /// Sets the exporter up; nothing is sent before the first span. Has to be called within a tokio runtime.
    ///
    /// # Errors
    /// The endpoint is no URL that can be used.
    pub(crate) fn new(
        endpoint: Option<&str>,
        service_name: Option<String>,
    ) -> Result<Self, EndpointError> {
        let endpoint = endpoint.map_or_else(endpoint_from_environment, str::to_owned);
        if !endpoint.starts_with("http://") {
            return Err(EndpointError::Scheme { endpoint });
        }
        let inner = opentelemetry_otlp::SpanExporter::builder()
            .with_tonic()
            .with_endpoint(&endpoint)
            .build()
            .map_err(|source| EndpointError::Url { endpoint: endpoint.clone(), source })?;
        let tally = Arc::new(Tally { endpoint, ..Tally::default() });
        let counting = Counting { inner, tally: Arc::clone(&tally) };
        let mut processor = BatchSpanProcessor::builder(counting).build();
        processor.set_resource(&resource(service_name));
        Ok(Self { processor, tally })
    }

    /// Queues a span.
    pub(crate) fn export(&self, span: SpanData) {
        self.tally.made.fetch_add(1, Ordering::Relaxed);
        self.processor.on_end(span);
    }

    /// Sends what is queued, for as long as `timeout`.
    pub(crate) fn shutdown(&self, timeout: Duration) {
        // What did not get through shows in the tally.
        let _ = self.processor.shutdown_with_timeout(timeout);
    }

    /// What became of the spans, also while the exporter is busy elsewhere.
    pub(crate) fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }
}

/// The collector's address cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointError {
    /// Not over HTTP, which is what gRPC without TLS needs.
    #[error("the collector's address has to be http://HOST:PORT, not {endpoint:?}")]
    Scheme { endpoint: String },
    /// Not a URL.
    #[error("the collector's address {endpoint:?} cannot be used: {source}")]
    Url { endpoint: String, source: ExporterBuildError },
}

fn endpoint_from_environment() -> String {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    ENDPOINT_VARIABLES.into_iter().find_map(set).unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned())
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

/// How many spans there were, and how many got through.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    endpoint: String,
    made: AtomicU64,
    delivered: AtomicU64,
    last_error: Mutex<Option<String>>,
}

impl Tally {
    /// What did not get through, in words; nothing if all did.
    pub(crate) fn complaint(&self) -> Option<String> {
        let made = self.made.load(Ordering::Relaxed);
        let lost = made.saturating_sub(self.delivered.load(Ordering::Relaxed));
        if lost == 0 {
            return None;
        }
        let error = self.last_error.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reason = error.unwrap_or_else(|| "no answer in time".to_owned());
        Some(format!("{lost} of {made} spans did not reach {}: {reason}", self.endpoint))
    }
}

/// Counts what an exporter delivers.
#[derive(Debug)]
struct Counting<E> {
    inner: E,
    tally: Arc<Tally>,
}

impl<E: SpanExporter> SpanExporter for Counting<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len() as u64;
        let result = self.inner.export(batch).await;
        match &result {
            Ok(()) => {
                self.tally.delivered.fetch_add(count, Ordering::Relaxed);
            }
            Err(error) => {
                let mut last = self.tally.last_error.lock().unwrap_or_else(PoisonError::into_inner);
                *last = Some(error.to_string());
            }
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}
