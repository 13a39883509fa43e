//! Settings of traces, metrics and log records.
use super::SettingsError;
use super::environment::group;
use crate::telemetry::{ExportError, Program, Telemetry, TelemetryOptions};
use crate::telemetry::{is_disabled, variable};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

/// The instrumentation scope of spans and metrics.
const PROGRAM: Program = Program {
    name: "spanwire-gateway",
    version: env!("CARGO_PKG_VERSION"),
    warn: |wrong| tracing::warn!("{wrong}"),
};

/// Export of runs to a collector over OTLP. Other options are the standard environment variables.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TelemetrySettings {
    /// Whether runs are traced; also set by `OTEL_TRACES_EXPORTER`.
    pub(crate) traces: bool,
    /// Whether metrics are recorded; also set by `OTEL_METRICS_EXPORTER`.
    pub(crate) metrics: bool,
    /// Whether content in events is sent as log records; also set by `OTEL_LOGS_EXPORTER`.
    pub(crate) logs: bool,
    /// URL of the collector.
    pub(crate) endpoint: Option<String>,
    /// Whether readers of a run can also read its spans, without a collector.
    pub(crate) timeline: bool,
}

impl Default for TelemetrySettings {
    fn default() -> Self {
        Self { traces: false, metrics: false, logs: false, endpoint: None, timeline: true }
    }
}

impl TelemetrySettings {
    /// Returns the telemetry of the gateway. If its collector cannot be used, the reason is logged
    /// and nothing is sent; runs keep their timelines.
    pub(crate) fn telemetry(&self, runtime: &Handle) -> Result<Telemetry, ExportError> {
        let Self { traces, metrics, logs, endpoint, timeline } = self.clone();
        let options = TelemetryOptions { traces, metrics, logs, endpoint, timeline };
        Telemetry::new(PROGRAM, &options, runtime).or_else(|error| {
            crate::log::say(format_args!(
                "gateway: telemetry: {error}; no spans and no metrics are sent"
            ));
            let local = TelemetryOptions { traces: false, metrics: false, logs: false, ..options };
            Telemetry::new(PROGRAM, &local, runtime)
        })
    }

    /// Spec: [Exporter
    /// selection](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#exporter-selection)
    pub(super) fn read_environment(&mut self) -> Result<(), SettingsError> {
        let exporters = [
            ("OTEL_TRACES_EXPORTER", &mut self.traces),
            ("OTEL_METRICS_EXPORTER", &mut self.metrics),
            ("OTEL_LOGS_EXPORTER", &mut self.logs),
        ];
        for (name, is_wanted) in exporters {
            if let Some(exporters) = variable(name) {
                *is_wanted = exporters.split(',').any(|exporter| exporter.trim() == "otlp");
            }
        }
        group(self, "GATEWAY_TELEMETRY_")?;
        if is_disabled() {
            self.traces = false;
            self.metrics = false;
            self.logs = false;
        }
        Ok(())
    }
}
