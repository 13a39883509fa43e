//! The conversation in reports.

use crate::proxy::acp_traces;
use crate::report::{answer, chunk, prompt, report, request, update, update_of, write};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;

/// Returns the messages of a session with each part of a conversation. Each text that the peers
/// choose is `text` followed by a number.
pub(crate) fn each_part(text: &str) -> Vec<(&'static str, Value)> {
    let say = |number: u32| format!("{text}{number}");
    let option = json!({ "optionId": "y", "name": say(1), "kind": "allow_once" });
    let call = json!({ "toolCallId": "t", "title": say(2), "kind": "edit", "status": "in_progress",
        "rawInput": { "path": say(3) } });
    let mut announced = call.clone();
    announced["sessionUpdate"] = "tool_call".into();
    let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed",
        "content": [{ "type": "diff", "path": say(4), "oldText": "kept\nold\n", "newText": format!("kept\n{}\n", say(5)) },
            { "type": "content", "content": { "type": "text", "text": say(6) } }] });
    let ask = json!({ "sessionId": "s", "toolCall": call, "options": [option] });
    let plan = json!({ "sessionUpdate": "plan", "entries": [
        { "content": say(7), "priority": "high", "status": "completed" },
        { "content": say(8), "priority": "high", "status": "pending" }] });
    let modes = json!({ "currentModeId": "ask", "availableModes": [
        { "id": "ask", "name": "Ask" }, { "id": "code", "name": say(9) }] });
    let info =
        json!({ "protocolVersion": 1, "agentInfo": { "name": say(10), "version": say(11) } });
    let mode = json!({ "sessionUpdate": "current_mode_update", "currentModeId": "code" });
    let title = json!({ "sessionUpdate": "session_info_update", "title": say(12) });
    let failed =
        json!({ "jsonrpc": "2.0", "id": 10, "error": { "code": -32603, "message": say(13) } });
    vec![
        ("sent", request(0, "initialize", &json!({ "protocolVersion": 1 }))),
        ("received", answer(0, &info)),
        ("sent", request(1, "session/new", &json!({ "cwd": "/", "mcpServers": [] }))),
        ("received", answer(1, &json!({ "sessionId": "s", "modes": modes }))),
        ("sent", prompt(2, "s", &say(14))),
        ("received", update(&chunk("agent_thought_chunk", &say(15)))),
        ("received", update(&chunk("agent_message_chunk", &say(16)))),
        ("received", update(&announced)),
        ("received", request(9, "session/request_permission", &ask)),
        ("sent", answer(9, &json!({ "outcome": { "outcome": "selected", "optionId": "y" } }))),
        ("received", update(&done)),
        ("received", update(&plan)),
        ("received", update(&mode)),
        ("received", update(&title)),
        (
            "received",
            request(10, "fs/read_text_file", &json!({ "sessionId": "s", "path": say(17) })),
        ),
        ("sent", failed),
        ("received", answer(2, &json!({ "stopReason": "end_turn" }))),
    ]
}

/// Returns the text of a page without its tags, script and styles, with the entities of [`escaped`]
/// replaced.
pub(crate) fn visible(page: &str) -> String {
    let body = page.split("</head>").nth(1).unwrap();
    let body = body.split("<script>").next().unwrap();
    let mut text = String::new();
    for part in body.split('<').skip(1) {
        text.push_str(part.split_once('>').unwrap().1);
        text.push(' ');
    }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let text =
        entities.iter().fold(text, |text, (entity, character)| text.replace(entity, character));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn conversation_is_shown_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    write(&transcript, &each_part("word"));
    let text = visible(&report(&transcript, &["--record-content"]));
    let parts = [
        "Session with word10",
        "Version word11",
        "Session word12 , s",
        "Turn 1: word14",
        "User word14",
        "Thought 6 characters word15",
        "Agent word16",
        "Edit word2 completed",
        "Input { \"path\": \"word3\" }",
        "word4",
        "kept -old +word5",
        "Output word6",
        "Permission word2 allow once, word1 after 1.0 s",
        "Plan 1 of 2 done word7 word8",
        "Mode : word9",
        "Error fs/read_text_file word13 (-32603)",
        "End of the turn: end_turn",
    ];
    let mut rest = text.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part} in {rest} of {text}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn conversation_without_content_has_no_texts() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    write(&transcript, &each_part("canary"));
    let text = visible(&report(&transcript, &[]));
    for number in [1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 17] {
        let private = format!("canary{number} ");
        assert!(!(text.clone() + " ").contains(&private), "{private} in {text}");
    }
    for part in
        ["User 8 characters", "Edit completed", "allow once", "Plan 1 of 2 done completed pending"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let text = visible(&report(&transcript, &["--record-content", "--redact", "can[a-z]+"]));
    assert!(text.contains("User [redacted]14") && !text.contains("canary2"), "{text}");
}

#[test]
fn hostile_texts_stay_texts() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    let hostile =
        "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{202e}\u{1b}[31m<!--";
    write(&transcript, &each_part(hostile));
    let page = report(&transcript, &["--record-content"]);
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert_eq!(page.matches("</script").count(), 1, "{page}");
    for part in ["<img", "<!--", "\u{1b}", "onerror=alert(1)>"] {
        assert!(!page.contains(part), "{part}");
    }
    let shown = hostile.replace('\u{1b}', "");
    for number in [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] {
        let text = format!("{shown}{number}");
        assert!(visible(&page).contains(&text), "{text} in {}", visible(&page));
    }
}

