//! Features of ACP v2 only.
use crate::script::{in_stream, interrupting, of_type, play, verify};
use agui_bridge::Options;
use agui_types::event::Event;
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use serde_json::{Value, json};

pub(crate) fn up(kind: &str, members: Value) -> Value {
    let mut update = members;
    update["sessionUpdate"] = json!(kind);
    json!({"update2": update})
}

fn text(kind: &str, id: &str, text: &str) -> Value {
    up(kind, json!({"messageId": id, "content": {"type": "text", "text": text}}))
}

fn whole(kind: &str, id: &str, text: &str) -> Value {
    up(kind, json!({"messageId": id, "content": [{"type": "text", "text": text}]}))
}

fn state(members: Value) -> Value {
    up("state_update", members)
}

fn idle(reason: &str) -> Value {
    state(json!({"state": "idle", "stopReason": reason}))
}

/// Plays a successful turn of v2, and returns its stream.
pub(crate) fn turn(options: Options, updates: &[Value]) -> Vec<Value> {
    let profile = options.profile.unwrap_or(Profile::V1);
    let mut steps = vec![
        json!({"run": "r", "prompt": [{"type": "text", "text": "Hi"}]}),
        json!({"accepted": "u"}),
    ];
    steps.extend_from_slice(updates);
    steps.push(idle("end_turn"));
    let stream = play(options, &steps);
    verify(profile, &stream);
    stream
}

fn said(stream: &[Value]) -> Vec<(String, String)> {
    let mut reducer = Reducer::new();
    for event in stream.iter().filter(|event| event.get("toAgent").is_none()) {
        let event: Event = serde_json::from_str(&event.to_string()).unwrap();
        assert_eq!(reducer.handle(&event), None);
    }
    let messages: Vec<Value> =
        reducer.messages().iter().map(|message| serde_json::to_value(message).unwrap()).collect();
    let text = |message: &Value| message["content"].as_str().map(ToOwned::to_owned);
    messages
        .iter()
        .filter_map(|message| Some((message["id"].as_str()?.to_owned(), text(message)?)))
        .collect()
}

/// The agent may change the words of its prompt. Its response names the message.
#[test]
fn accepted_message_is_the_prompt_with_any_text() {
    let stream = turn(
        Options::new(),
        &[
            whole("user_message", "u", "Hi, in other words"),
            text("user_message_chunk", "u", " and more"),
            text("agent_message_chunk", "a", "Hello."),
            text("user_message_chunk", "other", "From elsewhere"),
        ],
    );
    let texts: Vec<_> = said(&stream).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["Hello.", "From elsewhere"]);
}

#[test]
fn each_idle_state_ends_the_run() {
    let usage = json!({"totalTokens": 3, "inputTokens": 1, "outputTokens": 2});
    let error = json!({"code": -32603, "message": "no"});
    let table = [
        (json!({"stopReason": "end_turn", "usage": usage}), "success"),
        (json!({"stopReason": "max_tokens"}), "success"),
        (json!({"stopReason": "newer"}), "success"),
        (json!({}), "success"),
        (json!({"stopReason": "cancelled"}), "cancelled"),
        (json!({"stopReason": "refusal"}), "ACP_REFUSAL"),
        (json!({"stopReason": "error", "error": error}), "ACP_INTERNAL_ERROR"),
        (json!({"stopReason": "error"}), "ACP_INTERNAL_ERROR"),
    ];
    for (members, expected) in table {
        let mut ended = members.clone();
        ended["state"] = json!("idle");
        for began in [json!({"accepted": "u"}), state(json!({"state": "running"}))] {
            let stream =
                play(in_stream(Profile::V1), &[json!({"run": "r"}), began, state(ended.clone())]);
            verify(Profile::V1, &stream);
            let last = stream.last().unwrap();
            let end = last["outcome"]["type"].as_str().or(last["code"].as_str());
            assert_eq!(end, Some(expected), "{members}");
            if members.get("usage").is_some() {
                assert_eq!(last["usage"][0]["totalTokens"], 3);
            }
        }
    }
}

