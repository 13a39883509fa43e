//! What 0.x clients accept, compared with measurements of `@ag-ui/client` 0.0.59.
use crate::generate;
use crate::streams::recorded;
use agui_types::enforce;
use agui_types::event::{Event, RunFinishedOutcome};
use agui_types::expand::Expander;
use agui_types::profile::{Downgrade, DowngradeLoss, Profile, ProfileRefusal};
use agui_types::verify::Verifier;
use jsonrpc_core::wire;
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn legacy_profile_refuses_failing_events() {
    let table = [
        (r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}"#, None),
        (
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[]}}"#,
            Some(ProfileRefusal::Input),
        ),
        (
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r",
                "input":{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[]}}"#,
            None,
        ),
        (
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"tools":[]}}"#,
            Some(ProfileRefusal::Input),
        ),
        (
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"context":[]}}"#,
            Some(ProfileRefusal::Input),
        ),
        (r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[]}"#, None),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
            None,
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":[]}}"#,
            Some(ProfileRefusal::PendingToolCallIds),
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r",
                "outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"confirmation"}]}}"#,
            None,
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}"#,
            Some(ProfileRefusal::Outcome),
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"postponed"}}"#,
            Some(ProfileRefusal::Outcome),
        ),
        (r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"a"}"#, None),
        (
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[]}"#,
            Some(ProfileRefusal::ResultParts),
        ),
        (
            r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}"#,
            Some(ProfileRefusal::EventType),
        ),
        (r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}"#, Some(ProfileRefusal::EventType)),
        (
            r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"m"}"#,
            Some(ProfileRefusal::EventType),
        ),
        (r#"{"type":"NEWER"}"#, Some(ProfileRefusal::EventType)),
        (r#"{"type":"REASONING_START","messageId":"m"}"#, None),
        (r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{}}"#, None),
    ];
    for (text, refusal) in table {
        let event: Event = wire::decode(text).expect(text);
        assert_eq!(Profile::of(None).refuses(&event), refusal, "{text}");
        assert_eq!(Profile::of(Some("1.1")).refuses(&event), None, "{text}");
    }
}

#[test]
fn legacy_events_are_those_of_1_0_without_subagents() {
    let expected: Vec<_> =
        Event::NAMES.iter().copied().filter(|name| !name.starts_with("SUBAGENT_")).collect();
    assert_eq!(Profile::Legacy.event_types(), expected);
    assert_eq!(Profile::V1.event_types(), Event::NAMES);
}

fn downgraded(
    events: impl IntoIterator<Item = Event>,
    profile: Profile,
) -> (Vec<Event>, Vec<DowngradeLoss>) {
    let mut downgrade = Downgrade::to(profile);
    let mut given = Vec::new();
    let mut lost = Vec::new();
    for event in events {
        let (event, losses) = downgrade.handle(event);
        given.extend(event);
        lost.extend(losses);
    }
    (given, lost)
}