#[test]
fn policy_of_the_page_permits_its_script_only() {
    let output = acp_traces(&["report", crate::replay::TURN, "-o", "-"]).output().unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    let script = page.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    let hash = BASE64_STANDARD.encode(Sha256::digest(script));
    let policy = format!("default-src &#39;none&#39;; script-src &#39;sha256-{hash}&#39;; ");
    assert!(page.contains(&policy), "{policy} in {page}");
}

#[test]
fn sessions_of_one_connection_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    write(
        &transcript,
        &[
            ("sent", prompt(1, "first", "one")),
            ("sent", prompt(2, "second", "two")),
            ("received", update_of("first", &chunk("agent_message_chunk", "to one"))),
            ("received", update_of("second", &chunk("agent_message_chunk", "to two"))),
            ("received", answer(2, &json!({ "stopReason": "end_turn" }))),
            ("received", answer(1, &json!({ "stopReason": "cancelled" }))),
        ],
    );
    let text = visible(&report(&transcript, &["--record-content"]));
    let one = "Turn 1: one session first , 0 s after the start, 5.0 s User one Agent to one End of the turn: cancelled";
    let two = "Turn 2: two session second , 1.0 s after the start, 3.0 s User two Agent to two End of the turn: end_turn";
    assert!(text.contains(one) && text.contains(two), "{text}");
}

/// The history of a session precedes the turns after it is loaded, and does not belong to an
/// earlier one.
#[test]
fn history_of_a_loaded_session_is_apart_from_its_turns() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    write(
        &transcript,
        &[
            ("sent", prompt(1, "s", "first")),
            ("received", update(&chunk("agent_message_chunk", "one-text"))),
            ("received", answer(1, &json!({ "stopReason": "end_turn" }))),
            ("sent", request(2, "session/load", &json!({ "sessionId": "s", "cwd": "/" }))),
            ("received", update(&chunk("user_message_chunk", "old-text"))),
            ("received", answer(2, &json!({}))),
            ("sent", prompt(3, "s", "second")),
            ("received", update(&chunk("agent_message_chunk", "two-text"))),
            ("received", answer(3, &json!({ "stopReason": "end_turn" }))),
        ],
    );
    let page = report(&transcript, &["--record-content"]);
    let sections: Vec<_> = page.split("<section").skip(1).collect();
    let [first, loading, second] = &*sections else { panic!("{sections:?}") };
    assert!(first.contains("one-text") && !first.contains("old-text"), "{first}");
    assert!(loading.contains("Session requests") && loading.contains("old-text"), "{loading}");
    assert!(second.contains("two-text") && !second.contains("old-text"), "{second}");
}

#[test]
fn session_of_version_2_is_shown() {
    let transcript = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../acp-types/tests/fixtures/transcripts/codex-acp-v2-edit.jsonl"
    );
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("session.jsonl");
    fs::copy(transcript, &copy).unwrap();
    let text = visible(&report(&copy, &["--record-content"]));
    assert!(text.contains("Turn 1: ") && text.contains("End of the turn: end_turn"), "{text}");
    assert!(text.contains("Agent ") && text.contains("User "), "{text}");
}

#[test]
fn page_of_a_large_session_has_less_than_2_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    let mut messages = Vec::new();
    for turn in 0..100 {
        messages.push(("sent", prompt(turn, "s", &format!("prompt {turn}"))));
        for number in 0..100 {
            let id = format!("{turn}-{number}");
            let text = format!("word {id} ");
            messages
                .extend((0..6).map(|_| ("received", update(&chunk("agent_message_chunk", &text)))));
            let content = json!([{ "type": "content", "content": { "type": "text", "text": "line\n".repeat(100) } }]);
            messages.push((
                "received",
                update(&json!({ "sessionUpdate": "tool_call", "toolCallId": id,
                "title": "Read", "kind": "read", "status": "in_progress" })),
            ));
            messages.push((
                "received",
                update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": id,
                "status": "completed", "content": content })),
            ));
        }
        messages.push(("received", answer(turn, &json!({ "stopReason": "end_turn" }))));
    }
    write(&transcript, &messages);
    let page = report(&transcript, &["--record-content"]);
    assert!(page.len() <= 2_000_000, "{}", page.len());
    let text = visible(&page);
    assert!(text.contains("Turn 1: prompt 0") && text.contains("Turn 100: prompt 99"));
    // Each turn has its first and its last parts.
    assert!(text.contains("User prompt 99 Agent word 99-0"), "{}", &text[text.len() - 4000..]);
    assert_eq!(text.matches("End of the turn: end_turn").count(), 100);
    assert!(text.contains("do not fit into this page"), "{}", &text[text.len() - 400..]);
}

#[test]
fn page_of_many_turns_has_the_first_and_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    let turn = |number: u32| {
        let text = format!("answer {number} ").repeat(50);
        [
            ("sent", prompt(number, "s", &format!("prompt {number}"))),
            ("received", update(&chunk("agent_message_chunk", &text))),
            ("received", answer(number, &json!({ "stopReason": "end_turn" }))),
        ]
    };
    write(&transcript, &(0..3000).flat_map(turn).collect::<Vec<_>>());
    let page = report(&transcript, &["--record-content"]);
    assert!(page.len() <= 2_000_000, "{}", page.len());
    let text = visible(&page);
    assert!(text.contains("Turn 1: prompt 0 ") && text.contains("Turn 3000: prompt 2999 "));
    assert!(text.contains(" turns do not fit into this page"), "{}", &text[text.len() - 400..]);
}
