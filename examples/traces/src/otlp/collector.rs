//! OTLP collectors, over gRPC or HTTP.

use super::backend::Backend;
use super::exemplars::Exemplars;
use super::http_client::{Cause, Client};
use super::metric_client::{GrpcClient, MetricClient, MetricTransport, Outgoing};
use super::signal::{Signal, Transport};
use super::tls::Tls;
use super::{ExportError, Program, variable};
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use opentelemetry_http::HttpClient;
use opentelemetry_otlp::{
    MetricExporter as OtlpMetricExporter, Protocol, RetryPolicy, SpanExporter as OtlpExporter,
    WithExportConfig, WithHttpConfig, WithTonicConfig,
};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;

/// Selects the collector of a program.
#[derive(Clone, Debug, Default)]
pub struct CollectorOptions {
    /// URL of the collector. Otherwise the environment or the backend names it.
    pub endpoint: Option<String>,
    /// Transport. Otherwise the environment or the backend selects it.
    pub transport: Option<Transport>,
    /// Backend that stores the spans. Its keys are sent over HTTP.
    pub backend: Backend,
}

/// Address of a collector for one signal.
#[derive(Debug)]
pub struct Address {
    pub(crate) program: Program,
    pub(crate) url: String,
    pub(crate) transport: Transport,
    signal: Signal,
    /// Timeout of a request.
    timeout: Duration,
    backend: Backend,
}

impl Address {
    /// Returns the address that the options or the environment name. Without one, it is that of the
    /// backend for spans: of the variables of the backend's own libraries, else of its local
    /// installation; and that of a local collector for others.
    ///
    /// Spec: [Endpoint URLs for
    /// OTLP/HTTP](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#endpoint-urls-for-otlphttp),
    /// [defaults](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#configuration-options)
    pub fn new(program: Program, signal: Signal, options: &CollectorOptions) -> Self {
        signal.check_compression(program);
        signal.check_headers(program);
        let backend = options.backend;
        let transport = backend.transport(signal, options.transport);
        let transport = Transport::chosen(transport, signal, program);
        let [own, any] = signal.variables("ENDPOINT");
        let of_backend = || match signal {
            Signal::Traces => backend.url(),
            Signal::Metrics | Signal::Logs => None,
        };
        let base = options.endpoint.clone();
        let complete = if base.is_none() { variable(&own) } else { None };
        let url = complete.unwrap_or_else(|| {
            let base = base.or_else(|| variable(&any)).or_else(of_backend);
            match (base, transport) {
                (Some(base), Transport::Grpc) => base,
                (Some(base), _) => below(&base, signal),
                (None, Transport::Grpc) => "http://127.0.0.1:4317".to_owned(),
                (None, _) => below("http://127.0.0.1:4318", signal),
            }
        });
        Self { program, url, transport, signal, timeout: signal.timeout(program), backend }
    }

    /// Returns whether the options or the environment name a collector.
    pub fn is_named(signal: Signal, options: &CollectorOptions) -> bool {
        options.endpoint.is_some() || signal.variable("ENDPOINT").is_some()
    }

    /// Returns the TLS settings, if the URL requires TLS.
    ///
    /// # Errors
    /// Returns an error if the URL is not an HTTP URL, or the TLS settings of the environment are
    /// invalid.
    fn tls(&self) -> Result<Option<Tls>, ExportError> {
        match self.url.split_once("://") {
            Some((_, rest)) if !has_right_port(rest) => {
                Err(ExportError::Scheme { endpoint: self.url.clone() })
            }
            Some(("http", _)) => Ok(None),
            Some(("https", _)) => Tls::of(self.signal).map(Some),
            _ => Err(ExportError::Scheme { endpoint: self.url.clone() }),
        }
    }

    /// # Errors
    /// As for [`tls`](Self::tls).
    pub(crate) fn set_up_grpc<B: WithExportConfig + WithTonicConfig>(
        &self,
        builder: B,
    ) -> Result<B, ExportError> {
        let builder = match self.tls()? {
            Some(tls) => builder.with_tls_config(tls.for_grpc()?),
            None => builder,
        };
        let builder = builder.with_endpoint(&self.url).with_timeout(self.timeout);
        Ok(builder.with_retry_policy(retries()))
    }

