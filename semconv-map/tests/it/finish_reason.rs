//! Finish reasons of turns.
use crate::lines::{prompt, stop};
use crate::spans::{A2C, C2A, Run};
use acp_types::v1::prompt_turn::StopReason;
use proptest::prelude::*;
use semconv_map::content::Capture;
use semconv_map::policy::FinishReasonPolicy;
use semconv_map::{AttributeValue, Policy, Profile};
use serde_json::Value;

proptest! {
    /// For any stop reason, the finish reason is the same in the attribute (a list of one entry),
    /// the message and the event. The original value is recorded separately.
    #[test]
    fn finish_reason_is_consistent(
        reason in prop_oneof![
            prop::sample::select(StopReason::NAMES).prop_map(str::to_owned),
            "[a-z_€\"\\\\ ]{1,40}",
        ],
        verbatim: bool,
        profile in prop::sample::select(vec![Profile::V1_39, Profile::V1_41, Profile::GENAI_DEV]),
    ) {
        let expected = match &*reason {
            "end_turn" if !verbatim => "stop",
            "max_tokens" | "max_turn_requests" if !verbatim => "length",
            "refusal" if !verbatim => "content_filter",
            other => other,
        };
        let mut policy = Policy::default();
        policy.profile = profile;
        policy.content = Capture::SpanAndEvent;
        if verbatim {
            policy.finish_reason = FinishReasonPolicy::Verbatim;
        }
        let mut run = Run::new(policy);
        run.line(C2A, &prompt(1, "s"));
        run.line(A2C, &stop(1, &reason));
        let turn = run.span("invoke_agent");
        let list = AttributeValue::StringArray(vec![expected.to_owned().into()]);
        prop_assert_eq!(turn.get("gen_ai.response.finish_reasons"), Some(&list));
        prop_assert_eq!(turn.str("acp.stop_reason"), Some(&*reason));
        let in_message = |text: &str| {
            serde_json::from_str::<Value>(text).unwrap()[0]["finish_reason"].clone()
        };
        prop_assert_eq!(in_message(turn.str("gen_ai.output.messages").unwrap()), expected);
        let [details] = &turn.events[..] else { panic!("{:?}", turn.events) };
        for attribute in &details.attributes {
            match (attribute.key, &attribute.value) {
                ("gen_ai.response.finish_reasons", value) => prop_assert_eq!(value, &list),
                ("gen_ai.output.messages", AttributeValue::Json(text)) => {
                    prop_assert_eq!(in_message(text), expected);
                }
                _ => {}
            }
        }
    }
}
