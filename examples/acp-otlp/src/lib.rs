//! What passes between an editor and an ACP agent, as spans and metrics on their way to a collector.
//!
//! ```text
//! lines ─ Tracing ─┬─ spans ──────── Batches ── Collector ┐
//!                  └─ measurements ─ Metrics ─────────────┴ OTLP, over gRPC or HTTP
//! ```
//!
//! Nobody waits for a collector: spans are queued, and sent in batches by a thread of its own; what does not fit is
//! dropped and counted ([`Tally`]). Where it listens, and how it is talked to, is up to the
//! [standard variables](https://opentelemetry.io/docs/specs/otel/protocol/exporter/) of the environment, unless the
//! program was told otherwise.

mod batches;
mod collector;
mod exemplars;
mod http_client;
mod ids;
mod metric_client;
mod metrics;
mod own_span;
mod sampling;
mod spans;
mod tls;
mod tracing;

pub use batches::Batches;
pub use collector::{Address, Collector, MetricCollector, Signal, Tally, Transport};
pub use ids::Ids;
pub use metrics::{Metrics, complaint};
pub use own_span::OwnSpan;
pub use sampling::Sampling;
pub use tracing::{Made, Tracing};

use core::fmt::Display;
use core::ops::RangeInclusive;
use core::str::FromStr;
use opentelemetry::{InstrumentationScope, Key, KeyValue, Value};
use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{EnvResourceDetector, ResourceDetector};
use semconv_map::trace_context::Baggage;
use std::{env, process};
use uuid::Uuid;

/// How long anything may be put off or waited for, in milliseconds, whatever the environment says: a day.
const MAX_DELAY: u64 = 24 * 60 * 60 * 1000;

const SERVICE_NAME: Key = Key::from_static_str("service.name");

/// Which program traces.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name: of its instrumentation scope, and of its service where nobody says another.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Takes what is wrong with the environment and was passed over, in words.
    pub tell: fn(String),
}

impl Program {
    /// The instrumentation scope of what it says; `schema_url` has the names in that.
    pub fn scope(self, schema_url: &'static str) -> InstrumentationScope {
        InstrumentationScope::builder(self.name)
            .with_version(self.version)
            .with_schema_url(schema_url)
            .build()
    }

    /// Who spans and metrics are from: the name given, else the environment's word, else this program.
    ///
    /// Spec: [General SDK configuration](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration)
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

    /// The same for a program that runs: with its process, its host, and an instance id of its own, without which a backend
    /// takes the metrics of two processes for one series. What the environment sets stays.
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

/// A value of `OTEL_RESOURCE_ATTRIBUTES` without its percent-encoding, which the SDK leaves as it is.
///
/// Spec: [Specifying resource information via an environment variable](https://opentelemetry.io/docs/specs/otel/resource/sdk/#specifying-resource-information-via-an-environment-variable)
fn decoded(value: &Value) -> String {
    let written = value.as_str();
    let entry = Baggage::parse(&format!("value={written}"));
    let text = entry.and_then(|it| it.entries().next().map(|(_, text)| text.into_owned()));
    text.unwrap_or_else(|| written.into_owned())
}

/// Spans and metrics cannot go where they are to go.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// Not over HTTP.
    #[error(
        "the collector's address has to be http://HOST:PORT or https://HOST:PORT, not {endpoint:?}"
    )]
    Scheme {
        /// What was given.
        endpoint: String,
    },
    /// A file that the environment names is not what it should be.
    #[error("{variable} names {path:?}, which cannot be used: {why}")]
    Certificate {
        /// Where it is named.
        variable: String,
        /// Its name.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// TLS cannot be used on this system.
    #[error("TLS cannot be used: {0}")]
    Tls(String),
    /// Not a URL.
    #[error("the collector's address {endpoint:?} cannot be used: {source}")]
    Url {
        /// What was given.
        endpoint: String,
        /// Why not.
        source: ExporterBuildError,
    },
}

/// Whether the environment says that nothing goes anywhere.
///
/// Spec: [General SDK configuration](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration)
pub fn is_disabled() -> bool {
    variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// A variable of the environment; an empty one is not set.
pub fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The number that a variable is. One that is not in `range`, or another word, is told, and passed over.
///
/// Spec: [Numeric value](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#numeric)
fn number<N: Copy + Display + FromStr + PartialOrd>(
    program: Program,
    name: &str,
    range: RangeInclusive<N>,
) -> Option<N> {
    let value = variable(name)?;
    let number = value.parse().ok().filter(|number| range.contains(number));
    if number.is_none() {
        let (least, most) = (range.start(), range.end());
        let wrong = format!("which is no number from {least} to {most}: not used");
        (program.tell)(format!("{name} is {value:?}, {wrong}"));
    }
    number
}
