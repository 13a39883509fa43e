//! The agent in version 2: each word, sessions, cancellation, and the linter over all of it.

use crate::client::Client;
use acp_types::lint::{Linter, Severity};
use jsonrpc_core::transcript::Direction;
use serde_json::{Value, json};

/// A client of version 2 with one session, and a linter of all lines.
struct Session {
    client: Client,
    linter: Linter,
    id: String,
}

/// The lines of a turn, from the response to the prompt to the idle state.
#[derive(Debug)]
struct Turn {
    updates: Vec<Value>,
    requests: Vec<Value>,
}

impl Session {
    fn open() -> Self {
        Self::open_with(&json!({ "elicitation": { "form": {} } })).0
    }

    /// Opens the session of a client with these capabilities, and returns its commands.
    fn open_with(capabilities: &Value) -> (Self, Value) {
        let linter = Linter::default();
        let mut session = Self { client: Client::spawn(), linter, id: String::new() };
        let info = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": 2, "info": info, "capabilities": capabilities });
        let response = session.call("initialize", &params);
        assert_eq!(response["protocolVersion"], 2);
        assert!(response["capabilities"]["session"].is_object(), "{response}");
        let mut response = session.call("session/new", &json!({ "cwd": "/project" }));
        assert_eq!(response["availableCommands"][0]["name"], "help");
        session.id = response["sessionId"].as_str().unwrap().to_owned();
        (session, response["availableCommands"].take())
    }

    fn request(&mut self, method: &str, params: &Value) -> i64 {
        let id = self.client.request(method, params);
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.linter.handle_line(Direction::Sent, line.to_string().as_bytes());
        id
    }

    fn send(&mut self, message: &Value) {
        let line = message.to_string();
        self.client.send(&line);
        self.linter.handle_line(Direction::Sent, line.as_bytes());
    }

    fn next(&mut self) -> Value {
        let line = self.client.line();
        self.linter.handle_line(Direction::Received, line.as_bytes());
        serde_json::from_str(&line).unwrap()
    }

    /// Makes a call with the response on the next line.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        let mut response = self.next();
        assert_eq!(response["id"], id, "{response}");
        assert!(response["error"].is_null(), "{response}");
        response["result"].take()
    }

    fn prompt(&mut self, text: &str) -> i64 {
        self.prompt_with(&json!([{ "type": "text", "text": text }]))
    }

    fn prompt_with(&mut self, prompt: &Value) -> i64 {
        self.request("session/prompt", &json!({ "sessionId": self.id, "prompt": prompt }))
    }

    /// Sends a prompt, and reads the turn to its end.
    fn turn(&mut self, text: &str, reply: impl Fn(&Value) -> Value) -> Turn {
        let id = self.prompt(text);
        let accepted = self.next();
        assert_eq!(accepted["id"], id, "the prompt is accepted first: {accepted}");
        let turn = self.rest(reply);
        let said = &turn.updates[1];
        assert_eq!(turn.updates[0]["state"], "running");
        assert_eq!(said["sessionUpdate"], "user_message");
        assert_eq!(said["messageId"], accepted["result"]["messageId"]);
        turn
    }

    /// Reads up to the next idle state.
    fn rest(&mut self, reply: impl Fn(&Value) -> Value) -> Turn {
        let mut updates = Vec::new();
        let mut requests = Vec::new();
        loop {
            let line = self.next();
            if line["method"] == "session/update" {
                let is_idle = line["params"]["update"]["state"] == "idle"
                    && line["params"]["sessionId"] == *self.id
                    && line["params"]["update"]["sessionUpdate"] == "state_update";
                updates.push(line["params"]["update"].clone());
                if is_idle {
                    return Turn { updates, requests };
                }
            } else if line["id"].is_null() {
                assert_eq!(line["method"], "$/cancel_request", "{line}");
            } else {
                let result = reply(&line);
                self.send(&json!({ "jsonrpc": "2.0", "id": line["id"], "result": result }));
                requests.push(line);
            }
        }
    }

    /// Returns the findings of the linter about the agent, other than infos.
    fn findings(&mut self) -> Vec<String> {
        let findings = std::iter::from_fn(|| self.linter.poll_finding());
        findings
            .filter(|it| it.rule.severity != Severity::Info && it.direction == Direction::Received)
            .map(|finding| finding.to_string())
            .collect()
    }
}

