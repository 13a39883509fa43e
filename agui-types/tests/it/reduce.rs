//! Reduction, compared with recordings of the first-party client 1.0.0 and with the specification.
use crate::generate;
use crate::streams::recorded;
use agui_types::enforce;
use agui_types::event::{Event, RunFinishedOutcome};
use agui_types::expand::Expander;
use agui_types::input::RunAgentInput;
use agui_types::reduce::{Reducer, RunEnd, Warning};
use agui_types::verify::Verifier;
use jsonrpc_core::wire;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Runs all stages in order; `None` if one of them fails.
fn run(input: &Value, stream: &Value) -> Option<(Reducer, Vec<Warning>)> {
    let mut whole = json!({"threadId":"t","runId":"r","messages":[]});
    for (name, value) in input.as_object().expect("an object") {
        whole[name] = value.clone();
    }
    let input: RunAgentInput = wire::decode(&whole.to_string()).expect("an input");
    let mut reducer = Reducer::for_input(&input).expect("a state");
    let mut expander = Expander::new();
    let mut verifier = Verifier::tolerant();
    let mut warnings = Vec::new();
    for event in stream.as_array().expect("a list") {
        let (event, _) = enforce::read_event(&event.to_string()).ok()?;
        let Some(event) = enforce::enforce_event(event).0 else { continue };
        let mut expanded = Vec::new();
        expander.handle(event, &mut expanded).ok()?;
        for event in expanded {
            verifier.handle(&event).ok()?;
            warnings.extend(reducer.handle(&event));
        }
    }
    Some((reducer, warnings))
}

fn made(stream: Value) -> (Value, Vec<Warning>) {
    let (reducer, warnings) = run(&json!({}), &stream).expect("no violation");
    (serde_json::to_value(reducer.messages()).expect("JSON"), warnings)
}

type Meaning = fn(&Warning) -> bool;

/// The meaning of the client's warnings.
fn meant(words: &str) -> Option<Meaning> {
    let table: [(&str, Meaning); 5] = [
        ("Failed to apply state patch", |it| matches!(it, Warning::Patch(_))),
        ("Failed to apply activity patch", |it| matches!(it, Warning::Patch(_))),
        ("falling back to toolCallId", |it| matches!(it, Warning::ParentNotAssistant)),
        ("updating it to", |it| matches!(it, Warning::Renamed)),
        ("is an activity message", |it| matches!(it, Warning::NoText)),
    ];
    table.into_iter().find(|(start, _)| words.contains(start)).map(|(_, meaning)| meaning)
}

/// Warnings that the specification requires and the client does not give.
///
/// Spec: [`ACTIVITY_DELTA`, 1.0](https://ag-ui.com/spec/1.0/events/activity#activity_delta),
/// [Reasoning, error handling, 1.0](https://ag-ui.com/spec/1.0/events/reasoning#error-handling)
const SILENT: &[&str] = &["activity delta missing target", "encrypted unknown entity"];

#[test]
fn recordings_have_the_recorded_result() {
    let mut accepted = 0;
    let mut silent = Vec::new();
    for stream in recorded() {
        let name = stream["name"].as_str().expect("a name").to_owned();
        let reduced = run(&stream["input"], &stream["stream"]);
        if stream["verdict"] == "rejected" {
            assert!(reduced.is_none(), "{name}");
            // The client delivers events later than it reads them, and an error overtakes those.
            // The conversation is therefore the initial one; no clause requires that.
            assert_eq!(&stream["messages"], &json!([]), "{name}");
            assert_eq!(&stream["state"], &json!({}), "{name}");
            continue;
        }
        accepted += 1;
        let (reducer, warnings) = reduced.expect("no violation");
        let messages = serde_json::to_value(reducer.messages()).expect("JSON");
        assert_eq!(messages, stream["messages"], "{name}");
        assert_eq!(reducer.state(), &stream["state"], "{name}");
        let pending = serde_json::to_value(reducer.pending_tool_call_ids()).expect("JSON");
        let expected = stream.get("pendingToolCallIds").cloned().unwrap_or(json!([]));
        if matches!(reducer.end(), Some(RunEnd::Finished(_))) {
            assert_eq!(pending, expected, "{name}");
        }
        let (result, interrupts) = match reducer.end() {
            Some(RunEnd::Finished(finished)) => {
                let result = finished.result.as_ref().map(|it| it.decode().expect("JSON"));
                let interrupts = match &finished.outcome {
                    Some(RunFinishedOutcome::Interrupt(outcome)) => outcome.interrupts.clone(),
                    _ => Vec::new(),
                };
                (result, serde_json::to_value(interrupts).expect("JSON"))
            }
            _ => (None, json!([])),
        };
        assert_eq!(result.as_ref(), stream.get("result"), "{name}");
        assert_eq!(&interrupts, &stream["pendingInterrupts"], "{name}");
        let reported = stream["warnings"].as_array().expect("a list").iter();
        let reported: Vec<_> =
            reported.filter_map(|words| meant(words.as_str().expect("words"))).collect();
        if SILENT.contains(&name.as_str()) {
            assert_eq!(warnings, vec![Warning::NoMessage], "{name}");
            assert_eq!(reported.len(), 0, "{name}");
            silent.push(name);
            continue;
        }
        assert_eq!(warnings.len(), reported.len(), "{name}: {warnings:?}");
        assert!(
            warnings.iter().zip(reported).all(|(ours, theirs)| theirs(ours)),
            "{name}: {warnings:?}"
        );
    }
    assert!(accepted > 60, "{accepted}");
    assert_eq!(silent.len(), SILENT.len());
}

