//! Which traces are told of.

use super::{Program, variable};
use opentelemetry::trace::{SpanContext, SpanKind, TraceFlags, TraceId};
use opentelemetry_sdk::trace::{Sampler, SamplingDecision, ShouldSample};

/// Which spans are *sampled*: told of, and named so to others. Those of one trace are, or none of them.
///
/// Spec: [Built-in samplers](https://opentelemetry.io/docs/specs/otel/trace/sdk/#built-in-samplers)
#[derive(Debug)]
pub struct Sampling {
    /// Who names a parent elsewhere has decided.
    follows_parent: bool,
    others: Sampler,
}

impl Default for Sampling {
    /// Each span.
    fn default() -> Self {
        Self { follows_parent: false, others: Sampler::AlwaysOn }
    }
}

impl Sampling {
    /// What `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` say; where they say nothing, each span but those whose parent
    /// elsewhere is not sampled. A word there that is none is told, and passed over.
    ///
    /// Spec: [General SDK configuration](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration)
    pub fn of_environment(program: Program) -> Self {
        let name = variable("OTEL_TRACES_SAMPLER").unwrap_or_else(|| DEFAULT.to_owned());
        let others = match name.trim_start_matches(PARENT_BASED) {
            "always_on" => Some(Sampler::AlwaysOn),
            "always_off" => Some(Sampler::AlwaysOff),
            "traceidratio" => Some(Sampler::TraceIdRatioBased(ratio(program))),
            _ => None,
        };
        let Some(others) = others else {
            let program = program.name;
            eprintln!("{program}: OTEL_TRACES_SAMPLER is {name:?}, which is no sampler: not used");
            return Self { follows_parent: true, others: Sampler::AlwaysOn };
        };
        Self { follows_parent: name.starts_with(PARENT_BASED), others }
    }

    /// The flags of a span.
    pub(crate) fn flags(&self, parent: Option<&SpanContext>, trace: TraceId) -> TraceFlags {
        let is_sampled = match parent {
            Some(parent) if self.follows_parent || !parent.is_remote() => parent.is_sampled(),
            _ => {
                let asked =
                    self.others.should_sample(None, trace, "", &SpanKind::Internal, &[], &[]);
                asked.decision == SamplingDecision::RecordAndSample
            }
        };
        let flags = parent.map_or(TraceFlags::NOT_SAMPLED, SpanContext::trace_flags);
        flags.with_sampled(is_sampled)
    }
}

const DEFAULT: &str = "parentbased_always_on";
const PARENT_BASED: &str = "parentbased_";

/// Which share of all traces is sampled: all, unless the environment says otherwise.
fn ratio(program: Program) -> f64 {
    let Some(given) = variable("OTEL_TRACES_SAMPLER_ARG") else { return 1.0 };
    let ratio = given.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.unwrap_or_else(|| {
        let program = program.name;
        eprintln!("{program}: OTEL_TRACES_SAMPLER_ARG is {given:?}, which is no number from 0 to 1: not used");
        1.0
    })
}
