//! An AG-UI agent for an editor that speaks ACP v2, behind `acp_types::convert::Bridge`.
use crate::acp_agent::hi;
use crate::acp_agent_properties::turn;
use crate::generated::cases;
use crate::script::events;
use acp_types::convert::{self, Bridge, BridgeOptions};
use acp_types::v1::initialization::ProtocolVersion;
use agui_bridge::acp_agent::{AcpAgent, AcpAgentOptions, Output, Question, QuestionAnswer};
use agui_bridge::{Options, Translator};
use agui_types::event::Event;
use agui_types::id::InterruptId;
use agui_types::reduce::Reducer;
use jsonrpc_core::wire::decode;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The program between an editor and an AG-UI agent, with one session in its first turn.
struct Program {
    bridge: Bridge,
    agent: AcpAgent,
    /// The open questions. Their ids as requests are their places.
    asked: Vec<(InterruptId, Question)>,
    /// What the editor receives, and the agent: runs and cancellations.
    out: Vec<Value>,
}

impl Program {
    fn begun() -> Self {
        let agent = AcpAgent::new("s", AcpAgentOptions::new());
        let bridge = Bridge::new(BridgeOptions::default().with_agent(ProtocolVersion::V1));
        let mut program = Self { bridge, agent, asked: Vec::new(), out: Vec::new() };
        program.editor(&json!({"id": 0, "method": "initialize", "params": {"protocolVersion": 2,
            "info": {"name": "e", "version": "1"}, "capabilities": {"elicitation": {"form": {}}}}}));
        program.editor(
            &json!({"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}),
        );
        program.out.clear();
        program.prompt(2);
        program
    }

    fn prompt(&mut self, id: u64) {
        let prompt = [json!({"type": "text", "text": "Hi"})];
        self.editor(&json!({"id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": prompt}}));
    }

    fn editor(&mut self, line: &Value) {
        self.bridge.handle_editor_line(&envelope(line));
        self.work();
    }

    fn events(&mut self, events: &[Value]) {
        for event in events {
            self.agent.handle_event(decode(&event.to_string()).unwrap());
        }
        self.work();
    }

    /// Passes on the lines of the bridge and the outputs of the session, until none are left.
    fn work(&mut self) {
        loop {
            if let Some(output) = self.bridge.poll_output() {
                match output {
                    convert::Output::ToEditor(line) => self.out.push(json(&line)),
                    convert::Output::ToAgent(line) => self.handle_line(&json(&line)),
                    other => drop(other),
                }
            } else if let Some(output) = self.agent.poll_output() {
                self.handle_output(output);
            } else {
                return;
            }
        }
    }

    fn handle_line(&mut self, line: &Value) {
        let params = line["params"].to_string();
        let result = match line["method"].as_str() {
            Some("initialize") => {
                let mut options = AcpAgentOptions::new();
                options.client = decode(&line["params"]["clientCapabilities"].to_string()).unwrap();
                self.agent = AcpAgent::new("s", options);
                json!({"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": AcpAgent::prompt_capabilities()}})
            }
            Some("session/new") => json!({"sessionId": "s"}),
            Some("session/prompt") => {
                return self.agent.handle_prompt(&decode(&params).unwrap(), "r").unwrap();
            }
            Some("session/cancel") => return self.agent.handle_cancel(),
            None => {
                let (id, question) =
                    &self.asked[usize::try_from(line["id"].as_u64().unwrap()).unwrap()];
                let result = line["result"].to_string();
                let answer = match question {
                    Question::Permission(_) => {
                        let outcome = line["result"]["outcome"].to_string();
                        QuestionAnswer::Permission(decode(&outcome).unwrap())
                    }
                    _ => QuestionAnswer::Elicitation(decode(&result).unwrap()),
                };
                self.agent.handle_answer(id, &answer);
                return;
            }
            other => panic!("{other:?}"),
        };
        self.agent_line(&json!({"id": line["id"], "result": result}));
    }

    fn handle_output(&mut self, output: Output) {
        match output {
            Output::Run(input) => self.out.push(json!({"run": input})),
            Output::Update(update) => {
                self.agent_line(&json!({"method": "session/update", "params": update}));
            }
            Output::Ask(id, question) => {
                let (method, params) = match &question {
                    Question::Permission(request) => ("session/request_permission", json!(request)),
                    Question::Elicitation(request) => ("elicitation/create", json!(request)),
                    other => panic!("{other:?}"),
                };
                self.agent_line(
                    &json!({"id": self.asked.len(), "method": method, "params": params}),
                );
                self.asked.push((id, question));
            }
            Output::CancelRun(run) => self.out.push(json!({"cancel": run})),
            Output::Respond(Ok(response)) => self.agent_line(&json!({"id": 2, "result": response})),
            Output::Respond(Err(error)) => self.agent_line(&json!({"id": 2, "error": error})),
            other => panic!("{other:?}"),
        }
    }

    fn agent_line(&mut self, line: &Value) {
        self.bridge.handle_agent_line(&envelope(line));
    }

