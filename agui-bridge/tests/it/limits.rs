//! Limits: truncated values are marked.
use crate::script::{in_stream, of_type, play, verify};
use agui_bridge::{Limits, Options};
use agui_types::profile::Profile;
use serde_json::{Value, json};

fn run(change: impl Fn(&mut Limits), updates: &[Value]) -> Vec<Value> {
    let mut options: Options = in_stream(Profile::V1);
    change(&mut options.limits);
    let mut steps = vec![json!({"run": "r"})];
    steps.extend(updates.iter().map(|update| json!({"update": update})));
    steps.push(json!({"error": {"code": 1, "message": "m".repeat(20)}}));
    let stream = play(options, &steps);
    verify(Profile::V1, &stream);
    stream
}

fn completed(members: Value) -> Value {
    let mut update =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"});
    let (Some(update_members), Value::Object(members)) = (update.as_object_mut(), members) else {
        panic!()
    };
    update_members.extend(members);
    update
}

#[test]
fn long_texts_are_split_between_characters() {
    let say = |kind: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": "ab\u{e9}\u{20ac}c"}});
    let pieces = [
        (2, vec!["ab", "\u{e9}", "\u{20ac}", "c"]),
        (4, vec!["ab\u{e9}", "\u{20ac}c"]),
        (8, vec!["ab\u{e9}\u{20ac}c"]),
    ];
    for (limit, pieces) in pieces {
        for (kind, event) in [
            ("agent_message_chunk", "TEXT_MESSAGE_CONTENT"),
            ("agent_thought_chunk", "REASONING_MESSAGE_CONTENT"),
        ] {
            let stream = run(|limits| limits.delta = limit, &[say(kind)]);
            let given: Vec<_> =
                of_type(&stream, event).iter().map(|event| event["delta"].clone()).collect();
            assert_eq!(given, pieces);
        }
    }
}

#[test]
fn results_are_truncated_between_characters() {
    let output = completed(json!({"rawOutput": "12345678\u{e9}abc"}));
    let stream = run(|limits| limits.result = 9, &[output]);
    assert_eq!(
        of_type(&stream, "TOOL_CALL_RESULT")[0]["content"],
        "12345678\n[cut: 9 of 13 bytes]"
    );
}

#[test]
fn oversized_arguments_are_replaced() {
    let stream =
        run(|limits| limits.arguments = 8, &[completed(json!({"rawInput": {"a": "0123456789"}}))]);
    assert_eq!(of_type(&stream, "TOOL_CALL_ARGS")[0]["delta"], r#"{"omittedBytes":18}"#);
}

#[test]
fn oversized_values_are_left_out() {
    let commands = json!({"sessionUpdate": "available_commands_update", "availableCommands": []});
    let image = json!({"sessionUpdate": "agent_message_chunk",
        "content": {"type": "image", "data": "A".repeat(40), "mimeType": "image/png"}});
    let diff = completed(json!({"content": [
        {"type": "terminal", "terminalId": "x"},
        {"type": "diff", "path": "/f", "newText": "0123456789"}]}));
    let stream = run(|limits| limits.value = 41, &[commands, image, diff]);
    assert_eq!(of_type(&stream, "CUSTOM")[0]["value"], json!({"availableCommands": []}));
    let shown = of_type(&stream, "ACTIVITY_SNAPSHOT");
    assert_eq!(
        shown[0]["content"]["part"],
        json!({"type": "image", "mimeType": "image/png", "omittedBytes": 89})
    );
    assert_eq!(
        shown[1]["content"]["content"],
        json!([
        {"type": "terminal", "terminalId": "x"}, {"type": "diff", "path": "/f", "omittedBytes": 50}])
    );
}

#[test]
fn progress_is_the_end_of_the_text() {
    let mut update = completed(
        json!({"content": [{"type": "content", "content": {"type": "text", "text": "one\u{e9}two"}}]}),
    );
    update["status"] = json!("in_progress");
    let stream = run(|limits| limits.progress = 4, &[update]);
    assert_eq!(
        of_type(&stream, "ACTIVITY_SNAPSHOT")[0]["content"]["content"][0]["content"]["text"],
        "two"
    );
}

#[test]
fn error_messages_are_truncated() {
    let stream = run(|limits| limits.message = 5, &[]);
    assert_eq!(stream.last().unwrap()["message"], "mmmmm\n[cut: 5 of 20 bytes]");
}

#[test]
fn oldest_calls_are_removed() {
    let begin = |id: &str| json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": id});
    let stream = run(|limits| limits.tool_calls = 1, &[begin("t"), begin("u"), begin("t")]);
    let results: Vec<_> = of_type(&stream, "TOOL_CALL_RESULT")
        .iter()
        .map(|result| result["toolCallId"].clone())
        .collect();
    assert_eq!(results, ["t", "u", "t~2"]);
}

#[test]
fn dropped_updates_are_counted() {
    let by_count: fn(&mut Limits) = |limits| limits.waiting_updates = 2;
    // Two of these updates have 204 bytes, three have 306.
    let by_size: fn(&mut Limits) = |limits| limits.waiting_bytes = 300;
    for set in [by_count, by_size] {
        the_oldest_of_three_goes(set);
    }
}

fn the_oldest_of_three_goes(set: fn(&mut Limits)) {
    let mut options = in_stream(Profile::V1);
    set(&mut options.limits);
    let say = |text: &str| json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}});
    let stream =
        play(options, &[say("a"), say("b"), say("c"), json!({"run": "r"}), json!({"exit": ""})]);
    assert_eq!(
        stream[1],
        json!({"type": "CUSTOM", "name": "acp.dropped", "value": {"updates": 1}})
    );
    let texts: Vec<_> =
        of_type(&stream, "TEXT_MESSAGE_CONTENT").iter().map(|text| text["delta"].clone()).collect();
    assert_eq!(texts, ["b", "c"]);
}

#[test]
fn excess_permission_request_is_rejected() {
    let mut options = in_stream(Profile::V1);
    options.limits.permissions = 1;
    let ask = |id: u8| {
        json!({"ask": id, "toolCall": {"toolCallId": "t"},
        "options": [{"optionId": "no", "name": "No", "kind": "reject_once"}]})
    };
    let stream = play(options, &[json!({"run": "r"}), ask(1), ask(2)]);
    let answers: Vec<_> = stream.iter().filter_map(|event| event.get("toAgent")).collect();
    assert_eq!(
        answers,
        [&json!({"id": 2, "result": {"outcome": {"outcome": "selected", "optionId": "no"}}})]
    );
}

#[test]
fn plan_beyond_the_limit_is_replaced_by_its_size() {
    let entry =
        |content: &str| json!({"content": content, "priority": "high", "status": "pending"});
    let lists = [json!([]), json!([entry("a")]), json!([entry("a\"\u{e9}\n"), entry("b")])];
    for entries in lists {
        let update = json!({"sessionUpdate": "plan", "entries": entries});
        let bytes = entries.to_string().len();
        for (limit, shown) in
            [(bytes, entries.clone()), (bytes - 1, json!({"omittedBytes": bytes}))]
        {
            let stream = run(|limits| limits.value = limit, std::slice::from_ref(&update));
            let plans = of_type(&stream, "ACTIVITY_SNAPSHOT");
            assert_eq!(plans[0]["content"]["entries"], shown, "{entries} within {limit}");
        }
    }
}
