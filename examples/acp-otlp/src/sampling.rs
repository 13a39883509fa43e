//! Which traces are told of.

use super::{Program, variable};
use opentelemetry::trace::{SpanContext, SpanKind, TraceFlags, TraceId};
use opentelemetry_sdk::trace::{Sampler, SamplingDecision, ShouldSample};

/// Which spans are *sampled*: told of, and named so to others. Those of one trace are, or none of them.
///
/// Spec: [Built-in samplers](https://opentelemetry.io/docs/specs/otel/trace/sdk/#built-in-samplers)
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Who names a parent elsewhere has decided.
    follows_parent: bool,
    /// The share of all others.
    share: f64,
}

impl Default for Sampling {
    /// Each span.
    fn default() -> Self {
        Self { follows_parent: false, share: 1.0 }
    }
}

impl Sampling {
    /// What `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` say; where they say nothing, each span but those whose parent
    /// elsewhere is not sampled. A word there that is none is told, and passed over.
    ///
    /// Spec: [General SDK configuration](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration)
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
                let wrong = "which is no sampler: not used";
                (program.tell)(format!("OTEL_TRACES_SAMPLER is {name:?}, {wrong}"));
                return Self { follows_parent: true, share: 1.0 };
            }
        };
        Self { follows_parent, share }
    }

    /// The flags of a span.
    pub(crate) fn flags(self, parent: Option<&SpanContext>, trace: TraceId) -> TraceFlags {
        let is_sampled = match parent {
            Some(parent) if self.follows_parent || !parent.is_remote() => parent.is_sampled(),
            _ => self.share >= 1.0 || is_in_share(self.share, trace),
        };
        let flags = parent.map_or(TraceFlags::NOT_SAMPLED, SpanContext::trace_flags);
        flags.with_sampled(is_sampled)
    }
}

const DEFAULT: &str = "parentbased_always_on";

fn is_in_share(share: f64, trace: TraceId) -> bool {
    let sampler = Sampler::TraceIdRatioBased(share);
    let asked = sampler.should_sample(None, trace, "", &SpanKind::Internal, &[], &[]);
    asked.decision == SamplingDecision::RecordAndSample
}

/// Which share of all traces is sampled: all, unless the environment says otherwise.
fn ratio(program: Program) -> f64 {
    let Some(given) = variable("OTEL_TRACES_SAMPLER_ARG") else { return 1.0 };
    let ratio = given.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.unwrap_or_else(|| {
        let wrong = "which is no number from 0 to 1: not used";
        (program.tell)(format!("OTEL_TRACES_SAMPLER_ARG is {given:?}, {wrong}"));
        1.0
    })
}
