//! The state of a session.
mod cursor_model;
mod properties;
mod view;

use crate::transcripts::{is_v2, transcripts};
use acp_types::session_state::{
    Change, Entry, MessageKind, ProducedContent, SessionState, StateLimits,
};
use acp_types::v1;
use acp_types::v2;
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::{ErrorObject, Message, wire};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use v1::prompt_turn::SessionUpdate as UpdateV1;
use v2::prompt_lifecycle::SessionUpdate as UpdateV2;
use v2::tool_calls::ToolCallStatus;

pub(crate) use view::SessionView;

fn v1(update: Value) -> UpdateV1 {
    wire::decode(&update.to_string()).unwrap()
}

fn v2(update: Value) -> UpdateV2 {
    wire::decode(&update.to_string()).unwrap()
}

fn told_v1(updates: impl IntoIterator<Item = Value>) -> SessionState {
    let mut state = SessionState::default();
    updates.into_iter().for_each(|update| state.handle(&v1(update)));
    state
}

fn told_v2(updates: impl IntoIterator<Item = Value>) -> SessionState {
    let mut state = SessionState::default();
    updates.into_iter().for_each(|update| state.handle(&v2(update)));
    state
}

/// Returns the session that the updates of a view create.
fn again(state: &SessionState) -> SessionState {
    let mut again = SessionState::default();
    state.view_v2().updates.iter().for_each(|update| again.handle(update));
    again
}

/// The contents of a session, without the history of changes.
fn contents(state: &SessionState) -> String {
    let mut state = state.clone();
    while state.poll_change().is_some() {}
    format!("{state:?}")
}

fn chunk(kind: &str, id: Option<&str>, text: &str) -> Value {
    let mut update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    if let Some(id) = id {
        update["messageId"] = id.into();
    }
    update
}

fn outline(state: &SessionState) -> Vec<String> {
    let entries = state.entries().map(|(_, entry)| match entry {
        Entry::Message(message) => format!("{:?} {}", message.kind, message.text()),
        Entry::ToolCall(id) => format!("call {id}"),
        Entry::Compaction(id) => format!("compaction {id}"),
        _ => "other".to_owned(),
    });
    entries.collect()
}

#[test]
fn chunks_without_an_id_extend_the_preceding_message() {
    let state = told_v1([
        chunk("agent_message_chunk", None, "a"),
        chunk("agent_message_chunk", None, "b"),
        chunk("agent_thought_chunk", None, "c"),
        chunk("agent_message_chunk", None, "d"),
        json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": ""}),
        chunk("agent_message_chunk", None, "e"),
    ]);
    let expected = ["Agent ab", "Thought c", "Agent d", "call t", "Agent e"];
    assert_eq!(outline(&state), expected);
}

#[test]
fn chunks_with_an_id_extend_the_message_of_their_kind() {
    let chunks = [
        chunk("agent_message_chunk", Some("1"), "a"),
        chunk("agent_thought_chunk", Some("1"), "b"),
        chunk("agent_message_chunk", Some("2"), "c"),
        chunk("agent_message_chunk", Some("1"), "d"),
    ];
    let expected = ["Agent ad", "Thought b", "Agent c"];
    assert_eq!(outline(&told_v1(chunks.clone())), expected);
    assert_eq!(outline(&told_v2(chunks)), expected);
}

#[test]
fn tool_call_is_created_by_its_first_message() {
    let state = told_v1([json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress",
        "content": [{"type": "terminal", "terminalId": "t"}],
    })]);
    let call = state.tool_call("c").unwrap();
    assert_eq!(call.title(), None);
    assert_eq!(call.status(), &ToolCallStatus::InProgress);
    assert!(matches!(call.content.as_slice(), [ProducedContent::Content(_)]));

    let mut state = SessionState::default();
    let question: v1::tool_calls::RequestPermissionRequest = wire::decode(
        r#"{"sessionId":"s","toolCall":{"toolCallId":"c","title":"Edit"},"options":[]}"#,
    )
    .unwrap();
    state.handle(&question);
    assert_eq!(state.tool_call("c").unwrap().title(), Some("Edit"));
    let question: v2::permissions::RequestPermissionRequest = wire::decode(
        r#"{"sessionId":"s","title":"?","options":[],"subject":{"type":"tool_call","toolCall":{"toolCallId":"c","title":"Write"}}}"#,
    )
    .unwrap();
    state.handle(&question);
    assert_eq!(state.tool_call("c").unwrap().title(), Some("Write"));
}

