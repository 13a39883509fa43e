//! A collector, over gRPC or HTTP.

use super::{ExportError, variable};
use clap::ValueEnum;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use opentelemetry_otlp::{Protocol, SpanExporter as OtlpExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;

/// What names the protocol when no option does, the first one that is set.
const PROTOCOL_VARIABLES: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];

/// How spans travel.
///
/// Spec: [OTLP exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specify-protocol)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// Protobuf over gRPC
    #[default]
    Grpc,
    /// Protobuf over HTTP
    #[value(name = "http/protobuf")]
    HttpProtobuf,
    /// JSON over HTTP
    #[value(name = "http/json")]
    HttpJson,
}

impl Transport {
    /// The option's, else the environment's; a word there that is none is told, and passed over.
    fn chosen(option: Option<Self>) -> Self {
        let of_variable = |name| {
            let value = variable(name)?;
            let transport = Self::from_str(&value, false).ok();
            if transport.is_none() {
                eprintln!("acp-traces: {name} is {value:?}, which is no protocol: not used");
            }
            transport
        };
        option.or_else(|| PROTOCOL_VARIABLES.into_iter().find_map(of_variable)).unwrap_or_default()
    }
}

/// Where a collector listens, and for what.
#[derive(Debug)]
pub(crate) struct Address {
    url: String,
    transport: Transport,
}

impl Address {
    /// The collector that an option or the environment names.
    ///
    /// Spec: [Endpoint URLs for OTLP/HTTP](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#endpoint-urls-for-otlphttp)
    pub(crate) fn named(endpoint: Option<&str>, transport: Option<Transport>) -> Option<Self> {
        let whole = || variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let base = || variable("OTEL_EXPORTER_OTLP_ENDPOINT");
        match (endpoint, whole) {
            (Some(endpoint), _) => Some(Self::below(endpoint, Transport::chosen(transport))),
            (None, whole) => match whole() {
                Some(url) => Some(Self { url, transport: Transport::chosen(transport) }),
                None => Some(Self::below(&base()?, Transport::chosen(transport))),
            },
        }
    }

    /// Where collectors listen when nobody says otherwise.
    ///
    /// Spec: [OTLP exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#configuration-options)
    pub(crate) fn of_this_machine(transport: Option<Transport>) -> Self {
        match Transport::chosen(transport) {
            Transport::Grpc => Self::below("http://127.0.0.1:4317", Transport::Grpc),
            http => Self::below("http://127.0.0.1:4318", http),
        }
    }

    fn below(base: &str, transport: Transport) -> Self {
        let url = match transport {
            Transport::Grpc => base.to_owned(),
            _ => format!("{}/v1/traces", base.trim_end_matches('/')),
        };
        Self { url, transport }
    }
}

/// Sends spans to a collector and counts those that arrive.
#[derive(Debug)]
pub(crate) struct Collector {
    exporter: Arc<OtlpExporter>,
    /// The HTTP client needs it around, wherever it is called from.
    runtime: Handle,
    tally: Arc<Tally>,
}

impl Collector {
    /// Sets the connection up; nothing is sent before the first span.
    ///
    /// # Errors
    /// The address is no URL that can be used.
    pub(crate) fn new(
        address: Address,
        resource: &Resource,
        runtime: &Handle,
    ) -> Result<Self, ExportError> {
        let Address { url: endpoint, transport } = address;
        if !endpoint.starts_with("http://") {
            return Err(ExportError::Scheme { endpoint });
        }
        let _context = runtime.enter();
        let http = |protocol| {
            let builder = OtlpExporter::builder().with_http().with_protocol(protocol);
            builder.with_endpoint(&endpoint).build()
        };
        let exporter = match transport {
            Transport::Grpc => {
                OtlpExporter::builder().with_tonic().with_endpoint(&endpoint).build()
            }
            Transport::HttpProtobuf => http(Protocol::HttpBinary),
            Transport::HttpJson => http(Protocol::HttpJson),
        };
        let mut exporter =
            exporter.map_err(|source| ExportError::Url { endpoint: endpoint.clone(), source })?;
        exporter.set_resource(resource);
        let tally = Arc::new(Tally { endpoint, ..Tally::default() });
        Ok(Self { exporter: Arc::new(exporter), runtime: runtime.clone(), tally })
    }

    /// What becomes of the spans, also while the collector is busy elsewhere.
    pub(crate) fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }
}

impl SpanExporter for Collector {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let (count, exporter) = (batch.len() as u64, Arc::clone(&self.exporter));
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

/// How many spans there were, and how many got through.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    endpoint: String,
    made: AtomicU64,
    delivered: AtomicU64,
    last_error: Mutex<Option<String>>,
}

impl Tally {
    /// There is one more span to be sent.
    pub(crate) fn count_made(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    fn count_sent(&self, count: u64, result: &OTelSdkResult) {
        match result {
            Ok(()) => {
                self.delivered.fetch_add(count, Ordering::Relaxed);
            }
            Err(error) => {
                let mut last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
                *last = Some(error.to_string());
            }
        }
    }

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
