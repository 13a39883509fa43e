//! Commands that agents run, and their display.
use crate::script::{in_stream, of_type, play, verify};
use crate::v2::{turn, up};
use agui_bridge::{Times, Translator, TurnStart};
use agui_types::profile::Profile;
use core::time::Duration;
use jsonrpc_core::wire::decode;
use serde_json::{Value, json};

#[test]
fn tool_call_content_grows_and_a_terminal_is_its_result() {
    // "one\n" and "two\n".
    let updates = [
        up("terminal_update", json!({"terminalId": "x", "command": "ls", "cwd": "/w"})),
        up(
            "tool_call_update",
            json!({"toolCallId": "t", "name": "shell", "title": "ls", "status": "in_progress",
            "content": [{"type": "terminal", "terminalId": "x"}]}),
        ),
        up("terminal_output_chunk", json!({"terminalId": "x", "data": "b25lCg=="})),
        up("terminal_update", json!({"terminalId": "x", "exitStatus": {"exitCode": 2}})),
        up("tool_call_update", json!({"toolCallId": "t", "status": "completed"})),
        up(
            "tool_call_content_chunk",
            json!({"toolCallId": "u", "content": {"type": "content", "content": {"type": "text", "text": "a"}}}),
        ),
        up(
            "tool_call_content_chunk",
            json!({"toolCallId": "u", "content": {"type": "diff",
            "changes": [{"operation": "move", "oldPath": "/a", "path": "/b"}]}}),
        ),
        up("tool_call_update", json!({"toolCallId": "u", "status": "completed"})),
        up("tool_call_update", json!({"toolCallId": "v", "title": "Wait", "status": "paused"})),
        up("tool_call_update", json!({"toolCallId": "v", "status": "cancelled"})),
    ];
    let stream = turn(in_stream(Profile::V1), &updates);
    let results: Vec<_> = of_type(&stream, "TOOL_CALL_RESULT")
        .iter()
        .map(|result| (result["content"].clone(), result["metadata"]["acp"]["status"].clone()))
        .collect();
    assert_eq!(
        results,
        [
            (json!("one\n[exit code 2]"), json!("completed")),
            (json!("a\nmove /a /b"), json!("completed")),
            (json!("cancelled"), json!("cancelled")),
        ]
    );
    let terminals: Vec<_> = of_type(&stream, "ACTIVITY_SNAPSHOT")
        .into_iter()
        .filter(|event| event["activityType"] == "acp.terminal")
        .map(|event| event["content"].clone())
        .collect();
    assert_eq!(
        terminals.last(),
        Some(
            &json!({"terminalId": "x", "command": "ls", "cwd": "/w", "output": "one\n", "exitStatus": {"exitCode": 2}})
        )
    );
    let stream = turn(in_stream(Profile::Legacy), &updates);
    assert_eq!(of_type(&stream, "TOOL_CALL_RESULT")[0]["content"], "one\n[exit code 2]");
}

/// A terminal is replaced by its output, without output by its exit status, and by its id while
/// neither is known.
#[test]
fn terminal_without_output_has_an_exit_status() {
    let exit = |code: u32| json!({"terminalId": "x", "exitStatus": {"exitCode": code}});
    let table = [
        (None, "[terminal x]"),
        (Some(json!({"terminalId": "x", "command": "true"})), "[terminal x]"),
        (Some(exit(0)), "[exit code 0]"),
        (Some(exit(1)), "[exit code 1]"),
        (
            Some(
                json!({"terminalId": "x", "output": {"data": "b25lCg=="}, "exitStatus": {"exitCode": 0}}),
            ),
            "one\n",
        ),
    ];
    for (terminal, expected) in table {
        let mut updates: Vec<_> =
            terminal.into_iter().map(|update| up("terminal_update", update)).collect();
        updates.push(up(
            "tool_call_update",
            json!({"toolCallId": "t", "title": "Run", "status": "completed",
            "content": [{"type": "terminal", "terminalId": "x"}]}),
        ));
        let stream = turn(in_stream(Profile::V1), &updates);
        assert_eq!(of_type(&stream, "TOOL_CALL_RESULT")[0]["content"], expected);
    }
}

