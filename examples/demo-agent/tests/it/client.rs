//! A client for tests: the agent as a child process, with its lines read by a thread.

use acp_types::v1::content::ContentBlock;
use acp_types::v1::dispatch::{AgentNotification, AgentRequest};
use acp_types::v1::prompt_turn::{PromptResponse, SessionUpdate};
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorObject, Message};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Time limit for an expected line.
const PATIENCE: Duration = Duration::from_secs(20);

/// The agent, initialized.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    last_id: i64,
}

/// The result of a prompt.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) updates: Vec<SessionUpdate>,
    pub(crate) requests: Vec<AgentRequest>,
    /// Lines that are not messages.
    pub(crate) noise: Vec<String>,
    pub(crate) outcome: Result<PromptResponse, ErrorObject>,
}

impl Client {
    /// Starts the agent without pauses, and initializes it.
    pub(crate) fn start(capabilities: Value) -> Self {
        let mut client = Self::spawn();
        let params = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
        client.call("initialize", &params).unwrap();
        client
    }

    /// Starts the agent without pauses.
    pub(crate) fn spawn() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_demo-agent"))
            .env(demo_agent::PAUSE_VARIABLE, "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (read, lines) = channel();
        thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| read.send(line))
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, last_id: 0 }
    }

    /// Starts the agent for a client without capabilities, with one session.
    pub(crate) fn with_session() -> (Self, String) {
        let mut client = Self::start(json!({}));
        let session = client.new_session();
        (client, session)
    }

    /// Opens a session, and reads its commands.
    pub(crate) fn new_session(&mut self) -> String {
        let result =
            self.call("session/new", &json!({ "cwd": "/project", "mcpServers": [] })).unwrap();
        let result: Value = result.decode().unwrap();
        assert!(matches!(self.update().1, SessionUpdate::AvailableCommandsUpdate(_)));
        result["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    /// Sends a request, and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        let method = Value::from(method);
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Returns the next line.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the agent says nothing more")
    }

    /// Returns the next line as an update.
    pub(crate) fn update(&self) -> (String, SessionUpdate) {
        let line = self.line();
        let Ok(Message::Notification(notification)) = Message::decode(&line) else {
            panic!("not a notification: {line}")
        };
        match AgentNotification::decode(&notification.method, notification.params).unwrap() {
            AgentNotification::SessionNotification(it) => (it.session_id.to_string(), it.update),
            other => panic!("not an update: {other:?}"),
        }
    }

    /// Returns the next line as the response to this request.
    pub(crate) fn answer(&self, id: i64) -> Result<Raw, ErrorObject> {
        let line = self.line();
        let Ok(Message::Response(response)) = Message::decode(&line) else {
            panic!("not a response: {line}")
        };
        assert_eq!(response.id, id.into(), "{line}");
        response.outcome.map(Raw::from)
    }

    /// Sends a request with the response on the next line.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Result<Raw, ErrorObject> {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Sends a prompt, and returns its id.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> i64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request("session/prompt", &json!({ "sessionId": session, "prompt": prompt }))
    }

    /// Sends a prompt and reads its turn to the end; `reply` answers the agent's requests.
    pub(crate) fn turn(
        &mut self,
        session: &str,
        text: &str,
        reply: impl Fn(&AgentRequest) -> Value,
    ) -> Turn {
        let prompt = self.prompt(session, text);
        let mut updates = Vec::new();
        let mut requests = Vec::new();
        let mut noise = Vec::new();
        loop {
            let line = self.line();
            match Message::decode(&line) {
                Ok(Message::Notification(it)) => {
                    match AgentNotification::decode(&it.method, it.params) {
                        Ok(AgentNotification::SessionNotification(it)) => {
                            assert_eq!(it.session_id.as_str(), session);
                            updates.push(it.update);
                        }
                        other => panic!("not an update: {other:?}"),
                    }
                }
                Ok(Message::Request(it)) => {
                    let request = AgentRequest::decode(&it.method, it.params).unwrap();
                    let id = &it.id;
                    let result = reply(&request);
                    self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
                    requests.push(request);
                }
                Ok(Message::Response(it)) => {
                    assert_eq!(it.id, prompt.into());
                    let outcome = it.outcome.map(|result| Raw::from(result).decode().unwrap());
                    return Turn { updates, requests, noise, outcome };
                }
                Err(_) => noise.push(line),
            }
        }
    }

    /// Reads updates up to the response to this prompt.
    pub(crate) fn rest_of_turn(&self, prompt: i64) -> (Vec<SessionUpdate>, PromptResponse) {
        let mut updates = Vec::new();
        loop {
            let line = self.line();
            match Message::decode(&line) {
                Ok(Message::Notification(it)) => {
                    match AgentNotification::decode(&it.method, it.params).unwrap() {
                        AgentNotification::SessionNotification(it) => updates.push(it.update),
                        other => panic!("not an update: {other:?}"),
                    }
                }
                Ok(Message::Response(it)) => {
                    assert_eq!(it.id, prompt.into());
                    return (updates, Raw::from(it.outcome.unwrap()).decode().unwrap());
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// Closes the agent's input, and waits for its exit.
    pub(crate) fn finish(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.wait()
    }

    /// Waits for the agent to exit.
    pub(crate) fn wait(mut self) -> ExitStatus {
        self.lines.iter().for_each(drop);
        self.child.wait().unwrap()
    }
}

impl Drop for Client {
    /// Kills the agent of a failed test.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// For turns without requests of the agent.
pub(crate) fn nothing(request: &AgentRequest) -> Value {
    panic!("not asked for: {request:?}")
}

/// Summarizes updates: joined chunks of a message, tool calls with their status.
pub(crate) fn outline(updates: &[SessionUpdate]) -> Vec<String> {
    let mut outline: Vec<String> = Vec::new();
    for update in updates {
        let entry = match update {
            SessionUpdate::ToolCall(call) => {
                format!("tool_call {}", call.status.as_ref().unwrap().as_str())
            }
            SessionUpdate::ToolCallUpdate(call) => {
                format!("tool_call_update {}", call.status.value().unwrap().as_str())
            }
            other => other.tag().to_owned(),
        };
        if !(entry.ends_with("_chunk") && outline.last() == Some(&entry)) {
            outline.push(entry);
        }
    }
    outline
}

/// Returns the text of the agent's messages.
pub(crate) fn text(updates: &[SessionUpdate]) -> String {
    let texts = updates.iter().filter_map(|update| match update {
        SessionUpdate::AgentMessageChunk(chunk) => match &chunk.content {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        },
        _ => None,
    });
    texts.collect()
}
