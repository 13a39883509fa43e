//! Permission requests that rules answer.

use crate::editor::Editor;
use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use crate::span_files::{lines, span};
use jsonrpc_core::transcript::{self, Direction};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::thread;
use tempfile::TempDir;

/// A file of rules, and a place for others.
fn rules(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.toml");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn rule(conditions: &str, action: &str) -> String {
    format!("[[permission-rules]]\n{conditions}\naction = '{action}'\n")
}

/// Runs a turn of the demo agent. Returns the editor's lines from the prompt on, and standard
/// error.
fn turn(options: &[&str], prompt: &str) -> (Vec<String>, String) {
    let mut options = options.to_vec();
    options.extend(["--otlp-endpoint", NO_COLLECTOR]);
    let mut editor = Editor::start(Proxy::with_options(&options, &["demo"]));
    editor.begin(prompt);
    let mut heard = Vec::new();
    loop {
        let line = editor.proxy.read_line();
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["method"] == "session/request_permission" {
            let outcome = json!({ "outcome": "selected", "optionId": "allow-once" });
            let answer =
                json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "outcome": outcome } });
            editor.proxy.write(format!("{answer}\n").as_bytes());
        }
        let is_last = message["result"]["stopReason"].is_string();
        heard.push(line);
        if is_last {
            break;
        }
    }
    let (end, _) = editor.proxy.finish();
    assert_eq!(end.status, Some(0));
    (heard, end.stderr)
}

fn without_session(lines: &[String]) -> Vec<Value> {
    let mut values: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    values.iter_mut().for_each(|line| line["params"]["sessionId"] = Value::Null);
    values
}

/// The other lines are those of the same session without rules.
#[test]
fn decided_request_does_not_reach_the_editor() {
    let (plain, _) = turn(&[], "edit");
    let asked = plain.iter().filter(|line| line.contains("session/request_permission")).count();
    assert_eq!(asked, 1);
    let (_folder, path) = rules(&rule("agent = 'test-agent'\nkind = 'edit'", "allow"));
    let (heard, stderr) = turn(&["--permissions", path.to_str().unwrap()], "edit");
    let expected: Vec<_> =
        plain.into_iter().filter(|line| !line.contains("session/request_permission")).collect();
    assert_eq!(without_session(&heard), without_session(&expected));
    assert!(stderr.contains("acp-traces: permission rule 1: allow "), "{stderr}");

    let (_folder, path) = rules(&rule("kind = 'edit'", "reject"));
    let (heard, stderr) = turn(&["--permissions", path.to_str().unwrap()], "edit");
    assert!(!heard.concat().contains("session/request_permission"));
    assert_ne!(
        without_session(&heard),
        without_session(&expected),
        "the agent leaves the file as it is"
    );
    assert!(stderr.contains("acp-traces: permission rule 1: reject "), "{stderr}");
}

#[test]
fn other_request_reaches_the_editor() {
    for rule in [
        rule("kind = 'read'", "allow"),
        rule("agent = 'gemini'", "reject"),
        rule("kind = 'edit'", "ask") + &rule("", "reject"),
        // The demo agent edits a file in the directory of the session.
        rule("path = 'src/**'", "allow"),
    ] {
        let (_folder, path) = rules(&rule);
        let (heard, _) = turn(&["--permissions", path.to_str().unwrap()], "edit");
        let asked = heard.iter().filter(|line| line.contains("session/request_permission")).count();
        assert_eq!(asked, 1, "{rule}");
    }
}