/// Allows what is requested, and fills forms.
fn allow(request: &Value) -> Value {
    match request["method"].as_str() {
        Some("session/request_permission") => {
            json!({ "outcome": { "outcome": "selected", "optionId": "allow-once" } })
        }
        Some("elicitation/create") => {
            json!({ "action": "accept", "content": { "name": "Ada", "seat": "window" } })
        }
        _ => panic!("not expected: {request}"),
    }
}

fn of<'a>(turn: &'a Turn, tag: &str) -> Vec<&'a Value> {
    turn.updates.iter().filter(|update| update["sessionUpdate"] == tag).collect()
}

fn stop(turn: &Turn) -> &str {
    turn.updates.last().unwrap()["stopReason"].as_str().unwrap()
}

/// The linter finds nothing in the turn of any word, except for those that break the protocol on
/// purpose.
#[test]
fn each_word_is_clean_under_the_linter() {
    let rows = include_str!("../../README.md").lines().filter_map(|line| line.strip_prefix("| `"));
    let words = rows.map(|row| row.split_once('`').unwrap().0);
    for word in words.filter(|word| !["noise", "odd", "crash", "slow"].contains(word)) {
        let mut session = Session::open();
        let turn = session.turn(word, allow);
        let expected = match word {
            "error" => "error",
            "refuse" => "refusal",
            "max" => "max_tokens",
            _ => "end_turn",
        };
        assert_eq!(stop(&turn), expected, "{word}");
        assert_eq!(session.findings(), [""; 0], "{word}");
    }
}

#[test]
fn run_shows_a_terminal_with_output_in_chunks() {
    let turn = Session::open().turn("run", allow);
    let terminals = of(&turn, "terminal_update");
    assert_eq!(terminals[0]["command"], "echo one two three");
    assert_eq!(terminals[1]["exitStatus"]["exitCode"], 0);
    assert_eq!(of(&turn, "terminal_output_chunk").len(), 3);
    let calls = of(&turn, "tool_call_update");
    assert_eq!(calls[1]["content"][0]["terminalId"], terminals[0]["terminalId"]);
    assert_eq!(calls.last().unwrap()["status"], "completed");
}

#[test]
fn edit_has_a_patch_and_asks_with_its_call_as_subject() {
    let turn = Session::open().turn("edit", allow);
    let content = &of(&turn, "tool_call_update")[0]["content"][0];
    assert_eq!(content["changes"][0]["operation"], "modify");
    assert!(content["patch"]["text"].as_str().unwrap().contains("+dear\n"), "{content}");
    let subject = &turn.requests[0]["params"]["subject"];
    assert_eq!(subject["toolCall"]["toolCallId"], of(&turn, "tool_call_update")[0]["toolCallId"]);
    let states: Vec<_> = of(&turn, "state_update").iter().map(|it| it["state"].clone()).collect();
    assert_eq!(states, ["running", "requires_action", "running", "idle"]);
}

#[test]
fn rewrite_replaces_the_whole_message() {
    let turn = Session::open().turn("rewrite", allow);
    let messages = of(&turn, "agent_message");
    assert_eq!(messages[0]["messageId"], messages[1]["messageId"]);
    assert_ne!(messages[0]["content"], messages[1]["content"]);
    assert_eq!(of(&turn, "agent_message_chunk")[0]["messageId"], messages[0]["messageId"]);
}

