//! Tool calls: names, arguments, results, order.
use crate::script::{in_stream, interrupting, of_type, play, turn, turn_for, verify};
use acp_types::v1::tool_calls::ToolKind;
use agui_bridge::ArgsMode;
use agui_types::profile::Profile;
use serde_json::{Value, json};

mod results;
mod reused_ids;

fn call(members: Value) -> Value {
    let mut call = json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Do it"});
    merge(&mut call, members);
    call
}

fn update(members: Value) -> Value {
    let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t"});
    merge(&mut update, members);
    update
}

fn merge(into: &mut Value, members: Value) {
    let (Value::Object(into), Value::Object(members)) = (into, members) else {
        panic!("not objects")
    };
    into.extend(members);
}

fn text(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

/// Returns the result of a call that completes with these members.
fn result(profile: Profile, members: Value) -> Value {
    let mut completed = update(json!({"status": "completed"}));
    merge(&mut completed, members);
    let body = turn_for(profile, &[completed]);
    let results = of_type(&body, "TOOL_CALL_RESULT");
    assert_eq!(results.len(), 1);
    results[0]["content"].clone()
}

#[test]
fn each_call_has_a_name_and_a_source() {
    let claude = json!({"claudeCode": {"toolName": "mcp__acp__Read"}});
    let table = [
        (json!({"name": "Read", "kind": "read"}), "Read", "agent"),
        (json!({"name": "mcp__srv__do_this", "kind": "read"}), "do_this", "mcp:srv"),
        (json!({"name": "mcp_srv_do_this"}), "do_this", "mcp:srv"),
        (json!({"name": "srv_do_this"}), "srv_do_this", "agent"),
        (json!({"name": "mcp__srv__"}), "mcp__srv__", "agent"),
        (json!({"name": "Read", "_meta": claude}), "Read", "agent"),
        (json!({"_meta": claude, "kind": "read"}), "Read", "mcp:acp"),
        (json!({"_meta": {"toolName": "Grep"}, "kind": "search"}), "Grep", "agent"),
        (json!({"_meta": {"tool_name": "Grep"}}), "Grep", "agent"),
        (
            json!({"_meta": {"claudeCode": 1, "toolName": " ", "tool_name": "Grep"}}),
            "Grep",
            "agent",
        ),
        (json!({"name": " ", "title": "mcp__srv__find", "kind": "read"}), "find", "mcp:srv"),
        (json!({"kind": "execute", "title": "rm -rf /tmp/x"}), "execute", "agent"),
        (json!({"kind": "other", "title": "Ask Question!"}), "ask_question", "agent"),
        (json!({"kind": "newer", "title": "--Look: there"}), "look_there", "agent"),
        (
            json!({"kind": "other", "title": "apply_patch: {\"input\":\"*** Begin"}),
            "apply_patch",
            "agent",
        ),
        (json!({"title": "Look there: here"}), "look_there_here", "agent"),
        (json!({"title": "https://h/n"}), "https_h_n", "agent"),
        (json!({"kind": "other", "title": "\u{e9}\u{e9}"}), "tool", "agent"),
        (json!({"title": ""}), "tool", "agent"),
    ];
    for (members, name, source) in table {
        let body = turn(&[call(members.clone())]);
        assert_eq!(body[0]["toolCallName"], name, "{members}");
        assert_eq!(body[0]["metadata"]["acp"]["source"], source, "{members}");
    }
    for kind in ToolKind::NAMES.iter().filter(|kind| **kind != "other") {
        assert_eq!(turn(&[call(json!({"kind": kind}))])[0]["toolCallName"], *kind);
    }
}

#[test]
fn call_of_a_subagent_names_the_call_that_started_it() {
    let of = |id: &str, parent: Value| {
        call(json!({"toolCallId": id, "_meta": {"claudeCode": {"parentToolUseId": parent}}}))
    };
    let body = turn(&[
        call(json!({"toolCallId": "task"})),
        of("inner", json!("task")),
        of("other", json!("missing")),
        of("odd", json!(1)),
        of("own", json!("own")),
    ]);
    let starts = of_type(&body, "TOOL_CALL_START");
    let parents: Vec<_> = starts
        .iter()
        .map(|start| {
            (start["toolCallId"].as_str(), start["metadata"]["acp"].get("parentToolCallId"))
        })
        .collect();
    let ids = ["task", "inner", "other", "odd", "own"].map(Some);
    let task = json!("task");
    let expected = ids.into_iter().zip([None, Some(&task), None, None, None]);
    assert_eq!(parents, expected.collect::<Vec<_>>());
    let legacy = turn_for(Profile::Legacy, &[call(json!({})), of("inner", json!("t"))]);
    assert!(legacy.iter().all(|event| event.get("metadata").is_none()), "{legacy:?}");
}

#[test]
fn name_from_a_title_has_at_most_64_bytes() {
    let body = turn(&[call(json!({"title": "ab".repeat(40)}))]);
    assert_eq!(body[0]["toolCallName"].as_str().map(str::len), Some(64));
}

#[test]
fn calls_of_one_step_share_a_message() {
    let say = |id: &str, text: &str| {
        json!({"sessionUpdate": "agent_message_chunk", "messageId": id,
        "content": {"type": "text", "text": text}})
    };
    let think = |id: &str| {
        json!({"sessionUpdate": "agent_thought_chunk", "messageId": id,
        "content": {"type": "text", "text": "hm"}})
    };
    let begin = |id: &str| call(json!({"toolCallId": id}));
    let end = |id: &str| update(json!({"toolCallId": id, "status": "completed"}));
    let table = [
        (vec![say("A", "a"), begin("1"), begin("2")], vec!["msg-A", "msg-A"]),
        (vec![begin("1"), begin("2")], vec!["msg-1", "msg-1"]),
        (vec![begin("1"), end("1"), begin("2")], vec!["msg-1", "msg-2"]),
        (vec![say("A", "a"), begin("1"), say("A", "b"), begin("2")], vec!["msg-A", "msg-A.2"]),
        (vec![say("A", "a"), think("B"), begin("1")], vec!["msg-1"]),
        (vec![think("A"), say("A", "a"), begin("1")], vec!["msg-A"]),
        (vec![say("A", "a"), think("A"), begin("1")], vec!["msg-A"]),
        (vec![think("A"), begin("1")], vec!["msg-1"]),
        (
            vec![begin("1"), say("A", "a"), end("1"), say("A", "b"), begin("2")],
            vec!["msg-1", "msg-A"],
        ),
    ];
    for (updates, parents) in table {
        // A client of 0.x receives no activities, so a text stays open across a result.
        let body = turn_for(Profile::Legacy, &updates);
        let given: Vec<_> = of_type(&body, "TOOL_CALL_START")
            .iter()
            .map(|start| start["parentMessageId"].clone())
            .collect();
        assert_eq!(given, parents, "{updates:?}");
    }
}

#[test]
fn arguments_are_sent_when_the_call_runs_or_ends() {
    let waits = [
        update(json!({"content": [text("preview")]})),
        update(json!({"status": "pending"})),
        update(json!({"rawInput": null})),
        update(json!({"title": "Else"})),
    ];
    let closes = [
        update(json!({"status": "in_progress"})),
        update(json!({"status": "completed"})),
        update(json!({"status": "failed"})),
        update(json!({"status": "newer"})),
        update(json!({"rawOutput": "o"})),
    ];
    for close in closes {
        let mut updates = vec![call(json!({"rawInput": {"a": 1}}))];
        updates.extend_from_slice(&waits);
        let mut steps = vec![json!({"run": "r"})];
        steps.extend(updates.iter().map(|update| json!({"update": update})));
        let stream = play(in_stream(Profile::Legacy), &steps);
        assert!(of_type(&stream, "TOOL_CALL_ARGS").is_empty());
        steps.push(json!({"update": close}));
        let stream = play(in_stream(Profile::Legacy), &steps);
        assert_eq!(of_type(&stream, "TOOL_CALL_ARGS")[0]["delta"], r#"{"a":1}"#);
        assert_eq!(of_type(&stream, "TOOL_CALL_END").len(), 1);
    }
}

#[test]
fn arguments_are_a_json_object() {
    let table = [
        (json!({}), "{}"),
        (json!({"rawInput": null}), "{}"),
        (json!({"rawInput": {"b": 1, "a": [2]}}), r#"{"a":[2],"b":1}"#),
        (json!({"rawInput": "ls"}), r#"{"value":"ls"}"#),
        (json!({"rawInput": [1]}), r#"{"value":[1]}"#),
    ];
    for (members, arguments) in table {
        let body = turn(&[call(members)]);
        assert_eq!(of_type(&body, "TOOL_CALL_ARGS")[0]["delta"], arguments);
    }
}

/// Returns the statuses that an activity shows for these updates.
fn statuses(updates: &[Value]) -> Vec<Value> {
    let body = turn(updates);
    of_type(&body, "ACTIVITY_SNAPSHOT")
        .iter()
        .map(|shown| shown["content"]["status"].clone())
        .collect()
}

#[test]
fn status_never_goes_back() {
    let to = |status: &str| update(json!({"status": status}));
    let table = [
        (
            vec![
                to("failed"),
                call(json!({"status": "pending"})),
                to("in_progress"),
                to("completed"),
            ],
            vec!["failed"],
        ),
        (
            vec![to("in_progress"), call(json!({"status": "pending"}))],
            vec!["in_progress", "incomplete"],
        ),
        (
            vec![to("in_progress"), to("newer"), to("pending"), to("completed"), to("failed")],
            vec!["in_progress", "newer", "completed"],
        ),
    ];
    for (mut updates, expected) in table {
        updates[0]["title"] = json!("Do it");
        assert_eq!(statuses(&updates), expected, "{updates:?}");
    }
    let body = turn(&[to("failed"), to("completed")]);
    assert_eq!(of_type(&body, "TOOL_CALL_RESULT")[0]["metadata"]["acp"]["status"], "failed");
}

#[test]
fn calls_run_concurrently() {
    let other = |members: Value| {
        let mut update = update(members);
        update["toolCallId"] = json!("u");
        update
    };
    let body = turn_for(
        Profile::Legacy,
        &[
            call(json!({"status": "in_progress", "rawInput": {}})),
            other(json!({"status": "in_progress", "rawInput": {}})),
            update(json!({"status": "completed"})),
            other(json!({"status": "completed"})),
        ],
    );
    let order: Vec<_> = body.iter().map(|event| (&event["type"], &event["toolCallId"])).collect();
    let expected = [
        ("START", "t"),
        ("ARGS", "t"),
        ("END", "t"),
        ("START", "u"),
        ("ARGS", "u"),
        ("END", "u"),
        ("RESULT", "t"),
        ("RESULT", "u"),
    ];
    let expected: Vec<_> =
        expected.iter().map(|(kind, id)| (json!(format!("TOOL_CALL_{kind}")), json!(id))).collect();
    assert_eq!(order, expected.iter().map(|(kind, id)| (kind, id)).collect::<Vec<_>>());
}

/// Agents send the announcement of a call, then its start, and only then its arguments.
#[test]
fn arguments_after_in_progress_are_sent() {
    let input = json!({"path": "/f"});
    for options in [ArgsMode::Hold, ArgsMode::StreamKeys, ArgsMode::Eager] {
        let steps = [
            json!({"run": "r"}),
            json!({"update": call(json!({"status": "pending"}))}),
            json!({"update": update(json!({"status": "in_progress"}))}),
            json!({"update": update(json!({"status": "in_progress", "rawInput": input}))}),
            json!({"update": update(json!({"status": "completed", "rawOutput": "o"}))}),
            json!({"result": {"stopReason": "end_turn"}}),
        ];
        let mut in_mode = in_stream(Profile::V1);
        in_mode.arguments = options;
        let stream = play(in_mode, &steps);
        verify(Profile::V1, &stream);
        let arguments: String = of_type(&stream, "TOOL_CALL_ARGS")
            .iter()
            .filter_map(|event| event["delta"].as_str())
            .collect();
        assert_eq!(serde_json::from_str::<Value>(&arguments).unwrap(), input, "{options:?}");
        let changed = stream.iter().filter(|event| event["name"] == "acp.tool_call.args_changed");
        assert_eq!(changed.count(), 0, "{options:?}");
    }
}

/// A permission request shows the known arguments; later ones are sent as well.
#[test]
fn arguments_after_a_permission_request_are_sent() {
    let options = json!([{"optionId": "once", "name": "Allow", "kind": "allow_once"}]);
    let steps = |late: Option<Value>| {
        let mut steps = vec![
            json!({"run": "r"}),
            json!({"ask": 1, "toolCall": {"toolCallId": "t", "title": "Do"}, "options": options}),
            json!({"answer": "int-1", "optionId": "once"}),
        ];
        steps.extend(late.map(
            |input| json!({"update": update(json!({"status": "in_progress", "rawInput": input}))}),
        ));
        steps.push(json!({"update": update(json!({"status": "completed"}))}));
        steps.push(json!({"result": {"stopReason": "end_turn"}}));
        steps
    };
    for (late, expected) in [(Some(json!({"a": 1})), r#"{"a":1}"#), (None, "{}")] {
        let stream = play(in_stream(Profile::V1), &steps(late));
        verify(Profile::V1, &stream);
        let arguments = of_type(&stream, "TOOL_CALL_ARGS");
        assert_eq!(arguments.len(), 1);
        assert_eq!(arguments[0]["delta"], expected);
    }
    let stream = play(interrupting(), &steps(None)[..2]);
    verify(Profile::V1, &stream);
    assert_eq!(of_type(&stream, "TOOL_CALL_ARGS")[0]["delta"], "{}", "the run ends");
}

#[test]
fn update_after_its_turn_belongs_to_its_call() {
    let steps = [
        json!({"run": "r1"}),
        json!({"update": call(json!({}))}),
        json!({"result": {"stopReason": "cancelled"}}),
        json!({"update": call(json!({}))}),
        json!({"update": update(json!({"status": "completed", "rawOutput": "o"}))}),
        json!({"run": "r2"}),
        json!({"result": {"stopReason": "end_turn"}}),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    verify(Profile::V1, &stream);
    assert_eq!(of_type(&stream, "TOOL_CALL_START").len(), 1);
    let results = of_type(&stream, "TOOL_CALL_RESULT");
    assert_eq!(results.iter().map(|result| &result["content"]).collect::<Vec<_>>(), ["cancelled"]);
    let head = stream
        .iter()
        .skip_while(|event| event["runId"] != "r2")
        .nth(1)
        .map(|event| (&event["name"], &event["value"]["status"]));
    assert_eq!(head, Some((&json!("acp.tool_call.late"), &json!("completed"))));
}

/// Regression: a late update of a finished call split the open text, unless another run was open by
/// then.
#[test]
fn text_continues_across_updates_of_a_finished_call() {
    let say = |text: &str| json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    let late = update(json!({"locations": [{"path": "/f", "line": 1}]}));
    let body = turn(&[call(json!({"status": "completed"})), say("a"), late, say("b")]);
    let patches = of_type(&body, "ACTIVITY_DELTA");
    assert_eq!(patches.len(), 1);
    assert_eq!(patches[0]["patch"][0]["path"], "/locations");
    assert_eq!(of_type(&body, "TEXT_MESSAGE_START").len(), 1);
    assert_eq!(of_type(&body, "TEXT_MESSAGE_CONTENT").len(), 2);
}
