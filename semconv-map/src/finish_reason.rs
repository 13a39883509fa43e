//! Finish reasons of turns, according to the GenAI conventions.
//!
//! | ACP `stopReason` | [`Semconv`](FinishReasonPolicy::Semconv) | [`Verbatim`](FinishReasonPolicy::Verbatim) |
//! |---|---|---|
//! | `end_turn` | `stop` | `end_turn` |
//! | `max_tokens` | `length` | `max_tokens` |
//! | `max_turn_requests` | `length` | `max_turn_requests` |
//! | `refusal` | `content_filter` | `refusal` |
//! | `cancelled` | `cancelled` | `cancelled` |
//! | any other | unchanged | unchanged |
//! | absent, the turn failed | `error` | `error` |
//! | absent, the end was not observed | `incomplete` | `incomplete` |
//!
//! The value is used for `gen_ai.response.finish_reasons` and in the output message.
//!
//! Spec: [`FinishReason` of the message schema,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-output-messages.json),
//! [ACP stop reasons](https://agentclientprotocol.com/protocol/v1/prompt-turn#stop-reasons)
use crate::attribute::clip;
use crate::policy::FinishReasonPolicy;
use acp_types::v1::prompt_turn::StopReason;
use alloc::borrow::Cow;

/// Finish reason of a failed turn.
pub const ERROR: &str = "error";
/// Finish reason of a turn with an unobserved end.
pub const INCOMPLETE: &str = "incomplete";

/// Returns the finish reason of a stop reason. An unknown stop reason is returned unchanged,
/// truncated to [`MAX_NAME_BYTES`](crate::attribute::MAX_NAME_BYTES).
///
/// ```
/// use acp_types::v1::prompt_turn::StopReason;
/// use semconv_map::{finish_reason::finish_reason, policy::FinishReasonPolicy};
///
/// assert_eq!(finish_reason(&StopReason::EndTurn, FinishReasonPolicy::Semconv), "stop");
/// assert_eq!(finish_reason(&StopReason::EndTurn, FinishReasonPolicy::Verbatim), "end_turn");
/// assert_eq!(finish_reason(&StopReason::from("out_of_credits"), FinishReasonPolicy::Semconv), "out_of_credits");
/// ```
pub fn finish_reason(reason: &StopReason, policy: FinishReasonPolicy) -> Cow<'static, str> {
    let semconv = policy == FinishReasonPolicy::Semconv;
    match reason {
        StopReason::EndTurn if semconv => "stop".into(),
        StopReason::MaxTokens | StopReason::MaxTurnRequests if semconv => "length".into(),
        StopReason::Refusal if semconv => "content_filter".into(),
        verbatim => clip(verbatim.as_str()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stop_reason_has_a_finish_reason() {
        let table = [
            ("end_turn", "stop"),
            ("max_tokens", "length"),
            ("max_turn_requests", "length"),
            ("refusal", "content_filter"),
            ("cancelled", "cancelled"),
        ];
        assert!(table.iter().map(|row| row.0).eq(StopReason::NAMES.iter().copied()));
        for (given, expected) in table.into_iter().chain([("newer", "newer")]) {
            let reason = StopReason::from(given);
            assert_eq!(finish_reason(&reason, FinishReasonPolicy::Semconv), expected, "{given}");
            assert_eq!(finish_reason(&reason, FinishReasonPolicy::Verbatim), given);
        }
    }
}