#[test]
fn streams_are_downgraded_for_legacy_clients() {
    let finished = |outcome: Value| json!({"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":outcome});
    let failed = |name: &str| json!({"type":"RUN_ERROR","message":format!("the run did not succeed: {name}"),"code":name});
    let part = json!([{"type":"text","text":"a"},{"type":"image","source":{"type":"url","value":"u"}},{"type":"text","text":"b"}]);
    let result = |content: Value| json!({"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":content});
    let snapshot = |content: Value| {
        json!({"type":"MESSAGES_SNAPSHOT","messages":[
        {"id":"u","role":"user","content":part},{"id":"m","role":"tool","toolCallId":"c","content":content}]})
    };
    let started =
        |input: Value| json!({"type":"RUN_STARTED","threadId":"t","runId":"r","input":input});
    let again = json!({"type":"RUN_STARTED","threadId":"t","runId":"r2"});
    let table = [
        (
            json!([finished(json!({"type":"success"}))]),
            json!([finished(json!({"type":"success"}))]),
            vec![],
        ),
        (
            json!([finished(json!({"type":"success","pendingToolCallIds":["c"]}))]),
            json!([finished(json!({"type":"success"}))]),
            vec![DowngradeLoss::PendingToolCallIds],
        ),
        (
            json!([finished(json!({"type":"cancelled"}))]),
            json!([failed("cancelled")]),
            vec![DowngradeLoss::Outcome],
        ),
        (
            json!([finished(json!({"type":"postponed"}))]),
            json!([failed("postponed")]),
            vec![DowngradeLoss::Outcome],
        ),
        (
            json!([finished(json!({"type":"cancelled"})), again]),
            json!([failed("cancelled")]),
            vec![DowngradeLoss::Outcome, DowngradeLoss::AfterError],
        ),
        (
            json!([finished(
                json!({"type":"interrupt","interrupts":[{"id":"i","reason":"confirmation"}]})
            )]),
            json!([finished(
                json!({"type":"interrupt","interrupts":[{"id":"i","reason":"confirmation"}]})
            )]),
            vec![DowngradeLoss::Interrupts],
        ),
        (
            json!([result(part.clone())]),
            json!([result(json!("ab"))]),
            vec![DowngradeLoss::ResultParts],
        ),
        (json!([result(json!([]))]), json!([result(json!(""))]), vec![DowngradeLoss::ResultParts]),
        (
            json!([snapshot(part.clone())]),
            json!([snapshot(json!("ab"))]),
            vec![DowngradeLoss::ResultParts],
        ),
        (
            json!([started(json!({"threadId":"t","runId":"r","messages":[],"context":[]}))]),
            json!([started(
                json!({"threadId":"t","runId":"r","messages":[],"tools":[],"context":[]})
            )]),
            vec![],
        ),
        (
            json!([{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"},{"type":"STEP_STARTED","stepName":"x","subagentRunId":"s"}]),
            json!([{"type":"STEP_STARTED","stepName":"x","subagentRunId":"s"}]),
            vec![DowngradeLoss::Event],
        ),
        (
            json!([{"type":"STATE_SNAPSHOT","snapshot":null},{"type":"STATE_SNAPSHOT","snapshot":{}}]),
            json!([{"type":"STATE_SNAPSHOT","snapshot":null},{"type":"STATE_SNAPSHOT","snapshot":{}}]),
            vec![DowngradeLoss::State],
        ),
    ];
    for (given, expected, losses) in table {
        let events: Vec<Event> = wire::decode(&given.to_string()).expect("events");
        let (left, lost) = downgraded(events.clone(), Profile::Legacy);
        assert_eq!(serde_json::to_value(left).expect("JSON"), expected, "{given}");
        assert_eq!(lost, losses, "{given}");
        assert_eq!(downgraded(events.clone(), Profile::V1), (events, Vec::new()), "{given}");
    }
}

/// The result has no refused event, and a valid stream stays valid.
fn holds(events: Vec<Event>) {
    let mut expander = Expander::new();
    let mut expanded = Vec::new();
    for event in events {
        let Some(event) = enforce::enforce_event(event).0 else { continue };
        expander.handle(event, &mut expanded).expect("no violation");
    }
    let successes = |events: &[Event]| {
        let success = |event: &&Event| match event {
            Event::RunFinished(finished) => {
                matches!(finished.outcome, None | Some(RunFinishedOutcome::Success(_)))
            }
            _ => false,
        };
        events.iter().filter(success).count()
    };
    let before = successes(&expanded);
    let (left, _) = downgraded(expanded, Profile::Legacy);
    assert!(
        successes(&left) <= before,
        "a run that did not succeed is not reported as one that did"
    );
    let mut verifier = Verifier::tolerant();
    for event in &left {
        assert_eq!(Profile::Legacy.refuses(event), None);
        assert_eq!(verifier.handle(event), Ok(()), "{left:?}");
    }
    let failed = left.iter().position(|event| matches!(event, Event::RunError(_)));
    assert!(failed.is_none_or(|place| place + 1 == left.len()));
}

#[test]
fn recordings_are_downgraded() {
    for stream in recorded().iter().filter(|stream| stream["verdict"] == "accepted") {
        holds(wire::decode(&stream["stream"].to_string()).expect("events"));
    }
}

proptest! {
    #![proptest_config(generate::cases(128))]

    /// The downgrade of any stream of AG-UI 1.0 suits legacy clients.
    #[test]
    fn generated_streams_are_downgraded(events in generate::stream(false)) {
        holds(events);
    }
}

#[test]
fn members_of_1_1_are_sent_to_peers_of_1_1_only() {
    let table = [(None, Profile::Legacy), (Some("1.0"), Profile::V1), (Some("next"), Profile::V1)];
    let newer = ["1.1", "1.2", "2.0"].map(|version| (Some(version), Profile::V1_1));
    for (version, profile) in table.into_iter().chain(newer) {
        assert_eq!(Profile::of(version), profile, "{version:?}");
    }
    let message = json!({"id":"m","role":"assistant","encryptedValue":"x","encryptedValueType":"y",
        "toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""},"encryptedValueType":"y"}]});
    let input = json!({"threadId":"t","runId":"r","messages":[message],"tools":[],"context":[]});
    for event in [
        json!({"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"x","encryptedValueType":"y"}),
        json!({"type":"MESSAGES_SNAPSHOT","messages":[message]}),
        json!({"type":"RUN_STARTED","threadId":"t","runId":"r","input":input}),
    ] {
        let typed: Event = wire::decode(&event.to_string()).expect("an event");
        let kept = Downgrade::to(Profile::V1_1).handle(typed.clone());
        assert_eq!(kept, (Some(typed.clone()), Vec::new()));
        for profile in [Profile::V1, Profile::Legacy] {
            let (event, losses) = Downgrade::to(profile).handle(typed.clone());
            let left = serde_json::to_string(&event).expect("JSON");
            assert!(left.contains("encryptedValue") || !left.contains("REASONING"), "{left}");
            assert!(!left.contains("encryptedValueType"), "{left}");
            assert_eq!(losses, [DowngradeLoss::EncryptedValueType]);
        }
    }
}

#[test]
fn profiles_are_stored_by_name() {
    for (profile, text) in
        [(Profile::Legacy, "\"Legacy\""), (Profile::V1, "\"V1\""), (Profile::V1_1, "\"V1_1\"")]
    {
        assert_eq!(serde_json::to_string(&profile).ok().as_deref(), Some(text));
        assert_eq!(serde_json::from_str::<Profile>(text).ok(), Some(profile));
    }
    let error = serde_json::from_str::<Profile>("\"V2\"").map_err(|error| error.to_string());
    assert!(error.is_err_and(|error| error.starts_with("unknown variant `V2`, expected one of `Legacy`")));
}
