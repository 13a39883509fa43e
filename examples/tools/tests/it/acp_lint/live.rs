//! Live conversations.
use crate::acp_lint::transcripts::{acp_lint, stdout};
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs `agent` behind the linter with this input.
fn run(arguments: &[&str], agent: &[&str], input: &[u8]) -> Output {
    let mut command = acp_lint();
    command.args(arguments).arg("--").args(agent);
    feed(&mut command, input)
}

fn feed(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const ASK: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n";

#[test]
fn bytes_pass_unchanged_and_findings_go_to_standard_error() {
    // `cat` echoes its input, including invalid bytes and an unfinished line.
    let mut input = ASK.to_vec();
    input.extend_from_slice(b"\xff\xfe not text\r\n{\"unfinished\":");
    let output = run(&[], &["cat"], &input);
    assert_eq!(output.stdout, input);
    let stderr_text = stderr(&output);
    assert!(stderr_text.contains("error[json-syntax]: not UTF-8"), "{stderr_text}");
    assert!(stderr_text.contains("received: error[wrong-direction] at /method"), "{stderr_text}");
    assert!(stderr_text.contains("error[json-syntax]: not valid JSON"), "{stderr_text}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn findings_go_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("findings.jsonl");
    let path = path.to_str().unwrap();
    let answer =
        r#"read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1"}}'"#;
    let output = run(&["--format", "json", "--output", path], &["sh", "-c", answer], ASK);
    assert_eq!(
        stdout(&output),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"1\"}}\n"
    );
    assert_eq!(stderr(&output), "");
    let found = std::fs::read_to_string(path).unwrap();
    let found: Vec<serde_json::Value> =
        found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<_> = found.iter().map(|it| (it["rule"].as_str(), it["line"].as_u64())).collect();
    assert_eq!(found, [(Some("version-answer"), Some(2)), (Some("invalid-result"), Some(2))]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn agent_without_findings_keeps_its_status() {
    let answer =
        r#"read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'; exit 7"#;
    let output = run(&[], &["sh", "-c", answer], ASK);
    assert_eq!(stderr(&output), "0 errors, 0 warnings, 0 infos\n");
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn missing_command_has_its_own_status() {
    let output = run(&[], &["no-such-command-here"], b"");
    assert_eq!(output.status.code(), Some(127));
}
