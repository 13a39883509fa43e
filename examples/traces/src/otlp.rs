//! Spans, metrics and log records of ACP and MCP connections, exported to an OTLP collector.
//!
//! ```text
//! lines ─ ConnectionTracer ─┬─ spans ────────┐
//!                           ├─ measurements ─┼─ Exports ─ OTLP, over gRPC or HTTP
//!                           └─ events ───────┘
//! ```
//!
//! Exporting never blocks the caller: spans are queued and sent in batches by a dedicated thread;
//! spans beyond the queue size are dropped and counted ([`Tally`]). The collector is configured by
//! the [standard environment
//! variables](https://opentelemetry.io/docs/specs/otel/protocol/exporter/), unless the program
//! overrides them.

mod backend;
mod batches;
mod collector;
mod connection_tracer;
mod conventions;
mod exemplars;
mod exports;
mod http_client;
mod ids;
mod logs;
mod metric_client;
mod metrics;
mod own_span;
mod protocol_tracker;
mod sampling;
mod setup;
mod signal;
mod spans;
mod tls;

pub use backend::Backend;
pub use collector::{Address, Collector, CollectorOptions, MetricCollector, Tally};
pub use connection_tracer::{ConnectionTracer, TraceOutput};
pub use conventions::{capture_of_environment, profile_of_environment};
pub use exports::Exports;
pub use ids::Ids;
pub use logs::{LogEvent, Logs};
pub use metrics::Metrics;
pub use own_span::OwnSpan;
pub use sampling::TraceSampling;
pub use setup::{Caller, McpSide, Setup};
pub use signal::{Signal, Transport};

use core::fmt::Display;
use core::ops::RangeInclusive;
use core::str::FromStr;
use opentelemetry::{InstrumentationScope, Key, KeyValue, Value};
use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{EnvResourceDetector, ResourceDetector};
use semconv_map::trace_context::Baggage;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::{env, process};
use uuid::Uuid;

/// Upper bound of delays and timeouts in milliseconds: one day.
const MAX_DELAY: u64 = 24 * 60 * 60 * 1000;

const SERVICE_NAME: Key = Key::from_static_str("service.name");

/// The program that is traced.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Name of the instrumentation scope, and the default service name.
    pub name: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Receives descriptions of invalid environment variables, which are ignored.
    pub warn: fn(String),
}

impl Program {
    /// Reports an invalid environment variable. Each description is reported once, because signals
    /// share variables. The environment of a process bounds their number.
    fn report(self, description: String) {
        static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.insert(description.clone()) {
            (self.warn)(description);
        }
    }

    /// Returns the instrumentation scope with the schema URL of the names.
    pub fn scope(self, schema_url: &'static str) -> InstrumentationScope {
        InstrumentationScope::builder(self.name)
            .with_version(self.version)
            .with_schema_url(schema_url)
            .build()
    }

    /// Returns the resource of spans and metrics. The service name is the given one, else that of
    /// the environment, else the program's.
    ///
    /// Spec: [General SDK
    /// configuration](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration)
    pub fn resource(self, service_name: Option<String>) -> Resource {
        let written = EnvResourceDetector::new().detect();
        let named = || written.get_ref(&SERVICE_NAME).map(decoded);
        let name = service_name
            .filter(|name| !name.is_empty())
            .or_else(|| variable("OTEL_SERVICE_NAME"))
            .or_else(named)
            .unwrap_or_else(|| self.name.to_owned());
        let told = written.iter().map(|(key, value)| KeyValue::new(key.clone(), decoded(value)));
        Resource::builder().with_attributes(told).with_service_name(name).build()
    }

    /// Returns the resource of a running program, with its process, host and a unique instance id.
    /// Without an instance id, a backend would merge the metrics of two processes. Attributes of
    /// the environment take precedence.
    ///
    /// Spec: [Service](https://opentelemetry.io/docs/specs/semconv/resource/service/),
    /// [Host](https://opentelemetry.io/docs/specs/semconv/resource/host/),
    /// [Process](https://opentelemetry.io/docs/specs/semconv/resource/process/)
    pub fn running_resource(self, service_name: Option<String>) -> Resource {
        let resource = self.resource(service_name);
        let own = [
            ("service.version", Some(Value::from(self.version))),
            ("service.instance.id", Some(Value::from(Uuid::new_v4().to_string()))),
            ("process.pid", Some(Value::from(i64::from(process::id())))),
            ("host.name", gethostname::gethostname().into_string().ok().map(Value::from)),
        ];
        let missing = own.into_iter().filter_map(|(key, value)| {
            let key = Key::from_static_str(key);
            let value = value.filter(|_| resource.get_ref(&key).is_none())?;
            Some(KeyValue::new(key, value))
        });
        let attributes =
            resource.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        Resource::builder_empty().with_attributes(attributes.chain(missing)).build()
    }
}

/// Percent-decodes a value of `OTEL_RESOURCE_ATTRIBUTES`, which the SDK does not decode.
///
/// Spec: [Specifying resource information via an environment
/// variable](https://opentelemetry.io/docs/specs/otel/resource/sdk/#specifying-resource-information-via-an-environment-variable)
fn decoded(value: &Value) -> String {
    let written = value.as_str();
    let entry = Baggage::parse(&format!("value={written}"));
    let text = entry.and_then(|it| it.entries().next().map(|(_, text)| text.into_owned()));
    text.unwrap_or_else(|| written.into_owned())
}

/// An error configuring an exporter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The URL is not an HTTP URL.
    #[error("invalid collector URL {endpoint:?}: expected http://HOST:PORT or https://HOST:PORT")]
    Scheme {
        /// The URL.
        endpoint: String,
    },
    /// A file named by the environment is invalid.
    #[error("invalid file {path:?} in {variable}: {why}")]
    Certificate {
        /// Name of the variable.
        variable: String,
        /// Path of the file.
        path: String,
        /// The reason.
        why: String,
    },
    /// TLS is not available on this system.
    #[error("TLS is not available: {0}")]
    Tls(String),
    /// The URL is invalid.
    #[error("invalid collector URL {endpoint:?}: {source}")]
    Url {
        /// The URL.
        endpoint: String,
        /// The reason.
        source: ExporterBuildError,
    },
}

/// Returns whether the environment disables telemetry.
///
/// Spec: [General SDK
/// configuration](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration)
pub fn is_disabled() -> bool {
    variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Returns an environment variable. An empty value counts as unset.
pub fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Parses a number from a variable. A value outside of `range`, or that is not a number, is
/// reported and ignored.
///
/// Spec: [Numeric
/// value](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#numeric)
fn number<N: Copy + Display + FromStr + PartialOrd>(
    program: Program,
    name: &str,
    range: RangeInclusive<N>,
) -> Option<N> {
    let value = variable(name)?;
    let number = value.parse().ok().filter(|number| range.contains(number));
    if number.is_none() {
        let least = range.start();
        let most = range.end();
        let wrong = format!("expected a number from {least} to {most}: ignored");
        program.report(format!("{name} is {value:?}, {wrong}"));
    }
    number
}