#[test]
fn pieces_are_chunks_of_a_tool_calls_content() {
    let turn = Session::open().turn("pieces", allow);
    assert_eq!(of(&turn, "tool_call_content_chunk").len(), 3);
}

#[test]
fn later_is_a_turn_without_a_prompt() {
    let mut session = Session::open();
    session.turn("later", allow);
    let own = session.rest(allow);
    assert_eq!(own.updates[0]["state"], "running");
    assert!(of(&own, "user_message").is_empty());
    assert!(!of(&own, "agent_message_chunk").is_empty());
    assert_eq!(stop(&own), "end_turn");
    // Another prompt works as before.
    assert_eq!(stop(&session.turn("hello", allow)), "end_turn");
    assert_eq!(session.findings(), [""; 0]);
}

#[test]
fn subagent_is_announced_before_its_message() {
    let mut session = Session::open();
    session.prompt("delegate");
    let mut owned = Vec::new();
    loop {
        let line = session.next();
        let update = &line["params"]["update"];
        if update["sessionUpdate"] == "subagent_update" {
            owned.push((update["sessionId"].clone(), update["state"]["state"].clone()));
        } else if line["params"]["sessionId"].is_string()
            && line["params"]["sessionId"] != *session.id
        {
            owned.push((line["params"]["sessionId"].clone(), update["sessionUpdate"].clone()));
        } else if update["state"] == "idle" {
            break;
        }
    }
    let states: Vec<_> = owned.iter().map(|(_, state)| state.as_str().unwrap()).collect();
    assert_eq!(states, ["running", "agent_message_chunk", "idle"]);
    assert!(owned.iter().all(|(id, _)| *id == owned[0].0));
}

#[test]
fn cancelled_turn_withdraws_its_question_and_cancels_its_call() {
    let mut session = Session::open();
    session.prompt("edit");
    let question = loop {
        let line = session.next();
        if line["method"] == "session/request_permission" {
            break line;
        }
    };
    let id = session.id.clone();
    session.send(
        &json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": id } }),
    );
    let withdrawal = loop {
        let line = session.next();
        if line["method"] == "$/cancel_request" {
            break line;
        }
    };
    assert_eq!(withdrawal["params"]["requestId"], question["id"]);
    let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
    session.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": cancelled }));
    let turn = session.rest(allow);
    assert_eq!(of(&turn, "tool_call_update")[0]["status"], "cancelled");
    assert_eq!(stop(&turn), "cancelled");
    assert_eq!(session.findings(), [""; 0]);
}

#[test]
fn resumed_session_replays_its_history_and_its_state() {
    let mut session = Session::open();
    let turn = session.turn("read", allow);
    let id = session.id.clone();
    for replay in [true, false] {
        let mut params = json!({ "sessionId": id, "cwd": "/project" });
        if replay {
            params["replayFrom"] = json!({ "type": "start" });
        }
        let request = session.request("session/resume", &params);
        let mut replayed = Vec::new();
        let response = loop {
            let line = session.next();
            if line["id"] == request {
                break line["result"].clone();
            }
            replayed.push(line["params"]["update"].clone());
        };
        let state = replayed.pop().unwrap();
        assert_eq!(state["state"], "idle");
        let is_state = |update: &&Value| update["sessionUpdate"] != "state_update";
        let mut history: Vec<_> = turn.updates.iter().filter(is_state).cloned().collect();
        history.push(json!({ "sessionUpdate": "replay_complete" }));
        assert_eq!(replayed, if replay { history } else { Vec::new() });
        assert_eq!(response["configOptions"][0]["currentValue"], "ask");
    }
}

