//! Sampling of traces.

use super::{Program, variable};
use opentelemetry::trace::{SpanKind, TraceFlags, TraceId};
use opentelemetry_sdk::trace::{Sampler, SamplingDecision, ShouldSample};
use semconv_map::trace_context::TraceContext;

/// The sampling decision. All spans of a trace share it, and it is propagated.
///
/// Spec: [Built-in samplers](https://opentelemetry.io/docs/specs/otel/trace/sdk/#built-in-samplers)
#[derive(Clone, Copy, Debug)]
pub struct TraceSampling {
    /// Whether the decision of a remote parent is adopted.
    follows_parent: bool,
    /// The sampled fraction of other traces.
    share: f64,
}

impl Default for TraceSampling {
    /// Samples every trace.
    fn default() -> Self {
        Self { follows_parent: false, share: 1.0 }
    }
}

impl TraceSampling {
    /// Reads `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`. By default, all traces are
    /// sampled except those with an unsampled remote parent. An invalid value is reported and
    /// ignored.
    ///
    /// Spec: [General SDK
    /// configuration](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration)
    pub fn of_environment(program: Program) -> Self {
        let name = variable("OTEL_TRACES_SAMPLER").unwrap_or_else(|| DEFAULT.to_owned());
        let (follows_parent, of_others) = match name.strip_prefix("parentbased_") {
            Some(of_others) => (true, of_others),
            None => (false, &*name),
        };
        let share = match of_others {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => ratio(program),
            _ => {
                let wrong = "expected a sampler: ignored";
                program.report(format!("OTEL_TRACES_SAMPLER is {name:?}, {wrong}"));
                return Self { follows_parent: true, share: 1.0 };
            }
        };
        Self { follows_parent, share }
    }

    /// Returns the trace flags of a span. `is_remote` is about the parent.
    pub(crate) fn flags(
        self,
        parent: Option<&TraceContext>,
        is_remote: bool,
        trace: TraceId,
    ) -> TraceFlags {
        let is_sampled = match parent {
            Some(parent) if self.follows_parent || !is_remote => parent.is_sampled(),
            _ => self.share >= 1.0 || is_in_share(self.share, trace),
        };
        let flags = parent.map_or(0, |parent| parent.flags);
        TraceFlags::new(flags).with_sampled(is_sampled)
    }
}

const DEFAULT: &str = "parentbased_always_on";

fn is_in_share(share: f64, trace: TraceId) -> bool {
    let sampler = Sampler::TraceIdRatioBased(share);
    let asked = sampler.should_sample(None, trace, "", &SpanKind::Internal, &[], &[]);
    asked.decision == SamplingDecision::RecordAndSample
}

/// Returns the sampled fraction, 1 by default.
fn ratio(program: Program) -> f64 {
    let Some(given) = variable("OTEL_TRACES_SAMPLER_ARG") else { return 1.0 };
    let ratio = given.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.unwrap_or_else(|| {
        let wrong = "expected a number from 0 to 1: ignored";
        program.report(format!("OTEL_TRACES_SAMPLER_ARG is {given:?}, {wrong}"));
        1.0
    })
}