#[test]
fn span_and_transcript_have_the_decision() {
    let (folder, path) = rules(&(rule("kind = 'read'", "ask") + &rule("path = '*'", "allow")));
    let [spans, transcript] = ["spans.jsonl", "session.jsonl"].map(|name| folder.path().join(name));
    let options = [
        "--permissions",
        path.to_str().unwrap(),
        "--file",
        spans.to_str().unwrap(),
        "--record",
        transcript.to_str().unwrap(),
        "--inject-context",
    ];
    let (heard, _) = turn(&options, "edit");
    assert!(!heard.concat().contains("session/request_permission"));
    let lines = lines(&spans);
    let asked = lines.iter().map(span).find(|span| span["name"] == "session/request_permission");
    let attributes = asked.unwrap()["attributes"].as_array().unwrap();
    let attribute = |key: &str| &attributes.iter().find(|it| it["key"] == key).unwrap()["value"];
    assert_eq!(attribute("acp.permission.rule.index")["intValue"], "2");
    assert_eq!(attribute("acp.permission.rule.action")["stringValue"], "allow");
    assert_eq!(attribute("acp.permission.option.kind")["stringValue"], "allow_once");
    let text = fs::read_to_string(&transcript).unwrap();
    let entries: Vec<_> = transcript::read(&text).collect::<Result<_, _>>().unwrap();
    let at = entries.iter().position(|entry| {
        str::from_utf8(&entry.bytes).unwrap().contains("session/request_permission")
    });
    let answer = &entries[at.unwrap() + 1];
    assert_eq!(answer.direction, Direction::Sent);
    assert!(str::from_utf8(&answer.bytes).unwrap().contains(r#""optionId":"allow-once""#));
}

#[test]
fn rejected_command_does_not_reach_the_editor() {
    let (folder, path) =
        rules(&(rule("kind = 'read'", "ask") + &rule("command = 'rm *'", "reject")));
    let spans = folder.path().join("spans.jsonl");
    let [path, file] = [&path, &spans].map(|path| path.to_str().unwrap());
    let options = ["--otlp-endpoint", NO_COLLECTOR, "--file", file, "--permissions", path];
    let end = Proxy::with_options(&options, &["ask-terminal"]).wait();
    assert_eq!(String::from_utf8(end.stdout).unwrap(), "");
    assert!(end.stderr.contains("acp-traces: permission rule 2: reject terminal/create"));
    assert!(end.stderr.contains("permission rule 2 rejects this command"), "{}", end.stderr);
    let lines = lines(&spans);
    let asked = lines.iter().map(span).find(|span| span["name"] == "terminal/create").unwrap();
    let attributes = asked["attributes"].as_array().unwrap();
    let action = attributes.iter().find(|it| it["key"] == "acp.permission.rule.action").unwrap();
    assert_eq!(action["value"]["stringValue"], "reject");

    // A command that no rule rejects is one for the editor.
    let (_folder, path) = rules(&rule("command = 'rm *'", "ask"));
    let options = ["--otlp-endpoint", NO_COLLECTOR, "--permissions", path.to_str().unwrap()];
    let mut proxy = Proxy::with_options(&options, &["ask-terminal"]);
    assert!(proxy.read_line().contains("terminal/create"));
    proxy.write(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"terminalId\":\"t\"}}\n");
    let (end, _) = proxy.finish();
    assert!(end.stderr.contains("terminalId"), "{}", end.stderr);
}

#[test]
fn mistake_in_the_file_ends_the_program() {
    let (_folder, path) = rules("[[permission-rules]]\nkind = 'reed'\naction = 'allow'\n");
    let mut command = acp_traces(&["--permissions", path.to_str().unwrap()]);
    let ended = command.arg("--").arg(test_agent()).arg("demo").output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(
        said.contains("line 2, column 8: an unknown kind `reed`, expected one of read"),
        "{said}"
    );
    assert!(said.starts_with("acp-traces: --permissions: "), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Bytes that no rule decides pass unchanged, in both directions, for any chunks.
    #[test]
    fn other_bytes_are_unchanged(
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..5_000), 0..20),
    ) {
        let (_folder, path) = rules(&rule("", "reject"));
        let options = ["--otlp-endpoint", NO_COLLECTOR, "--permissions", path.to_str().unwrap()];
        let mut proxy = Proxy::with_options(&options, &["echo"]);
        let mut stdin = proxy.child.stdin.take().unwrap();
        let given = chunks.concat();
        let writer = thread::spawn(move || chunks.iter().try_for_each(|chunk| stdin.write_all(chunk)));
        let end = proxy.wait();
        writer.join().unwrap().unwrap();
        prop_assert!(end.stdout == given);
    }
}