    pub(crate) fn set_up_http<B: WithExportConfig + WithHttpConfig>(
        &self,
        builder: B,
        client: impl HttpClient + 'static,
    ) -> B {
        // Headers of `OTEL_EXPORTER_OTLP_HEADERS` take precedence.
        let builder = builder.with_headers(self.backend.headers());
        let builder = builder.with_http_client(client).with_endpoint(&self.url);
        builder.with_timeout(self.timeout).with_retry_policy(retries())
    }

    /// # Errors
    /// As for [`tls`](Self::tls).
    pub(crate) fn http_client(&self, cause: &Cause) -> Result<Client, ExportError> {
        Client::new(self.tls()?.as_ref(), self.timeout, cause)
    }

    /// # Errors
    /// As for [`tls`](Self::tls), and if the URL is invalid.
    fn grpc_client(&self, cause: &Cause) -> Result<GrpcClient, ExportError> {
        GrpcClient::new(&self.url, self.tls()?.as_ref(), self.timeout, cause)
    }
}

/// Returns the URL of a signal below that of a collector, over HTTP.
fn below(base: &str, signal: Signal) -> String {
    format!("{}/{}", base.trim_end_matches('/'), signal.path())
}

/// Returns whether the part of a URL after its scheme has no port or a valid one. The client would
/// silently replace an invalid port with the default of the scheme.
fn has_right_port(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    // An IPv6 address contains colons within brackets.
    let after_address = host.rsplit(']').next().unwrap_or_default();
    after_address.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_ok())
}

/// Three retries within half a second, so that a failure is known before the end of a session stops
/// waiting.
fn retries() -> RetryPolicy {
    RetryPolicy::recommended()
        .with_initial_delay(Duration::from_millis(50))
        .with_max_jitter(Duration::from_millis(50))
}

/// Sends spans to a collector and counts the delivered ones.
#[derive(Debug)]
pub struct Collector {
    program: Program,
    exporter: Arc<OtlpExporter>,
    /// The HTTP client requires a runtime in any calling thread.
    runtime: Handle,
    tally: Arc<Tally>,
}

impl Collector {
    /// Configures the connection. Nothing is sent before the first span.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid.
    pub fn new(
        address: Address,
        resource: &Resource,
        runtime: &Handle,
    ) -> Result<Self, ExportError> {
        let _context = runtime.enter();
        let cause = Cause::default();
        let exporter = match address.transport.over_http() {
            None => address.set_up_grpc(OtlpExporter::builder().with_tonic())?.build(),
            Some(protocol) => {
                let builder = OtlpExporter::builder().with_http().with_protocol(protocol);
                address.set_up_http(builder, address.http_client(&cause)?).build()
            }
        };
        let program = address.program;
        let endpoint = address.url;
        let mut exporter =
            exporter.map_err(|source| ExportError::Url { endpoint: endpoint.clone(), source })?;
        exporter.set_resource(resource);
        let tally = Arc::new(Tally::new("spans", endpoint, cause));
        Ok(Self { program, exporter: Arc::new(exporter), runtime: runtime.clone(), tally })
    }

    /// Returns the counts, which are also available while the collector is in use.
    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }

    /// Returns the sending program.
    pub(crate) fn program(&self) -> Program {
        self.program
    }
}

impl SpanExporter for Collector {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len() as u64;
        let exporter = Arc::clone(&self.exporter);
        let sent = self.runtime.spawn(async move { exporter.export(batch).await }).await;
        let result =
            sent.unwrap_or_else(|error| Err(OTelSdkError::InternalFailure(error.to_string())));
        self.tally.count_sent(count, &result);
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }
}

/// Sends metrics to a collector.
#[derive(Debug)]
pub struct MetricCollector {
    /// Sends the message in `outgoing`.
    exporter: OtlpMetricExporter,
    outgoing: Outgoing,
    exemplars: Arc<Mutex<Exemplars>>,
    /// The clients require a runtime in any calling thread.
    runtime: Handle,
    endpoint: String,
    /// The cause of a failure, which the exporter does not report.
    cause: Cause,
    /// The last failure.
    error: Arc<Mutex<Option<String>>>,
}

