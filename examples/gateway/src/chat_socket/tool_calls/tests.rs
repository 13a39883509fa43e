//! Starts and ends of tool calls, for any order of events.
use super::*;
use jsonrpc_core::wire;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::registry::CollisionPolicy;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

fn registry() -> Registry {
    let tool: Tool = wire::decode(r#"{"name":"add","inputSchema":{}}"#).expect("a tool");
    let mut registry = Registry::new(CollisionPolicy::Rename);
    registry.register(tool, ToolSource::mcp("calc")).expect("a name");
    registry
}

fn start(calls: &mut ToolCalls, id: &str, name: &str, arguments: Option<&str>) -> Option<Value> {
    let message = calls.start(id, name, arguments, &registry(), "t".to_owned());
    message.map(|message| serde_json::to_value(message).expect("JSON"))
}

fn complete(calls: &mut ToolCalls, id: &str, result: &str) -> Option<Value> {
    let message = calls.complete(id, result.to_owned(), "t".to_owned());
    message.map(|message| serde_json::to_value(message).expect("JSON"))
}

#[test]
fn call_has_a_start_and_an_end() {
    let mut calls = ToolCalls::default();
    let sent = start(&mut calls, "call-1", "add", Some(r#"{"a":1}"#));
    let expected = json!({ "type": "tool_start", "tool_name": "add", "tool_input": "{\"a\":1}", "timestamp": "t", "source": "mcp" });
    assert_eq!(sent, Some(expected));
    let sent = complete(&mut calls, "call-1", "2");
    let expected = json!({ "type": "tool_complete", "tool_name": "add", "tool_result": "2", "timestamp": "t", "source": "mcp" });
    assert_eq!(sent, Some(expected));
    assert_eq!(complete(&mut calls, "call-1", "2"), None);
}

#[test]
fn absent_arguments_are_an_empty_object() {
    for arguments in [None, Some("null"), Some("{}")] {
        let sent = start(&mut ToolCalls::default(), "c", "add", arguments).expect("a message");
        assert_eq!(sent["tool_input"], "{}", "{arguments:?}");
    }
}

#[test]
fn sources_other_than_mcp_are_local() {
    let table = [
        (ToolSource::Local, "local"),
        (ToolSource::mcp("s"), "mcp"),
        (ToolSource::Frontend, "local"),
        (ToolSource::Agent, "local"),
        (ToolSource::Unknown, "local"),
    ];
    for (source, expected) in table {
        assert_eq!(source_name(&source).as_str(), expected);
    }
    let sent = start(&mut ToolCalls::default(), "c", "rm", None).expect("a message");
    assert_eq!(sent["source"], "local", "the tool is not registered");
}

#[test]
fn open_call_completes_in_a_later_run() {
    let mut calls = ToolCalls::default();
    assert!(start(&mut calls, "call-1", "add", None).is_some());
    calls.end_run();
    // The tool asks again.
    assert_eq!(start(&mut calls, "call-1", "add", None), None);
    calls.end_run();
    let sent = complete(&mut calls, "call-1", "2").expect("a message");
    assert_eq!(sent["type"], "tool_complete");
    calls.end_run();
    assert!(start(&mut calls, "call-1", "add", None).is_some(), "the id is free again");
}

#[test]
fn call_of_another_tool_replaces_an_open_call() {
    let mut calls = ToolCalls::default();
    assert!(start(&mut calls, "call-1", "add", None).is_some());
    assert_eq!(start(&mut calls, "call-1", "rm", None), None, "in the same run");
    calls.end_run();
    let sent = start(&mut calls, "call-1", "rm", None).expect("a message");
    assert_eq!(sent["tool_name"], "rm");
}

#[test]
fn calls_of_earlier_runs_make_room() {
    let mut calls = ToolCalls::default();
    for number in 0..ToolCalls::MAX_CALLS {
        assert!(start(&mut calls, &number.to_string(), "add", None).is_some());
    }
    assert_eq!(start(&mut calls, "next", "add", None), None);
    calls.end_run();
    assert!(start(&mut calls, "next", "add", None).is_some());
    assert_eq!(calls.calls.len(), ToolCalls::MAX_CALLS);
}

proptest! {
    /// For any sequence of events in a run, a call has at most one start, then at most one end, and
    /// both agree.
    #[test]
    fn call_starts_and_ends_once(
        events in prop::collection::vec(
            (select(vec!["1", "2"]), prop::option::of(select(vec!["add", "sub"]))),
            0..16,
        ),
    ) {
        let mut calls = ToolCalls::default();
        let mut sent: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for (id, name) in events {
            let message = match name {
                Some(name) => start(&mut calls, id, name, None),
                None => complete(&mut calls, id, "done"),
            };
            sent.entry(id).or_default().extend(message);
        }
        for messages in sent.values() {
            let types: Vec<_> = messages.iter().map(|message| &message["type"]).collect();
            prop_assert!(matches!(types.len(), 0..=2));
            prop_assert!(types.iter().zip(["tool_start", "tool_complete"]).all(|(sent, expected)| *sent == expected));
            if let [first, last] = &messages[..] {
                prop_assert_eq!(&first["tool_name"], &last["tool_name"]);
                prop_assert_eq!(&first["source"], &last["source"]);
            }
        }
    }
}
