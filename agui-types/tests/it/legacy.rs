//! Events of producers before 0.0.46.
use agui_types::enforce::{self, RemovalKind};
use agui_types::event::Event;
use agui_types::legacy::ThinkingConverter;
use agui_types::verify::{Rule, Verifier};
use jsonrpc_core::wire;
use serde_json::{Value, json};

fn translated(events: &[Value]) -> Vec<Value> {
    let mut thinking = ThinkingConverter::new("x");
    let given = |event: &Value| {
        let (event, removals) = enforce::read_event(&event.to_string()).expect("an event");
        assert_eq!(removals, []);
        let (event, _) = thinking.handle(event).expect("an event");
        serde_json::to_value(event).expect("JSON")
    };
    events.iter().map(given).collect()
}

#[test]
fn each_event_has_its_present_name() {
    let given = [
        json!({"type":"RUN_STARTED","threadId":"t","runId":"r"}),
        json!({"type":"THINKING_START","title":"Plan","timestamp":1}),
        json!({"type":"THINKING_TEXT_MESSAGE_START"}),
        json!({"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"Hm","rawEvent":{"a":1}}),
        json!({"type":"THINKING_TEXT_MESSAGE_END"}),
        json!({"type":"THINKING_TEXT_MESSAGE_START","newer":true}),
        json!({"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"."}),
        json!({"type":"THINKING_TEXT_MESSAGE_END"}),
        json!({"type":"THINKING_END"}),
        json!({"type":"RUN_FINISHED","threadId":"t","runId":"r"}),
    ];
    let expected = [
        given[0].clone(),
        json!({"type":"REASONING_START","messageId":"x1","timestamp":1}),
        json!({"type":"REASONING_MESSAGE_START","messageId":"x2","role":"reasoning"}),
        json!({"type":"REASONING_MESSAGE_CONTENT","messageId":"x2","delta":"Hm","rawEvent":{"a":1}}),
        json!({"type":"REASONING_MESSAGE_END","messageId":"x2"}),
        json!({"type":"REASONING_MESSAGE_START","messageId":"x3","role":"reasoning","newer":true}),
        json!({"type":"REASONING_MESSAGE_CONTENT","messageId":"x3","delta":"."}),
        json!({"type":"REASONING_MESSAGE_END","messageId":"x3"}),
        json!({"type":"REASONING_END","messageId":"x1"}),
        given[9].clone(),
    ];
    let events = translated(&given);
    assert_eq!(events, expected);
    let mut verifier = Verifier::tolerant();
    for event in &events {
        verifier.handle(&wire::decode(&event.to_string()).expect("an event")).expect("in order");
    }
}

#[test]
fn event_without_a_start_breaks_a_rule() {
    for (text, rule) in [
        (r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"."}"#, Rule::ReasoningMessageNotOpen),
        (r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#, Rule::ReasoningMessageNotOpen),
        (r#"{"type":"THINKING_END"}"#, Rule::ReasoningSpanNotOpen),
    ] {
        let mut verifier = Verifier::tolerant();
        let started = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
        verifier.handle(&wire::decode(started).expect("an event")).expect("no violation");
        let event: Event = wire::decode(text).expect("an event");
        let (event, _) = ThinkingConverter::new("x").handle(event).expect("an event");
        assert_eq!(verifier.handle(&event).expect_err(text).rule(), rule);
    }
}

#[test]
fn translations_are_reported_and_malformed_events_are_errors() {
    let handle =
        |text: &str| ThinkingConverter::new("x").handle(wire::decode(text).expect("an event"));
    let (_, reported) = handle(r#"{"type":"THINKING_START","title":"Plan"}"#).expect("an event");
    let reported: Vec<_> = reported.into_iter().map(|it| (it.kind, it.name)).collect();
    let expected = [
        (RemovalKind::LegacyEvent, "THINKING_START".into()),
        (RemovalKind::Member, "title".into()),
    ];
    assert_eq!(reported, expected);
    let error =
        handle(r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":7}"#).expect_err("no text");
    assert_eq!(error.to_string(), "at /delta: expected a string, got number");
    let error = handle(r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT"}"#).expect_err("no delta");
    assert_eq!(error.to_string(), "expected member `delta`, got none");
    let newer = r#"{"type":"THINKING_HARDER"}"#;
    let (event, reported) = handle(newer).expect("an event");
    assert_eq!(serde_json::to_string(&event).expect("JSON"), newer);
    assert_eq!(reported, Vec::new());
}

#[test]
fn closed_message_is_not_continued() {
    let events = translated(&[
        json!({"type":"THINKING_TEXT_MESSAGE_START"}),
        json!({"type":"THINKING_TEXT_MESSAGE_END"}),
        json!({"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"late"}),
        json!({"type":"THINKING_TEXT_MESSAGE_END"}),
    ]);
    let ids: Vec<_> = events.iter().map(|event| event["messageId"].as_str()).collect();
    assert_eq!(ids, [Some("x1"), Some("x1"), Some("x2"), Some("x3")]);
}
