//! Properties of the bridge, for any session.
use super::call_ids::first_id;
use super::chain::{Chain, opened_v2};
use crate::session_state::SessionView;
use crate::shapes::cases;
use acp_types::convert::{Bridge, BridgeLoss, BridgeOptions};
use acp_types::session_state::SessionState;
use acp_types::v2::prompt_lifecycle::SessionUpdate;
use jsonrpc_core::wire;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

mod session;

use session::Session;

/// A step of a session in which the agent speaks version 2.
#[derive(Clone, Debug)]
enum Step {
    /// The editor prompts.
    Prompt(&'static str),
    /// The agent inserts the oldest prompt: whether the message precedes the response, and is
    /// whole.
    Insert(bool, bool),
    Update(Value),
    /// The agent requests permission; the editor answers at once, or after other steps.
    Ask(Value, Option<bool>),
    Answer(Option<bool>),
    Cancel,
    Mode(&'static str),
    /// The editor sends a request outside of turns, by its place in the table of such requests.
    Setup(usize),
    State(&'static str),
    Idle(Option<&'static str>, bool),
}

fn base64(text: &str) -> &'static str {
    match text {
        "x" => "eA==",
        "yy" => "eXk=",
        _ => "eiA=",
    }
}

fn content(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

/// Content of a tool call, with diffs that have texts, hunks or neither.
fn produced() -> impl Strategy<Value = Value> {
    let diff = |patch: Option<&str>| {
        let mut diff =
            json!({"type": "diff", "changes": [{"operation": "modify", "path": "/w/f"}]});
        if let Some(text) = patch {
            diff["patch"] = json!({"format": "git_patch", "text": text});
        }
        diff
    };
    let whole = "diff --git /w/f /w/f\n--- /w/f\n+++ /w/f\n@@ -1,1 +1,1 @@\n-a\n+b\n";
    let hunk = "diff --git /w/f /w/f\n--- /w/f\n+++ /w/f\n@@ -3,2 +3,2 @@\n c\n-a\n+b\n";
    select(vec![
        content("x"),
        content("yy"),
        json!({"type": "terminal", "terminalId": "t"}),
        diff(Some(whole)),
        diff(Some(hunk)),
        diff(None),
        json!({"type": "content", "content": {"type": "resource_link", "name": "n", "uri": "file:///f", "icons": [{"src": "https://e/i"}]}}),
        json!({"type": "content", "content": {"type": "image", "data": "eA==", "mimeType": "image/png"}}),
    ])
}

fn tool_call() -> impl Strategy<Value = Value> {
    let maybe = |values: Vec<Value>| prop_oneof![3 => Just(None), 3 => select(values).prop_map(Some), 1 => Just(Some(Value::Null))];
    let text = |names: &[&str]| names.iter().map(|name| json!(name)).collect::<Vec<_>>();
    (
        select(vec!["c", "d"]),
        (maybe(text(&["T", "U"])), maybe(text(&["read", "edit", "_odd"])), maybe(text(&["tool"]))),
        maybe(text(&["pending", "in_progress", "paused", "completed", "failed", "cancelled"])),
        prop_oneof![
            2 => Just(None),
            2 => prop::collection::vec(produced(), 0..3).prop_map(|it| Some(json!(it))),
            1 => Just(Some(Value::Null)),
        ],
        maybe(vec![json!([{"path": "/w/f", "line": 3}])]),
        (
            maybe(vec![json!({"a": 1.5})]),
            maybe(vec![json!({"cancel": {}})]),
            maybe(vec![json!({"k": 1}), json!({"k": null})]),
        ),
    )
        .prop_map(
            |(id, (title, kind, name), status, content, locations, (raw, controls, meta))| {
                let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
                let members = [
                    ("title", title),
                    ("kind", kind),
                    ("name", name),
                    ("status", status),
                    ("content", content),
                    ("locations", locations),
                    ("rawInput", raw),
                    ("capabilities", controls),
                    ("_meta", meta),
                ];
                for (member, value) in members {
                    if let Some(value) = value {
                        update[member] = value;
                    }
                }
                update
            },
        )
}

fn update() -> impl Strategy<Value = Value> {
    let text = || select(vec!["x", "yy", "z "]);
    let id = || select(vec!["a", "b"]);
    let kind = || select(vec!["agent_message", "agent_thought", "user_message"]);
    let chunk = (kind(), id(), text(), any::<bool>()).prop_map(|(kind, id, text, has_meta)| {
        let mut update = json!({"sessionUpdate": format!("{kind}_chunk"), "messageId": id, "content": {"type": "text", "text": text}});
        if has_meta {
            update["_meta"] = json!({"k": text});
        }
        update
    });
    let whole = (kind(), id(), prop::collection::vec(text(), 0..3), 0..4_u8);
    let whole = whole.prop_map(|(kind, id, texts, odd)| {
        let blocks: Vec<_> =
            texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        let mut update = json!({"sessionUpdate": kind, "messageId": id, "content": blocks});
        match odd {
            0 => update["content"] = Value::Null,
            1 => update["_meta"] = json!({"k": 1}),
            _ => {}
        }
        update
    });
    let produced = (select(vec!["c", "d"]), produced()).prop_map(|(id, content)| {
        json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": id, "content": content})
    });
    let output = text().prop_map(|text| {
        json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": base64(text)})
    });
    let other = select(vec![
        json!({"sessionUpdate": "terminal_update", "terminalId": "t", "command": "ls", "cwd": "/w"}),
        json!({"sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 1}}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "USD"}}),
        json!({"sessionUpdate": "session_info_update", "title": "t", "_meta": {"k": null}}),
        json!({"sessionUpdate": "session_info_update", "title": null}),
        json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [{"content": "c", "priority": "low", "status": "cancelled"}]}}),
        json!({"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "q", "content": "m"}}),
        json!({"sessionUpdate": "plan_removed", "planId": "p"}),
        json!({"sessionUpdate": "notice", "severity": "info", "title": "n"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"}),
        json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": {"type": "text", "text": "s"}}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"type": "command", "name": "go", "description": "Goes."}]}),
        json!({"sessionUpdate": "subagent_update", "sessionId": "child", "title": "c", "state": {"state": "idle", "stopReason": "end_turn"}}),
    ]);
    prop_oneof![4 => chunk, 2 => whole, 4 => tool_call(), 2 => produced, 2 => output, 3 => other]
}

fn question() -> impl Strategy<Value = Value> {
    let call = tool_call().prop_map(|mut call| {
        call.as_object_mut().unwrap().remove("sessionUpdate");
        json!({"type": "tool_call", "toolCall": call})
    });
    let command = json!({"type": "command", "command": "ls", "cwd": "/w", "toolCallId": "c"});
    prop_oneof![3 => call.prop_map(Some), 1 => Just(Some(command)), 1 => Just(None)].prop_map(|subject| {
        let options = json!([
            {"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"},
        ]);
        let mut params = json!({"sessionId": "s", "title": "Q?", "description": "D", "options": options});
        if let Some(subject) = subject {
            params["subject"] = subject;
        }
        params
    })
}

fn step() -> impl Strategy<Value = Step> {
    let answer = || prop_oneof![any::<bool>().prop_map(Some), Just(None)];
    let reasons = vec![
        Some("end_turn"),
        Some("max_tokens"),
        Some("cancelled"),
        Some("refusal"),
        Some("error"),
        Some("_odd"),
        None,
    ];
    prop_oneof![
        4 => select(vec!["hi", "go on"]).prop_map(Step::Prompt),
        4 => any::<(bool, bool)>().prop_map(|(early, whole)| Step::Insert(early, whole)),
        12 => update().prop_map(Step::Update),
        2 => (question(), answer()).prop_map(|(question, answer)| Step::Ask(question, answer)),
        1 => answer().prop_map(Step::Answer),
        1 => Just(Step::Cancel),
        1 => select(vec!["a", "b"]).prop_map(Step::Mode),
        2 => any::<usize>().prop_map(Step::Setup),
        1 => select(vec!["running", "requires_action"]).prop_map(Step::State),
        2 => (select(reasons), any::<bool>()).prop_map(|(reason, usage)| Step::Idle(reason, usage)),
    ]
}

/// Returns whether a diagnostic names an update, or the `_meta` of the notification with it.
fn is_meta_named(chain: &Chain, update: &Value) -> bool {
    let id = ["messageId", "terminalId"].into_iter().find_map(|name| update[name].as_str());
    match update["sessionUpdate"].as_str().unwrap() {
        "state_update" => chain.has_lost(BridgeLoss::State),
        "terminal_update" | "terminal_output_chunk" => chain.has_lost(BridgeLoss::Terminal),
        _ => [BridgeLoss::PromptMessage, BridgeLoss::MessageMeta]
            .iter()
            .any(|loss| id.is_some_and(|id| is_named(chain, *loss, id))),
    }
}

/// Returns the state after updates as the updates that create it.
pub(super) fn state_of(updates: &[Value]) -> Vec<Value> {
    let mut state = SessionState::default();
    for update in updates {
        state.handle(&wire::decode::<SessionUpdate>(&update.to_string()).unwrap());
    }
    let view = state.view_v2();
    view.updates.iter().map(|update| serde_json::to_value(update).unwrap()).collect()
}

/// Returns whether a diagnostic names the object with this id, or a part of it.
fn is_named(chain: &Chain, loss: BridgeLoss, id: &str) -> bool {
    let mut names = chain.lost(loss);
    names.any(|name| name.strip_prefix(id).is_some_and(|it| it.is_empty() || it.starts_with(": ")))
}

/// Removes what the diagnostics name from a state.
pub(super) fn without_losses(mut updates: Vec<Value>, chain: &Chain) -> Vec<Value> {
    let of_states = [BridgeLoss::State, BridgeLoss::OwnTurn, BridgeLoss::StopReason];
    let is_state_lost = of_states.iter().any(|loss| chain.has_lost(*loss));
    updates.retain(|update| {
        let kind = update["sessionUpdate"].as_str().unwrap();
        let id = update["messageId"].as_str().unwrap_or_default();
        let base = id.split('#').next().unwrap();
        let is_prompt = kind == "user_message"
            && (is_named(chain, BridgeLoss::PromptMessage, id) || id.starts_with("bridge-"));
        // A request without a tool call becomes one.
        let call = update["toolCallId"].as_str().map(first_id);
        let is_asked = chain.lost(BridgeLoss::Permission).any(|name| Some(first_id(name)) == call);
        let is_lost = is_prompt
            || is_asked
            || is_named(chain, BridgeLoss::Rewrite, base)
            || kind == "state_update" && is_state_lost;
        !is_lost && kind != "terminal_update"
    });
    updates.iter_mut().for_each(|update| clean(update, chain));
    // Version 1 has no empty message, so that the order of messages may differ.
    updates.sort_by_key(|update| {
        ["sessionUpdate", "messageId", "toolCallId"].map(|name| update[name].to_string())
    });
    updates.retain(|update| {
        let kind = update["sessionUpdate"].as_str().unwrap();
        !(matches!(kind, "agent_message" | "agent_thought" | "user_message")
            && update.get("content").is_none_or(|content| content == &json!([])))
    });
    updates
}

/// Removes the members of an update that a diagnostic with its id names.
fn clean(update: &mut Value, chain: &Chain) {
    let id = ["toolCallId", "messageId"].into_iter().find_map(|name| update[name].as_str());
    let id = id.unwrap_or_default().to_owned();
    let has_lost = |loss| is_named(chain, loss, &id);
    let has_lost_part =
        |loss, part: &str| chain.lost(loss).any(|name| name == format!("{id}: {part}"));
    let kind = update["sessionUpdate"].as_str().unwrap().to_owned();
    let members = update.as_object_mut().unwrap();
    if has_lost(BridgeLoss::MessageMeta) {
        members.remove("_meta");
    }
    if kind == "state_update" && chain.has_lost(BridgeLoss::Background) {
        members.remove("background");
    }
    if kind == "tool_call_update" {
        let names: Vec<_> = members.keys().cloned().collect();
        for name in names.iter().filter(|name| has_lost_part(BridgeLoss::Cleared, name)) {
            members.remove(name);
        }
        if has_lost_part(BridgeLoss::Permission, "description") {
            members.remove("content");
        }
        let lost = [
            (BridgeLoss::Controls, "capabilities"),
            (BridgeLoss::ToolTitle, "title"),
            (BridgeLoss::ToolStatus, "status"),
            (BridgeLoss::ToolStatus, "kind"),
            (BridgeLoss::Terminal, "content"),
            (BridgeLoss::Diff, "content"),
            (BridgeLoss::Content, "content"),
        ];
        for (_, member) in lost.into_iter().filter(|(loss, _)| has_lost(*loss)) {
            members.remove(member);
        }
        for name in ["content", "locations"] {
            if members.get(name) == Some(&json!([])) {
                members.remove(name);
            }
        }
    }
    if let Some(plan) = update.get_mut("plan")
        && is_named(chain, BridgeLoss::PlanStatus, plan["planId"].as_str().unwrap_or_default())
    {
        let entries = plan["entries"].as_array_mut().unwrap();
        entries.iter_mut().for_each(|entry| entry["status"] = json!(""));
    }
}

proptest! {
    #![proptest_config(cases(96))]

    /// Each side of a bridge follows the specification of its version, each prompt and each
    /// question has one answer, and there and back loses only what the diagnostics name.
    #[test]
    fn there_and_back_loses_only_what_is_named(steps in prop::collection::vec(step(), 0..40)) {
        let mut session = Session::new();
        for step in steps {
            session.take(step);
        }
        session.finish();
        let [editor, link, agent] = session.chain.errors();
        prop_assert_eq!(&agent, &[], "the script itself");
        prop_assert_eq!(&link, &[]);
        prop_assert_eq!(&editor, &[]);
        for (id, ..) in &session.prompts {
            let responses = session.chain.responses(id);
            prop_assert_eq!(responses.len(), 1, "{}: {:?}", id, responses);
        }
        for (number, update) in &session.numbered {
            prop_assert!(session.chain.has_number(*number) || is_meta_named(&session.chain, update), "{}: {}", number, update);
        }
        let sent_state = state_of(&session.updates);
        let received = state_of(&session.chain.updates());
        let chain = &session.chain;
        prop_assert_eq!(without_losses(received, chain), without_losses(sent_state, chain));
    }

    /// Any bytes are handled without a panic, in any order, and the output stays within the input.
    #[test]
    fn any_lines_are_handled(lines in prop::collection::vec((any::<bool>(), line()), 0..40), ends in 0..2_u8) {
        let mut chain = opened_v2();
        let mut bridge = Bridge::new(BridgeOptions::default());
        for (is_editor, line) in &lines {
            if *is_editor { bridge.handle_editor_line(line) } else { bridge.handle_agent_line(line) }
            if let Ok(line) = serde_json::from_str(line) {
                if (ends == 0) == *is_editor { chain.editor(&line) } else { chain.agent(&line) }
            }
        }
        prop_assert!(std::iter::from_fn(|| bridge.poll_output()).count() <= 4 * lines.len());
    }
}

/// A line of a hostile peer.
fn line() -> impl Strategy<Value = String> {
    let id = || select(vec![json!(1), json!("p1"), json!(null), json!({})]);
    let methods: Vec<_> = acp_types::methods::V1
        .iter()
        .chain(acp_types::methods::V2)
        .map(|method| method.name)
        .collect();
    let params = prop_oneof![
        crate::shapes::any_json(),
        update().prop_map(|update| json!({"sessionId": "s", "update": update})),
        Just(json!({"sessionId": "s", "prompt": []})),
        Just(json!({"protocolVersion": 2})),
    ];
    prop_oneof![
        (id(), select(methods), params.clone()).prop_map(|(id, method, params)| {
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
        }),
        params.clone().prop_map(|params| {
            json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()
        }),
        (id(), crate::shapes::any_json()).prop_map(|(id, result)| {
            json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
        }),
        "[\\[\\]{}\",:a-z0-9]{0,40}",
    ]
}
