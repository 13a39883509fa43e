//! An AG-UI agent as an ACP v2 agent.
use crate::acp_agent_properties::turn;
use crate::generated::cases;
use crate::script::events;
use agui_bridge::acp_agent::v2::{AcpAgentV2, AnswerV2, OutputV2, QuestionV2};
use agui_bridge::acp_agent::{AcpAgentOptions, PromptError};
use agui_bridge::{Options, Translator};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::reduce::Reducer;
use jsonrpc_core::wire::decode;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn begun() -> AcpAgentV2 {
    let mut options = AcpAgentOptions::new();
    options.client = decode(r#"{"elicitation":{"form":{}}}"#).unwrap();
    let mut agent = AcpAgentV2::new("s", options);
    let prompt = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "Hi"}]});
    let accepted = agent.handle_prompt(&decode(&prompt.to_string()).unwrap(), "r").unwrap();
    assert_eq!(accepted.message_id.as_str(), "user-1");
    agent
}

fn take(agent: &mut AcpAgentV2, event: &Value) {
    agent.handle_event(decode(&event.to_string()).unwrap());
}

/// Returns the updates for the editor, and the names of other outputs.
fn outputs(agent: &mut AcpAgentV2) -> Vec<Value> {
    let show = |output| match output {
        OutputV2::Update(update) => serde_json::to_value(&update.update).unwrap(),
        OutputV2::Run(input) => json!({"run": input.run_id, "resume": input.resume}),
        OutputV2::Ask(id, QuestionV2::Permission(request)) => {
            json!({"ask": id, "permission": request})
        }
        OutputV2::Ask(id, QuestionV2::Elicitation(request)) => json!({"ask": id, "form": request}),
        OutputV2::CancelRun(run) => json!({"cancel": run}),
        OutputV2::Lost(lost) => json!({"lost": lost.to_string()}),
        other => panic!("{other:?}"),
    };
    std::iter::from_fn(|| agent.poll_output()).map(show).collect()
}

fn state(state: &str) -> Value {
    json!({"sessionUpdate": "state_update", "state": state})
}

#[test]
fn turn_is_converted_to_v2() {
    let mut agent = begun();
    let said = json!([{"type": "text", "text": "Hi"}]);
    assert_eq!(
        outputs(&mut agent),
        [
            json!({"sessionUpdate": "user_message", "messageId": "user-1", "content": said}),
            state("running"),
            json!({"run": "r", "resume": null}),
        ]
    );
    let diff = json!({"type": "diff", "path": "/f", "oldText": "a\n", "newText": "b\n"});
    for event in [
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
    ] {
        take(&mut agent, &event);
    }
    let told = outputs(&mut agent);
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
            json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "s",
            "entries": [{"content": "c", "priority": "low", "status": "pending"}]}}),
            json!({"sessionUpdate": "agent_message_chunk", "messageId": "part-1",
            "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}}),
            json!({"lost": "current_mode_update: ACP v2 has nothing like it"}),
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
            json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "max_tokens",
            "usage": {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}}),
        ]
    );
    assert!(!agent.is_in_turn());
}

