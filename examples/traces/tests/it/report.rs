//! Reports of recorded sessions.

use crate::editor::Editor;
use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

pub(crate) fn report(transcript: &Path, options: &[&str]) -> String {
    let page = transcript.with_extension("html");
    let mut command = acp_traces(&["report"]);
    let output = command.arg(transcript).arg("-o").arg(&page).args(options).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(&*output.stderr, &b""[..]);
    fs::read_to_string(page).unwrap()
}

/// Writes a transcript with one message per second.
pub(crate) fn write(path: &Path, messages: &[(&str, Value)]) {
    let entry = |(at, (direction, message)): (usize, &(&str, Value))| {
        let text = message.to_string();
        let time = 1_700_000_000 + at;
        format!("{}\n", json!({ "time": time, "direction": direction, "text": text }))
    };
    fs::write(path, messages.iter().enumerate().map(entry).collect::<String>()).unwrap();
}

pub(crate) fn update(update: &Value) -> Value {
    update_of("s", update)
}

pub(crate) fn update_of(session: &str, update: &Value) -> Value {
    let params = json!({ "sessionId": session, "update": update });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
}

pub(crate) fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(crate) fn answer(id: u32, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub(crate) fn prompt(id: u32, session: &str, text: &str) -> Value {
    let prompt = json!([{ "type": "text", "text": text }]);
    request(id, "session/prompt", &json!({ "sessionId": session, "prompt": prompt }))
}

pub(crate) fn chunk(kind: &str, text: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } })
}

#[test]
fn recorded_session_becomes_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    let record = ["--otlp-endpoint", NO_COLLECTOR, "--record", transcript.to_str().unwrap()];
    let mut editor = Editor::start(Proxy::with_options(&record, &["demo"]));
    editor.prompt("tour");
    editor.proxy.finish();
    let page = report(&transcript, &[]);
    for part in [
        "<h2>Turn 1: end_turn<span>",
        "<dt>Permissions asked</dt><dd>1</dd>",
        "permission: allow_once",
        "class=\"tool\"",
        "initialize",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    // The page is self-contained. Its links are to its own parts.
    for part in ["<link", "src=", "url(", "@import", "http:", "https:"] {
        assert!(!page.contains(part), "{part} in {page}");
    }
    let mut links = page.split("href=").skip(1);
    assert!(links.all(|link| link.starts_with("\"#turn-")), "{page}");
}

#[test]
fn content_is_escaped_in_the_report_and_off_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    let prompt = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "a canary" }] });
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "kind": "read",
        "title": "<script>alert('x')</script>", "status": "completed" });
    let usage = json!({ "sessionUpdate": "usage_update", "used": 1500, "size": 200_000,
        "cost": { "amount": 0.25, "currency": "<USD>" } });
    write(
        &transcript,
        &[
            ("sent", json!({ "jsonrpc": "2.0", "id": 0, "method": "session/new", "params": {} })),
            ("received", json!({ "jsonrpc": "2.0", "id": 0, "result": { "sessionId": "s" } })),
            (
                "sent",
                json!({ "jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt }),
            ),
            ("received", update(&call)),
            ("received", update(&usage)),
            ("received", json!({ "jsonrpc": "2.0", "id": 1, "result": { "stopReason": "<i>" } })),
        ],
    );
    let page = report(&transcript, &[]);
    assert!(page.contains("2023-11-14 22:13:20 UTC, 5.0 s"), "{page}");
    assert!(page.contains("<dd>0.2500 &lt;USD&gt;</dd>"), "{page}");
    assert!(page.contains("up to 1\u{202f}500"), "{page}");
    // The usage was reported after four of five seconds and is the highest value.
    assert!(page.contains("<path class=\"dot\" d=\"M800.0 0.0h0\"/>"), "{page}");
    assert!(page.contains("<th>gen_ai.<wbr>conversation.<wbr>id</th>"), "{page}");
    assert!(!page.contains("canary") && !page.contains("alert"), "{page}");
    let page = report(&transcript, &["--record-content"]);
    assert!(page.contains("a canary"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"), "{page}");
    assert!(!page.contains("<script>alert") && !page.contains("<i>"), "{page}");
    let page = report(&transcript, &["--record-content", "--redact", "can[a-z]+"]);
    assert!(page.contains("a [redacted]") && !page.contains("canary"), "{page}");
}

#[test]
fn subagent_outside_of_turns_is_not_a_turn_and_long_titles_are_truncated() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    let title = "é".repeat(161);
    let call =
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "name": "t", "title": title });
    let work = json!({ "sessionUpdate": "subagent_update", "sessionId": "child", "title": "Dig",
        "state": { "state": "running" } });
    write(&transcript, &[("received", update(&work)), ("received", update(&call))]);
    let page = report(&transcript, &["--policy", "titles=always"]);
    assert!(page.contains("<dt>Turns</dt><dd>0</dd>"), "{page}");
    assert!(
        page.contains(
            "class=\"subagent\"><summary><span class=\"name\" style=\"--depth:0\"><bdi>Dig"
        )
    );
    assert!(page.contains(&format!("<bdi>t: {}…</bdi>", "é".repeat(157))), "{page}");
    assert!(page.contains(&format!("<td>{title}</td>")), "{page}");
}

#[test]
fn unwritable_report_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    write(&transcript, &[]);
    let of = transcript.to_str().unwrap();
    let to = folder.path().to_str().unwrap();
    let output = acp_traces(&["report", of, "-o", to]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stderr.starts_with(b"acp-traces: cannot write to "));
}

#[test]
fn unknown_format_makes_no_report() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let page = folder.path().join("page.html");
    fs::write(&log, "a line of a log\n").unwrap();
    let of = log.to_str().unwrap();
    let to = page.to_str().unwrap();
    let output = acp_traces(&["report", of, "-o", to]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!page.exists());
}

#[test]
fn report_is_written_to_standard_output() {
    let output = acp_traces(&["report", crate::replay::TURN, "-o", "-"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"<!doctype html>"));
    assert!(!Path::new("-").exists());
}

fn usage(session: &str, used: usize) -> (&'static str, Value) {
    let usage = json!({ "sessionUpdate": "usage_update", "used": used, "size": 200_000 });
    ("received", update_of(session, &usage))
}

#[test]
fn each_session_has_a_curve_of_its_context() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    let created = answer(1, &json!({ "sessionId": "a<b" }));
    let new = request(1, "session/new", &json!({ "cwd": "/", "mcpServers": [] }));
    let one = [("sent", new), ("received", created), usage("a<b", 1000), usage("a<b", 3000)];
    write(&transcript, &one);
    let figure =
        |caption: &str| format!("<figcaption>Tokens in the context window, {caption}</span>");
    let page = report(&transcript, &[]);
    assert!(page.contains(&figure("of 200\u{202f}000<span>up to 3\u{202f}000")), "{page}");
    write(&transcript, &[&one[..], &[usage("other", 90_000), usage("a<b", 4000)]].concat());
    let page = report(&transcript, &[]);
    for caption in [
        "of 200\u{202f}000, session a&lt;b<span>up to 4\u{202f}000",
        "of 200\u{202f}000, session other<span>up to 90\u{202f}000",
    ] {
        assert!(page.contains(&figure(caption)), "{caption} in {page}");
    }
}

#[test]
fn curves_of_many_points_are_short() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    let of = |count: usize| {
        write(&transcript, &(1..=count).map(|used| usage("s", used)).collect::<Vec<_>>());
        report(&transcript, &[]).len()
    };
    let few = of(1_000);
    let many = of(10_000);
    assert!(many < few + few / 10, "{few} {many}");
}
