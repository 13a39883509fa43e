//! Arguments in each mode, peculiarities of agents, and memory of calls.
use crate::script::{Step, events, in_stream, of_type, play, verify};
use acp_types::v1::initialization::Implementation;
use agui_bridge::quirks::{Quirks, SETTLE};
use agui_bridge::{ArgsMode, Options, Translator};
use agui_types::profile::Profile;
use serde_json::{Value, json};
use std::time::Duration;

fn update(members: Value) -> Value {
    let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Do"});
    update.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap());
    json!({"update": update})
}

fn options(mode: ArgsMode) -> Options {
    let mut options = in_stream(Profile::V1);
    options.arguments = mode;
    options
}

/// Returns the pieces of the sent arguments, and the metadata of their end.
fn sent(mode: ArgsMode, inputs: &[Value]) -> (Vec<String>, Value) {
    let mut steps = vec![json!({"run": "r"})];
    steps.extend(inputs.iter().map(|input| update(json!({"rawInput": input}))));
    steps.push(update(json!({"status": "completed"})));
    steps.push(json!({"result": {"stopReason": "end_turn"}}));
    let stream = play(options(mode), &steps);
    verify(Profile::V1, &stream);
    let pieces = of_type(&stream, "TOOL_CALL_ARGS");
    let pieces = pieces.iter().map(|piece| piece["delta"].as_str().unwrap().to_owned()).collect();
    (pieces, of_type(&stream, "TOOL_CALL_END")[0]["metadata"].clone())
}

