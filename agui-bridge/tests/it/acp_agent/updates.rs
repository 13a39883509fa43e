//! Events of the agent as updates of the editor.
use super::*;

#[test]
fn text_and_reasoning_become_chunks_by_role() {
    let start =
        |id: &str, role: &str| json!({"type": "TEXT_MESSAGE_START", "messageId": id, "role": role});
    let content = |id: &str, delta: &str| json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta});
    let events = [
        start("a", "assistant"),
        content("a", "x"),
        content("a", ""),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "a"}),
        start("b", "user"),
        content("b", "y"),
        start("c", "system"),
        content("c", "z"),
        json!({"type": "REASONING_START", "messageId": "p"}),
        json!({"type": "REASONING_MESSAGE_START", "messageId": "q", "role": "reasoning"}),
        json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": "q", "delta": "hm"}),
    ];
    let chunk = |kind: &str, id: &str, text: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}, "messageId": id});
    let expected = [
        chunk("agent_message_chunk", "a", "x"),
        chunk("user_message_chunk", "b", "y"),
        json!({"lost": "TEXT_MESSAGE_CONTENT: it is not intended for the user"}),
        chunk("agent_thought_chunk", "q", "hm"),
    ];
    assert_eq!(shown(AcpAgentOptions::new(), &events), expected);
}

#[test]
fn tool_call_is_announced_updated_and_finished() {
    let acp = json!({"acp": {"title": "Read x", "kind": "read", "locations": [{"path": "/x"}], "status": "pending"}});
    let events = [
        json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "Read", "metadata": acp}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{\"path\":"}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "\"/x\"}"}),
        json!({"type": "TOOL_CALL_END", "toolCallId": "c"}),
        json!({"type": "TOOL_CALL_RESULT", "toolCallId": "c", "messageId": "r", "content": "Milk"}),
        json!({"type": "TOOL_CALL_RESULT", "toolCallId": "c", "messageId": "r2", "content": "again"}),
        json!({"type": "TOOL_CALL_START", "toolCallId": "d", "toolCallName": "plain"}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": "d", "delta": "not json"}),
        json!({"type": "TOOL_CALL_END", "toolCallId": "d"}),
        json!({"type": "TOOL_CALL_RESULT", "toolCallId": "d", "messageId": "r3", "content": [
            {"type": "text", "text": "see"}, {"type": "image", "source": {"type": "data", "value": "AAAA", "mimeType": "image/png"}},
            {"type": "video", "source": {"type": "url", "value": "https://example.org/v"}}
        ], "metadata": {"acp": {"status": "failed"}}}),
    ];
    let block = |block: Value| json!({"type": "content", "content": block});
    let text = |text: &str| block(json!({"type": "text", "text": text}));
    let expected = [
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read x", "name": "Read", "kind": "read",
            "status": "pending", "locations": [{"path": "/x"}]}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress", "rawInput": {"path": "/x"}}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "content": [text("Milk")],
            "rawOutput": "Milk"}),
        json!({"lost": "TOOL_CALL_RESULT: its call has a result"}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "d", "title": "plain", "name": "plain", "kind": "other",
            "status": "pending"}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "d", "status": "in_progress", "rawInput": "not json"}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "d", "status": "failed", "content": [
            text("see"), block(json!({"type": "image", "data": "AAAA", "mimeType": "image/png"})), text("[video]")
        ], "rawOutput": "see\n[image]\n[video]"}),
    ];
    assert_eq!(shown(AcpAgentOptions::new(), &events), expected);
}

