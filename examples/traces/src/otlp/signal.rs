//! The signals of OTLP, their environment variables, and the transports.

use super::{MAX_DELAY, Program, number, variable};
use clap::ValueEnum;
use core::time::Duration;
use opentelemetry_otlp::Protocol;

/// Default timeout of a request to a collector, in milliseconds.
///
/// Spec: [OTLP
/// exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#configuration-options)
const TIMEOUT: u64 = 10_000;

/// The kind of telemetry.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    /// Spans.
    Traces,
    /// Metrics: sums and histograms.
    Metrics,
    /// Log records.
    Logs,
}

impl Signal {
    /// Returns whether a variable sets the transport.
    pub(crate) fn has_protocol(self) -> bool {
        self.variables("PROTOCOL").iter().any(|name| variable(name).is_some())
    }

    /// Returns the variables of a setting: the one for this signal and the general one.
    pub(crate) fn variables(self, setting: &str) -> [String; 2] {
        [self.own(), ""].map(|of| format!("OTEL_EXPORTER_OTLP_{of}{setting}"))
    }

    fn own(self) -> &'static str {
        match self {
            Self::Traces => "TRACES_",
            Self::Metrics => "METRICS_",
            Self::Logs => "LOGS_",
        }
    }

    /// Returns the first variable of a setting that is set, and its value.
    pub(crate) fn variable(self, setting: &str) -> Option<(String, String)> {
        let variables = self.variables(setting).into_iter();
        variables.filter_map(|name| variable(&name).map(|value| (name, value))).next()
    }

    /// Returns the timeout of a request.
    pub(crate) fn timeout(self, program: Program) -> Duration {
        let variables = self.variables("TIMEOUT").into_iter();
        let timeout = variables.filter_map(|name| number(program, &name, 1..=MAX_DELAY)).next();
        Duration::from_millis(timeout.unwrap_or(TIMEOUT))
    }

    /// Reports an unsupported compression, which the exporter ignores.
    pub(crate) fn check_compression(self, program: Program) {
        for name in self.variables("COMPRESSION") {
            let Some(value) = variable(&name) else { continue };
            if ["gzip", "none"].iter().any(|known| value.eq_ignore_ascii_case(known)) {
                return;
            }
            program.report(format!("{name} is {value:?}, expected a compression: ignored"));
        }
    }

    /// Returns the path below the collector's URL, for HTTP.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Traces => "v1/traces",
            Self::Metrics => "v1/metrics",
            Self::Logs => "v1/logs",
        }
    }
    /// Returns whether the environment selects an exporter over OTLP, or `None` if it leaves the
    /// choice open. Other exporters are reported and ignored.
    ///
    /// Spec: [Exporter
    /// selection](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#exporter-selection)
    pub fn exporter_of_environment(self, program: Program) -> Option<bool> {
        let name = format!("OTEL_{}EXPORTER", self.own());
        let value = variable(&name)?;
        let mut is_otlp = false;
        let mut is_none = false;
        for exporter in value.split(',').map(str::trim) {
            match exporter {
                "otlp" => is_otlp = true,
                "none" => is_none = true,
                "" => {}
                other => {
                    program.report(format!("{name} is {other:?}, expected otlp or none: ignored"));
                }
            }
        }
        (is_otlp || is_none).then_some(is_otlp)
    }

    /// Reports entries of the headers that the exporter ignores. Values may be secret and are not
    /// repeated.
    pub(crate) fn check_headers(self, program: Program) {
        let Some((name, value)) = self.variable("HEADERS") else { return };
        for (number, entry) in (1..).zip(value.split(',')) {
            let mut parts = entry.splitn(2, '=').map(str::trim);
            let is_header =
                [parts.next(), parts.next()].iter().all(|it| it.is_some_and(|it| !it.is_empty()));
            if !is_header && !entry.trim().is_empty() {
                program.report(format!("entry {number} of {name}, expected KEY=VALUE: ignored"));
            }
        }
    }
}

/// Transport of OTLP.
///
/// Spec: [OTLP
/// exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specify-protocol)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Transport {
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
    /// Returns the transport of the option, else of the environment. An invalid value of the
    /// environment is reported and ignored.
    pub(crate) fn chosen(option: Option<Self>, signal: Signal, program: Program) -> Self {
        let of_variable = |name: String| {
            let value = variable(&name)?;
            let transport = Self::from_str(&value, false).ok();
            if transport.is_none() {
                program.report(format!("{name} is {value:?}, expected a protocol: ignored"));
            }
            transport
        };
        let named = || signal.variables("PROTOCOL").into_iter().find_map(of_variable);
        option.or_else(named).unwrap_or_default()
    }
}

impl Transport {
    /// Returns the protocol over HTTP, if the transport uses HTTP.
    pub(crate) fn over_http(self) -> Option<Protocol> {
        match self {
            Self::Grpc => None,
            Self::HttpProtobuf => Some(Protocol::HttpBinary),
            Self::HttpJson => Some(Protocol::HttpJson),
        }
    }
}