fn started() -> Value {
    json!({"type":"RUN_STARTED","threadId":"t","runId":"r"})
}

#[test]
fn result_is_inserted_after_its_call() {
    let call = |id: &str| json!({"type":"TOOL_CALL_CHUNK","toolCallId":id,"toolCallName":"f","parentMessageId":"m"});
    let text = |id: &str| json!({"type":"TEXT_MESSAGE_CHUNK","messageId":id,"delta":id});
    let result = |id: &str, call: &str| json!({"type":"TOOL_CALL_RESULT","messageId":id,"toolCallId":call,"content":"x"});
    let stream = json!([
        started(),
        call("c1"),
        call("c2"),
        text("n"),
        call("c3"),
        result("r2", "c2"),
        result("r1", "c1"),
        result("r0", "c0"),
        text("r1"),
        call("c4"),
        result("r4", "c4"),
    ]);
    let (messages, warnings) = made(stream);
    let ids: Vec<_> =
        messages.as_array().expect("a list").iter().map(|it| it["id"].as_str()).collect();
    assert_eq!(ids, ["m", "r2", "r1", "r4", "n", "r0"].map(Some));
    assert_eq!(
        messages[2]["content"], "xr1",
        "what is reported about a message is reported where it is now"
    );
    assert_eq!(messages[0]["toolCalls"].as_array().map(Vec::len), Some(4));
    assert_eq!(warnings, []);
}

