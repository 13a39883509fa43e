//! Generated input: what agents send, in any order and many times.
use crate::script::{Step, in_stream};
use agui_bridge::{Options, PermissionMode, Policy};
use agui_types::profile::Profile;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Ids that agents use, some of which look like ours.
pub(crate) const CALLS: [&str; 6] = ["t1", "t2", "msg-1", "", "call-1", "t1~2"];
pub(crate) const MESSAGES: [&str; 4] = ["A", "B", "1", "A.2"];

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

/// A tool call as an update of it says it.
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
    );
    parts.prop_map(|(a, b, c, d, e, f, g, h, i)| merge([a, b, c, d, e, f, g, h, i]))
}

pub(crate) fn tool_update() -> impl Strategy<Value = Value> {
    let announced = call().prop_map(|call| {
        merge([json!({"title": "Do"}), call, json!({"sessionUpdate": "tool_call"})])
    });
    let updated =
        call().prop_map(|call| merge([call, json!({"sessionUpdate": "tool_call_update"})]));
    prop_oneof![announced, updated]
}

/// An update that says the whole of something.
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
        1 => Just(json!({"sessionUpdate": "session_info_update", "title": null})),
    ]
}

pub(crate) fn update() -> impl Strategy<Value = Value> {
    let summary = json!({"type": "text", "text": "s"});
    prop_oneof![
        6 => chunk(block()),
        6 => upsert(),
        1 => Just(json!({"sessionUpdate": "notice", "severity": "info", "title": "n"})),
        1 => Just(json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"})),
        1 => Just(json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": summary})),
        1 => Just(json!({"sessionUpdate": "newer_update", "anything": [1]})),
    ]
}

pub(crate) fn step() -> impl Strategy<Value = Value> {
    let options = json!([
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    let reasons =
        vec!["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "newer"];
    let codes = vec![-32700, -32603, -32800, -32000, -32002, 400];
    prop_oneof![
        3 => proptest::collection::vec(block(), 0..2).prop_map(|prompt| json!({"run": "", "prompt": prompt})),
        24 => update().prop_map(|update| json!({"update": update})),
        4 => (call(), any::<u8>(), Just(options))
            .prop_map(|(call, id, options)| json!({"ask": id, "toolCall": call, "options": options})),
        3 => (0..5u8, proptest::option::of(select(vec!["yes", "no", "?"])))
            .prop_map(|(id, option)| json!({"answer": format!("int-{id}"), "optionId": option})),
        2 => select(reasons).prop_map(|reason| json!({"result": {"stopReason": reason}})),
        1 => select(codes).prop_map(|code| json!({"error": {"code": code, "message": "m"}})),
        1 => Just(json!({"cancel": true})),
        1 => Just(json!({"exit": "gone"})),
    ]
}

/// Steps in any order, then enough to flush what waits and end it.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(step(), 0..60).prop_map(|mut steps| {
        let end = json!({"result": {"stopReason": "end_turn"}});
        steps.extend([end.clone(), json!({"run": ""}), end]);
        number_runs(&mut steps);
        steps.iter().map(Step::read).collect()
    })
}

/// Gives each run an id of its own.
pub(crate) fn number_runs(steps: &mut [Value]) {
    for (number, step) in steps.iter_mut().enumerate() {
        if step.get("run").is_some() {
            step["run"] = json!(format!("run {number}"));
        }
    }
}

pub(crate) fn options() -> impl Strategy<Value = Options> {
    let policies = vec![
        PermissionMode::InStream,
        PermissionMode::Policy(Policy::allow_all()),
        PermissionMode::Policy(Policy::reject_all()),
    ];
    (select(vec![Profile::V1, Profile::Legacy]), select(policies)).prop_map(
        |(profile, permission)| {
            let mut options = in_stream(profile);
            options.permission = permission;
            options
        },
    )
}