#[test]
fn skill_is_for_clients_that_show_skills() {
    let (_, commands) = Session::open_with(&json!({}));
    let is_skill = |command: &&Value| command["type"] == "skill";
    assert_eq!(commands.as_array().unwrap().iter().find(is_skill), None);
    let shows_skills = json!({ "session": { "commands": { "skill": {} } } });
    let (mut session, commands) = Session::open_with(&shows_skills);
    let skill = commands.as_array().unwrap().iter().find(is_skill).expect("a skill");
    let text = json!({ "type": "text", "text": "one two three" });
    let reference = json!({ "type": "skill", "name": skill["name"] });
    session.prompt_with(&json!([reference, text]));
    assert!(session.next()["result"]["messageId"].is_string());
    let turn = session.rest(allow);
    let said = of(&turn, "agent_message_chunk");
    let said: String = said.iter().filter_map(|it| it["content"]["text"].as_str()).collect();
    assert!(said.contains("3 in number"), "{said}");
    session.prompt_with(&json!([{ "type": "skill", "name": "dance" }]));
    let refused = session.next();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(session.findings(), [""; 0]);
}

#[test]
fn mode_is_a_config_option() {
    let mut session = Session::open();
    let id = session.id.clone();
    let set = |value| json!({ "sessionId": id, "configId": "mode", "type": "id", "value": value });
    let response = session.call("session/set_config_option", &set("auto"));
    assert_eq!(response["configOptions"][0]["currentValue"], "auto");
    assert!(session.turn("edit", |request| panic!("{request}")).requests.is_empty());
    let refused = session.request("session/set_config_option", &set("yolo"));
    let response = session.next();
    assert_eq!(&response["id"], &json!(refused));
    assert_eq!(&response["error"]["code"], &json!(-32602));
}

#[test]
fn sessions_are_listed_until_they_are_closed() {
    let mut session = Session::open();
    let id = session.id.clone();
    let listed = session.call("session/list", &json!({}));
    assert_eq!(listed["sessions"][0]["sessionId"], *id);
    let other = session.call("session/list", &json!({ "cwd": "/elsewhere" }));
    assert_eq!(other["sessions"], json!([]));
    // Closing a session again succeeds.
    for _ in 0..2 {
        session.call("session/close", &json!({ "sessionId": id }));
    }
    let listed = session.call("session/list", &json!({}));
    assert_eq!(listed["sessions"], json!([]));
    let prompt = session.prompt("hello");
    let response = session.next();
    assert_eq!(response["id"], prompt);
    assert_eq!(response["error"]["data"]["sessionId"], *id);
}

/// A fork at the cursor of the first turn has that turn, and none of the second.
#[test]
fn fork_at_a_cursor_has_the_turns_before_it() {
    let mut session = Session::open();
    let first = session.turn("hello", allow);
    let cursor = of(&first, "cursor_update")[0].clone();
    assert_eq!(cursor["anchor"]["type"], "agent_message");
    assert_eq!(cursor["anchor"]["messageId"], of(&first, "agent_message_chunk")[0]["messageId"]);
    assert_eq!(cursor["capabilities"]["fork"], json!({}));
    session.turn("think", allow);
    let fork =
        |cursor: &Value| json!({ "sessionId": session.id, "cwd": "/project", "cursorId": cursor });
    let params = fork(&cursor["cursorId"]);
    let unknown = fork(&json!("other"));
    let response = session.call("session/fork", &params);
    let source =
        core::mem::replace(&mut session.id, response["sessionId"].as_str().unwrap().into());
    assert_ne!(session.id, source);
    let announced = session.next();
    assert_eq!(announced["params"]["sessionId"], session.id);
    assert_eq!(announced["params"]["update"]["cursorId"], cursor["cursorId"]);
    let recalled = session.turn("recall", allow);
    let chunks = of(&recalled, "agent_message_chunk");
    let text: String =
        chunks.iter().map(|chunk| chunk["content"]["text"].as_str().unwrap()).collect();
    assert_eq!(text, "You have said:\n\n- hello\n");
    assert_eq!(session.findings(), [""; 0]);
    let id = session.request("session/fork", &unknown);
    let refused = session.next();
    assert_eq!(refused["id"], id);
    assert_eq!(refused["error"]["code"], -32602);
}
