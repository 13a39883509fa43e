//! The release of the conventions and the capture of content, as the environment selects them.

use crate::otlp::{Program, variable};
use semconv_map::Profile;
use semconv_map::content::Capture;

/// Returns the release of the conventions: v1.41, unless `OTEL_SEMCONV_STABILITY_OPT_IN` contains
/// the version in development.
///
/// Spec: [GenAI, transition
/// plan](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/README.md)
pub fn profile_of_environment() -> Profile {
    let wanted = variable("OTEL_SEMCONV_STABILITY_OPT_IN").unwrap_or_default();
    let mut wanted = wanted.split(',').map(str::trim);
    match wanted.any(|it| it == "gen_ai_latest_experimental") {
        true => Profile::GENAI_DEV,
        false => Profile::V1_41,
    }
}

/// Returns the places of content: nowhere, unless
/// `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` selects places. The names are those of the
/// instrumentations of OpenTelemetry. An invalid value is reported and ignored.
///
/// Spec: [Capturing message
/// content](https://github.com/open-telemetry/opentelemetry-python-contrib/tree/main/util/opentelemetry-util-genai)
pub fn capture_of_environment(program: Program) -> Capture {
    const VARIABLE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
    let Some(value) = variable(VARIABLE) else { return Capture::Off };
    match &*value.to_ascii_lowercase() {
        "span_only" | "true" => Capture::Span,
        "event_only" => Capture::Event,
        "span_and_event" => Capture::SpanAndEvent,
        "no_content" | "false" => Capture::Off,
        _ => {
            let expected = "NO_CONTENT, SPAN_ONLY, EVENT_ONLY or SPAN_AND_EVENT";
            program.report(format!("{VARIABLE} is {value:?}, expected {expected}: ignored"));
            Capture::Off
        }
    }
}
