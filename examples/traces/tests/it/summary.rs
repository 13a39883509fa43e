//! Summaries of recorded sessions.

use crate::proxy::acp_traces;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const TURNS: &str = include_str!("../fixtures/two-turns.jsonl");

/// Writes a transcript of an agent with this name.
fn write(folder: &Path, name: &str, agent: &str) {
    let text = TURNS.replace(r#"\"name\":\"agent\""#, &format!(r#"\"name\":\"{agent}\""#));
    fs::write(folder.join(name), text).unwrap();
}

fn run(task: &str, format: &str, path: &Path) -> (String, Option<i32>, String) {
    let mut command = acp_traces(&[task, "--format", format]);
    let output = command.arg(path).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), output.status.code(), text(output.stderr))
}

#[test]
fn sessions_of_a_folder_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "b.jsonl", "=agent, b");
    write(folder.path(), "a.jsonl", "agent");
    fs::write(folder.path().join("notes.txt"), "not a transcript").unwrap();
    let (text, status, told) = run("sessions", "json", folder.path());
    assert_eq!(status, Some(0));
    assert_eq!(&*told, "");
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(rows.len(), 2);
    let expected = json!({
        "file": "a.jsonl", "session": "s", "title": null, "agent": "agent", "version": "1", "model": null,
        "start": "2023-11-14T22:13:21Z", "seconds": 3.0, "turns": 2, "tools": 1, "errors": 0,
        "input_tokens": 40, "output_tokens": 14, "cost": null,
    });
    assert_eq!(rows[0], expected);
    let (csv, _, _) = run("sessions", "csv", folder.path());
    let lines: Vec<_> = csv.split("\r\n").collect();
    assert!(lines[0].starts_with("file,session,title,agent,version"), "{csv}");
    assert_eq!(lines[1], "a.jsonl,s,,agent,1,,2023-11-14T22:13:21Z,3.0,2,1,0,40,14,");
    assert!(lines[2].starts_with(r#"b.jsonl,s,,"'=agent, b",1"#), "{csv}");
    let (table, _, _) = run("sessions", "table", folder.path());
    assert_eq!(table.lines().count(), 3);
    assert!(table.lines().nth(1).unwrap().contains("  3.000    2"), "{table}");
}

/// A title is content: it is listed if content is, and redacted.
#[test]
fn titles_are_listed_with_content() {
    let folder = tempfile::tempdir().unwrap();
    let titled = TURNS.lines().flat_map(|line| {
        let title = (line.contains("session/prompt") && line.contains("sent")).then(|| {
            let time = &line[..line.find(",\"direction").unwrap()];
            let update = r#"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"session_info_update\",\"title\":\"Fix the parser of alice\"}}}"#;
            format!(r#"{time},"direction":"received","text":"{update}"}}"#)
        });
        [Some(line.to_owned()), title].into_iter().flatten()
    });
    let titled: Vec<_> = titled.collect();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, titled.join("\n") + "\n").unwrap();
    let titles = |options: &[&str]| {
        let mut command = acp_traces(&["sessions", "--format", "json"]);
        let output = command.args(options).arg(&path).output().unwrap();
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        rows.into_iter().map(|row| row["title"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(titles(&[]), [Value::Null]);
    assert_eq!(titles(&["--record-content"]), ["Fix the parser of alice"]);
    let redacted = titles(&["--record-content", "--redact", "alice"]);
    assert_eq!(redacted, ["Fix the parser of [redacted]"]);
}

#[test]
fn durations_are_percentiles_by_agent_and_operation() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.jsonl", "agent");
    write(folder.path(), "b.jsonl", "other");
    let (text, status, _) = run("stats", "json", folder.path());
    assert_eq!(status, Some(0));
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    let turn =
        rows.iter().find(|row| row["agent"] == "agent" && row["operation"] == "invoke_agent");
    let expected = json!({
        "agent": "agent", "operation": "invoke_agent", "count": 2, "errors": 0,
        "p50": 1.0, "p95": 1.0, "p99": 1.0,
    });
    assert_eq!(turn, Some(&expected));
    let names: Vec<_> = rows.iter().map(|row| row["operation"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["execute_tool execute", "initialize", "invoke_agent"]);
    assert_eq!(rows.len(), 6);
}

#[test]
fn unreadable_transcripts_are_reported_and_skipped() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.jsonl", "agent");
    fs::write(folder.path().join("b.jsonl"), "no transcript\n").unwrap();
    let (text, status, told) = run("sessions", "json", folder.path());
    assert_eq!(serde_json::from_str::<Vec<Value>>(&text).unwrap().len(), 1);
    assert_eq!(status, Some(1));
    assert!(told.contains("b.jsonl: line 1: expected a transcript"), "{told}");
    assert_eq!(run("sessions", "json", &folder.path().join("none")).1, Some(1));
}
