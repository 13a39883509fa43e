//! Messages and thoughts.
use crate::script::{brief, in_stream, of_type, play, turn, turn_for};
use agui_types::profile::Profile;
use serde_json::{Value, json};

fn chunk(kind: &str, id: Option<&str>, text: &str) -> Value {
    let mut chunk = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    if let Some(id) = id {
        chunk["messageId"] = json!(id);
    }
    chunk
}

fn agent(id: Option<&str>, text: &str) -> Value {
    chunk("agent_message_chunk", id, text)
}

/// Returns `(type, id, delta)` of each event, if present.
fn outline(stream: &[Value]) -> Vec<(&str, &str, &str)> {
    stream
        .iter()
        .map(|event| {
            let text = |name: &str| event[name].as_str().unwrap_or_default();
            let id = if event["toolCallId"].is_string() {
                text("toolCallId")
            } else {
                text("messageId")
            };
            (text("type"), id, text("delta"))
        })
        .collect()
}

#[test]
fn chunk_without_an_id_continues_the_open_text() {
    let body = turn(&[agent(Some("A"), "a"), agent(None, "b"), agent(Some("A"), "c")]);
    assert_eq!(
        outline(&body),
        [
            ("TEXT_MESSAGE_START", "msg-A", ""),
            ("TEXT_MESSAGE_CONTENT", "msg-A", "a"),
            ("TEXT_MESSAGE_CONTENT", "msg-A", "b"),
            ("TEXT_MESSAGE_CONTENT", "msg-A", "c"),
            ("TEXT_MESSAGE_END", "msg-A", ""),
        ]
    );
}

#[test]
fn different_id_opens_a_message_and_a_closed_one_continues_in_a_segment() {
    let body = turn(&[
        agent(Some("A"), "a"),
        agent(Some("B"), "b"),
        agent(Some("A"), "c"),
        agent(Some("A.2"), "d"),
    ]);
    let starts: Vec<_> =
        of_type(&body, "TEXT_MESSAGE_START").iter().map(|start| &start["messageId"]).collect();
    assert_eq!(starts, ["msg-A", "msg-B", "msg-A.2", "msg-A.2.2"]);
}

#[test]
fn thought_and_text_of_one_message_have_separate_ids() {
    let body = turn(&[chunk("agent_thought_chunk", Some("A"), "hm"), agent(Some("A"), "so")]);
    assert_eq!(
        outline(&body),
        [
            ("REASONING_START", "rsp-A", ""),
            ("REASONING_MESSAGE_START", "rsn-A", ""),
            ("REASONING_MESSAGE_CONTENT", "rsn-A", "hm"),
            ("REASONING_MESSAGE_END", "rsn-A", ""),
            ("REASONING_END", "rsp-A", ""),
            ("TEXT_MESSAGE_START", "msg-A", ""),
            ("TEXT_MESSAGE_CONTENT", "msg-A", "so"),
            ("TEXT_MESSAGE_END", "msg-A", ""),
        ]
    );
}

#[test]
fn empty_chunks_are_ignored_and_white_space_is_text() {
    assert_eq!(turn(&[agent(Some("A"), ""), agent(None, "")]), [json!(null); 0]);
    let body = turn(&[agent(None, ""), agent(None, " \n")]);
    assert_eq!(of_type(&body, "TEXT_MESSAGE_CONTENT")[0]["delta"], " \n");
}

#[test]
fn annotations_of_text_are_metadata() {
    let update = json!({"sessionUpdate": "agent_message_chunk", "_meta": {"k": 1},
        "content": {"type": "text", "text": "a", "annotations": {"priority": 1.5}, "_meta": {"l": 2}}});
    let acp = json!({"acp": {"_meta": {"k": 1}, "annotations": {"priority": 1.5}, "contentMeta": {"l": 2}}});
    let body = turn(&[update.clone(), update.clone()]);
    assert_eq!(body[0]["metadata"], acp);
    assert_eq!(body[1].get("metadata"), None);
    assert_eq!(body[2]["metadata"], acp);
    assert!(
        turn_for(Profile::Legacy, &[update]).iter().all(|event| event.get("metadata").is_none())
    );
}