#[test]
fn activities_and_custom_events_become_their_original_updates() {
    let activity = |kind: &str, content: Value| json!({"type": "ACTIVITY_SNAPSHOT", "messageId": format!("a-{kind}"), "activityType": kind, "content": content});
    let custom = |name: &str, value: Value| json!({"type": "CUSTOM", "name": name, "value": value});
    let entry = json!({"content": "c", "priority": "high", "status": "pending"});
    let diff = json!({"type": "diff", "path": "/x", "oldText": "a", "newText": "b"});
    let summary =
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"});
    let table = [
        (
            activity("PLAN", json!({"entries": [entry]})),
            json!({"sessionUpdate": "plan", "entries": [entry]}),
        ),
        (
            custom("acp.plan", json!({"entries": []})),
            json!({"sessionUpdate": "plan", "entries": []}),
        ),
        (
            activity(
                "acp.content",
                json!({"part": {"type": "image", "data": "AAAA", "mimeType": "image/png"}}),
            ),
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}}),
        ),
        (
            activity(
                "acp.tool",
                json!({"toolCallId": "c", "title": "Edit", "kind": "edit", "status": "in_progress", "locations": [],
            "content": [diff, {"type": "terminal", "terminalId": "t"}]}),
            ),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Edit", "kind": "edit", "locations": [], "content": [diff]}),
        ),
        (
            custom("acp.usage", json!({"used": 1, "size": 2})),
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
        ),
        (
            custom("acp.mode", json!({"currentModeId": "m"})),
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "m"}),
        ),
        (
            custom("acp.commands", json!({"availableCommands": []})),
            json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
        ),
        (
            custom("acp.config_options", json!({"configOptions": []})),
            json!({"sessionUpdate": "config_option_update", "configOptions": []}),
        ),
        (
            custom("acp.session_info", json!({"title": null})),
            json!({"sessionUpdate": "session_info_update", "title": null}),
        ),
        (
            custom("acp.notice", json!({"severity": "info", "title": "n"})),
            json!({"lost": "CUSTOM: the editor does not support acp.notice"}),
        ),
        (
            custom("acp.compaction", summary),
            json!({"lost": "CUSTOM: the editor does not support acp.compaction"}),
        ),
        (
            custom("acp.mode", json!(7)),
            json!({"lost": "CUSTOM: the editor does not support acp.mode"}),
        ),
        (custom("mine", json!(7)), json!({"lost": "CUSTOM: the editor does not support mine"})),
        (
            activity("mine", json!({})),
            json!({"lost": "ACTIVITY_SNAPSHOT: ACP has no equivalent of the activity mine"}),
        ),
        (
            json!({"type": "STEP_STARTED", "stepName": "s"}),
            json!({"lost": "STEP_STARTED: ACP has nothing like it"}),
        ),
        (json!({"type": "RAW", "event": 1}), json!({"lost": "RAW: ACP has nothing like it"})),
        (json!({"type": "NEWER"}), json!({"lost": "NEWER: ACP has nothing like it"})),
    ];
    for (event, expected) in table {
        let call = json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "n"});
        let out = shown(AcpAgentOptions::new(), &[call, event.clone()]);
        assert_eq!(out[1..], [expected], "{event}");
    }
    let mut options = AcpAgentOptions::new();
    options.client = decode(r#"{"session":{"notices":{},"compaction":{}}}"#).unwrap();
    let notice = custom("acp.notice", json!({"severity": "info", "title": "n"}));
    let expected = json!({"sessionUpdate": "notice", "severity": "info", "title": "n"});
    assert_eq!(shown(options, &[notice]), [expected]);
}

/// A diff that an activity showed remains after the text of the result.
#[test]
fn diff_remains_after_the_result() {
    let diff = json!({"type": "diff", "path": "/x", "newText": "b"});
    let shown_call = json!({"toolCallId": "c", "title": "Edit", "kind": "edit", "status": "completed", "locations": [], "content": [diff]});
    let out = shown(
        AcpAgentOptions::new(),
        &[
            json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "edit"}),
            json!({"type": "TOOL_CALL_END", "toolCallId": "c"}),
            json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "acp.tool", "content": shown_call}),
            json!({"type": "TOOL_CALL_RESULT", "toolCallId": "c", "messageId": "r", "content": "+b"}),
        ],
    );
    assert_eq!(out[1]["status"], "in_progress");
    assert_eq!(out[1].get("rawInput"), None);
    assert_eq!(&out[3]["content"], &json!([diff]));
    assert_eq!(&out[3]["rawOutput"], &json!("+b"));
}

#[test]
fn restated_messages_are_shown_once() {
    let messages = json!([
        {"id": "user-1", "role": "user", "content": "Hi"},
        {"id": "m", "role": "assistant", "content": "streamed"},
        {"id": "t", "role": "reasoning", "content": "hm"},
        {"id": "n", "role": "assistant", "content": "new"},
    ]);
    let snapshot = json!({"type": "MESSAGES_SNAPSHOT", "messages": messages});
    let out = shown(
        AcpAgentOptions::new(),
        &[
            json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "streamed"}),
            snapshot.clone(),
            snapshot,
        ],
    );
    let texts: Vec<_> = out
        .iter()
        .map(|update| {
            (update["sessionUpdate"].as_str().unwrap(), update["content"]["text"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        texts,
        [
            ("agent_message_chunk", "streamed"),
            ("agent_thought_chunk", "hm"),
            ("agent_message_chunk", "new")
        ]
    );
}
