//! Rules, applied to the lines of a connection.

mod answers;
mod commands;
mod files;
mod order;
mod paths;
mod terminals;

use host::permissions::{Action, Decision, Files, Rule, Rules, Watcher};
use jsonrpc_core::peek;
use jsonrpc_core::transcript::Direction;
use serde_json::{Value, json};
use std::path::Path;

/// Reads rules of a file of settings.
fn rules(text: &str) -> Vec<Rule> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Settings {
        permission_rules: Vec<Rule>,
    }
    toml::from_str::<Settings>(text).unwrap().permission_rules
}

fn rule(text: &str) -> Rule {
    toml::from_str(text).unwrap()
}

/// A connection with the session `s`.
struct Connection(Watcher);

impl Connection {
    fn new(rules: &[Rule], cwd: &Path) -> Self {
        Self::with_files(rules, cwd, Files::Local)
    }

    fn with_files(rules: &[Rule], cwd: &Path, files: Files) -> Self {
        let mut connection = Self(Watcher::new(Rules::new(rules, "gemini", files)));
        let request = json!({"cwd": cwd, "mcpServers": []});
        connection
            .send(&json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": request}));
        connection.receive(&json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}));
        connection
    }

    fn send(&mut self, line: &Value) {
        let text = line.to_string();
        assert_eq!(self.0.handle_line(Direction::Sent, &peek(text.as_bytes()).unwrap()), None);
    }

    fn receive(&mut self, line: &Value) -> Option<Decision> {
        self.receive_text(&line.to_string())
    }

    fn receive_text(&mut self, line: &str) -> Option<Decision> {
        self.0.handle_line(Direction::Received, &peek(line.as_bytes()).unwrap())
    }

    fn update(&mut self, update: &Value) {
        let params = json!({"sessionId": "s", "update": update});
        let line = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
        assert_eq!(self.receive(&line), None);
    }

    /// Requests permission for a call.
    fn ask(&mut self, call: &Value) -> Option<Decision> {
        self.receive(&asked(call))
    }
}

fn asked(call: &Value) -> Value {
    let mut call = call.clone();
    call["toolCallId"] = json!("c");
    let options = ["allow_once", "allow_always", "reject_once", "reject_always"];
    let options = options.map(|kind| json!({"optionId": kind, "name": kind, "kind": kind}));
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": params})
}

/// Returns the action for a call, in the folder of the tests.
fn action(rules: &[Rule], call: &Value) -> Option<Action> {
    let cwd = Path::new(env!("CARGO_MANIFEST_DIR"));
    Connection::new(rules, cwd).ask(call).map(|decision| decision.action())
}
