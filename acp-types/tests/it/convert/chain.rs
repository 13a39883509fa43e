//! An editor and an agent of one version, with two bridges and the other version between them.
use crate::lint::linter;
use acp_types::convert::{Bridge, BridgeDiagnostic, BridgeLoss, BridgeOptions, Output};
use acp_types::lint::{Finding, Linter, Severity};
use acp_types::v1::initialization::ProtocolVersion;
use jsonrpc_core::transcript::Direction;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// A session other than that of the prompts. Its updates are no part of the state of that one.
pub(crate) const OTHER: &str = "other";

/// A version 2 editor, a version 1 link and a version 2 agent; or the reverse.
pub(crate) struct Chain {
    near: Bridge,
    far: Bridge,
    /// Findings of the editor's side, of the link, and of the agent's side.
    linters: [Linter; 3],
    /// Lines for the editor, in order.
    pub(crate) to_editor: Vec<Value>,
    /// Lines for the agent that were not taken.
    pub(crate) to_agent: VecDeque<Value>,
    pub(crate) diagnostics: Vec<BridgeDiagnostic>,
}

/// A line and the side that receives it: 0 the agent's end of the near bridge, 1 the editor's end
/// of the far one.
enum LineInTransit {
    ToLinkAgent(String),
    ToLinkEditor(String),
}

impl Chain {
    /// Creates a chain with ends of a version and a link of the other one.
    pub(crate) fn new(ends: ProtocolVersion) -> Self {
        let link =
            if ends == ProtocolVersion::V1 { ProtocolVersion::V2 } else { ProtocolVersion::V1 };
        let options = BridgeOptions::default();
        Self {
            near: Bridge::new(options.with_editor(ends).with_agent(link)),
            far: Bridge::new(options.with_editor(link).with_agent(ends)),
            linters: [linter(), linter(), linter()],
            to_editor: Vec::new(),
            to_agent: VecDeque::new(),
            diagnostics: Vec::new(),
        }
    }

    pub(crate) fn editor(&mut self, line: &Value) {
        let line = line.to_string();
        self.linters[0].handle_line(Direction::Sent, line.as_bytes());
        self.near.handle_editor_line(&line);
        self.pump();
    }

    pub(crate) fn agent(&mut self, line: &Value) {
        let line = line.to_string();
        self.linters[2].handle_line(Direction::Received, line.as_bytes());
        self.far.handle_agent_line(&line);
        self.pump();
    }

    fn pump(&mut self) {
        let mut passing = VecDeque::new();
        loop {
            while let Some(output) = self.near.poll_output() {
                match output {
                    Output::ToEditor(line) => {
                        self.linters[0].handle_line(Direction::Received, line.as_bytes());
                        self.to_editor.push(serde_json::from_str(&line).unwrap());
                    }
                    Output::ToAgent(line) => passing.push_back(LineInTransit::ToLinkAgent(line)),
                    Output::Diagnostic(diagnostic) => self.diagnostics.push(diagnostic),
                    _ => panic!("unknown output"),
                }
            }
            while let Some(output) = self.far.poll_output() {
                match output {
                    Output::ToAgent(line) => {
                        self.linters[2].handle_line(Direction::Sent, line.as_bytes());
                        self.to_agent.push_back(serde_json::from_str(&line).unwrap());
                    }
                    Output::ToEditor(line) => passing.push_back(LineInTransit::ToLinkEditor(line)),
                    Output::Diagnostic(diagnostic) => self.diagnostics.push(diagnostic),
                    _ => panic!("unknown output"),
                }
            }
            match passing.pop_front() {
                None => return,
                Some(LineInTransit::ToLinkAgent(line)) => {
                    self.linters[1].handle_line(Direction::Sent, line.as_bytes());
                    self.far.handle_editor_line(&line);
                }
                Some(LineInTransit::ToLinkEditor(line)) => {
                    self.linters[1].handle_line(Direction::Received, line.as_bytes());
                    self.near.handle_agent_line(&line);
                }
            }
        }
    }

    /// Returns the violations at the editor's side, on the link and at the agent's side.
    pub(crate) fn errors(&mut self) -> [Vec<Finding>; 3] {
        let mut found = self.problems();
        found.each_mut().map(|found| {
            found.retain(|finding| finding.rule.severity == Severity::Error);
            core::mem::take(found)
        })
    }

    /// Returns the findings other than notes at the editor's side, on the link and at the agent's
    /// side.
    pub(crate) fn problems(&mut self) -> [Vec<Finding>; 3] {
        self.linters.each_mut().map(|linter| {
            linter.finish();
            assert_eq!(linter.missed(), 0);
            std::iter::from_fn(|| linter.poll_finding())
                .filter(|finding| finding.rule.severity != Severity::Info)
                .collect()
        })
    }

    /// Returns the numbers of findings of a rule at the editor's side, on the link and at the
    /// agent's side.
    pub(crate) fn findings(&mut self, rule: &str) -> [usize; 3] {
        self.linters.each_mut().map(|linter| {
            let findings = std::iter::from_fn(|| linter.poll_finding());
            findings.filter(|finding| finding.rule.code == rule).count()
        })
    }

    /// Returns whether something of this kind was lost.
    pub(crate) fn has_lost(&self, loss: BridgeLoss) -> bool {
        self.lost(loss).next().is_some()
    }