#[test]
fn metadata_is_merged_into_its_target() {
    let with = |mut event: Value, key: &str, value: Value| {
        event["metadata"] = json!({ key: value });
        event
    };
    let stream = json!([
        with(started(), "run", json!(1)),
        with(json!({"type":"TEXT_MESSAGE_START","messageId":"m"}), "a", json!({"x":1})),
        with(
            json!({"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}),
            "a",
            json!({"y":null})
        ),
        with(json!({"type":"TEXT_MESSAGE_END","messageId":"m"}), "b", json!(null)),
        with(
            json!({"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}),
            "c",
            json!(1)
        ),
        with(json!({"type":"TOOL_CALL_END","toolCallId":"c"}), "d", json!(2)),
        with(
            json!({"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":""}),
            "e",
            json!(3)
        ),
        with(
            json!({"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"t","content":{}}),
            "f",
            json!(4)
        ),
        with(
            json!({"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"u","content":{"n":1},"replace":false}),
            "g",
            json!(5)
        ),
        with(
            json!({"type":"ACTIVITY_DELTA","messageId":"x","activityType":"v","patch":[]}),
            "h",
            json!(6)
        ),
        with(json!({"type":"CUSTOM","name":"x.y","value":1}), "i", json!(7)),
    ]);
    let expected = json!([
        {"id":"m","role":"assistant","content":"d","metadata":{"a":{"y":null},"b":null},
            "toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""},"metadata":{"c":1,"d":2}}]},
        {"id":"r","role":"tool","toolCallId":"c","content":"","metadata":{"e":3}},
        {"id":"x","role":"activity","activityType":"v","content":{},"metadata":{"f":4,"g":5,"h":6}},
    ]);
    assert_eq!(made(stream), (expected, Vec::new()));
}

/// A type describes one value: a new value without a type has none.
///
/// Spec: [`encryptedValueType`,
/// 1.1](https://ag-ui.com/spec/1.1/events/reasoning#encryptedvaluetype)
#[test]
fn encrypted_value_type_follows_its_value() {
    let value = |value: &str, kind: Option<&str>| {
        let mut event = json!({"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":value});
        if let Some(kind) = kind {
            event["encryptedValueType"] = json!(kind);
        }
        event
    };
    let text = json!({"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"d"});
    let (messages, _) = made(json!([started(), text, value("v", Some("acme.kind"))]));
    assert_eq!(messages[0]["encryptedValueType"], "acme.kind");
    let (messages, _) =
        made(json!([started(), text, value("v", Some("acme.kind")), value("w", None)]));
    assert_eq!(&messages[0]["encryptedValue"], &json!("w"));
    assert_eq!(messages[0].get("encryptedValueType"), None);
}

#[test]
fn messages_keep_their_owners() {
    let stream = json!([
        started(),
        {"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"},
        {"type":"REASONING_MESSAGE_CHUNK","messageId":"q","delta":"d","subagentRunId":"s"},
        {"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","subagentRunId":"s"},
        {"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":"","subagentRunId":"s"},
        {"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"t","content":{},"subagentRunId":"s"},
        {"type":"ACTIVITY_SNAPSHOT","messageId":"y","activityType":"t","content":{},"subagentRunId":"s"},
        {"type":"ACTIVITY_SNAPSHOT","messageId":"y","activityType":"t","content":{}},
        {"type":"SUBAGENT_FINISHED","subagentRunId":"s"},
    ]);
    let (messages, _) = made(stream);
    let owners: Vec<_> = messages
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it["subagentRunId"].as_str())
        .collect();
    assert_eq!(owners, [Some("s"), Some("s"), Some("s"), Some("s"), None]);
}

#[test]
fn skipped_events_are_reported() {
    let activity =
        json!({"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"t","content":{"a":1}});
    let delta = |patch: Value| json!({"type":"ACTIVITY_DELTA","messageId":"x","activityType":"u","patch":patch});
    let (messages, warnings) = made(json!([
        started(),
        activity,
        delta(json!([{"op":"replace","path":"","value":[1]}])),
        delta(json!([{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}])),
    ]));
    assert_eq!(
        messages,
        json!([{"id":"x","role":"activity","activityType":"t","content":{"a":1}}])
    );
    assert_eq!(warnings[0], Warning::NotAnObject);
    assert_eq!(
        warnings[1].to_string(),
        r#"the patch was not applied: operation 1: no value exists at "/a""#
    );

    let mut reducer = Reducer::new();
    let mut handle = |text: &str| reducer.handle(&wire::decode(text).expect("an event"));
    assert_eq!(
        handle(r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}"#),
        Some(Warning::NotExpanded)
    );
    assert_eq!(handle(r#"{"type":"NEWER"}"#), Some(Warning::UnknownEvent));
    assert_eq!(handle(r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#), Some(Warning::NoToolCall));
    assert_eq!(handle(r#"{"type":"STATE_SNAPSHOT","snapshot":1e999}"#), Some(Warning::Unreadable));
    assert_eq!(reducer.messages(), &[][..]);
    assert_eq!(reducer.state(), &json!({}));
}

#[test]
fn conversation_size_is_limited() {
    let mut reducer = Reducer::new().with_limit(10_000);
    let mut handle =
        |event: Value| reducer.handle(&wire::decode(&event.to_string()).expect("an event"));
    assert_eq!(handle(json!({"type":"TEXT_MESSAGE_START","messageId":"m"})), None);
    let more = json!({"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x".repeat(1000)});
    let taken = (0..20).take_while(|_| handle(more.clone()).is_none()).count();
    assert_eq!(taken, 9);
    let restated =
        json!({"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user","content":""}]});
    assert_eq!(handle(restated), None);
    let shown = json!({"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"t","content":{"x":"x".repeat(5000)}});
    for _ in 0..20 {
        assert_eq!(handle(shown.clone()), None, "what is replaced makes room");
    }
    let call = |number: usize| json!({"type":"TOOL_CALL_START","toolCallId":number.to_string(),"toolCallName":"f"});
    let calls = (0..1000).take_while(|number| handle(call(*number)).is_none()).count();
    assert!((10..100).contains(&calls), "{calls}");

    let mut reducer = Reducer::new();
    let mut handle =
        |event: Value| reducer.handle(&wire::decode(&event.to_string()).expect("an event"));
    assert_eq!(handle(json!({"type":"TEXT_MESSAGE_START","messageId":"m"})), None);
    let key = |number: usize| json!({"type":"TEXT_MESSAGE_END","messageId":"m","metadata":{number.to_string():1}});
    let keys = (0..2000).take_while(|number| handle(key(*number)).is_none()).count();
    assert_eq!(keys, Reducer::MAX_METADATA_KEYS);
}

proptest! {
    #![proptest_config(generate::cases(128))]

    /// For any events in any order the reducer does not panic, and every message and call is found
    /// again.
    #[test]
    fn messages_and_calls_are_indexed(events in generate::events()) {
        let mut reducer = Reducer::new();
        for event in &events {
            let _ = reducer.handle(event);
        }
        let messages: Vec<_> = reducer.messages().to_vec();
        let mut again = reducer.clone();
        for message in &messages {
            let id = message.id().expect("known roles only");
            let event = json!({"type":"TEXT_MESSAGE_END","messageId":id});
            let missing = again.handle(&wire::decode::<Event>(&event.to_string()).expect("an event"));
            prop_assert_ne!(missing, Some(Warning::NoMessage));
        }
        let calls = serde_json::to_value(&messages).expect("JSON");
        let calls = calls.as_array().expect("a list").iter().flat_map(|it| it["toolCalls"].as_array().into_iter().flatten());
        for call in calls {
            let event = json!({"type":"TOOL_CALL_END","toolCallId":call["id"]});
            let missing = again.handle(&wire::decode::<Event>(&event.to_string()).expect("an event"));
            prop_assert_eq!(missing, None);
        }
        prop_assert_eq!(again.messages(), reducer.messages());
    }
}
