//! Messages about tools for chat pages.
use crate::shapes::any_json;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::registry::{CollisionPolicy, Registry, SourceNames, ToolSource};
use mcp_bridge::tool_events::{CallStatus, CallUpdate, ServerMessage, ToolEvents, result_text};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn registry() -> Registry {
    let tool: Tool = wire::decode(r#"{"name":"add","inputSchema":{}}"#).expect("a tool");
    let mut registry = Registry::new(CollisionPolicy::Rename);
    registry.register(tool, ToolSource::mcp("calc")).expect("a name");
    registry
}

/// Updates of a tool call of an agent (status, name, arguments), and the types of the messages
/// sent.
#[test]
fn updates_of_a_call_become_messages() {
    type Heard = (&'static str, Option<&'static str>, Option<&'static str>);
    let table: &[(&[Heard], &[&str])] = &[
        (&[("pending", Some("add"), None)], &[]),
        (&[("pending", Some("add"), Some("{}"))], &[]),
        (&[("pending", Some("add"), Some(r#"{"a":1}"#))], &["tool_start"]),
        (&[("pending", Some("add"), None), ("in_progress", None, None)], &["tool_start"]),
        (
            &[
                ("pending", Some("add"), None),
                ("", None, Some(r#"{"a":1}"#)),
                ("completed", None, None),
            ],
            &["tool_start", "tool_complete"],
        ),
        (&[("completed", Some("add"), None)], &["tool_start", "tool_complete"]),
        (
            &[("failed", Some("add"), None), ("completed", None, None)],
            &["tool_start", "tool_complete"],
        ),
        (&[("paused", Some("add"), None)], &[]),
    ];
    let registry = registry();
    let mut events = ToolEvents::default();
    for (heard, expected) in table {
        let mut sent = Vec::new();
        for (status, name, input) in *heard {
            let input = input.map(|text| Raw::from_text(text).expect("JSON"));
            let mut update = CallUpdate::new("c");
            (update.name, update.input) = (*name, input.as_ref());
            update.status = CallStatus::from(*status);
            sent.extend(events.handle(&update, &registry, "t"));
        }
        let types: Vec<_> = sent.iter().map(ServerMessage::tag).collect();
        assert_eq!(types, *expected, "{heard:?}");
        events.end_turn();
    }
}

/// An unregistered tool has an unknown source, which is `local` for clients without that name.
#[test]
fn unregistered_tool_has_an_unknown_source() {
    for (names, expected) in [(SourceNames::Open, "unknown"), (SourceNames::LocalOrMcp, "local")] {
        let mut update = CallUpdate::new("c");
        (update.name, update.status) = (Some("rm"), CallStatus::InProgress);
        let sent = ToolEvents::new(names).handle(&update, &registry(), "t");
        let sent: Value = serde_json::to_value(sent).expect("JSON");
        assert_eq!(sent[0]["source"], expected);
    }
}

#[test]
fn open_call_completes_in_a_later_turn() {
    let registry = registry();
    let mut events = ToolEvents::default();
    let input = Raw::from_text(r#"{"a":1}"#).expect("JSON");
    let mut start = CallUpdate::new("call-1");
    (start.name, start.input, start.status) = (Some("add"), Some(&input), CallStatus::InProgress);
    assert!(!events.is_open("call-1"));
    assert_eq!(events.handle(&start, &registry, "t").len(), 1);
    events.end_turn();
    assert!(events.is_open("call-1"));
    // The tool asks again.
    assert_eq!(events.handle(&start, &registry, "t"), []);
    events.end_turn();
    let mut end = CallUpdate::new("call-1");
    (end.output, end.status) = (Some("2".into()), CallStatus::Completed);
    let sent = serde_json::to_value(events.handle(&end, &registry, "t")).expect("JSON");
    let expected = json!([{ "type": "tool_complete", "tool_name": "add", "tool_result": "2", "timestamp": "t", "source": "mcp" }]);
    assert_eq!(sent, expected);
    assert!(!events.is_open("call-1"));
    events.end_turn();
    assert_eq!(events.handle(&start, &registry, "t").len(), 1, "the id is free again");
}

/// Messages from before the member `source` existed.
#[test]
fn messages_without_a_source_are_decoded() {
    let old = r#"{"type":"tool_start","tool_name":"add","tool_input":"{\"a\":1}","timestamp":"2026-01-02T03:04:05.678901"}"#;
    let read: ServerMessage = wire::decode(old).expect("a message");
    assert!(matches!(&read, ServerMessage::ToolStart(start) if start.source.is_none()));
    assert_eq!(serde_json::to_string(&read).expect("JSON"), old);
}

/// Results as text for a page.
#[test]
fn results_are_converted_to_text() {
    let table = [
        (
            json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
            "a\nb",
        ),
        (json!({ "content": [], "structuredContent": { "a": 1 } }), r#"{"a":1}"#),
        (json!({ "content": [{ "type": "text", "text": "a" }], "structuredContent": 1 }), "a"),
        (
            json!({ "content": [{ "type": "image", "data": "AA==", "mimeType": "image/png" }] }),
            r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
        ),
        (json!({ "content": [] }), ""),
    ];
    for (result, expected) in table {
        let result: CallToolResult = wire::decode(&result.to_string()).expect("a result");
        assert_eq!(result_text(&result), expected);
    }
}

proptest! {
    /// For any sequence of updates, a call has at most one start, then at most one end, and both
    /// agree.
    #[test]
    fn call_starts_and_ends_once(
        heard in prop::collection::vec(
            (select(vec!["1", "2"]), prop::option::of(select(vec!["add", "sub"])), prop::option::of(any_json()),
             select(vec!["pending", "in_progress", "completed", "failed", ""])),
            0..16,
        ),
    ) {
        let registry = registry();
        let mut events = ToolEvents::default();
        let mut calls: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for (id, name, input, status) in &heard {
            let input = input.as_ref().map(|input| Raw::from_value(input).expect("JSON"));
            let mut update = CallUpdate::new(id);
            (update.name, update.input, update.status) = (*name, input.as_ref(), CallStatus::from(*status));
            let sent = events.handle(&update, &registry, "t");
            calls.entry(id).or_default().extend(sent.iter().map(|it| serde_json::to_value(it).expect("JSON")));
        }
        for (id, sent) in calls {
            let types: Vec<_> = sent.iter().map(|it| it["type"].as_str().expect("a type")).collect();
            let has_ended = heard.iter().any(|it| it.0 == id && matches!(it.3, "completed" | "failed"));
            prop_assert!(matches!(&types[..], [] | ["tool_start"] | ["tool_start", "tool_complete"]));
            prop_assert_eq!(types.len() == 2, has_ended);
            if let [start, end] = &sent[..] {
                prop_assert_eq!(&start["tool_name"], &end["tool_name"]);
                prop_assert_eq!(&start["source"], &end["source"]);
            }
        }
    }
}