#[test]
fn null_keeps_in_version_1_and_clears_in_version_2() {
    let begin = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "t", "status": "completed"});
    let clear = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": null, "status": null});
    let state = told_v1([begin.clone(), clear.clone()]);
    assert_eq!(state.tool_call("c").unwrap().title(), Some("t"));
    let state = told_v2([begin, clear]);
    let call = state.tool_call("c").unwrap();
    assert_eq!(call.title(), None);
    assert_eq!(call.status(), &ToolCallStatus::Pending);
}

#[test]
fn late_announcement_does_not_revert_the_status() {
    let state = told_v1([
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "status": "pending"}),
    ]);
    let call = state.tool_call("c").unwrap();
    assert_eq!(call.title(), Some("t"));
    assert_eq!(call.status(), &ToolCallStatus::Failed);
    assert_eq!(outline(&state), ["call c"]);
}

#[test]
fn meta_of_version_2_is_a_patch_by_key() {
    let state = told_v2([
        json!({"sessionUpdate": "agent_message", "messageId": "m", "_meta": {"a": 1, "b": {"x": 1}}}),
        json!({"sessionUpdate": "agent_message", "messageId": "m", "_meta": {"a": null, "b": {"y": 2}}}),
    ]);
    let meta = state.messages().next().unwrap().meta.clone().unwrap();
    assert_eq!(meta.as_str(), r#"{"b":{"y":2}}"#);
}

#[test]
fn terminals_keep_the_end_of_their_output() {
    let mut limits = StateLimits::default();
    limits.terminal_output = 4;
    let mut state = SessionState::new(limits);
    for update in [
        json!({"sessionUpdate": "terminal_update", "terminalId": "t", "command": "ls"}),
        json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "YWI="}),
        json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "Y2Rl"}),
        json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "???"}),
    ] {
        state.handle(&v2(update));
    }
    let terminal = state.terminal("t").unwrap();
    assert_eq!(terminal.output.as_slice(), b"bcde".as_slice());
    assert!(terminal.is_truncated);
    let changes: Vec<_> = std::iter::from_fn(|| state.poll_change()).collect();
    assert!(
        matches!(changes.last(), Some(Change::Lost(loss)) if loss.pointer == "/terminals/t/output")
    );
}