#[test]
fn open_questions_set_requires_action() {
    let mut agent = begun();
    outputs(&mut agent);
    let interrupts = json!([
        {"id": "i1", "reason": "tool_call", "message": "Delete it?", "toolCallId": "c",
            "responseSchema": {"type": "object", "properties": {"optionId": {"enum": ["allow", "deny"]}}}},
        {"id": "i2", "reason": "input_required", "message": "Who?",
            "responseSchema": {"type": "object", "properties": {"name": {"type": "string"}}}},
    ]);
    take(&mut agent, &json!({"type": "RUN_STARTED", "threadId": "s", "runId": "r"}));
    take(
        &mut agent,
        &json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "r",
        "outcome": {"type": "interrupt", "interrupts": interrupts}}),
    );
    let asked = outputs(&mut agent);
    assert_eq!(
        asked[0]["permission"],
        json!({"sessionId": "s", "title": "Delete it?",
        "options": [{"optionId": "allow", "name": "allow", "kind": "allow_once"},
            {"optionId": "deny", "name": "deny", "kind": "reject_once"}],
        "subject": {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Delete it?"}}})
    );
    assert_eq!(asked[1], state("requires_action"));
    assert_eq!(asked[2]["form"]["message"], "Who?");
    assert_eq!(asked.len(), 3);

    let allow = decode(r#"{"outcome":"selected","optionId":"allow"}"#).unwrap();
    assert!(agent.handle_answer(&"i1".into(), &AnswerV2::Permission(allow)));
    assert_eq!(outputs(&mut agent), Vec::<Value>::new());
    let accept = decode(r#"{"action":"accept","content":{"name":"Ada"}}"#).unwrap();
    assert!(agent.handle_answer(&"i2".into(), &AnswerV2::Elicitation(accept)));
    assert!(!agent.handle_answer(&"i2".into(), &AnswerV2::Failed), "it has its answer");
    assert_eq!(
        outputs(&mut agent),
        [
            state("running"),
            json!({"run": "r.2", "resume": [
        {"interruptId": "i1", "status": "resolved", "payload": {"optionId": "allow"}},
        {"interruptId": "i2", "status": "resolved", "payload": {"name": "Ada"}}]})
        ]
    );
}

#[test]
fn end_of_a_turn_leaves_the_session_idle() {
    let mut agent = begun();
    outputs(&mut agent);
    take(&mut agent, &json!({"type": "RUN_ERROR", "message": "gone", "code": "ACP_AUTH_REQUIRED"}));
    let idle = outputs(&mut agent).pop().unwrap();
    assert_eq!(idle["stopReason"], "error");
    assert_eq!(
        idle["error"],
        json!({"code": -32000, "message": "gone", "data": {"code": "ACP_AUTH_REQUIRED"}})
    );

    let mut agent = begun();
    outputs(&mut agent);
    agent.handle_cancel();
    assert_eq!(outputs(&mut agent), [json!({"cancel": "r"})]);
    agent.handle_stream_end();
    let idle = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled"});
    assert_eq!(outputs(&mut agent), [idle]);

    let mut agent = begun();
    let prompt = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "Hi"}]});
    let refused = agent.handle_prompt(&decode(&prompt.to_string()).unwrap(), "r2");
    assert_eq!(refused.unwrap_err(), PromptError::Busy);
    let mut agent = AcpAgentV2::new("s", AcpAgentOptions::new());
    let prompt =
        json!({"sessionId": "s", "prompt": [{"type": "text", "text": "Hi"}, {"type": "hologram"}]});
    let refused = agent.handle_prompt(&decode(&prompt.to_string()).unwrap(), "r2");
    assert_eq!(refused.unwrap_err(), PromptError::Unknown(1));
}

/// Returns what a page shows without activities: texts in order, and each call with its result. The message of a call
/// depends on ids, which each side creates.
fn shown(events: &[Event]) -> (Vec<Value>, BTreeMap<String, Vec<Value>>) {
    let mut reducer = Reducer::new();
    for event in events {
        assert_eq!(reducer.handle(event), None, "{event:?}");
    }
    let (mut said, mut calls) = (Vec::new(), BTreeMap::<String, Vec<Value>>::new());
    for message in serde_json::to_value(reducer.messages()).unwrap().as_array().unwrap() {
        match (message["role"].as_str(), message["content"].as_str()) {
            (Some("activity"), _) => {}
            (Some("tool"), result) => {
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

    /// A conversion of an ACP v1 agent to AG-UI, ACP v2 and AG-UI again leaves the same conversation.
    #[test]
    fn v1_to_v2_preserves_the_conversation(updates in turn()) {
        let mut agent = begun();
        let input = std::iter::from_fn(|| agent.poll_output()).find_map(|output| match output {
            OutputV2::Run(input) => Some(*input),
            _ => None,
        });
        let input: RunAgentInput = input.expect("a run");
        let (mut there, mut back) = (Translator::new(Options::new()), Translator::new(Options::new()));
        let _ = there.begin_run(&input, &[]).unwrap();
        let _ = back.begin_run(&input, &[]).unwrap();
        back.handle_prompt_accepted(&decode(r#"{"messageId":"user-1"}"#).unwrap());
        for update in &updates {
            there.handle_notification(decode(&json!({"sessionId": "s", "update": update}).to_string()).unwrap());
        }
        there.handle_prompt_response(Ok(decode(r#"{"stopReason":"end_turn"}"#).unwrap()));
        let first = events(&mut there);
        for event in &first {
            agent.handle_event(event.clone());
        }
        while let Some(output) = agent.poll_output() {
            match output {
                OutputV2::Update(update) => back.handle_notification_v2(*update),
                OutputV2::Lost(lost) => prop_assert!(lost.event == "current_mode_update", "{}", lost),
                other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert!(!back.is_running());
        let second = events(&mut back);
        prop_assert_eq!(shown(&second), shown(&first));
    }
}