    /// Returns what was sent since the last call: updates without their envelopes.
    fn out(&mut self) -> Vec<Value> {
        let shown = |mut line: Value| match line.pointer_mut("/params/update") {
            Some(update) => update.take(),
            None => line,
        };
        std::mem::take(&mut self.out).into_iter().map(shown).collect()
    }
}

fn envelope(line: &Value) -> String {
    let mut line = line.clone();
    line["jsonrpc"] = json!("2.0");
    line.to_string()
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

fn state(state: &str) -> Value {
    json!({"sessionUpdate": "state_update", "state": state})
}

/// The response to the prompt, and the prompt as a message.
fn accepted() -> [Value; 2] {
    let said = json!([{"type": "text", "text": "Hi"}]);
    [
        json!({"jsonrpc": "2.0", "id": 2, "result": {"messageId": "bridge-1"}}),
        json!({"sessionUpdate": "user_message", "messageId": "bridge-1", "content": said}),
    ]
}

#[test]
fn turn_is_converted_to_v2() {
    let mut program = Program::begun();
    let begun = program.out();
    assert_eq!(begun[0], state("running"));
    assert_eq!(begun[1]["run"]["runId"].as_str(), Some("r"));
    assert_eq!(begun.len(), 2);
    let diff = json!({"type": "diff", "path": "/f", "oldText": "a\n", "newText": "b\n"});
    program.events(&[
        json!({"type": "RUN_STARTED", "threadId": "s", "runId": "r"}),
        json!({"type": "REASONING_MESSAGE_CHUNK", "messageId": "t", "delta": "hm"}),
        json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "Hello."}),
        json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "Edit"}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}"}),
        json!({"type": "TOOL_CALL_END", "toolCallId": "c"}),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "acp.tool",
            "content": {"toolCallId": "c", "title": "Edit f", "kind": "edit", "content": [diff]}}),
        json!({"type": "TOOL_CALL_RESULT", "toolCallId": "c", "messageId": "res", "content": "done"}),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "p", "activityType": "PLAN",
            "content": {"entries": [{"content": "c", "priority": "low", "status": "pending"}]}}),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "i", "activityType": "acp.content",
            "content": {"part": {"type": "image", "data": "AAAA", "mimeType": "image/png"}}}),
        json!({"type": "CUSTOM", "name": "acp.mode", "value": {"currentModeId": "m"}}),
        json!({"type": "CUSTOM", "name": "acp.usage", "value": {"used": 1, "size": 2}}),
        json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "r", "result": {"stopReason": "max_tokens"},
            "usage": [{"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}]}),
    ]);
    let told = program.out();
    assert_eq!(told[..2], accepted());
    let told = &told[2..];
    let shown = &told[4]["content"][0];
    assert_eq!(shown["changes"], json!([{"operation": "modify", "path": "/f"}]));
    assert_eq!(shown["patch"]["format"], "git_patch");
    assert!(shown["patch"]["text"].as_str().unwrap().ends_with("-a\n+b\n"), "{shown}");
    let mut last = told[5].clone();
    assert_eq!(last["content"][0], *shown, "a result has the diff that was shown");
    last.as_object_mut().unwrap().remove("content");
    assert_eq!(
        told[..4],
        [
            json!({"sessionUpdate": "agent_thought_chunk", "messageId": "t", "content": {"type": "text", "text": "hm"}}),
            json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "Hello."}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "name": "Edit", "title": "Edit", "kind": "other", "status": "pending"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress", "rawInput": {}}),
        ]
    );
    assert_eq!(
        last,
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "rawOutput": "done"})
    );
    assert_eq!(
        told[6..],
        [
            json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "plan",
            "entries": [{"content": "c", "priority": "low", "status": "pending"}]}}),
            json!({"sessionUpdate": "agent_message_chunk", "messageId": "bridge-2",
            "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}}),
            json!({"sessionUpdate": "config_option_update", "configOptions": [{"type": "select", "configId": "mode",
            "category": "mode", "name": "Mode", "currentValue": "m", "options": []}]}),
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
            json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "max_tokens",
            "usage": {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}}),
        ]
    );
    assert!(!program.agent.is_in_turn());
}