#[test]
fn terminals_of_version_1_follow_requests_and_responses() {
    let mut state = SessionState::default();
    let request: v1::terminals::CreateTerminalRequest =
        wire::decode(r#"{"sessionId":"s","command":"ls","args":["-l"]}"#).unwrap();
    state.handle((&request, &v1::terminals::CreateTerminalResponse::new("t")));
    let request = v1::terminals::TerminalOutputRequest::new("s", "t");
    state.handle((&request, &v1::terminals::TerminalOutputResponse::new("out", false)));
    let request = v1::terminals::WaitForTerminalExitRequest::new("s", "t");
    let mut exit = v1::terminals::WaitForTerminalExitResponse::new();
    exit.exit_code = Some(3);
    state.handle((&request, &exit));
    let terminal = state.terminal("t").unwrap();
    assert_eq!(terminal.update.command.value().map(String::as_str), Some("ls -l"));
    assert_eq!(terminal.output, b"out");
    let status = terminal.update.exit_status.value().unwrap();
    assert_eq!(status.exit_code, Some(3));
}

#[test]
fn turn_of_version_1_follows_prompts_and_responses() {
    let mut state = SessionState::default();
    let prompt = v1::prompt_turn::PromptRequest::new("s", ["Hi".into()]);
    state.handle(&prompt);
    assert!(state.state().unwrap().is_busy());
    // An agent that repeats the prompt.
    state.handle(&v1(chunk("user_message_chunk", Some("u"), "Hi")));
    state.handle(&v1(chunk("agent_message_chunk", None, "Hello")));
    state.handle(&v1(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": ""})));
    state.handle(&v1::prompt_turn::CancelNotification::new("s"));
    assert_eq!(state.tool_call("c").unwrap().status(), &ToolCallStatus::Cancelled);
    state.handle(&v1::prompt_turn::PromptResponse::new("cancelled"));
    let Some(v2::session_states::StateUpdate::Idle(idle)) = state.state() else { panic!("busy") };
    assert_eq!(idle.stop_reason.tag(), "cancelled");
    assert_eq!(outline(&state), ["User Hi", "Agent Hello", "call c"]);

    state.handle(&prompt);
    let error: ErrorObject = wire::decode(r#"{"code":-32603,"message":"no"}"#).unwrap();
    state.handle(&error);
    let Some(v2::session_states::StateUpdate::Idle(idle)) = state.state() else { panic!("busy") };
    assert_eq!(idle.stop_reason.tag(), "error");
}

#[test]
fn updates_outside_of_the_conversation_are_kept() {
    let mut state = SessionState::default();
    let new: v1::session_setup::NewSessionResponse = wire::decode(
        &json!({
            "sessionId": "s",
            "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]},
            "configOptions": [{"id": "model", "name": "Model", "type": "select", "currentValue": "a",
                "options": [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}]}]}],
        })
        .to_string(),
    )
    .unwrap();
    state.handle(&new);
    for update in [
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"}),
        json!({"sessionUpdate": "available_commands_update",
            "availableCommands": [{"name": "web", "description": "d", "input": {"hint": "h"}}]}),
        json!({"sessionUpdate": "session_info_update", "title": "t"}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
        json!({"sessionUpdate": "notice", "severity": "info", "title": "n"}),
        json!({"sessionUpdate": "plan", "entries": [{"content": "p", "priority": "low", "status": "pending"}]}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"}),
        json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": {"type": "text", "text": "sum"}}),
        json!({"sessionUpdate": "subagent_update", "sessionId": "child", "title": "c", "state": {"state": "running"}}),
        json!({"sessionUpdate": "session_message_chunk", "messageId": "x", "content": {"type": "text", "text": "hey"}}),
        json!({"sessionUpdate": "hologram", "voxels": 7}),
    ] {
        state.handle(&v1(update));
    }
    assert_eq!(state.modes().unwrap().current_mode_id.as_str(), "code");
    assert_eq!(state.config_options()[0].config_id.as_str(), "model");
    assert_eq!(state.commands()[0].name().as_deref(), Some("web"));
    assert_eq!(state.info().title.value().map(String::as_str), Some("t"));
    assert_eq!(state.usage().unwrap().size, 2);
    assert_eq!(state.notices().count(), 1);
    assert_eq!(state.plans().count(), 1);
    assert_eq!(state.compaction("k").unwrap().summary.value().unwrap().len(), 1);
    assert_eq!(state.subagents().count(), 1);
    assert_eq!(state.entries().count(), 2);
    let changes: Vec<_> = std::iter::from_fn(|| state.poll_change()).collect();
    assert!(
        matches!(changes.last(), Some(Change::Lost(loss)) if loss.problem.contains("hologram"))
    );
    // Two successive changes of the same subject are joined.
    assert_eq!(changes.len(), 12, "{changes:?}");
}

/// The patch is valid for `git apply`; its text follows from the format.
#[test]
fn texts_become_a_patch() {
    let texts = [
        json!({"path": "/a", "oldText": "one\ntwo\n", "newText": "one\nthree"}),
        json!({"path": "/b", "newText": "x\n"}),
    ]
    .map(|texts| {
        let texts: v1::tool_calls::Diff = wire::decode(&texts.to_string()).unwrap();
        v2::diffs::Diff::from(texts).patch.unwrap().text
    });
    let changed = "diff --git /a /a\n--- /a\n+++ /a\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n\\ No newline at end of file\n";
    let added =
        "diff --git /b /b\nnew file mode 100644\n--- /dev/null\n+++ /b\n@@ -0,0 +1,1 @@\n+x\n";
    assert_eq!(texts, [changed, added]);
}

#[test]
fn limits_hold() {
    let mut limits = StateLimits::default();
    limits.entries = 3;
    limits.changes = 4;
    let mut state = SessionState::new(limits);
    for number in 0..10 {
        state.handle(&v2(chunk("agent_message_chunk", Some(&number.to_string()), "text")));
        let call = json!({"sessionUpdate": "tool_call_update", "toolCallId": number.to_string()});
        state.handle(&v2(call));
    }
    let numbers: Vec<_> = state.entries().map(|(number, _)| number).collect();
    assert_eq!(numbers, [17, 18, 19]);
    assert_eq!(state.tool_calls().count(), 2);
    assert_eq!(state.poll_change(), Some(Change::Missed));
    assert_eq!(state.poll_change(), None);

    let mut limits = StateLimits::default();
    limits.bytes = 1_000;
    let mut state = SessionState::new(limits);
    for _ in 0..100 {
        state.handle(&v2(chunk("agent_message_chunk", Some("one"), "0123456789")));
    }
    assert!(state.messages().all(|message| message.text().len() <= 1_000));
    state.handle(&v2(chunk("agent_message_chunk", Some("two"), &"x".repeat(900))));
    let kinds: Vec<_> = state.messages().map(|message| message.text().len()).collect();
    assert_eq!(kinds, [900]);
}

/// Recorded conversations: the text of each session is that of its chunks, and every announced tool
/// call exists.
#[test]
fn recorded_conversations_are_reduced() {
    for (name, entries) in transcripts() {
        let is_v2 = is_v2(&name);
        let mut states: BTreeMap<String, (SessionState, String, usize)> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.direction == Direction::Received) {
            let Ok(Message::Notification(told)) = std::str::from_utf8(&entry.bytes)
                .map(|text| Message::decode(text).ok())
                .unwrap()
                .ok_or(())
            else {
                continue;
            };
            if told.method != "session/update" {
                continue;
            }
            let params: Value = serde_json::from_str(told.params.unwrap().get()).unwrap();
            let session = params["sessionId"].as_str().unwrap().to_owned();
            let (state, text, calls) = states.entry(session).or_default();
            let update = &params["update"];
            if update["sessionUpdate"] == "agent_message_chunk" {
                text.push_str(update["content"]["text"].as_str().unwrap_or_default());
            }
            let id = update["toolCallId"].as_str();
            *calls += usize::from(id.is_some_and(|id| state.tool_call(id).is_none()));
            if is_v2 {
                state.handle(&v2(update.clone()));
            } else {
                state.handle(&v1(update.clone()));
            }
        }
        for (session, (state, text, calls)) in states {
            let said: String = state
                .messages()
                .filter(|message| message.kind == MessageKind::Agent)
                .map(|message| message.text())
                .collect();
            assert_eq!(said, text, "{name}: {session}");
            assert_eq!(state.tool_calls().count(), calls, "{name}: {session}");
            assert_eq!(again(&state).view_v2().updates, state.view_v2().updates, "{name}");
        }
    }
}

fn cursor(id: &str, anchor: Option<Value>, capabilities: Option<Value>) -> Value {
    let mut update = json!({"sessionUpdate": "cursor_update", "cursorId": id});
    if let Some(anchor) = anchor {
        update["anchor"] = anchor;
    }
    if let Some(capabilities) = capabilities {
        update["capabilities"] = capabilities;
    }
    update
}

fn beside(message: &str) -> Value {
    json!({"type": "agent_message", "messageId": message, "position": "after"})
}

/// A cursor keeps its first anchor, and its capabilities are replaced as a whole.
#[test]
fn cursor_keeps_its_anchor() {
    let fork = json!({"fork": {}});
    let state = told_v2([
        cursor("k", None, Some(fork.clone())),
        cursor("k", Some(beside("a")), Some(fork.clone())),
        cursor("k", Some(beside("b")), None),
    ]);
    let shown = state.cursor("k").unwrap();
    let expected = json!({"cursorId": "k", "anchor": beside("a"), "capabilities": {"fork": {}}});
    assert_eq!(serde_json::to_value(shown).unwrap(), expected);
    let state = told_v2([
        cursor("k", Some(beside("a")), Some(fork)),
        cursor("k", Some(beside("a")), Some(json!({"_rewind": 1}))),
    ]);
    let capabilities = state.cursor("k").unwrap().capabilities.value().unwrap();
    assert_eq!(serde_json::to_value(capabilities).unwrap(), json!({"_rewind": 1}));
}

/// A cursor without an anchor, and another anchor, are reported.
#[test]
fn cursor_without_a_place_is_reported() {
    let lost = |mut state: SessionState| {
        let changes = std::iter::from_fn(|| state.poll_change());
        let lost = changes.filter_map(|change| match change {
            Change::Lost(loss) => Some(loss.pointer),
            _ => None,
        });
        lost.collect::<Vec<_>>()
    };
    let first = cursor("k", Some(beside("a")), None);
    assert_eq!(lost(told_v2([cursor("k", None, None)])), ["/cursors/k"]);
    assert_eq!(lost(told_v2([first.clone(), first.clone()])), [""; 0]);
    let other = cursor("k", Some(beside("b")), None);
    assert_eq!(lost(told_v2([first, other])), ["/cursors/k/anchor"]);
}

/// A cursor is removed with the message that it is anchored to, and the oldest beyond the limit.
#[test]
fn cursors_are_removed_with_their_entry_and_beyond_the_limit() {
    let mut limits = StateLimits::default();
    limits.entries = 2;
    limits.names = 2;
    let mut state = SessionState::new(limits);
    for message in ["a", "b"] {
        state.handle(&v2(chunk("agent_message_chunk", Some(message), "x")));
        state.handle(&v2(cursor(message, Some(beside(message)), None)));
    }
    let ids = |state: &SessionState| {
        let ids = state.cursors().map(|cursor| cursor.cursor_id.to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(&state), ["a", "b"]);
    state.handle(&v2(chunk("agent_message_chunk", Some("c"), "x")));
    assert_eq!(ids(&state), ["b"]);
    for id in ["d", "e"] {
        state.handle(&v2(cursor(id, Some(beside("c")), None)));
    }
    assert_eq!(ids(&state), ["d", "e"]);
    let changes: Vec<_> = std::iter::from_fn(|| state.poll_change()).collect();
    let removed = changes.iter().filter(|change| **change == Change::Cursor("b".into()));
    assert_eq!(removed.count(), 2, "{changes:?}");
}

/// Suggestions are replaced, and stay after a prompt.
#[test]
fn suggestions_are_replaced() {
    let suggest = |texts: &[&str]| {
        let prompts = texts.iter().map(|text| json!({"prompt": [{"type": "text", "text": text}]}));
        json!({"sessionUpdate": "prompt_suggestions_update", "suggestions": prompts.collect::<Vec<_>>()})
    };
    let tellers: [fn(Vec<Value>) -> SessionState; 2] = [told_v1, told_v2];
    for told in tellers {
        let mut state = told(vec![suggest(&["a", "b"]), suggest(&["c"])]);
        let request = acp_types::v1::prompt_turn::PromptRequest::new("s", ["hi".into()]);
        state.handle(&request);
        assert_eq!(state.suggestions().len(), 1);
        assert_eq!(
            serde_json::to_value(&state.suggestions()[0]).unwrap(),
            json!({"prompt": [{"type": "text", "text": "c"}]}),
        );
        let state = told(vec![suggest(&["a"]), suggest(&[])]);
        assert_eq!(state.suggestions().len(), 0);
    }
}

/// A usage without a cost keeps the cost, and its metadata is a patch.
#[test]
fn usage_keeps_cost_and_metadata() {
    let usage = |used: u64, members: Value| {
        let mut update = json!({"sessionUpdate": "usage_update", "used": used, "size": 9});
        let object = update.as_object_mut().unwrap();
        object.extend(members.as_object().unwrap().clone());
        update
    };
    let cost = json!({"amount": 0.5, "currency": "EUR"});
    let first = usage(1, json!({"cost": cost, "_meta": {"a": 1, "b": 2}}));
    let state = told_v2([first.clone(), usage(2, json!({"_meta": {"a": null}}))]);
    let expected = json!({"used": 2, "size": 9, "cost": cost, "_meta": {"b": 2}});
    assert_eq!(serde_json::to_value(state.usage().unwrap()).unwrap(), expected);
    let state = told_v2([first, usage(3, json!({"cost": null, "_meta": null}))]);
    assert_eq!(state.usage().unwrap().cost, None);
    assert!(state.usage().unwrap().meta.is_absent());
}

/// A compaction begins in progress, which `null` restores.
#[test]
fn status_of_a_compaction_is_a_patch() {
    let update = |status: Option<Value>| {
        let mut update = json!({"sessionUpdate": "compaction_update", "compactionId": "k"});
        if let Some(status) = status {
            update["status"] = status;
        }
        update
    };
    let completed = Some(json!("completed"));
    for (updates, expected) in [
        (vec![update(None)], "in_progress"),
        (vec![update(completed.clone()), update(None)], "completed"),
        (vec![update(completed), update(Some(Value::Null))], "in_progress"),
    ] {
        let state = told_v2(updates);
        let status = state.compaction("k").unwrap().status.value().unwrap();
        assert_eq!(status.as_str(), expected);
    }
}
