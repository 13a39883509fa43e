//! Findings and exit status for transcripts.
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) fn acp_lint() -> Command {
    Command::new(env!("CARGO_BIN_EXE_acp-lint"))
}

/// Returns the path of a recorded conversation.
pub(crate) fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../acp-types/tests/fixtures/transcripts")
        .join(name)
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn human_findings_are_lines() {
    let output = acp_lint().arg(recorded("cline-cancel-perm.jsonl")).output().unwrap();
    let expected = "\
line 4, received: warning[unknown-member] at /result/models: unknown member of `NewSessionResponse`
line 4, received: error[current-value] at /result/configOptions/0/currentValue: `openai-compatible` is not one of options
line 4, received: error[not-announced] at /result/configOptions/3: `boolean` needs `clientCapabilities.session.configOptions.boolean`
line 7, received: warning[tool-call-unknown] at /params/update/toolCallId: `call_stub_002341` was not announced
line 12, received: warning[tool-call-reopened] at /params/update/status: `call_stub_002341` had ended
2 errors, 3 warnings, 0 infos
";
    assert_eq!(stdout(&output), expected);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn json_findings_are_objects() {
    let command = ["--format", "json", "--fail-on", "never"];
    let output =
        acp_lint().args(command).arg(recorded("elizacp-v2-cancel.jsonl")).output().unwrap();
    let lines: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1]["rule"], "version-shape");
    assert_eq!(lines[1]["severity"], "error");
    assert_eq!(lines[1]["direction"], "received");
    assert_eq!(lines[1]["pointer"], "/result/protocolVersion");
    let spec = "https://agentclientprotocol.com/protocol/v1/initialization";
    assert_eq!((&lines[1]["line"], &lines[1]["spec"]), (&2.into(), &spec.into()));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn exit_status_depends_on_the_severity() {
    let status = |arguments: &[&str], name: &str| {
        let status = acp_lint().args(arguments).arg(recorded(name)).output().unwrap().status;
        status.code().unwrap()
    };
    assert_eq!(status(&[], "opencode-write.jsonl"), 0);
    assert_eq!(status(&[], "crow-cli-text.jsonl"), 0);
    assert_eq!(status(&["--fail-on", "warning"], "crow-cli-text.jsonl"), 1);
    let allowed = ["--fail-on", "info", "--allow", "update-early"];
    assert_eq!(status(&allowed, "crow-cli-text.jsonl"), 0);
    assert_eq!(status(&[], "no-such-file.jsonl"), 2);
    assert_eq!(status(&["--allow", "no-such-rule"], "opencode-write.jsonl"), 2);
}

#[test]
fn transcript_is_read_from_standard_input() {
    let mut child = acp_lint()
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let entry = r#"{"time":0,"direction":"received","text":"oops"}"#;
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("\n{entry}\nnot an entry\n").as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let expected =
        "line 2, received: error[json-syntax]: not valid JSON\n1 errors, 0 warnings, 0 infos\n";
    assert_eq!(stdout(&output), expected);
    let stderr_text = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr_text.starts_with("acp-lint: line 3 is not a transcript entry: "),
        "{stderr_text}"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn conductor_traces_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.jsons");
    let event = |from: &str, to: &str| {
        format!(
            r#"{{"type":"request","ts":0.5,"protocol":"acp","from":"{from}","to":"{to}","id":"7f","method":"session/new","params":{{"cwd":"/p","mcpServers":[]}}}}"#
        )
    };
    std::fs::write(
        &trace,
        format!("{}\n{}\n", event("Client", "Proxy(0)"), event("Proxy(0)", "Agent")),
    )
    .unwrap();
    let output = acp_lint().args(["--components", "Proxy(0),Agent"]).arg(&trace).output().unwrap();
    assert!(stdout(&output).starts_with("line 2, sent: error[not-initialized] at /method: "));
    let output = acp_lint().arg(&trace).output().unwrap();
    assert_eq!(stdout(&output), "0 errors, 0 warnings, 0 infos\n");
}

#[test]
fn rules_are_listed() {
    let output = acp_lint().arg("--rules").output().unwrap();
    assert_eq!(stdout(&output).lines().count(), acp_types::lint::RULES.len());
    assert!(
        stdout(&output).starts_with("json-syntax              error    a line that is not JSON\n")
    );
}

/// The output in the README is that of the program.
#[test]
fn readme_shows_the_output() {
    let readme = include_str!("../../README.md");
    let output = acp_lint().arg(recorded("gemini-cli-edit.jsonl")).output().unwrap();
    assert!(readme.contains(&stdout(&output)), "{}", stdout(&output));
    let output = acp_lint()
        .args(["--format", "json"])
        .arg(recorded("fast-agent-cancel-tool.jsonl"))
        .output()
        .unwrap();
    assert!(readme.contains(&stdout(&output)), "{}", stdout(&output));
}
