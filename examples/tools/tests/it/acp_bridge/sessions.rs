//! Sessions with scripted agents.
use serde_json::{Value, json};
use std::env;
use std::env::consts::EXE_SUFFIX;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Returns the agents of `examples/scripted-agent.rs`, which are built with the tests.
pub(crate) fn scripted_agent() -> PathBuf {
    let tests = env::current_exe().unwrap();
    let folder = tests.parent().and_then(|deps| deps.parent()).unwrap();
    let agent = folder.join("examples").join(format!("scripted-agent{EXE_SUFFIX}"));
    assert!(agent.exists(), "{} is built by `cargo test -p acp-bridge`", agent.display());
    agent
}

/// A running bridge with its agent.
pub(crate) struct Bridge {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

/// The rest of the output, standard error and the exit status.
type End = (Vec<u8>, String, Option<i32>);

impl Bridge {
    fn start(options: &[&str], agent: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_acp-bridge"));
        command.args(options).arg("--").arg(scripted_agent()).arg(agent);
        Self::spawn(command)
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        Self { child, stdin, stdout: BufReader::new(stdout) }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, line: &Value) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Reads lines up to one that `is_last`.
    pub(crate) fn read(&mut self, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            self.stdout.read_line(&mut line).unwrap();
            assert!(!line.is_empty(), "the output ended after {lines:?}");
            lines.push(serde_json::from_str(&line).unwrap());
            if lines.last().is_some_and(&is_last) {
                return lines;
            }
        }
    }

    pub(crate) fn response(&mut self, id: &Value) -> Value {
        let lines = self.read(|line| line["id"] == *id && line.get("method").is_none());
        lines.into_iter().next_back().unwrap()
    }

    pub(crate) fn end(mut self) -> End {
        drop(self.stdin.take());
        let mut rest = Vec::new();
        let mut errors = String::new();
        self.stdout.read_to_end(&mut rest).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (rest, errors, self.child.wait().unwrap().code())
    }
}

fn initialize(version: u16) -> Value {
    let mut params = json!({"protocolVersion": version});
    if version == 2 {
        params["info"] = json!({"name": "e", "version": "1"});
    }
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

fn open(bridge: &mut Bridge, version: u16) -> Value {
    bridge.send(&initialize(version));
    let initialized = bridge.response(&json!(0));
    bridge.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}));
    assert_eq!(bridge.response(&json!(1))["result"]["sessionId"], "s");
    bridge.send(&json!({"jsonrpc": "2.0", "id": "p", "method": "session/prompt", "params": {
        "sessionId": "s", "prompt": [{"type": "text", "text": "Go"}],
    }}));
    initialized
}

fn allow(bridge: &mut Bridge) -> Vec<Value> {
    let lines = bridge.read(|line| line["method"] == "session/request_permission");
    bridge.send(&json!({"jsonrpc": "2.0", "id": 70, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}}));
    lines
}

#[test]
fn editor_of_version_1_has_a_turn_with_an_agent_of_version_2() {
    let mut bridge = Bridge::start(&["--editor", "1", "--agent", "2"], "v2");
    let initialized = open(&mut bridge, 1);
    assert_eq!(initialized["result"]["agentInfo"]["name"], "two");
    let before = allow(&mut bridge);
    let after = bridge.read(|line| line["id"] == "p");
    let updates = before.iter().chain(&after).filter(|line| line["method"] == "session/update");
    let kinds: Vec<_> =
        updates.map(|line| line["params"]["update"]["sessionUpdate"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_call", "tool_call_update", "tool_call_update", "agent_message_chunk"]);
    let output = &after[0]["params"]["update"]["content"][0]["content"]["text"];
    assert_eq!(output, "```console\n$ ls\nf\n```");
    assert_eq!(after.last().unwrap()["result"], json!({"stopReason": "end_turn"}));
    let (_, errors, status) = bridge.end();
    assert!(
        errors.starts_with("acp-bridge: the editor speaks version 1, the agent version 2\n"),
        "{errors}"
    );
    assert_eq!(errors.matches("lost terminal").count(), 1, "{errors}");
    assert_eq!(status, Some(0));
}

#[test]
fn editor_of_version_2_has_a_turn_with_an_agent_of_version_1() {
    for offered in ["1", "2"] {
        let mut bridge = Bridge::start(&["--agent", offered, "--verbose"], "v1");
        let initialized = open(&mut bridge, 2);
        assert_eq!(initialized["result"]["protocolVersion"], 2);
        let before = allow(&mut bridge);
        let diff = before.iter().find(|line| {
            line["params"]["update"].get("content").is_some_and(|it| it[0]["type"] == "diff")
        });
        let patch = &diff.unwrap()["params"]["update"]["content"][0]["patch"]["text"];
        assert!(patch.as_str().unwrap().ends_with("@@ -1,1 +1,1 @@\n-a\n+b\n"), "{patch}");
        let after = bridge.read(|line| line["params"]["update"]["state"] == "idle");
        assert_eq!(after.last().unwrap()["params"]["update"]["stopReason"], "end_turn");
        let (_, errors, _) = bridge.end();
        assert!(errors.contains("the agent version 1 (it names 2)"), "{errors}");
        assert!(errors.contains("lost message-id: bridge-"), "{errors}");
    }
}

#[test]
fn bytes_of_the_same_version_pass_unchanged() {
    let mut bridge = Bridge::start(&["--editor", "1", "--agent", "1"], "bytes");
    let first = b" {\"method\":\"initialize\", \"id\":0,\"jsonrpc\":\"2.0\",\"params\":{\"protocolVersion\":1}}\r\n";
    let rest = b"\r\n\xff\xfe not text\n{\"unfinished\":";
    bridge.write(first);
    // The response precedes the rest, so that the rest passes as bytes.
    let mut response = Vec::new();
    bridge.stdout.read_until(b'\n', &mut response).unwrap();
    bridge.write(rest);
    let (output, errors, status) = bridge.end();
    assert_eq!(
        response,
        b"{ \"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1} }\r\n"
    );
    assert_eq!(output, [&first[..], rest].concat());
    assert_eq!(&*errors, "acp-bridge: the editor speaks version 1, the agent version 1\n");
    assert_eq!(status, Some(0));
}

#[test]
fn agent_without_a_common_version_is_an_error() {
    let mut bridge = Bridge::start(&[], "v3");
    bridge.send(&initialize(1));
    let error = &bridge.response(&json!(0))["error"];
    let expected = "no common version of the protocol: version 2 was offered, and the agent answered version 3. Versions 1 and 2 are supported: use a release of the agent that speaks one of them.";
    assert_eq!(error["message"], expected);
    let (_, errors, status) = bridge.end();
    assert_eq!(errors, format!("acp-bridge: {expected}\n"));
    assert_eq!(status, Some(1));
}

/// An agent that ignores the end of its input is terminated after the grace.
#[test]
fn agent_that_stays_is_terminated() {
    let (_, _, status) = Bridge::start(&["--grace", "0.1"], "stay").end();
    assert!(status.is_some_and(|status| status > 128), "{status:?}");
}

#[test]
fn status_of_the_agent_is_kept() {
    assert_eq!(Bridge::start(&[], "exit").end().2, Some(7));
    let mut command = Command::new(env!("CARGO_BIN_EXE_acp-bridge"));
    command.args(["--", "no-such-command-here"]);
    let (_, errors, status) = Bridge::spawn(command).end();
    assert!(errors.contains("no-such-command-here"), "{errors}");
    assert_eq!(status, Some(127));
}