    /// Returns the names of what was lost.
    pub(crate) fn lost(&self, loss: BridgeLoss) -> impl Iterator<Item = &str> {
        self.diagnostics.iter().filter_map(move |diagnostic| match diagnostic {
            BridgeDiagnostic::Lost(lost, detail) if *lost == loss => Some(&**detail),
            _ => None,
        })
    }

    /// Returns the updates that the editor received.
    pub(crate) fn updates(&self) -> Vec<Value> {
        updates_of(&self.to_editor)
    }

    /// Returns whether the editor received an update with this number in `_meta` of the
    /// notification.
    pub(crate) fn has_number(&self, number: u64) -> bool {
        self.to_editor.iter().any(|line| line["params"]["_meta"]["n"] == number)
    }

    /// Returns the responses to a request of the editor.
    pub(crate) fn responses(&self, id: &Value) -> Vec<&Value> {
        let responses = self.to_editor.iter().filter(|line| line.get("method").is_none());
        responses.filter(|line| line["id"] == *id).collect()
    }
}

/// Returns the findings on a side of a bridge that are not on the side of the agent as well. An
/// agent that is offered version 2 gets the members of version 1 too, and a session of version 1
/// has no state between the turns of prompts.
pub(crate) fn new_problems<'a>(found: &'a [Finding], agent: &[Finding]) -> Vec<&'a Finding> {
    let is_of_agent = |finding: &&Finding| {
        let code = finding.rule.code;
        // The editor has a number behind the id of a call that the agent has used before.
        let message = without_numbers(&finding.message);
        let is_equal = |it: &Finding| it.rule.code == code && it.message == message;
        let is_of_offer =
            code == "unknown-member" && finding.method.as_deref() == Some("initialize");
        !is_of_offer && code != "update-late" && !agent.iter().any(is_equal)
    };
    found.iter().filter(is_of_agent).collect()
}

fn without_numbers(message: &str) -> String {
    let mut parts = message.split('~');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Returns the updates of an agent's lines, with those of tool calls in requests for permission.
pub(crate) fn updates_of(lines: &[Value]) -> Vec<Value> {
    let updates = lines.iter().filter_map(|line| match line["method"].as_str() {
        Some("session/update") if line["params"]["sessionId"] != OTHER => {
            Some(line["params"]["update"].clone())
        }
        Some("session/request_permission") => {
            let mut call = line.pointer("/params/subject/toolCall")?.clone();
            call["sessionUpdate"] = json!("tool_call_update");
            Some(call)
        }
        _ => None,
    });
    updates.collect()
}

/// Initializes a chain of version 2 and opens the session `s`.
pub(crate) fn opened_v2() -> Chain {
    let mut chain = Chain::new(ProtocolVersion::V2);
    let info = json!({"name": "n", "version": "1"});
    chain.editor(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
        "protocolVersion": 2, "info": info, "capabilities": {"elicitation": {"form": {}, "url": {}}, "auth": {"terminal": {}}},
    }}));
    let session = json!({
        "prompt": {"image": {}, "embeddedContext": {}}, "mcp": {"stdio": {}, "http": {}}, "delete": {},
        "additionalDirectories": {}, "fork": {},
    });
    chain.agent(&json!({"jsonrpc": "2.0", "id": "i", "result": {
        "protocolVersion": 2, "info": info, "capabilities": {"session": session, "providers": {}},
        "authMethods": [{"type": "agent", "methodId": "m", "name": "M"}],
    }}));
    chain.editor(&json!({"jsonrpc": "2.0", "id": "n", "method": "session/new", "params": {
        "cwd": "/w", "mcpServers": [{"type": "stdio", "name": "a", "command": "/bin/a", "args": ["x"], "env": []}],
    }}));
    let option = json!({
        "configId": "style", "name": "Style", "category": "mode", "type": "select", "currentValue": "a",
        "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
    });
    let switch =
        json!({"configId": "fast", "name": "Fast", "type": "boolean", "currentValue": true});
    chain.agent(&json!({"jsonrpc": "2.0", "id": "n", "result": {
        "sessionId": "s", "configOptions": [option, switch],
        "availableCommands": [{"type": "command", "name": "go", "description": "Goes.", "input": {"type": "text", "hint": "where"}}],
    }}));
    chain.to_agent.clear();
    chain
}

/// Initializes a chain of version 1 and opens the session `s`.
pub(crate) fn opened_v1() -> Chain {
    let mut chain = Chain::new(ProtocolVersion::V1);
    let info = json!({"name": "n", "version": "1"});
    chain.editor(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
        "protocolVersion": 1, "clientInfo": info, "clientCapabilities": {},
    }}));
    chain.agent(&json!({"jsonrpc": "2.0", "id": "i", "result": {
        "protocolVersion": 1, "agentInfo": info, "agentCapabilities": {"loadSession": true},
    }}));
    chain.editor(&json!({"jsonrpc": "2.0", "id": "n", "method": "session/new", "params": {
        "cwd": "/w", "mcpServers": [{"name": "a", "command": "/bin/a", "args": ["x"], "env": []}],
    }}));
    chain.agent(&json!({"jsonrpc": "2.0", "id": "n", "result": {"sessionId": "s", "modes": {
        "currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}],
    }}}));
    chain.to_agent.clear();
    chain
}
