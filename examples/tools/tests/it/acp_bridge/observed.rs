//! Sessions of the demo agent, observed by the tracker and the linter on both sides of the bridge.
use crate::acp_bridge::sessions::{Bridge, scripted_agent};
use acp_types::lint::{Linter, Severity};
use acp_types::session_state::STATE_META;
use jsonrpc_core::transcript::Direction as Sender;
use semconv_map::span::SpanKind;
use semconv_map::{Direction, Policy, Record, Tracker};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// Words of the demo agent, with permissions, plans, diffs and terminals.
const WORDS: [&str; 8] =
    ["tour", "permission", "pieces", "rewrite", "delegate", "compact", "error", "usage"];

/// An observer of the lines of one side.
struct Observer {
    tracker: Tracker,
    linter: Linter,
    lines: u64,
}

impl Observer {
    fn new() -> Self {
        let linter = Linter::default();
        Self { tracker: Tracker::new(Policy::default()), linter, lines: 0 }
    }

    fn line(&mut self, is_sent: bool, line: &str) {
        self.lines += 1;
        let directions = (Direction::Sent, Sender::Sent);
        let directions = if is_sent { directions } else { (Direction::Received, Sender::Received) };
        self.tracker.handle_line(directions.0, Duration::from_millis(self.lines), line.as_bytes());
        self.linter.handle_line(directions.1, line.as_bytes());
    }

    /// Returns the numbers of begun and ended turns, and the findings other than notes.
    fn finish(mut self) -> (usize, usize, Vec<String>) {
        let mut turns = Vec::new();
        let mut ended = 0;
        while let Some(record) = self.tracker.poll() {
            match record {
                Record::Start(start)
                    if start.kind == SpanKind::Client && start.name.starts_with("invoke_agent") =>
                {
                    turns.push(start.span);
                }
                Record::End(end) if turns.contains(&end.span) => ended += 1,
                _ => {}
            }
        }
        self.linter.finish();
        let findings = std::iter::from_fn(|| self.linter.poll_finding());
        let findings = findings.filter(|finding| finding.rule.severity != Severity::Info);
        (
            turns.len(),
            ended,
            findings.map(|finding| format!("{}: {finding:?}", finding.rule.code)).collect(),
        )
    }
}

/// An editor of a version, with the session of a demo agent.
struct Editor {
    bridge: Bridge,
    observer: Observer,
    version: u16,
    session: Value,
    ids: u64,
}

impl Editor {
    fn send(&mut self, line: &Value) {
        self.observer.line(true, &line.to_string());
        self.bridge.send(line);
    }

    /// Reads up to a line that `is_last`. Grants permissions.
    fn read(&mut self, is_last: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.bridge.read(|_| true).remove(0);
            self.observer.line(false, &line.to_string());
            if line["method"] == "session/request_permission" {
                let option = &line["params"]["options"][0]["optionId"];
                let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
                self.send(&json!({"jsonrpc": "2.0", "id": line["id"], "result": outcome}));
            } else if is_last(&line) {
                return line;
            }
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.ids += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}));
        self.ids
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.read(|line| line["id"] == id && line.get("method").is_none())
    }

    fn prompt(&mut self, word: &str) {
        let prompt = json!([{"type": "text", "text": word}]);
        let params = json!({"sessionId": self.session, "prompt": prompt});
        if self.version == 1 {
            self.call("session/prompt", &params);
        } else {
            self.request("session/prompt", &params);
            self.idle();
        }
    }

    /// Reads up to the end of a turn in version 2, or of one without a prompt.
    fn idle(&mut self) {
        let carried = format!("/params/update/_meta/{}/state", STATE_META.replace('/', "~1"));
        self.read(|line| {
            let state = line.pointer("/params/update/state").or_else(|| line.pointer(&carried));
            state.is_some_and(|state| state == "idle")
        });
    }
}

/// Runs turns, the last of which has one without a prompt after it. Returns the number of turns
/// with a prompt, and the observations of the editor's and the agent's side.
fn observed(editor: u16, agent: u16) -> (usize, [(usize, usize, Vec<String>); 2]) {
    let name = format!("acp-bridge-{}-{editor}-{agent}", std::process::id());
    let file = std::env::temp_dir().join(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_acp-bridge"));
    command.env(demo_agent::PAUSE_VARIABLE, "0");
    command.args(["--editor", &editor.to_string(), "--agent", &agent.to_string(), "--"]);
    command.arg(scripted_agent()).arg("recorded-demo").arg(&file);
    let bridge = Bridge::spawn(command);
    let observer = Observer::new();
    let session = Value::Null;
    let mut side = Editor { bridge, observer, version: editor, session, ids: 0 };
    let info = json!({"name": "e", "version": "1"});
    let initialize = match editor {
        1 => json!({"protocolVersion": 1, "clientInfo": info, "clientCapabilities": {}}),
        _ => json!({"protocolVersion": 2, "info": info}),
    };
    side.call("initialize", &initialize);
    let opened = side.call("session/new", &json!({"cwd": "/", "mcpServers": []}));
    side.session = opened["result"]["sessionId"].clone();
    for word in WORDS {
        side.prompt(word);
    }
    side.prompt("later");
    side.idle();
    let Editor { bridge, observer, .. } = side;
    bridge.end();
    let mut far = Observer::new();
    let lines = std::fs::read_to_string(&file).unwrap();
    for line in lines.lines() {
        far.line(line.starts_with('>'), &line[1..]);
    }
    std::fs::remove_file(file).unwrap();
    (WORDS.len() + 1, [observer.finish(), far.finish()])
}

/// Each turn is a span on both sides, also that without a prompt. The only findings are the members
/// of version 1 in the offer of version 2, for agents that fall back.
#[test]
fn turns_of_a_version_2_agent_are_spans_on_both_sides() {
    let (prompts, [near, mut far]) = observed(1, 2);
    assert_eq!(near, (prompts + 1, prompts + 1, vec![]));
    let is_of_offer = |finding: &String| {
        finding.starts_with("unknown-member") && finding.contains("`InitializeRequest`")
    };
    let before = far.2.len();
    far.2.retain(|finding| !is_of_offer(finding));
    assert_eq!(before - far.2.len(), 2);
    assert_eq!(far, (prompts + 1, prompts + 1, vec![]));
}

/// An agent of version 1 does not report its turn without a prompt: the editor's side has a span of
/// it.
#[test]
fn turns_of_a_version_1_agent_are_spans_of_the_editor_of_version_2() {
    let (prompts, [near, far]) = observed(2, 1);
    assert_eq!(near, (prompts + 1, prompts + 1, vec![]));
    assert_eq!(far.0, prompts);
    assert_eq!(far.1, prompts);
    assert!(
        !far.2.is_empty() && far.2.iter().all(|finding| finding.starts_with("update-late")),
        "{:?}",
        far.2
    );
}