#[test]
fn open_questions_set_requires_action() {
    let mut program = Program::begun();
    program.out();
    let interrupts = json!([
        {"id": "i1", "reason": "tool_call", "message": "Delete it?", "toolCallId": "c",
            "responseSchema": {"type": "object", "properties": {"optionId": {"enum": ["allow", "deny"]}}}},
        {"id": "i2", "reason": "input_required", "message": "Who?",
            "responseSchema": {"type": "object", "properties": {"name": {"type": "string"}}}},
    ]);
    program.events(&[
        json!({"type": "RUN_STARTED", "threadId": "s", "runId": "r"}),
        json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "r",
            "outcome": {"type": "interrupt", "interrupts": interrupts}}),
    ]);
    let asked = program.out();
    assert_eq!(asked[..2], accepted());
    assert_eq!(&asked[2], &state("requires_action"));
    assert_eq!(&asked[4], &state("requires_action"));
    assert_eq!(
        asked[3]["params"],
        json!({"sessionId": "s", "title": "Delete it?",
        "options": [{"optionId": "allow", "name": "allow", "kind": "allow_once"},
            {"optionId": "deny", "name": "deny", "kind": "reject_once"}],
        "subject": {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Delete it?"}}})
    );
    assert_eq!(asked[5]["params"]["message"], "Who?");
    assert_eq!(asked.len(), 6);

    let allow = json!({"outcome": {"outcome": "selected", "optionId": "allow"}});
    program.editor(&json!({"id": 0, "result": allow}));
    assert_eq!(program.out(), Vec::<Value>::new());
    program.editor(&json!({"id": 1, "result": {"action": "accept", "content": {"name": "Ada"}}}));
    let resumed = program.out();
    assert_eq!(resumed[0], state("running"));
    assert_eq!(
        resumed[1]["run"]["resume"],
        json!([{"interruptId": "i1", "status": "resolved", "payload": {"optionId": "allow"}},
            {"interruptId": "i2", "status": "resolved", "payload": {"name": "Ada"}}])
    );
    assert_eq!(resumed.len(), 2);
}

#[test]
fn end_of_a_turn_leaves_the_session_idle() {
    let mut program = Program::begun();
    program.out();
    program.events(&[json!({"type": "RUN_ERROR", "message": "gone", "code": "ACP_AUTH_REQUIRED"})]);
    let error = json!({"code": -32000, "message": "gone", "data": {"code": "ACP_AUTH_REQUIRED"}});
    let mut idle = state("idle");
    (idle["stopReason"], idle["error"]) = (json!("error"), error.clone());
    assert_eq!(program.out(), [json!({"jsonrpc": "2.0", "id": 2, "error": error}), idle]);

    let mut program = Program::begun();
    program.out();
    program.editor(&json!({"method": "session/cancel", "params": {"sessionId": "s"}}));
    assert_eq!(program.out(), [json!({"cancel": "r"})]);
    program.agent.handle_stream_end();
    program.work();
    let idle = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled"});
    assert_eq!(program.out().pop(), Some(idle));
}

/// Returns what a page shows without activities: texts in order, and each call with its result. The
/// message of a call depends on ids, which each side creates.
fn shown(events: &[Event]) -> (Vec<Value>, BTreeMap<String, Vec<Value>>) {
    let mut reducer = Reducer::new();
    for event in events {
        assert_eq!(reducer.handle(event), None, "{event:?}");
    }
    let mut said = Vec::new();
    let mut calls = BTreeMap::<String, Vec<Value>>::new();
    for message in serde_json::to_value(reducer.messages()).unwrap().as_array().unwrap() {
        match (message["role"].as_str(), message["content"].as_str()) {
            (Some("activity"), _) => {}
            (Some("tool"), Some(result)) => {
                // The bridge and the translator differ in the context of patches.
                let context = ["diff --git ", "--- ", "+++ ", "@@ ", " ", "\\ "];
                let is_changed = |line: &&str| !context.iter().any(|it| line.starts_with(it));
                let result: Vec<_> = result.lines().filter(is_changed).collect();
                let id = message["toolCallId"].as_str().unwrap().to_owned();
                calls.entry(id).or_default().push(json!(result));
            }
            (role, Some(text)) => said.push(json!([role, text])),
            (_, None) => {}
        }
        for call in message.get("toolCalls").and_then(Value::as_array).into_iter().flatten() {
            let id = call["id"].as_str().unwrap().to_owned();
            calls.entry(id).or_default().push(call["function"].clone());
        }
    }
    (said, calls)
}

proptest! {
    #![proptest_config(cases())]

    /// A conversion of an ACP v1 agent to AG-UI, ACP v2 and AG-UI again leaves the same
    /// conversation.
    #[test]
    fn v1_to_v2_preserves_the_conversation(updates in turn()) {
        let mut program = Program::begun();
        let input = decode(&program.out()[1]["run"].to_string()).unwrap();
        let mut there = Translator::new(Options::new());
        let mut back = Translator::new(Options::new());
        let _ = there.begin_run(&input, &[]).unwrap();
        let _ = back.begin_run(&input, &hi().prompt).unwrap();
        for update in &updates {
            there.handle_notification(decode(&json!({"sessionId": "s", "update": update}).to_string()).unwrap());
        }
        there.handle_prompt_response(Ok(decode(r#"{"stopReason":"end_turn"}"#).unwrap()));
        let first = events(&mut there);
        for event in &first {
            program.agent.handle_event(event.clone());
        }
        program.work();
        for line in std::mem::take(&mut program.out) {
            match line.get("result") {
                Some(accepted) => back.handle_prompt_accepted(&decode(&accepted.to_string()).unwrap()),
                None => back.handle_notification_v2(decode(&line["params"].to_string()).unwrap()),
            }
        }
        prop_assert!(!back.is_running());
        let second = events(&mut back);
        prop_assert_eq!(shown(&second), shown(&first));
    }
}