#[test]
fn resource_links_are_text() {
    let table = [
        (json!({"name": "n.md", "uri": "https://example.org/n"}), "[n.md](https://example.org/n)"),
        (
            json!({"name": "n", "title": "A [b]", "uri": "http://h/(x)"}),
            r"[A \[b\]](http://h/(x%29)",
        ),
        (json!({"name": "n.md", "title": "T", "uri": "file:///n.md"}), "`n.md`"),
        (json!({"name": "n`d", "uri": "javascript:alert(1)"}), "`n'd`"),
    ];
    for (mut link, text) in table {
        link["type"] = json!("resource_link");
        let body = turn(&[json!({"sessionUpdate": "agent_message_chunk", "content": link})]);
        assert_eq!(of_type(&body, "TEXT_MESSAGE_CONTENT")[0]["delta"], text);
        assert_eq!(body[0]["metadata"]["acp"]["resource"]["uri"], link["uri"]);
    }
}

#[test]
fn other_content_is_an_activity_or_a_custom_event() {
    let blocks = [
        json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
        json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}),
        json!({"type": "resource", "resource": {"uri": "file:///n", "text": "t"}}),
    ];
    for block in blocks {
        let updates = [
            agent(Some("A"), "a"),
            json!({"sessionUpdate": "agent_message_chunk", "messageId": "A", "content": block}),
        ];
        let body = turn(&updates);
        assert_eq!(
            body[3],
            json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "act-content-1", "activityType": "acp.content",
                "content": {"part": block}, "replace": true})
        );
        let body = turn_for(Profile::Legacy, &updates);
        let shown = of_type(&body, "CUSTOM");
        assert_eq!(
            *shown[0],
            json!({"type": "CUSTOM", "name": "acp.content", "value": {"part": block}})
        );
    }
    let newer = json!({"type": "hologram", "data": 1});
    for profile in [Profile::V1, Profile::Legacy] {
        let body =
            turn_for(profile, &[json!({"sessionUpdate": "agent_message_chunk", "content": newer})]);
        assert_eq!(
            body,
            [json!({"type": "CUSTOM", "name": "acp.unknown_content", "value": {"part": newer}})]
        );
    }
}

#[test]
fn repeated_prompt_is_dropped() {
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let prompt =
        json!([{"type": "text", "text": "Do it, "}, image, {"type": "text", "text": "now."}]);
    let user = |text| json!({"update": chunk("user_message_chunk", None, text)});
    let steps = [
        json!({"run": "r", "prompt": prompt}),
        user("Do "),
        user("it, now"),
        json!({"update": {"sessionUpdate": "user_message_chunk", "content": image}}),
        user("."),
        user("And this."),
        json!({"result": {"stopReason": "end_turn"}}),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    assert_eq!(
        stream[1..stream.len() - 1].iter().map(brief).collect::<Vec<_>>(),
        [
            json!({"type": "TEXT_MESSAGE_START", "messageId": "msg-1", "role": "user"}),
            json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "msg-1", "delta": "And this."}),
            json!({"type": "TEXT_MESSAGE_END", "messageId": "msg-1"}),
        ]
    );
}

#[test]
fn ids_of_the_input_are_not_reused() {
    let messages = json!([
        {"id": "msg-1", "role": "assistant", "toolCalls": [
            {"id": "t1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
        {"id": "msg-A", "role": "assistant", "content": "before"},
        {"id": "u", "role": "user", "content": "go on"},
    ]);
    let steps = [
        json!({"run": "r", "messages": messages}),
        json!({"update": agent(None, "a")}),
        json!({"update": {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Read"}}),
        json!({"update": agent(Some("A"), "b")}),
        json!({"exit": ""}),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    let starts: Vec<_> =
        of_type(&stream, "TEXT_MESSAGE_START").iter().map(|start| &start["messageId"]).collect();
    assert_eq!(starts, ["msg-2", "msg-A.2"]);
    assert_eq!(of_type(&stream, "TOOL_CALL_START")[0]["toolCallId"], "t1~2");
}
