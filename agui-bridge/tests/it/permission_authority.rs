//! Outcome and visibility of permission requests depend on settings, decisions and answers alone,
//! for any content of the request and of the updates before it.
use crate::thread::{Rig, input, options, raw, request, update, user};
use acp_types::client::{AgentRequest, ReceivedValue, RequestKey, SessionEvent};
use acp_types::v1::dispatch::AgentRequest as AgentRequestV1;
use agui_bridge::conversation::{AgentReply, Command, PageTools};
use agui_bridge::frontend_tool::NewCall;
use agui_bridge::{PermissionAnswer, PermissionDecision, PermissionMode, Policy};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::time::Duration;

/// What happens before the request.
#[derive(Clone, Debug)]
enum Step {
    /// An update of the agent about a tool call.
    Report(Value),
    /// A call that the page's MCP server receives: the agent's id, and the arguments.
    Received(Option<&'static str>, Value),
}

/// What the program decides.
#[derive(Clone, Debug)]
enum Decider {
    Nothing,
    Policy(bool),
    Rule(bool),
    RuleThatAsks,
}

fn names() -> impl Strategy<Value = Value> {
    select(vec![
        json!("mcp__ui__pick"),
        json!("mcp_ui_pick"),
        json!("ui/pick"),
        json!("ui_pick"),
        json!("Tool: ui/pick"),
        json!("pick (ui MCP Server)"),
        json!("pick"),
        json!("Bash"),
        json!("mcp__ui__gone"),
        json!(""),
    ])
}

fn inputs() -> impl Strategy<Value = Value> {
    let carried = |name: Value| json!({"command": "rm -rf ~", "tool_name": name, "tool_input": {}});
    let alone = |name: Value| json!({"tool_name": name, "tool_input": {"of": "the wall"}});
    prop_oneof![
        names().prop_map(carried),
        names().prop_map(alone),
        select(vec![
            json!({"server": "ui", "tool": "pick", "arguments": {}}),
            json!({"server": "ui", "tool": "pick", "command": "rm -rf ~"}),
            json!({"of": "the wall"}),
            json!({"command": "rm -rf ~"}),
            json!({"path": "/etc/passwd"}),
            json!({}),
            json!("rm -rf ~"),
            json!(null),
        ]),
    ]
}

/// The members of a tool call.
fn call() -> impl Strategy<Value = Value> {
    let ids = select(vec!["c1", "c2"]);
    let kinds = select(vec!["execute", "edit", "delete", "move", "read", "other", "think", "new"]);
    let statuses = select(vec!["pending", "in_progress", "completed", "failed"]);
    let metas = prop_oneof![
        names().prop_map(|name| json!({"claudeCode": {"toolName": name}})),
        names().prop_map(|name| json!({"toolName": name})),
        names().prop_map(|name| json!({"tool_name": name})),
    ];
    let places = select(vec![json!([]), json!([{"path": "/etc/passwd"}])]);
    let option = prop::option::of::<BoxedStrategy<Value>>;
    let text = |it: &str| json!(it);
    (
        ids,
        [option(names().boxed()), option(kinds.prop_map(text).boxed())],
        [option(names().boxed()), option(metas.boxed())],
        [option(inputs().boxed()), option(statuses.prop_map(text).boxed())],
        option(places.boxed()),
    )
        .prop_map(|(id, [name, kind], [title, meta], [input, status], locations)| {
            let title = title.unwrap_or_else(|| json!("rm -rf ~"));
            let mut call = json!({"toolCallId": id, "title": title});
            let members = [
                ("name", name),
                ("kind", kind),
                ("_meta", meta),
                ("rawInput", input),
                ("status", status),
                ("locations", locations),
            ];
            for (member, value) in members {
                if let Some(value) = value {
                    call[member] = value;
                }
            }
            call
        })
}

fn step() -> impl Strategy<Value = Step> {
    let report = (call(), any::<bool>()).prop_map(|(mut call, is_new)| {
        call["sessionUpdate"] = json!(if is_new { "tool_call" } else { "tool_call_update" });
        Step::Report(call)
    });
    let received = (prop::option::of(select(vec!["c1", "c2", "c3"])), inputs())
        .prop_map(|(id, arguments)| Step::Received(id, arguments));
    prop_oneof![4 => report, 1 => received]
}

fn decider() -> impl Strategy<Value = Decider> {
    prop_oneof![
        4 => Just(Decider::Nothing),
        1 => any::<bool>().prop_map(Decider::Policy),
        1 => any::<bool>().prop_map(Decider::Rule),
        1 => Just(Decider::RuleThatAsks),
    ]
}

fn choice(is_allowed: bool) -> &'static str {
    if is_allowed { "yes" } else { "no" }
}

