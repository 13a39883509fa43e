//! Findings and exit status for transcripts.
use serde_json::Value;
use std::collections::BTreeSet;
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
line 4, received: warning[unknown-member] at /result/models: unknown member of `NewSessionResponse` (session/new)
line 4, received: error[current-value] at /result/configOptions/0/currentValue: `openai-compatible` is not one of options (session/new)
line 4, received: error[not-announced] at /result/configOptions/3: `boolean` needs `clientCapabilities.session.configOptions.boolean` (session/new)
line 7, received: warning[tool-call-unknown] at /params/update/toolCallId: `call_stub_002341` was not announced (session/update)
line 12, received: warning[tool-call-reopened] at /params/update/status: `call_stub_002341` had ended: each call needs an id of its own (session/update)
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
    assert_eq!(lines[1]["line"], 2);
    assert_eq!(lines[1]["spec"], spec);
    assert_eq!(output.status.code(), Some(0));
}

/// The status is that of all findings, as if the output had been read.
#[test]
fn closed_output_ends_quietly() {
    for format in ["human", "json", "sarif"] {
        let mut command = acp_lint();
        command.args(["--format", format, "-"]).stdin(Stdio::piped());
        let mut lint = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(lint.stdout.take());
        let mut input = lint.stdin.take().unwrap();
        let transcript = std::fs::read(recorded("cline-cancel-perm.jsonl")).unwrap();
        input.write_all(&transcript).unwrap();
        drop(input);
        let output = lint.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{format}");
        assert_eq!(output.status.code(), Some(1), "{format}");
    }
}

/// Returns the output of a run over two transcripts.
fn two(arguments: &[&str]) -> Output {
    let files = ["cline-cancel-perm.jsonl", "crow-cli-text.jsonl"].map(recorded);
    acp_lint().args(arguments).args(files).output().unwrap()
}