/// Little output of a running command is shown after a delay, not at each write.
#[test]
fn terminal_output_is_shown_after_a_delay() {
    let wrote = |data: &str| up("terminal_output_chunk", json!({"terminalId": "x", "data": data}));
    // "one ", "two " and "three"; each step with what is shown after it.
    let steps = [
        (json!({"tick": 1000}), None),
        (json!({"run": "r"}), None),
        (wrote("b25lIA=="), None),
        (json!({"tick": 1060}), None),
        (wrote("dHdvIA=="), None),
        (json!({"tick": 1099}), None),
        (json!({"tick": 1100}), Some("one two ")),
        (json!({"tick": 5000}), None),
        (wrote("dGhyZWU="), None),
        (json!({"tick": 5099}), None),
        (json!({"result": {"stopReason": "end_turn"}}), Some("one two three")),
        (json!({"tick": 5100}), None),
    ];
    let mut shown = 0;
    for at in 1..=steps.len() {
        let so_far: Vec<_> = steps.iter().take(at).map(|(step, _)| step.clone()).collect();
        let stream = play(in_stream(Profile::V1), &so_far);
        let mut terminals = of_type(&stream, "ACTIVITY_SNAPSHOT");
        terminals.retain(|event| event["activityType"] == "acp.terminal");
        let new = terminals.get(shown).map(|event| event["content"]["output"].clone());
        assert_eq!(new, steps[at - 1].1.map(Value::from), "step {at}");
        shown = terminals.len();
    }
}

#[test]
fn timeout_includes_terminal_output() {
    let at = Duration::from_millis;
    let mut translator = Translator::new(in_stream(Profile::V1));
    let wrote = |translator: &mut Translator| {
        let chunk = json!({"terminalId": "x", "data": "b25l"});
        let chunk = decode(&chunk.to_string()).unwrap();
        translator.handle_terminal_output(&"s".into(), chunk);
    };
    assert_eq!(translator.handle_timeout(at(7)), None);
    let input = json!({"threadId": "t", "runId": "r", "messages": []});
    let begun = translator.begin_run(&decode(&input.to_string()).unwrap(), &[]).unwrap();
    assert!(matches!(begun, TurnStart::Prompt), "{begun:?}");
    assert_eq!(translator.poll_timeout(), None);
    wrote(&mut translator);
    assert_eq!(translator.poll_timeout(), Some(at(7) + Times::OUTPUT));
    assert_eq!(translator.handle_timeout(at(50)), None);
    wrote(&mut translator);
    assert_eq!(translator.poll_timeout(), Some(at(7) + Times::OUTPUT));
    assert_eq!(translator.handle_timeout(at(7) + Times::OUTPUT), None);
    assert_eq!(translator.poll_timeout(), None);
}

#[test]
fn terminals_in_v1_metadata_are_shown() {
    let update = |members: Value| {
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t"});
        update.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap());
        json!({"update": update})
    };
    let steps = [
        json!({"run": "r"}),
        update(json!({"title": "ls", "content": [{"type": "terminal", "terminalId": "x"}],
            "_meta": {"terminal_info": {"terminal_id": "x", "cwd": "/w"}}})),
        update(json!({"_meta": {"terminal_output_delta": {"terminal_id": "x", "data": "on"}}})),
        update(json!({"_meta": {"terminal_output": {"terminal_id": "x", "data": "one\n"}}})),
        update(json!({"status": "completed", "rawOutput": "raw",
            "_meta": {"terminal_exit": {"terminal_id": "x", "exit_code": 0, "signal": null}}})),
        json!({"result": {"stopReason": "end_turn"}}),
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    verify(Profile::V1, &stream);
    assert_eq!(of_type(&stream, "TOOL_CALL_RESULT")[0]["content"], "one\n");
    let mut steps = steps;
    steps[2] = json!({"tick": 0});
    steps[3] = json!({"tick": 0});
    let stream = play(in_stream(Profile::V1), &steps);
    assert_eq!(
        of_type(&stream, "TOOL_CALL_RESULT")[0]["content"],
        "raw",
        "the terminal said nothing"
    );
}