/// The option that the agent's request was answered with, if it was.
fn reply(rig: &Rig) -> Option<String> {
    let reply = rig.commands.iter().find_map(|command| match command {
        Command::Reply { reply: AgentReply::Answer(answer), .. } => Some(answer),
        _ => None,
    });
    let answer = serde_json::to_value(reply?).unwrap();
    Some(answer["outcome"]["optionId"].as_str().unwrap_or("cancelled").to_owned())
}

proptest! {
    #[test]
    fn outcome_and_visibility_follow_from_settings_and_decisions(
        steps in prop::collection::vec(step(), 0..6),
        asked in call(),
        decider in decider(),
    ) {
        let mut own = options();
        own.page_tools = PageTools::Mcp { servers: vec![], always: false };
        if let Decider::Policy(is_allowed) = decider {
            let policy = if is_allowed { Policy::allow_all() } else { Policy::reject_all() };
            own.translator.permission = PermissionMode::Policy(policy);
        }
        let mut rig = Rig::connected(own);
        let tools = json!({"tools": [{"name": "pick", "description": "", "parameters": {"type": "object"}}]});
        rig.run(input("1", &[user("u", "Hi")], &tools)).unwrap();
        rig.open("s");
        for step in &steps {
            match step {
                Step::Report(report) => {
                    rig.session(SessionEvent::Update(update(report)));
                }
                Step::Received(id, arguments) => {
                    let mut call = NewCall::new("pick", raw(arguments));
                    call.agent_id = id.map(Into::into);
                    // Arguments that are no object are refused.
                    let _call = rig.thread.handle_tool_call(call, rig.now);
                }
            }
        }
        let choices = json!([
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"}]);
        let params = json!({"sessionId": "s", "toolCall": asked, "options": choices});
        let decision = match decider {
            Decider::Rule(is_allowed) => {
                let answer = PermissionAnswer::Selected(choice(is_allowed).into());
                Some(PermissionDecision::Answer(answer))
            }
            Decider::RuleThatAsks => Some(PermissionDecision::Ask),
            Decider::Nothing | Decider::Policy(_) => None,
        };
        match decision {
            None => drop(rig.session(request(1, "session/request_permission", &params))),
            Some(decision) => {
                let method = "session/request_permission";
                let value = AgentRequestV1::decode(method, Some(raw(&params).as_ref())).unwrap();
                let request = ReceivedValue::new(AgentRequest::V1(value), raw(&params));
                let session = rig.session.unwrap();
                rig.thread.handle_decided(session, RequestKey::new(1), request, decision, rig.now);
            }
        }
        rig.wait(Duration::from_millis(50));

        let expected = match decider {
            Decider::Policy(is_allowed) | Decider::Rule(is_allowed) => Some(choice(is_allowed)),
            Decider::Nothing | Decider::RuleThatAsks => None,
        };
        let replied = reply(&rig);
        prop_assert_eq!(replied.as_deref(), expected);
        let events = rig.events.iter().map(|(_, event)| serde_json::to_value(event).unwrap());
        let events: Vec<Value> = events.collect();
        let of_type = |kind: &'static str| events.iter().filter(move |it| it["type"] == kind);
        let questions = of_type("RUN_FINISHED").flat_map(|end| {
            end["outcome"]["interrupts"].as_array().cloned().unwrap_or_default()
        });
        let settled = of_type("CUSTOM").filter(|it| it["name"] == "acp.permission");
        let mentions: Vec<Value> = questions
            .chain(settled.clone().map(|event| event["value"].clone()))
            .collect();
        let by: Vec<_> = settled.filter_map(|it| it["value"]["answeredBy"].as_str()).collect();
        let expected: &[&str] = match decider {
            Decider::Policy(_) => &["policy"],
            Decider::Rule(_) => &["rule"],
            Decider::Nothing | Decider::RuleThatAsks => &[],
        };
        prop_assert_eq!(by, expected);
        prop_assert_eq!(mentions.len(), 1, "one question or one decision");
        // The call in the stream is that of the agent, not one that the page runs.
        let shown = mentions[0]["toolCallId"].as_str().unwrap();
        prop_assert!(shown.starts_with(asked["toolCallId"].as_str().unwrap()));
        let start = of_type("TOOL_CALL_START").find(|start| start["toolCallId"] == shown);
        let start = start.unwrap_or_else(|| panic!("no call {shown}"));
        prop_assert_ne!(&start["metadata"]["acp"]["source"], "frontend");
        prop_assert_eq!(of_type("TOOL_CALL_START").filter(|start| start["toolCallName"] == "pick").count(),
            of_type("TOOL_CALL_START").filter(|start| start["metadata"]["acp"]["source"] == "frontend").count());
    }
}
