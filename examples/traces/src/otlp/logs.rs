//! Events with content as log records, sent in the background.

use crate::otlp::collector::{Address, Tally};
use crate::otlp::http_client::Cause;
use crate::otlp::spans::time;
use crate::otlp::{ExportError, MAX_DELAY, Program, number};
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::time::Duration;
use opentelemetry::logs::{AnyValue, LogRecord, Logger, LoggerProvider, Severity};
use opentelemetry::trace::SpanContext;
use opentelemetry_otlp::{LogExporter as OtlpLogExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{
    BatchConfigBuilder, BatchLogProcessor, LogBatch, LogExporter, SdkLogger, SdkLoggerProvider,
};
use semconv_map::span::SpanEvent;
use semconv_map::{Attribute, AttributeValue};
use serde_json::Value as Json;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Defaults of the queue size, the batch size and the interval in milliseconds.
///
/// Spec: [Batch LogRecord
/// Processor](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#batch-logrecord-processor)
const QUEUE_SIZE: usize = 2048;
const BATCH_SIZE: usize = 512;
const DELAY: u64 = 1000;

/// Upper bound of the queue size.
const MAX_QUEUE_SIZE: usize = 100_000;

/// An event with content, and the span that it belongs to.
#[derive(Clone, Debug)]
pub struct LogEvent {
    /// Context of the span.
    pub span: SpanContext,
    pub(crate) event: SpanEvent,
}

/// Sends log records in batches of `OTEL_BLRP_MAX_EXPORT_BATCH_SIZE`, every
/// `OTEL_BLRP_SCHEDULE_DELAY`, from a dedicated thread. Records beyond the queue size
/// `OTEL_BLRP_MAX_QUEUE_SIZE` are dropped and counted.
///
/// Spec: [Logs Data Model](https://opentelemetry.io/docs/specs/otel/logs/data-model/#events)
#[derive(Debug)]
pub struct Logs {
    provider: SdkLoggerProvider,
    logger: SdkLogger,
    tally: Arc<Tally>,
}

impl Logs {
    /// Starts the thread for a collector. `resource` describes the program, and `schema_url` the
    /// names of the attributes. Nothing is sent before the first record.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid.
    pub fn new(
        address: Address,
        resource: Resource,
        schema_url: &'static str,
        runtime: &Handle,
    ) -> Result<Self, ExportError> {
        let program = address.program;
        let collector = LogCollector::new(address, runtime)?;
        let tally = Arc::clone(&collector.tally);
        let processor =
            BatchLogProcessor::builder(collector).with_batch_config(config(program)).build();
        let provider = SdkLoggerProvider::builder();
        let provider = provider.with_resource(resource).with_log_processor(processor).build();
        let logger = provider.logger_with_scope(program.scope(schema_url));
        Ok(Self { provider, logger, tally })
    }

    /// Queues an event of a sampled span without blocking.
    pub fn record(&self, LogEvent { span, event }: LogEvent) {
        if !span.is_sampled() {
            return;
        }
        let mut record = self.logger.create_log_record();
        record.set_timestamp(time(event.time));
        record.set_trace_context(span.trace_id(), span.span_id(), Some(span.trace_flags()));
        record.set_event_name(event.name);
        record.set_severity_number(Severity::Debug);
        for Attribute { key, value, .. } in event.attributes {
            record.add_attribute(key, any_value(value));
        }
        self.tally.count_made();
        self.logger.emit(record);
    }

    /// Sends the queued records and waits for the collector.
    pub fn flush(&self) {
        // Failures are available in the tally.
        let _ = self.provider.force_flush();
    }

    /// Returns the counts of sent and dropped records.
    pub fn tally(&self) -> &Arc<Tally> {
        &self.tally
    }

    /// Sends the queued records for at most `timeout`. The tally contains the records that were not
    /// delivered.
    pub(crate) fn shutdown(&self, timeout: Duration) {
        let _ = self.provider.shutdown_with_timeout(timeout);
    }
}

fn config(program: Program) -> opentelemetry_sdk::logs::BatchConfig {
    let size = |name, default| number(program, name, 1..=MAX_QUEUE_SIZE).unwrap_or(default);
    let delay = number(program, "OTEL_BLRP_SCHEDULE_DELAY", 1..=MAX_DELAY).unwrap_or(DELAY);
    BatchConfigBuilder::default()
        .with_max_queue_size(size("OTEL_BLRP_MAX_QUEUE_SIZE", QUEUE_SIZE))
        .with_max_export_batch_size(size("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", BATCH_SIZE))
        .with_scheduled_delay(Duration::from_millis(delay))
        .build()
}

/// Sends log records to a collector and counts the delivered ones.
#[derive(Debug)]
struct LogCollector {
    exporter: OtlpLogExporter,
    /// The clients require a runtime in any calling thread.
    runtime: Handle,
    tally: Arc<Tally>,
}

impl LogCollector {
    fn new(address: Address, runtime: &Handle) -> Result<Self, ExportError> {
        let _context = runtime.enter();
        let cause = Cause::default();
        let exporter = match address.transport.over_http() {
            None => address.set_up_grpc(OtlpLogExporter::builder().with_tonic())?.build(),
            Some(protocol) => {
                let builder = OtlpLogExporter::builder().with_http().with_protocol(protocol);
                address.set_up_http(builder, address.http_client(&cause)?).build()
            }
        };
        let endpoint = address.url;
        let exporter =
            exporter.map_err(|source| ExportError::Url { endpoint: endpoint.clone(), source })?;
        let tally = Arc::new(Tally::new("log records", endpoint, cause));
        Ok(Self { exporter, runtime: runtime.clone(), tally })
    }
}

impl LogExporter for LogCollector {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        let count = batch.iter().count() as u64;
        let mut sending = pin!(self.exporter.export(batch));
        let result = poll_fn(|context| {
            let _context = self.runtime.enter();
            sending.as_mut().poll(context)
        })
        .await;
        self.tally.count_sent(count, &result);
        result
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }
}

/// Converts a value. JSON text becomes the value that it describes.
fn any_value(value: AttributeValue) -> AnyValue {
    match value {
        AttributeValue::String(text) => text.into(),
        AttributeValue::Bool(value) => value.into(),
        AttributeValue::I64(value) => value.into(),
        AttributeValue::F64(value) => value.into(),
        AttributeValue::StringArray(texts) => texts.into_iter().collect(),
        AttributeValue::Json(text) => match serde_json::from_str(&text) {
            Ok(value) => structured(value),
            Err(_) => text.into(),
        },
        other => format!("{other:?}").into(),
    }
}

/// Converts JSON. Log records of the SDK have no null: such members are left out, and such items
/// become empty texts.
fn structured(value: Json) -> AnyValue {
    match value {
        Json::Null => AnyValue::String("".into()),
        Json::Bool(value) => value.into(),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Json::String(text) => text.into(),
        Json::Array(items) => items.into_iter().map(structured).collect(),
        Json::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            members.map(|(name, value)| (name, structured(value))).collect()
        }
    }
}
