//! Captured streams.
use crate::agui_verify::program::run;
use agui_types::event::Event;
use agui_types::proto;
use agui_types::verify::Rule;
use jsonrpc_core::wire;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn started() -> Value {
    json!({"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"})
}

fn finished() -> Value {
    json!({"type":"RUN_FINISHED","threadId":"t","runId":"r"})
}

fn sse(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn jsonl(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

fn protobuf(events: &[Value]) -> Vec<u8> {
    let mut body = Vec::new();
    for event in events {
        let event: Event = wire::decode(&event.to_string()).expect("an event");
        proto::write_event(&mut body, &event).expect("bytes");
    }
    body
}

#[test]
fn valid_stream_passes_in_each_encoding() {
    let events =
        [started(), json!({"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hi"}), finished()];
    for body in [sse(&events).into_bytes(), jsonl(&events).into_bytes(), protobuf(&events)] {
        for profile in ["strict", "tolerant", "legacy"] {
            let said = run(&["--profile", profile], &body);
            let expected = format!("ok: 3 events, 1 runs, no problems ({profile})\n");
            assert_eq!(said.out, expected, "{}", said.err);
            assert_eq!(said.status, Some(0), "{}", said.err);
        }
    }
}

#[test]
fn first_problem_is_explained() {
    let events = [
        started(),
        json!({"type":"TEXT_MESSAGE_START","messageId":"m1"}),
        json!({"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"there"}),
        json!({"type":"STEP_FINISHED","stepName":"also wrong"}),
    ];
    for body in [sse(&events).into_bytes(), jsonl(&events).into_bytes(), protobuf(&events)] {
        let said = run(&["--context", "1"], &body);
        assert_eq!(said.status, Some(1), "{}", said.err);
        let lines: Vec<_> = said.out.lines().collect();
        assert_eq!(
            lines[..5],
            [
                "wrong: event 2",
                "  rule   text_message_not_open: a text message is opened before it is continued or closed",
                "  here   not so for \"m2\"",
                "  see    https://ag-ui.com/spec/1.0/basic/patterns/streaming#open-content-close",
                "",
            ]
        );
        assert_eq!(lines.len(), 7, "{}", said.out);
        assert!(lines[5].starts_with("     1  {") && lines[5].contains("TEXT_MESSAGE_START"));
        assert!(lines[6].starts_with(">    2  {") && lines[6].contains("TEXT_MESSAGE_CONTENT"));

        let said = run(&["--json", "--context", "1"], &body);
        assert_eq!(said.status, Some(1), "{}", said.err);
        let report: Value = serde_json::from_str(&said.out).expect("JSON");
        let expected = json!({"ok":false,"profile":"strict","events":3,"runs":1,"problem":{
            "code":"text_message_not_open","rule":"a text message is opened before it is continued or closed",
            "link":"https://ag-ui.com/spec/1.0/basic/patterns/streaming#open-content-close",
            "detail":"not so for \"m2\"","index":2,"event":events[2],"before":[events[1]]}});
        assert_eq!(report, expected);
    }
}

/// Every rule that a stream can violate, identified by its code.
#[test]
fn rules_are_identified_by_code() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../agui-types/tests/fixtures/1.0/streams/invalid");
    let mut checked = 0;
    for rule in Rule::ALL {
        let Ok(text) = fs::read_to_string(folder.join(format!("{rule}.jsonl"))) else { continue };
        let stream: Value =
            serde_json::from_str(text.lines().next().expect("a stream")).expect("JSON");
        let events = stream.as_array().expect("a list");
        let said = run(&["--json"], sse(events).as_bytes());
        let report: Value = serde_json::from_str(&said.out).expect("JSON");
        assert_eq!(report["problem"]["code"], rule.as_str(), "{report}");
        assert_eq!(report["problem"]["link"], rule.link());
        let tolerant = run(&["--profile", "tolerant"], sse(events).as_bytes());
        assert_eq!(
            tolerant.status,
            Some(i32::from(!rule.is_strict_only())),
            "{rule}: {}",
            tolerant.out
        );
        checked += 1;
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn other_problems_are_reported() {
    let with = |event: &str| format!("data: {}\n\ndata: {event}\n\n", started());
    let table = [
        (with("{\"type\":"), "malformed", "at : expected JSON"),
        (with(r#"{"type":"STEP_STARTED"}"#), "malformed", "expected member `stepName`"),
        (with(r#"{"type":"TEXT_MESSAGE_START","messageId":7}"#), "malformed", "at /messageId"),
        (
            with(
                r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":null}"#,
            ),
            "null_member",
            "/parentMessageId",
        ),
        (with(r#"{"type":"STEP_STARTED","stepName":"s","mood":1}"#), "undescribed", "/mood"),
        (sse(&[started(), finished()]).replace('\n', "\r\n"), "carriage_return", ""),
        (sse(&[started(), finished()]).trim_end().to_owned(), "unfinished_frame", ""),
        ("data: \u{fffd}\n\n".into(), "malformed", ""),
    ];
    for (body, code, detail) in table {
        let said = run(&["--json"], body.as_bytes());
        let report: Value = serde_json::from_str(&said.out).expect("JSON");
        assert_eq!(&report["problem"]["code"], &json!(code), "{body}");
        assert_eq!(said.status, Some(1), "{body}");
        let shown = report["problem"]["detail"].as_str().unwrap_or_default();
        assert!(shown.contains(detail.trim_start_matches("at : ")), "{body}: {shown}");
    }
    let said = run(&[], b"");
    assert_eq!(said.status, Some(1));
    assert!(
        said.out.starts_with("wrong: the end, after 0 events\n  rule   truncated:"),
        "{}",
        said.out
    );
    let said = run(&["--form", "protobuf"], b"\0\0\0\x09");
    assert!(said.out.contains("broken_frame"), "{}", said.out);
}

#[test]
fn legacy_profile_has_other_problems() {
    let cancelled =
        json!({"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}});
    let body = sse(&[started(), cancelled]);
    assert_eq!(run(&[], body.as_bytes()).status, Some(0));
    let said = run(&["--profile", "legacy"], body.as_bytes());
    assert_eq!(said.status, Some(1));
    assert!(
        said.out.contains("the client does not know the outcome of RUN_FINISHED"),
        "{}",
        said.out
    );
}

#[test]
fn input_determines_the_expected_stream() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("input.json");
    let asked = json!({"threadId":"t","runId":"other","messages":[]});
    fs::write(&input, asked.to_string()).expect("a file");
    let stream = folder.path().join("stream.sse");
    fs::write(&stream, sse(&[started(), finished()])).expect("a file");
    let path = |path: &PathBuf| path.to_str().expect("UTF-8").to_owned();
    let said = run(&["--input", &path(&input), &path(&stream)], b"");
    assert!(said.out.contains("run_not_requested"), "{said:?}");
    let said = run(&["--input", &path(&stream), &path(&stream)], b"");
    assert_eq!(said.status, Some(3));
    assert!(said.err.contains("is not a run input: expected JSON"), "{}", said.err);
    let said = run(&["/nowhere/at/all"], b"");
    assert_eq!(said.status, Some(3));
    let said = run(&["--profile", "lenient"], b"");
    assert_eq!(said.status, Some(2));
}
