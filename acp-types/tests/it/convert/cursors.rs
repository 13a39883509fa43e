//! Cursors, suggestions and other updates of a session that the versions announce differently.
use super::cases::{Outputs, outputs, update, updates, v1_editor, v2_editor};
use acp_types::convert::{BridgeDiagnostic, BridgeLoss};
use serde_json::{Value, json};

fn lost(outputs: &Outputs) -> Vec<(BridgeLoss, &str)> {
    let lost = outputs.2.iter().map(|diagnostic| match diagnostic {
        BridgeDiagnostic::Lost(loss, detail) => (*loss, &**detail),
        other => panic!("{other}"),
    });
    lost.collect()
}

fn cursor(anchor: Value) -> Value {
    json!({"sessionUpdate": "cursor_update", "cursorId": "k", "anchor": anchor, "capabilities": {"fork": {}}})
}

fn suggestions(prompts: Value) -> Value {
    json!({"sessionUpdate": "prompt_suggestions_update", "suggestions": prompts})
}

/// An editor of version 1 receives cursors and suggestions if it announces them.
#[test]
fn cursor_and_suggestions_reach_an_editor_that_announces_them() {
    let anchor = json!({"type": "agent_message", "messageId": "m", "position": "after"});
    let text = json!([{"prompt": [{"type": "text", "text": "Run it"}], "_meta": {"rank": 1}}]);
    for given in [cursor(anchor), suggestions(text)] {
        let announced = json!({"session": {"cursors": {}, "promptSuggestions": {}}});
        let all = update(&mut v1_editor(announced), given.clone());
        assert_eq!(updates(&all.0), [&given]);
        assert_eq!(lost(&all), []);
        let all = update(&mut v1_editor(json!({})), given.clone());
        assert_eq!(all.0, Vec::<Value>::new());
        let tag = given["sessionUpdate"].as_str().unwrap();
        assert_eq!(lost(&all), [(BridgeLoss::NotAnnounced, tag)]);
    }
}

/// A suggestion with content that version 1 does not have is left out as a whole.
#[test]
fn suggestion_of_a_skill_is_left_out() {
    let skill = json!([
        {"prompt": [{"type": "skill", "name": "review"}, {"type": "text", "text": "it"}]},
        {"prompt": [{"type": "text", "text": "Run it"}]},
    ]);
    let announced = json!({"session": {"promptSuggestions": {}}});
    let all = update(&mut v1_editor(announced), suggestions(skill));
    assert_eq!(
        updates(&all.0)[0]["suggestions"],
        json!([{"prompt": [{"type": "text", "text": "Run it"}]}]),
    );
    assert_eq!(lost(&all), [(BridgeLoss::Content, "suggestion: skill")]);
}

/// A cursor stays beside the message and the tool call that the editor has.
#[test]
fn anchor_follows_its_message_and_its_tool_call() {
    let mut bridge = v1_editor(json!({"session": {"cursors": {}}}));
    let whole = |text: &str| json!({"sessionUpdate": "agent_message", "messageId": "m", "content": [{"type": "text", "text": text}]});
    update(&mut bridge, whole("one"));
    update(&mut bridge, whole("two"));
    let anchor = json!({"type": "agent_message", "messageId": "m", "position": "before"});
    let all = update(&mut bridge, cursor(anchor));
    assert_eq!(updates(&all.0)[0]["anchor"]["messageId"], "m#2");

    let call = |status: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "T", "status": status});
    for status in ["completed", "in_progress"] {
        update(&mut bridge, call(status));
    }
    let anchor = json!({"type": "tool_call", "toolCallId": "c", "position": "after"});
    let all = update(&mut bridge, cursor(anchor.clone()));
    assert_eq!(updates(&all.0)[0]["anchor"]["toolCallId"], "c~2");
    assert_eq!(lost(&all), []);

    let mut bridge = v2_editor(json!({}));
    let call = |status: &str| json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "status": status});
    for status in ["completed", "in_progress"] {
        update(&mut bridge, call(status));
    }
    let all = update(&mut bridge, cursor(anchor));
    assert_eq!(updates(&all.0)[0]["anchor"]["toolCallId"], "c~2");
}

/// A cursor beside the user's prompt has a place that the editor of version 1 cannot name.
#[test]
fn cursor_beside_a_prompt_is_named() {
    let mut bridge = v1_editor(json!({"session": {"cursors": {}}}));
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}"#);
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"messageId":"u"}}"#);
    outputs(&mut bridge);
    let anchor = json!({"type": "user_message", "messageId": "u", "position": "before"});
    let all = update(&mut bridge, cursor(anchor.clone()));
    assert_eq!(updates(&all.0), [&cursor(anchor)]);
    assert_eq!(lost(&all), [(BridgeLoss::Cursor, "k: u")]);
}

/// A reference to a session in a tool call needs the editor's support for subagents.
#[test]
fn reference_to_a_session_needs_subagents() {
    let reference = json!({"type": "session", "sessionId": "child", "_meta": {"r": 1}});
    let text = json!({"type": "content", "content": {"type": "text", "text": "x"}});
    let call = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "T", "content": [reference, text],
    });
    let chunk = json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": reference});
    let mut bridge = v1_editor(json!({"subagents": {}}));
    let all = update(&mut bridge, call.clone());
    assert_eq!(updates(&all.0)[0]["content"], json!([reference, text]));
    assert_eq!(lost(&all), []);

    let mut bridge = v1_editor(json!({}));
    let all = update(&mut bridge, call);
    assert_eq!(updates(&all.0)[0]["content"], json!([text]));
    assert_eq!(lost(&all), [(BridgeLoss::NotAnnounced, "c: session")]);
    let all = update(&mut bridge, chunk);
    assert_eq!(all.0, Vec::<Value>::new());
    assert_eq!(lost(&all), [(BridgeLoss::NotAnnounced, "c: session")]);
}

/// Version 1 repeats the status of a compaction, which version 2 patches.
#[test]
fn compaction_keeps_its_status() {
    let mut bridge = v1_editor(json!({"session": {"compaction": {}}}));
    for (status, expected) in [
        (None, "in_progress"),
        (Some(json!("completed")), "completed"),
        (None, "completed"),
        (Some(Value::Null), "in_progress"),
    ] {
        let mut given = json!({"sessionUpdate": "compaction_update", "compactionId": "k"});
        if let Some(status) = status {
            given["status"] = status;
        }
        let all = update(&mut bridge, given);
        assert_eq!(updates(&all.0)[0]["status"], expected);
    }
}

/// Version 1 repeats the cost of a session, which version 2 patches.
#[test]
fn usage_keeps_the_cost() {
    let mut bridge = v1_editor(json!({}));
    let cost = json!({"amount": 0.5, "currency": "EUR"});
    let usage = |cost: Option<&Value>| {
        let mut usage = json!({"sessionUpdate": "usage_update", "used": 1, "size": 2});
        if let Some(cost) = cost {
            usage["cost"] = cost.clone();
        }
        usage
    };
    for (given, expected) in [
        (None, None),
        (Some(&cost), Some(&cost)),
        (None, Some(&cost)),
        (Some(&Value::Null), Some(&Value::Null)),
        (None, None),
    ] {
        let all = update(&mut bridge, usage(given));
        assert_eq!(updates(&all.0)[0].get("cost"), expected);
    }
}
