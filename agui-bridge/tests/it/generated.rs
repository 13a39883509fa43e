//! Generated input: messages of agents in any order, with repetitions.
use crate::script::{Step, in_stream};
use agui_bridge::{ArgsMode, ElicitationMode, Options, PermissionMode, Policy, UnansweredPolicy};
use agui_types::profile::Profile;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::time::Duration;

/// Ids of agents, some of which look like the bridge's.
pub(crate) const CALLS: [&str; 6] = ["t1", "t2", "msg-1", "", "call-1", "t1~2"];
pub(crate) const MESSAGES: [&str; 4] = ["A", "B", "1", "A.2"];
/// Prefix of the ids of page calls.
pub(crate) const PAGE_CALL: &str = "page-";

pub(crate) fn optional(
    value: impl Strategy<Value = Value>,
    name: &'static str,
) -> impl Strategy<Value = Value> {
    proptest::option::of(value)
        .prop_map(move |value| value.map_or(json!({}), |value| json!({ name: value })))
}

pub(crate) fn merge(objects: impl IntoIterator<Item = Value>) -> Value {
    let members = objects.into_iter().filter_map(|object| object.as_object().cloned()).flatten();
    Value::Object(members.collect())
}

pub(crate) fn block() -> impl Strategy<Value = Value> {
    let link = json!({"type": "resource_link", "name": "n", "uri": "https://example.org/n"});
    let resource = json!({"type": "resource", "resource": {"uri": "file:///n", "text": "t"}});
    prop_oneof![
        6 => "[a-c \n\u{e9}]{0,4}".prop_map(|text| json!({"type": "text", "text": text})),
        1 => Just(json!({"type": "image", "data": "AAAA", "mimeType": "image/png"})),
        1 => Just(json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"})),
        1 => Just(link),
        1 => Just(resource),
        1 => Just(json!({"type": "hologram", "data": 1})),
    ]
}

pub(crate) fn chunk(block: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let kinds = select(vec!["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"]);
    let id = optional(select(MESSAGES.to_vec()).prop_map(Value::from), "messageId");
    (kinds, block, id)
        .prop_map(|(kind, block, id)| merge([json!({"sessionUpdate": kind, "content": block}), id]))
}

pub(crate) fn tool_content() -> impl Strategy<Value = Value> {
    let item = prop_oneof![
        block().prop_map(|block| json!({"type": "content", "content": block})),
        ("[ab\n]{0,6}", "[ab\n]{0,6}").prop_map(
            |(old, new)| json!({"type": "diff", "path": "/f", "oldText": old, "newText": new})
        ),
        Just(json!({"type": "terminal", "terminalId": "term"})),
        Just(json!({"type": "chart", "points": [1]})),
    ];
    proptest::collection::vec(item, 0..3).prop_map(Value::from)
}

pub(crate) fn raw() -> impl Strategy<Value = Value> {
    select(vec![
        json!({}),
        json!({"a": 1}),
        json!({"a": 1, "b": "x"}),
        json!("text"),
        json!([1]),
        json!(7),
        json!({"content": [{"type": "text", "text": "from a server"}]}),
    ])
}

/// Terminal metadata of a tool call.
fn terminal_meta() -> impl Strategy<Value = Value> {
    select(vec![
        json!({"terminal_info": {"terminal_id": "term", "cwd": "/d"}}),
        json!({"terminal_output": {"terminal_id": "term", "data": "one\n"}}),
        json!({"terminal_output_delta": {"terminal_id": "term", "data": "two\n"}}),
        json!({"terminal_exit": {"terminal_id": "term", "exit_code": 1, "signal": null}}),
        json!({"claudeCode": {"toolName": "Bash"}}),
        json!({"claudeCode": {"parentToolUseId": "t1"}}),
    ])
}

/// A tool call in the form of an update.
pub(crate) fn call() -> impl Strategy<Value = Value> {
    let status = select(vec!["pending", "in_progress", "completed", "failed", "paused"])
        .prop_map(Value::from);
    let kind = select(vec!["read", "execute", "other", "newer"]).prop_map(Value::from);
    let name = select(vec!["Read", "mcp__srv__find", ""]).prop_map(Value::from);
    let parts = (
        select(CALLS.to_vec()).prop_map(|id| json!({"toolCallId": id})),
        optional(select(vec!["Read a file", "", "\u{1F600}"]).prop_map(Value::from), "title"),
        optional(kind, "kind"),
        optional(status, "status"),
        optional(name, "name"),
        optional(raw(), "rawInput"),
        optional(raw(), "rawOutput"),
        optional(tool_content(), "content"),
        optional(Just(json!([{"path": "/f", "line": 1}])), "locations"),
        optional(terminal_meta(), "_meta"),
    );
    parts.prop_map(|(a, b, c, d, e, f, g, h, i, j)| merge([a, b, c, d, e, f, g, h, i, j]))
}

pub(crate) fn tool_update() -> impl Strategy<Value = Value> {
    let announced = call().prop_map(|call| {
        merge([json!({"title": "Do"}), call, json!({"sessionUpdate": "tool_call"})])
    });
    let updated =
        call().prop_map(|call| merge([call, json!({"sessionUpdate": "tool_call_update"})]));
    prop_oneof![announced, updated]
}

/// An update that replaces a whole value.
pub(crate) fn upsert() -> impl Strategy<Value = Value> {
    let entry = json!({"content": "c", "priority": "high", "status": "pending"});
    let option = json!({"id": "o", "name": "O", "type": "boolean", "currentValue": true});
    prop_oneof![
        8 => tool_update(),
        1 => select(vec![json!([]), json!([entry])])
            .prop_map(|entries| json!({"sessionUpdate": "plan", "entries": entries})),
        1 => (0..3u32).prop_map(|used| json!({"sessionUpdate": "usage_update", "used": used, "size": 9})),
        1 => Just(json!({"sessionUpdate": "available_commands_update", "availableCommands": []})),
        1 => select(vec!["ask", "code"])
            .prop_map(|mode| json!({"sessionUpdate": "current_mode_update", "currentModeId": mode})),
        1 => Just(json!({"sessionUpdate": "config_option_update", "configOptions": [option]})),
        1 => Just(json!({"sessionUpdate": "prompt_suggestions_update", "suggestions": [{"prompt": [{"type": "text", "text": "p"}]}]})),
        1 => Just(json!({"sessionUpdate": "session_info_update", "title": null})),
    ]
}

/// A cursor beside a message or a call.
pub(crate) fn cursor_update() -> impl Strategy<Value = Value> {
    let position = select(vec!["before", "after"]);
    let kind = select(vec!["user_message", "agent_message", "agent_thought"]);
    let message = (kind, select(MESSAGES.to_vec()), position.clone()).prop_map(
        |(kind, id, position)| json!({"type": kind, "messageId": id, "position": position}),
    );
    let call = (select(CALLS.to_vec()), position).prop_map(
        |(id, position)| json!({"type": "tool_call", "toolCallId": id, "position": position}),
    );
    let capabilities = select(vec![json!({"fork": {}}), Value::Null]);
    (prop_oneof![message, call], capabilities).prop_map(|(anchor, capabilities)| {
        json!({"sessionUpdate": "cursor_update", "cursorId": anchor.to_string(), "anchor": anchor,
            "capabilities": capabilities})
    })
}

/// Updates of v1 about several plans and several sessions.
fn of_several() -> impl Strategy<Value = Value> {
    let states = select(vec![
        json!({"state": "running"}),
        json!({"state": "idle", "stopReason": "end_turn"}),
        json!({"state": "idle", "stopReason": "cancelled"}),
        json!({"state": "requires_action"}),
    ]);
    let agents =
        (select(vec!["sub", "other"]), optional(states, "state")).prop_map(|(id, state)| {
            merge([
                json!({"sessionUpdate": "subagent_update", "sessionId": id, "title": "Scout"}),
                state,
            ])
        });
    let whole = (select(MESSAGES.to_vec()), proptest::collection::vec(block(), 0..3)).prop_map(|(id, blocks)| {
        json!({"sessionUpdate": "session_message", "messageId": id, "senderSessionId": "sub", "content": blocks})
    });
    let piece = (select(MESSAGES.to_vec()), block()).prop_map(|(id, block)| {
        json!({"sessionUpdate": "session_message_chunk", "messageId": id, "content": block})
    });
    let entry = json!({"content": "c", "priority": "high", "status": "pending"});
    let plan = select(vec![
        json!({"type": "items", "planId": "p", "entries": [entry]}),
        json!({"type": "markdown", "planId": "p", "content": "x"}),
        json!({"type": "newer", "planId": "q"}),
    ]);
    prop_oneof![
        3 => agents,
        1 => whole,
        2 => piece,
        2 => plan.prop_map(|plan| json!({"sessionUpdate": "plan_update", "plan": plan})),
        1 => Just(json!({"sessionUpdate": "plan_removed", "planId": "p"})),
    ]
}

pub(crate) fn update() -> impl Strategy<Value = Value> {
    let summary = json!({"type": "text", "text": "s"});
    prop_oneof![
        6 => chunk(block()),
        6 => upsert(),
        3 => of_several(),
        1 => Just(json!({"sessionUpdate": "notice", "severity": "info", "title": "n"})),
        1 => Just(json!({"sessionUpdate": "cursor_update", "cursorId": "c", "capabilities": {"fork": {}}})),
        1 => Just(json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"})),
        1 => Just(json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": summary})),
        1 => Just(json!({"sessionUpdate": "newer_update", "anything": [1]})),
    ]
}

/// An update of v2.
pub(crate) fn update_v2() -> impl Strategy<Value = Value> {
    let id = || select(MESSAGES.to_vec());
    let text = || "[a-b]{0,3}".prop_map(|text| json!({"type": "text", "text": text}));
    let voices = vec!["agent_message", "agent_thought", "user_message"];
    let chunks = (select(voices.clone()), id(), block()).prop_map(|(voice, id, block)| {
        json!({"sessionUpdate": format!("{voice}_chunk"), "messageId": id, "content": block})
    });
    let content = prop_oneof![
        4 => proptest::collection::vec(prop_oneof![4 => text(), 1 => block()], 0..3).prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    let wholes =
        (select(voices), id(), optional(content, "content")).prop_map(|(voice, id, content)| {
            merge([json!({"sessionUpdate": voice, "messageId": id}), content])
        });
    let status = select(vec![
        "pending",
        "in_progress",
        "paused",
        "completed",
        "failed",
        "cancelled",
        "newer",
    ]);
    let statuses = (
        select(CALLS.to_vec()),
        optional(status.prop_map(Value::from), "status"),
        optional(raw(), "rawInput"),
    )
        .prop_map(|(id, status, input)| {
            merge([
                json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "title": "Do"}),
                status,
                input,
            ])
        });
    let pieces = (select(CALLS.to_vec()), block()).prop_map(|(id, block)| {
        json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": id, "content": {"type": "content", "content": block}})
    });
    let diff = json!({"type": "diff", "changes": [{"operation": "add", "path": "/f"}]});
    let terminal = json!({"type": "terminal", "terminalId": "term"});
    let states = prop_oneof![
        3 => Just(json!({"state": "running"})),
        1 => Just(json!({"state": "requires_action"})),
        1 => select(vec!["end_turn", "cancelled", "refusal", "max_tokens"])
            .prop_map(|reason| json!({"state": "idle", "stopReason": reason})),
        1 => Just(json!({"state": "idle"})),
    ];
    let agents = (select(vec!["sub", "other"]), states.clone()).prop_map(|(id, state)| {
        json!({"sessionUpdate": "subagent_update", "sessionId": id, "title": "Scout", "state": state})
    });
    let messages = (id(), text()).prop_map(|(id, text)| json!({"sessionUpdate": "session_message_chunk", "messageId": id, "content": text}));
    let summary = json!({"type": "text", "text": "s"});
    let rest = select(vec![
        json!({"sessionUpdate": "session_message", "messageId": "A", "content": [summary]}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
        json!({"sessionUpdate": "config_option_update", "configOptions": []}),
        json!({"sessionUpdate": "prompt_suggestions_update", "suggestions": []}),
        json!({"sessionUpdate": "cursor_update", "cursorId": "c", "capabilities": {"fork": {}}}),
        json!({"sessionUpdate": "replay_complete"}),
        json!({"sessionUpdate": "session_info_update", "title": "T"}),
        json!({"sessionUpdate": "notice", "severity": "info", "title": "n"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"}),
        json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": summary}),
    ]);
    prop_oneof![
        6 => chunks,
        4 => wholes,
        4 => statuses,
        2 => pieces,
        1 => Just(json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t1", "content": diff})),
        1 => Just(json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t1", "content": terminal})),
        1 => Just(json!({"sessionUpdate": "terminal_update", "terminalId": "term", "exitStatus": {"exitCode": 1}})),
        2 => select(vec!["b25l", "dHdvCg==", "?"])
            .prop_map(|data| json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "term", "data": data})),
        1 => states.prop_map(|state| merge([json!({"sessionUpdate": "state_update"}), state])),
        2 => agents,
        1 => messages,
        4 => rest,
        1 => Just(json!({"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "p", "content": "x"}})),
        1 => Just(json!({"sessionUpdate": "plan_removed", "planId": "p"})),
        1 => Just(json!({"sessionUpdate": "usage_update", "used": 1, "size": 9})),
        1 => Just(json!({"sessionUpdate": "newer_update", "anything": [1]})),
    ]
}

/// A question of the agent.
fn question() -> impl Strategy<Value = Value> {
    let options = json!([
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    let v1 = options.clone();
    let v2 = options;
    let form = json!({"mode": "form", "sessionId": "session", "message": "?", "requestedSchema":
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}});
    let page = json!({"mode": "url", "sessionId": "session", "message": "?", "elicitationId": "e", "url": "https://example.org"});
    let newer = json!({"mode": "newer", "sessionId": "session", "message": "?"});
    prop_oneof![
        4 => (call(), any::<u8>()).prop_map(move |(call, id)| json!({"ask": id, "toolCall": call, "options": v1})),
        1 => (any::<u8>(), proptest::option::of(select(CALLS.to_vec()))).prop_map(move |(id, call)| {
            let mut request = json!({"sessionId": "session", "title": "May I?", "options": v2});
            if let Some(call) = call {
                request["subject"] = json!({"type": "tool_call", "toolCall": {"toolCallId": call}});
            }
            json!({"ask2": id, "request": request})
        }),
        2 => (any::<u8>(), select(vec![form, page, newer])).prop_map(|(id, request)| json!({"elicit": id, "request": request})),
    ]
}

/// The beginning of a run, with or without answers.
fn run() -> impl Strategy<Value = Value> {
    let payload = select(vec![
        json!(true),
        json!({"optionId": "yes"}),
        json!({"optionId": "no"}),
        json!({"name": "Ada"}),
        json!({}),
        Value::Null,
    ]);
    let answer = (1..6u8, payload).prop_map(|(id, payload)| match payload {
        Value::Null => json!({"interruptId": format!("int-{id}"), "status": "cancelled"}),
        payload => {
            json!({"interruptId": format!("int-{id}"), "status": "resolved", "payload": payload})
        }
    });
    let answers = proptest::collection::vec(answer, 0..4);
    let all = Just(
        (1..9u8)
            .map(|id| json!({"interruptId": format!("int-{id}"), "status": "cancelled"}))
            .collect(),
    );
    let resume = prop_oneof![2 => Just(vec![]), 2 => answers, 1 => all];
    (proptest::collection::vec(block(), 0..2), resume)
        .prop_map(|(prompt, resume)| json!({"run": "", "prompt": prompt, "resume": resume}))
}

pub(crate) fn step() -> impl Strategy<Value = Value> {
    let reasons =
        vec!["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "newer"];
    let codes = vec![-32700, -32603, -32800, -32000, -32002, 400];
    let action = json!({"action": "accept", "content": {"name": "Ada"}});
    let sessions = select(vec!["session", "sub", "other"]);
    prop_oneof![
        4 => run(),
        18 => (update(), sessions.clone()).prop_map(|(update, session)| json!({"update": update, "session": session})),
        12 => (update_v2(), sessions).prop_map(|(update, session)| json!({"update2": update, "session": session})),
        5 => question(),
        3 => (0..5u8, proptest::option::of(select(vec!["yes", "no", "?"])))
            .prop_map(|(id, option)| json!({"answer": format!("int-{id}"), "optionId": option})),
        1 => (0..5u8).prop_map(move |id| json!({"answer": format!("int-{id}"), "action": action})),
        1 => any::<u8>().prop_map(|id| json!({"withdraw": id})),
        1 => Just(json!({"complete": "e"})),
        1 => Just(json!({"accepted": "A"})),
        2 => (0..3u8).prop_map(|id| {
            json!({"frontend": format!("{PAGE_CALL}{id}"), "name": "park", "arguments": {"of": id}})
        }),
        1 => Just(json!({"parked": true})),
        1 => select(vec!["_listed/x", "_other"]).prop_map(|method| json!({"extension": method, "params": {"sessionId": "sub"}})),
        2 => select(reasons).prop_map(|reason| json!({"result": {"stopReason": reason}})),
        1 => select(codes).prop_map(|code| json!({"error": {"code": code, "message": "m"}})),
        1 => Just(json!({"cancel": true})),
        1 => Just(json!({"stop": true})),
        1 => Just(json!({"exit": "gone"})),
        1 => select(vec![json!({"load": true}), json!({"load": false})]),
        2 => (0..9u16).prop_map(|time| json!({"tick": time * 40})),
    ]
}

/// Steps in any order, followed by steps that flush waiting updates and end the run.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(step(), 0..60).prop_map(|mut steps| {
        let end = json!({"result": {"stopReason": "end_turn"}});
        let load = json!({"load": false});
        steps.extend([end.clone(), load, json!({"run": ""}), end]);
        number_runs(&mut steps);
        steps.iter().map(Step::read).collect()
    })
}

/// Assigns a unique id to each run.
pub(crate) fn number_runs(steps: &mut [Value]) {
    for (number, step) in steps.iter_mut().enumerate() {
        if step.get("run").is_some() {
            step["run"] = json!(format!("run {number}"));
        }
    }
}

pub(crate) fn options() -> impl Strategy<Value = Options> {
    let permissions = vec![
        PermissionMode::InStream,
        PermissionMode::Interrupt,
        PermissionMode::Policy(Policy::allow_all()),
        PermissionMode::Policy(Policy::reject_all()),
    ];
    let elicitations =
        vec![ElicitationMode::Decline, ElicitationMode::InStream, ElicitationMode::Interrupt];
    let arguments = vec![ArgsMode::Hold, ArgsMode::StreamKeys, ArgsMode::Eager];
    let time = || proptest::option::of((0..5u64).prop_map(|n| Duration::from_millis(n * 50)));
    let modes = (select(permissions), select(elicitations), select(arguments));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (select(vec![Profile::V1, Profile::Legacy]), modes, flags, (time(), time(), time(), time()))
        .prop_map(|(profile, modes, flags, times)| {
            let mut options = in_stream(profile);
            (options.permission, options.elicitation, options.arguments) = modes;
            options.history = flags.0;
            options.state = flags.1;
            options.unanswered =
                if flags.2 { UnansweredPolicy::Abandon } else { UnansweredPolicy::Reject };
            options.legacy_interrupts = flags.3;
            options.extensions = vec!["_listed/*".into()];
            options.times.collect = times.0.unwrap_or_default();
            (options.times.answer, options.times.settle, options.times.idle) =
                (times.1, times.2, times.3);
            options
        })
}

/// Returns the number of cases of each property: 64 for proptest's default of 256 cases, and in
/// proportion for another `PROPTEST_CASES`.
pub(crate) fn cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    let cases = (config.cases / 4).max(1);
    ProptestConfig { cases, ..config }
}