impl MetricCollector {
    /// Configures the connection. Nothing is sent yet.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid.
    pub fn new(address: Address, runtime: &Handle) -> Result<Self, ExportError> {
        let _context = runtime.enter();
        let cause = Cause::default();
        let (transport, protocol) = match address.transport.over_http() {
            None => (MetricTransport::Grpc(address.grpc_client(&cause)?), Protocol::HttpBinary),
            Some(protocol) => (MetricTransport::Http(address.http_client(&cause)?), protocol),
        };
        let outgoing = Outgoing::default();
        let client = MetricClient { transport, outgoing: Arc::clone(&outgoing) };
        let builder = OtlpMetricExporter::builder().with_http().with_protocol(protocol);
        let exporter = address.set_up_http(builder, client).build();
        let endpoint = address.url;
        let exporter =
            exporter.map_err(|source| ExportError::Url { endpoint: endpoint.clone(), source })?;
        let runtime = runtime.clone();
        let exemplars = Arc::default();
        let error = Arc::default();
        Ok(Self { exporter, outgoing, exemplars, runtime, endpoint, cause, error })
    }

    /// Returns the exemplars, which are sent with their points.
    pub(crate) fn exemplars(&self) -> Arc<Mutex<Exemplars>> {
        Arc::clone(&self.exemplars)
    }

    /// Returns the last failure as text. `None` after a success.
    pub(crate) fn error(&self) -> Arc<Mutex<Option<String>>> {
        Arc::clone(&self.error)
    }
}

impl PushMetricExporter for MetricCollector {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let mut message = ExportMetricsServiceRequest::from(metrics);
        self.exemplars.lock().unwrap_or_else(PoisonError::into_inner).put_into(&mut message);
        *self.outgoing.lock().unwrap_or_else(PoisonError::into_inner) = message;
        let nothing = ResourceMetrics::default();
        let mut sending = pin!(self.exporter.export(&nothing));
        let result = poll_fn(|context| {
            let _context = self.runtime.enter();
            sending.as_mut().poll(context)
        })
        .await;
        let failed = result.as_ref().err();
        let error = failed.map(|error| {
            let error = why(error, &self.cause);
            format!("metrics did not reach {}: {error}", self.endpoint)
        });
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = error;
        result
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}

/// Returns the reason of a failure: the cause recorded by the client, or else the error of the
/// exporter.
fn why(error: &OTelSdkError, cause: &Cause) -> String {
    let cause = cause.lock().unwrap_or_else(PoisonError::into_inner).take();
    cause.unwrap_or_else(|| error.to_string())
}

/// Counts of created and delivered spans or log records.
#[derive(Debug, Default)]
pub struct Tally {
    /// What is counted, in the plural.
    noun: &'static str,
    endpoint: String,
    made: AtomicU64,
    delivered: AtomicU64,
    /// The cause of a failure, which the HTTP exporter does not report.
    cause: Cause,
    last_error: Mutex<Option<String>>,
}

impl Tally {
    pub(crate) fn new(noun: &'static str, endpoint: String, cause: Cause) -> Self {
        Self { noun, endpoint, cause, ..Self::default() }
    }

    /// Counts an item that will be sent.
    pub fn count_made(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_sent(&self, count: u64, result: &OTelSdkResult) {
        match result {
            Ok(()) => {
                self.delivered.fetch_add(count, Ordering::Relaxed);
            }
            Err(error) => {
                let mut last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
                *last = Some(why(error, &self.cause));
            }
        }
    }

    /// Returns the number of items created and delivered so far.
    pub fn counts(&self) -> (u64, u64) {
        (self.made.load(Ordering::Relaxed), self.delivered.load(Ordering::Relaxed))
    }

    /// Describes the items that were not delivered. `None` if all were.
    pub fn complaint(&self) -> Option<String> {
        let (made, delivered) = self.counts();
        let lost = made.saturating_sub(delivered);
        if lost == 0 {
            return None;
        }
        let error = self.last_error.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reason = error.unwrap_or_else(|| "no answer in time".to_owned());
        Some(format!("{lost} of {made} {} did not reach {}: {reason}", self.noun, self.endpoint))
    }
}