#[test]
fn each_file_is_a_connection_of_its_own() {
    let output = two(&[]);
    let text = stdout(&output);
    assert_eq!(
        text.lines().filter(|line| line.contains("cline-cancel-perm.jsonl: line ")).count(),
        5
    );
    assert!(text.contains("crow-cli-text.jsonl: line "), "{text}");
    assert!(!text.contains("initialize-again"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn severities_are_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lint.toml");
    let run = |text: &str, more: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let config = ["--config", file.to_str().unwrap()];
        let name = recorded("cline-cancel-perm.jsonl");
        acp_lint().args(config).args(more).arg(name).output().unwrap()
    };
    let rules = "[rules]\ncurrent-value = \"warning\"\nnot-announced = \"off\"\n";
    let output = run(rules, &[]);
    assert!(stdout(&output).ends_with("0 errors, 4 warnings, 0 infos\n"), "{}", stdout(&output));
    assert!(stdout(&output).contains("warning[current-value]"));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(run("[rules]\ntool-call-unknown = \"error\"\n", &[]).status.code(), Some(1));
    for wrong in
        ["[rules]\nno-such = \"off\"", "[rules]\nbatch = \"bad\"", "[rule]", "rules = 1", "="]
    {
        assert_eq!(run(wrong, &[]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn excerpts_are_shown_on_request() {
    let name = recorded("cline-cancel-perm.jsonl");
    let run = |arguments: &[&str]| stdout(&acp_lint().args(arguments).arg(&name).output().unwrap());
    assert!(run(&["--excerpts"]).contains("\n    \"openai-compatible\"\n"));
    assert!(!run(&[]).contains("\n    "));
    let json = run(&["--excerpts", "--format", "json"]);
    let second: Value = serde_json::from_str(json.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["excerpt"], "\"openai-compatible\"");
    assert_eq!(second["method"], "session/new");
    // A long value is truncated.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.jsonl");
    let params = serde_json::json!({ "cwd": "é".repeat(200), "mcpServers": [] });
    let message =
        serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params });
    let entry = serde_json::json!({ "time": 0, "direction": "sent", "text": message.to_string() });
    std::fs::write(&file, entry.to_string()).unwrap();
    let output = acp_lint().args(["--excerpts", "--format", "json"]).arg(&file).output().unwrap();
    let text = stdout(&output);
    let mut findings = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found = findings.find(|finding| finding["rule"] == "relative-path").unwrap();
    let excerpt = found["excerpt"].as_str().unwrap();
    assert!(excerpt.len() <= 163 && excerpt.ends_with('…'), "{excerpt}");
}

#[test]
fn sarif_has_rules_and_results() {
    let log: Value =
        serde_json::from_str(&stdout(&two(&["--format", "sarif", "--excerpts"]))).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), acp_types::lint::RULES.len());
    let results = run["results"].as_array().unwrap();
    let second = &results[1];
    assert_eq!(second["ruleId"], "current-value");
    assert_eq!(second["level"], "error");
    let place = &second["locations"][0];
    assert_eq!(place["physicalLocation"]["region"]["startLine"], 4);
    assert_eq!(place["physicalLocation"]["region"]["snippet"]["text"], "\"openai-compatible\"");
    let uri = place["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.ends_with("cline-cancel-perm.jsonl"), "{uri}");
    let pointer = &place["logicalLocations"][0]["fullyQualifiedName"];
    assert_eq!(pointer, "/result/configOptions/0/currentValue");
    assert!(results.iter().all(|result| rules.iter().any(|rule| rule["id"] == result["ruleId"])));
}

#[test]
fn junit_has_a_case_for_each_rule() {
    let output = two(&["--format", "junit"]);
    let xml = stdout(&output);
    assert!(
        xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\""),
        "{xml}"
    );
    assert!(xml.contains("cline-cancel-perm.jsonl\" tests=\"5\" failures=\"2\">"), "{xml}");
    assert_eq!(xml.matches("<failure ").count(), 2);
    assert!(xml.contains("name=\"current-value\"><failure message=\""), "{xml}");
    assert_eq!(xml.matches("<testsuite ").count(), 2);
    assert_eq!(output.status.code(), Some(1));
}

/// Each rule has one line, and the numbers are those of the findings that the other formats list.
#[test]
fn summary_has_a_line_for_each_rule() {
    let json = stdout(&two(&["--format", "json"]));
    let findings: Vec<Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = stdout(&two(&["--format", "summary"]));
    let (groups, total) = text.trim_end().rsplit_once('\n').unwrap();
    assert!(total.ends_with(" infos"), "{total}");
    let rules: BTreeSet<_> = findings.iter().map(|it| it["rule"].as_str().unwrap()).collect();
    assert_eq!(groups.lines().count(), rules.len());
    for rule in rules {
        let of_rule: Vec<_> = findings.iter().filter(|it| it["rule"] == rule).collect();
        let line = groups.lines().find(|line| line.contains(&format!("[{rule}]: "))).unwrap();
        let s = if of_rule.len() == 1 { "" } else { "s" };
        assert!(line.contains(&format!("]: {} finding{s} in ", of_rule.len())), "{line}");
        let first = format!("{}:{}: ", of_rule[0]["file"].as_str().unwrap(), of_rule[0]["line"]);
        assert!(line.contains(&first), "{line}");
    }
    assert!(groups.starts_with("error["), "the severest first: {groups}");
}

#[test]
fn github_findings_are_annotations() {
    let text = stdout(&two(&["--format", "github"]));
    let second = text.lines().nth(1).unwrap();
    assert!(second.starts_with("::error file="), "{second}");
    let end = "cline-cancel-perm.jsonl,line=4,title=current-value::`openai-compatible` is not one of options (session/new) at /result/configOptions/0/currentValue";
    assert!(second.ends_with(end), "{second}");
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
    let readme = include_str!("../../../docs/acp-lint.md");
    let output =
        acp_lint().current_dir(recorded("")).arg("gemini-cli-edit.jsonl").output().unwrap();
    assert!(readme.contains(&stdout(&output)), "{}", stdout(&output));
    let output = acp_lint()
        .args(["--format", "json"])
        .current_dir(recorded(""))
        .arg("fast-agent-cancel-tool.jsonl")
        .output()
        .unwrap();
    assert!(readme.contains(&stdout(&output)), "{}", stdout(&output));
}

/// The errors of recorded agents are those that the README judges, and no others.
#[test]
fn errors_of_recorded_agents_are_judged() {
    let readme = include_str!("../../../docs/acp-lint.md");
    let (_, table) = readme.split_once("## Recorded agents").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ")).filter_map(|line| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        Some((cells[1], cells[3].strip_prefix('`')?.strip_suffix('`')?))
    });
    let judged: Vec<_> = rows.collect();
    let agents: std::collections::BTreeSet<_> = judged.iter().map(|(agent, _)| *agent).collect();
    let mut found = std::collections::BTreeSet::new();
    let folder = recorded("");
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.ends_with(".jsonl") {
            continue;
        }
        let of_name = |agent: &&&str| name.starts_with(&format!("{agent}-"));
        let agent = agents.iter().filter(of_name).max_by_key(|agent| agent.len());
        let agent = *agent.unwrap_or(&"codex-acp");
        let output = acp_lint().args(["--format", "json"]).arg(&file).output().unwrap();
        for line in stdout(&output).lines() {
            let finding: Value = serde_json::from_str(line).unwrap();
            if finding["severity"] == "error" && finding["direction"] == "received" {
                let rule = finding["rule"].as_str().unwrap();
                assert!(judged.contains(&(agent, rule)), "{name}: {line}");
                found.insert((agent.to_owned(), rule.to_owned()));
            }
        }
    }
    assert_eq!(found.len(), 9, "{found:?}");
    let of_codex: Vec<_> = found.iter().filter(|(agent, _)| agent == "codex-acp").collect();
    assert_eq!(of_codex.len(), 1, "{of_codex:?}");
}