#[test]
fn member_is_sent_when_the_next_arrives() {
    let table = [
        (
            vec![json!({}), json!({"a": 1}), json!({"a": 1, "b": 2})],
            vec![r#"{"a":1"#, r#","b":2}"#],
        ),
        (vec![json!({"a": 1, "b": 2, "c": 3})], vec![r#"{"a":1,"b":2"#, r#","c":3}"#]),
        (vec![json!({"a": "x"}), json!({"a": "xy"})], vec![r#"{"a":"xy"}"#]),
        (vec![], vec!["{}"]),
        (vec![json!([1])], vec![r#"{"value":[1]}"#]),
    ];
    for (inputs, expected) in table {
        assert_eq!(
            sent(ArgsMode::StreamKeys, &inputs),
            (expected.iter().map(|s| (*s).to_owned()).collect(), Value::Null)
        );
    }
}

#[test]
fn changed_member_ends_the_sent_object() {
    for last in [json!({"a": 2, "b": 2}), json!({"b": 2}), json!([1]), json!({})] {
        let inputs = [json!({"a": 1, "b": 2}), last.clone()];
        let (pieces, metadata) = sent(ArgsMode::StreamKeys, &inputs);
        assert_eq!(pieces, [r#"{"a":1"#, "}"]);
        assert_eq!(metadata, json!({"acp": {"rawInput": last}}));
    }
}

#[test]
fn eager_arguments_are_sent_when_not_empty() {
    let inputs = [json!({}), json!({"a": 1}), json!({"a": 2})];
    assert_eq!(sent(ArgsMode::Eager, &inputs).0, [r#"{"a":1}"#]);
    let mut steps = vec![json!({"run": "r"})];
    steps.extend(inputs.iter().map(|input| update(json!({"rawInput": input}))));
    let stream = play(options(ArgsMode::Eager), &steps);
    let changed = of_type(&stream, "CUSTOM");
    assert_eq!(changed[0]["value"], json!({"toolCallId": "t", "arguments": {"a": 2}}));
}

/// `{}` is sent only for a call that never gets arguments.
#[test]
fn arguments_may_follow_the_start() {
    let call = |members: Value| {
        let mut step = update(members);
        step["update"]["sessionUpdate"] = json!("tool_call");
        step
    };
    let runs = || update(json!({"status": "in_progress"}));
    let input = || update(json!({"status": "in_progress", "rawInput": {"a": 1}}));
    let over = || update(json!({"status": "completed"}));
    for (steps, expected) in [
        (vec![runs(), input(), over()], r#"{"a":1}"#),
        (vec![runs(), runs(), over()], "{}"),
        (vec![update(json!({"status": "completed", "rawInput": {"a": 1}}))], r#"{"a":1}"#),
    ] {
        let mut all = vec![json!({"run": "r"}), call(json!({"status": "pending"}))];
        all.extend(steps);
        all.push(json!({"result": {"stopReason": "end_turn"}}));
        let stream = play(options(ArgsMode::Hold), &all);
        verify(Profile::V1, &stream);
        let sent = of_type(&stream, "TOOL_CALL_ARGS");
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0]["delta"], expected);
        assert!(stream.iter().all(|event| event["name"] != "acp.tool_call.args_changed"));
    }
}

#[test]
fn arguments_settle_without_a_report_of_the_start() {
    let mut options = options(ArgsMode::Hold);
    options.times.settle = Some(SETTLE);
    let mut translator = Translator::new(options);
    let mut apply = |step: Value| {
        Step::read(&step).apply(&mut translator).unwrap();
        let due = translator.poll_timeout();
        (events(&mut translator).iter().filter(|event| event.tag() == "TOOL_CALL_END").count(), due)
    };
    apply(json!({"tick": 1000}));
    apply(json!({"run": "r"}));
    assert_eq!(
        apply(update(json!({"rawInput": {"a": 1}}))),
        (0, Some(Duration::from_millis(1500)))
    );
    apply(json!({"tick": 1400}));
    assert_eq!(
        apply(update(json!({"rawInput": {"a": 1, "b": 2}}))),
        (0, Some(Duration::from_millis(1900)))
    );
    assert_eq!(apply(json!({"tick": 1899})).0, 0);
    assert_eq!(apply(json!({"tick": 1900})), (1, None));
}

#[test]
fn agents_are_recognized_by_any_part_of_their_names() {
    let table = [
        ("@zed-industries/claude-code-acp", "claude"),
        ("@agentclientprotocol/codex-acp", "codex"),
        ("gemini-cli", "gemini"),
        ("OpenCode", "opencode"),
        ("cline", "cline"),
        ("mistral-vibe", "vibe"),
        ("fast-agent-acp", ""),
    ];
    assert!(Quirks::ALL.iter().all(|quirks| table.iter().any(|(_, known)| *known == quirks.name)));
    for (name, known) in table {
        let quirks = Quirks::of(Some(&Implementation::new(name, "1")));
        assert_eq!(quirks.name, known);
        let mut options = Options::new();
        quirks.apply_to(&mut options);
        assert_eq!(options.times.settle.is_some(), known == "claude");
    }
}

/// Returns the approximate size of a translator.
fn kept(translator: &Translator) -> usize {
    serde_json::to_string(translator).unwrap().len()
}

#[test]
fn finished_calls_use_little_memory() {
    let mut translator = Translator::new(options(ArgsMode::Hold));
    Step::read(&json!({"run": "r"})).apply(&mut translator).unwrap();
    let text = "x".repeat(60_000);
    for number in 0..100 {
        let call = json!({"update": {"sessionUpdate": "tool_call", "toolCallId": format!("t{number}"), "title": "Do",
            "status": "completed", "rawInput": {"text": text}, "rawOutput": text,
            "content": [{"type": "diff", "path": "/f", "oldText": text, "newText": "y"}]}});
        Step::read(&call).apply(&mut translator).unwrap();
        events(&mut translator);
    }
    assert!(kept(&translator) < 200_000, "{} bytes", kept(&translator));
}

#[test]
fn memory_of_open_calls_is_bounded() {
    let mut options = options(ArgsMode::Hold);
    options.limits.tool_call_bytes = 1 << 20;
    let mut translator = Translator::new(options);
    Step::read(&json!({"run": "r"})).apply(&mut translator).unwrap();
    let mut results = 0;
    for number in 0..100 {
        let call = json!({"update": {"sessionUpdate": "tool_call", "toolCallId": format!("t{number}"), "title": "Do",
            "rawInput": {"text": "x".repeat(60_000)}}});
        Step::read(&call).apply(&mut translator).unwrap();
        results += events(&mut translator)
            .iter()
            .filter(|event| event.tag() == "TOOL_CALL_RESULT")
            .count();
        assert!(kept(&translator) < (1 << 20) + 200_000);
    }
    assert!(results > 80, "{results}");
}