#[test]
fn earlier_idle_state_is_not_an_end() {
    let steps = [
        json!({"run": "r"}),
        idle("end_turn"),
        state(json!({"state": "requires_action"})),
        idle("end_turn"),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    assert_eq!(stream.len(), 2, "{stream:?}");
    let error = json!({"error": {"code": -32000, "message": "sign in"}});
    let stream = play(in_stream(Profile::V1), &[json!({"run": "r"}), idle("end_turn"), error]);
    assert_eq!(stream[1]["code"], "ACP_AUTH_REQUIRED");
}

#[test]
fn chunks_and_whole_messages_are_one_message() {
    let updates = [
        whole("user_message", "u", "Hi"),
        text("agent_thought_chunk", "a", "hm"),
        text("agent_message_chunk", "a", "Let me "),
        whole("agent_message", "a", "Let me look."),
        whole("agent_message", "a", "Let me look."),
        whole("agent_thought", "b", "all at once"),
        up("agent_message", json!({"messageId": "a"})),
    ];
    let stream = turn(in_stream(Profile::V1), &updates);
    let expected = [("rsn-a", "hm"), ("msg-a", "Let me look."), ("rsn-b", "all at once")];
    let expected = expected.map(|(id, text)| (id.to_owned(), text.to_owned()));
    assert_eq!(said(&stream), expected);
    assert_eq!(of_type(&stream, "CUSTOM").len(), 0);
}

#[test]
fn rewritten_message_is_restated() {
    let updates = [
        text("agent_message_chunk", "a", "Let me "),
        up("tool_call_update", json!({"toolCallId": "t", "title": "Look", "rawInput": {"a": 1}})),
        text("agent_message_chunk", "a", "look."),
        whole("agent_message", "a", "I looked."),
        up(
            "tool_call_update",
            json!({"toolCallId": "t", "status": "completed", "rawOutput": "ok"}),
        ),
        text("agent_message_chunk", "a", " Done."),
    ];
    let mut options = in_stream(Profile::V1);
    options.history = true;
    let stream = turn(options, &updates);
    let snapshots = of_type(&stream, "MESSAGES_SNAPSHOT");
    assert_eq!(snapshots.len(), 1);
    let texts = said(&stream);
    let expected =
        [("msg-a", "I looked."), ("res-t", "ok"), ("msg-a.2", ""), ("msg-a.3", " Done.")];
    let mut expected = expected.map(|(id, text)| (id.to_owned(), text.to_owned())).to_vec();
    let mut texts: Vec<_> = texts.into_iter().filter(|(id, _)| !id.starts_with("act-")).collect();
    expected.sort();
    texts.sort();
    assert_eq!(texts, expected);
    let stream = turn(in_stream(Profile::V1), &updates);
    assert_eq!(
        of_type(&stream, "CUSTOM")[0]["value"],
        json!({"messageId": "msg-a", "text": "I looked."})
    );
}

/// Subjects, and what a page receives of each: the reason, the message, and the members of ACP.
#[test]
fn permission_request_has_its_subject() {
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let call = json!({"toolCallId": "t", "title": "ls", "rawInput": {"a": 1}});
    let described = json!({"title": "ls", "name": "ls", "rawInput": {"a": 1}});
    let command = json!({"type": "command", "command": "rm -rf /srv", "cwd": "/w"});
    let mut related = command.clone();
    related["toolCallId"] = json!("t");
    let newer = json!({"type": "newer", "host": "h"});
    let table = [
        (
            json!({"type": "tool_call", "toolCall": call}),
            "tool_call",
            "",
            json!({"toolCall": described}),
        ),
        (Value::Null, "confirmation", "", json!({})),
        (command.clone(), "confirmation", "\n\nrm -rf /srv\n(/w)", json!({"subject": command})),
        (related.clone(), "tool_call", "\n\nrm -rf /srv\n(/w)", json!({"subject": related})),
        (
            newer.clone(),
            "confirmation",
            "\n\n{\"type\":\"newer\",\"host\":\"h\"}",
            json!({"subject": newer}),
        ),
    ];
    for (subject, reason, text, members) in table {
        let mut request = json!({"sessionId": "session", "title": "May I?", "description": "Cleans up", "options": options});
        request["subject"] = subject.clone();
        let known = up("tool_call_update", json!({"toolCallId": "t", "title": "Shell"}));
        let known = Some(known).filter(|_| reason == "tool_call" && subject["type"] == "command");
        let steps: Vec<_> =
            [Some(json!({"run": "r"})), known, Some(json!({"ask2": 1, "request": request}))]
                .into_iter()
                .flatten()
                .collect();
        let mut expected = members;
        expected["options"] = options.clone();
        expected["title"] = json!("May I?");
        expected["description"] = json!("Cleans up");
        let stream = play(interrupting(), &steps);
        verify(Profile::V1, &stream);
        let interrupt = &stream.last().unwrap()["outcome"]["interrupts"][0];
        assert_eq!(interrupt["reason"], reason, "{subject}");
        assert_eq!(interrupt["message"], format!("May I?\n\nCleans up{text}"), "{subject}");
        assert_eq!(interrupt["metadata"]["acp"], expected, "{subject}");
        let stream = play(in_stream(Profile::V1), &steps);
        let asked = stream.last().unwrap();
        assert_eq!(asked["name"], "acp.permission.requested", "{subject}");
        expected["interruptId"] = json!("int-1");
        if reason == "tool_call" {
            expected["toolCallId"] = json!("t");
        }
        assert_eq!(asked["value"], expected, "{subject}");
    }
}

#[test]
fn messages_of_a_subagent_are_attributed() {
    let on = |mut step: Value, session: &str| {
        step["session"] = json!(session);
        step
    };
    let busy = json!({"state": "running"});
    let agent = |members: Value| up("subagent_update", members);
    let steps = [
        json!({"run": "r1"}),
        state(busy.clone()),
        text("agent_message_chunk", "a", "I ask."),
        agent(
            json!({"sessionId": "s1", "title": "Scout", "description": "Looks around", "state": busy}),
        ),
        on(text("agent_message_chunk", "a", "Look"), "s1"),
        text("agent_message_chunk", "a", " Meanwhile."),
        on(text("agent_message_chunk", "a", "ing"), "s1"),
        on(
            up(
                "tool_call_update",
                json!({"toolCallId": "t", "title": "Read", "status": "completed", "rawOutput": "x"}),
            ),
            "s1",
        ),
        agent(json!({"sessionId": "s1", "state": {"state": "idle", "stopReason": "end_turn"}})),
        up(
            "tool_call_update",
            json!({"toolCallId": "t", "title": "Write", "status": "completed", "rawOutput": "y"}),
        ),
        agent(json!({"sessionId": "s2", "state": busy})),
        agent(
            json!({"sessionId": "s2", "state": {"state": "idle", "stopReason": "error", "error": {"code": 1, "message": "lost"}}}),
        ),
        agent(json!({"sessionId": "s3", "state": busy})),
        up(
            "session_message",
            json!({"messageId": "m", "senderSessionId": "s3", "content": [{"type": "text", "text": "Found it."}]}),
        ),
        idle("end_turn"),
        on(text("agent_message_chunk", "z", "Late."), "s3"),
        json!({"run": "r2"}),
        json!({"accepted": "u"}),
        idle("end_turn"),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    verify(Profile::V1, &stream);
    let owned: Vec<_> = stream
        .iter()
        .filter(|event| {
            event["type"] == "TEXT_MESSAGE_CONTENT" || event["type"] == "TOOL_CALL_START"
        })
        .map(|event| {
            let what = event["delta"].as_str().or(event["toolCallName"].as_str()).unwrap();
            (event["subagentRunId"].as_str().unwrap_or(""), what)
        })
        .collect();
    assert_eq!(
        owned,
        [
            ("", "I ask."),
            ("sub-s1", "Look"),
            ("", " Meanwhile."),
            ("sub-s1", "ing"),
            ("sub-s1", "read"),
            ("", "write"),
            ("", "Found it."),
            ("sub-s3.2", "Late."),
        ]
    );
    let lives: Vec<_> = stream
        .iter()
        .filter_map(|event| {
            event["type"].as_str()?.strip_prefix("SUBAGENT_").map(|kind| {
                (kind, event["subagentRunId"].as_str().unwrap(), event["outcome"]["type"].as_str())
            })
        })
        .collect();
    assert_eq!(
        lives,
        [
            ("STARTED", "sub-s1", None),
            ("FINISHED", "sub-s1", Some("success")),
            ("STARTED", "sub-s2", None),
            ("ERROR", "sub-s2", None),
            ("STARTED", "sub-s3", None),
            ("FINISHED", "sub-s3", Some("suspended")),
            ("STARTED", "sub-s3.2", None),
            ("FINISHED", "sub-s3.2", Some("suspended")),
        ]
    );
    let calls: Vec<_> = of_type(&stream, "TOOL_CALL_START")
        .iter()
        .map(|event| event["toolCallId"].clone())
        .collect();
    assert_eq!(calls, ["t", "t~2"]);
    let stream = play(in_stream(Profile::Legacy), &steps);
    verify(Profile::Legacy, &stream);
    assert!(stream.iter().all(|event| event.get("subagentRunId").is_none()));
}

#[test]
fn subagent_reports_its_own_states() {
    let of = |session: &str, value: Value| {
        let mut step = state(value);
        step["session"] = json!(session);
        step
    };
    let busy = json!({"state": "running"});
    let done = json!({"state": "idle", "stopReason": "end_turn"});
    let failed =
        json!({"state": "idle", "stopReason": "error", "error": {"code": 1, "message": "lost"}});
    let agent = |members: Value| up("subagent_update", members);
    let steps = [
        json!({"run": "r1"}),
        state(busy.clone()),
        agent(json!({"sessionId": "s1", "title": "Scout", "state": done})),
        of("s1", busy.clone()),
        of("s1", busy.clone()),
        of("s1", done),
        of("s1", json!({"state": "unknown"})),
        of("s1", busy),
        of("s1", failed),
        idle("end_turn"),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    verify(Profile::V1, &stream);
    let lives = stream.iter().filter_map(|event| {
        let kind = event["type"].as_str()?.strip_prefix("SUBAGENT_")?;
        let text = event["message"].as_str().unwrap_or_default();
        Some((kind, event["subagentRunId"].as_str()?, text))
    });
    let expected = [
        ("STARTED", "sub-s1", ""),
        ("FINISHED", "sub-s1", ""),
        ("STARTED", "sub-s1.2", ""),
        ("ERROR", "sub-s1.2", "lost"),
    ];
    assert_eq!(lives.collect::<Vec<_>>(), expected);
    assert_eq!(of_type(&stream, "RUN_FINISHED").len(), 1, "its end is not that of the turn");
    assert!(stream.iter().all(|event| event["name"] != "acp.unknown"));
}

#[test]
fn interrupt_suspends_subagents() {
    let busy = json!({"state": "running"});
    let ask = json!({"ask": 1, "toolCall": {"toolCallId": "t", "title": "Do"},
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]});
    let steps = [
        json!({"run": "r1"}),
        up("subagent_update", json!({"sessionId": "s1", "title": "Scout", "state": busy})),
        ask,
    ];
    let stream = play(interrupting(), &steps);
    verify(Profile::V1, &stream);
    assert_eq!(of_type(&stream, "SUBAGENT_FINISHED")[0]["outcome"]["type"], "suspended");
}

/// Updates of a call of an ended invocation, while another invocation of the same subagent is
/// active: each event belongs to the invocation that began its item.
#[test]
fn items_of_an_earlier_invocation_keep_their_owner() {
    let busy = json!({"state": "running"});
    let idle = json!({"state": "idle", "stopReason": "end_turn"});
    let on = |mut step: Value| {
        step["session"] = json!("s1");
        step
    };
    let agent = |state: &Value| {
        up("subagent_update", json!({"sessionId": "s1", "title": "Scout", "state": state}))
    };
    let call = |members: Value| on(up("tool_call_update", members));
    let steps = [
        json!({"run": "r1"}),
        state(busy.clone()),
        agent(&busy),
        call(json!({"toolCallId": "t", "title": "Read"})),
        agent(&idle),
        agent(&busy),
        on(text("agent_message_chunk", "a", "Again.")),
        call(json!({"toolCallId": "t", "title": "Read it", "status": "in_progress"})),
        state(idle),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    verify(Profile::V1, &stream);
    let owner = |kind: &str| of_type(&stream, kind)[0]["subagentRunId"].clone();
    assert_eq!(owner("TOOL_CALL_START"), "sub-s1");
    assert_eq!(owner("TEXT_MESSAGE_START"), "sub-s1.2");
    assert_eq!(owner("TEXT_MESSAGE_END"), "sub-s1.2");
}

/// Each call belongs to a message of its own invocation, never of an ended one.
#[test]
fn calls_belong_to_messages_of_their_own_invocation() {
    let agent = |state: &Value| {
        up("subagent_update", json!({"sessionId": "s1", "title": "Scout", "state": state}))
    };
    let on = |mut step: Value| {
        step["session"] = json!("s1");
        step
    };
    let says = |id: &str| on(text("agent_message_chunk", id, "Look."));
    let thinks = |id: &str| on(text("agent_thought_chunk", id, "Hm."));
    let calls = |id: &str| {
        on(up(
            "tool_call_update",
            json!({"toolCallId": id, "title": "Read", "status": "in_progress"}),
        ))
    };
    let rows = [
        (vec![says("a"), calls("t")], vec![calls("u")], ["msg-a", "msg-1"]),
        (vec![calls("t")], vec![calls("u")], ["msg-1", "msg-2"]),
        (vec![says("a"), calls("t")], vec![thinks("a"), calls("u")], ["msg-a", "msg-1"]),
        (vec![says("a"), calls("t")], vec![says("b"), calls("u")], ["msg-a", "msg-b"]),
        (vec![says("a"), calls("t"), calls("u")], vec![], ["msg-a", "msg-a"]),
        (vec![calls("t"), calls("u")], vec![], ["msg-1", "msg-1"]),
    ];
    for (first, second, parents) in rows {
        let mut updates = vec![state(json!({"state": "running"}))];
        for invocation in [first, second] {
            updates.push(agent(&json!({"state": "running"})));
            updates.extend(invocation);
            updates.push(agent(&json!({"state": "idle", "stopReason": "end_turn"})));
        }
        let stream = turn(in_stream(Profile::V1), &updates);
        let made: Vec<_> = of_type(&stream, "TOOL_CALL_START")
            .iter()
            .map(|event| event["parentMessageId"].clone())
            .collect();
        assert_eq!(made, parents, "{updates:?}");
    }
}

#[test]
fn compaction_keeps_its_status_until_an_update_has_one() {
    let update = |members: Value| up("compaction_update", members);
    let summary = json!([{"type": "text", "text": "So far"}]);
    let steps = [
        update(json!({"compactionId": "c"})),
        update(json!({"compactionId": "c", "status": "failed"})),
        update(json!({"compactionId": "c", "error": "no room"})),
        update(json!({"compactionId": "c", "status": null, "summary": summary})),
    ];
    let stream = turn(Options::new(), &steps);
    let contents: Vec<_> =
        of_type(&stream, "CUSTOM").into_iter().map(|event| &event["value"]).collect();
    assert_eq!(contents.len(), 4, "{contents:?}");
    let statuses: Vec<_> = contents.iter().map(|content| &content["status"]).collect();
    assert_eq!(statuses, ["in_progress", "failed", "failed", "in_progress"]);
    assert_eq!(contents[2]["error"], "no room");
    assert_eq!(contents[3]["summary"], "So far");
}
