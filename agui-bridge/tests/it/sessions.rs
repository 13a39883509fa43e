//! Facts about a session, and updates while no run is open.
use crate::script::{Step, events, in_stream, of_type, play, turn, turn_for, verify};
use acp_types::v1::prompt_turn::SessionUpdate;
use agui_bridge::Translator;
use agui_types::profile::Profile;
use jsonrpc_core::wire::Raw;
use serde_json::{Value, json};

fn with_tag(tag: &str, value: &Value) -> Value {
    let mut update = value.clone();
    update["sessionUpdate"] = json!(tag);
    update
}

#[test]
fn each_update_has_an_event() {
    let conversation = [
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        // These have tests of their own.
        "plan_update",
        "plan_removed",
        "compaction_update",
        "compaction_summary_chunk",
        "subagent_update",
        "session_message",
        "session_message_chunk",
    ];
    let plain = [
        (
            "available_commands_update",
            "acp.commands",
            json!({"availableCommands": [{"name": "n", "description": "d", "input": {"hint": "h"}}]}),
        ),
        ("current_mode_update", "acp.mode", json!({"currentModeId": "code", "_meta": {"k": 1}})),
        (
            "config_option_update",
            "acp.config_options",
            json!({"configOptions": [{"id": "o", "name": "O", "type": "boolean", "currentValue": true}]}),
        ),
        (
            "prompt_suggestions_update",
            "acp.suggestions",
            json!({"suggestions": [{"prompt": [{"type": "text", "text": "Run the tests"}]}]}),
        ),
        (
            "cursor_update",
            "acp.cursor",
            json!({"cursorId": "c", "anchor": {"type": "agent_message", "messageId": "m", "position": "after"},
                "capabilities": {"fork": {}}}),
        ),
        (
            "session_info_update",
            "acp.session_info",
            json!({"title": null, "updatedAt": "2026-01-01T00:00:00Z"}),
        ),
        (
            "usage_update",
            "acp.usage",
            json!({"used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "USD"}}),
        ),
        ("notice", "acp.notice", json!({"severity": "info", "title": "t", "newer": 1})),
    ];
    let tagged = [("newer_update", "acp.unknown", json!({"anything": [1]}))];
    let known: Vec<&str> =
        conversation.into_iter().chain(plain.iter().chain(&tagged).map(|row| row.0)).collect();
    assert!(
        SessionUpdate::NAMES.iter().all(|name| known.contains(name)),
        "a row is missing for one of {:?}",
        SessionUpdate::NAMES
    );
    for profile in [Profile::V1, Profile::Legacy] {
        for (tag, name, value) in &plain {
            let body = turn_for(profile, &[with_tag(tag, value)]);
            assert_eq!(body, [json!({"type": "CUSTOM", "name": name, "value": value})]);
        }
        for (tag, name, value) in &tagged {
            let update = with_tag(tag, value);
            assert_eq!(
                turn_for(profile, std::slice::from_ref(&update)),
                [json!({"type": "CUSTOM", "name": name, "value": update})]
            );
        }
    }
}

#[test]
fn plan_is_one_activity() {
    let plan = |status: &str| {
        json!({"sessionUpdate": "plan", "entries": [
        {"content": "Look", "priority": "high", "status": status, "_meta": {"k": 1}}]})
    };
    let shown = |status: &str| json!({"entries": [{"content": "Look", "priority": "high", "status": status}]});
    let updates = [
        plan("pending"),
        plan("pending"),
        plan("completed"),
        json!({"sessionUpdate": "plan", "entries": []}),
    ];
    let snapshot = |content: Value| {
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "act-plan-session",
        "activityType": "PLAN", "content": content, "replace": true})
    };
    let expected = [
        snapshot(shown("pending")),
        snapshot(shown("completed")),
        snapshot(json!({"entries": []})),
    ];
    assert_eq!(turn(&updates), expected);
    let body = turn_for(Profile::Legacy, &updates);
    assert_eq!(body[1], json!({"type": "CUSTOM", "name": "acp.plan", "value": shown("completed")}));
}

#[test]
fn legacy_client_receives_the_last_usage() {
    let usage = |used: u64| json!({"sessionUpdate": "usage_update", "used": used, "size": 9});
    let text =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}});
    let body = turn_for(Profile::Legacy, &[usage(1), usage(2), text, usage(3)]);
    assert_eq!(of_type(&body, "CUSTOM").len(), 1);
    assert_eq!(
        body.last(),
        Some(&json!({"type": "CUSTOM", "name": "acp.usage", "value": {"used": 3, "size": 9}}))
    );
    assert_eq!(of_type(&turn(&[usage(1), usage(1), usage(2)]), "CUSTOM").len(), 2);
}

#[test]
fn updates_outside_of_runs_begin_the_next_run() {
    let commands = |names: &[&str]| {
        let commands: Vec<_> =
            names.iter().map(|name| json!({"name": name, "description": ""})).collect();
        json!({"update": {"sessionUpdate": "available_commands_update", "availableCommands": commands}})
    };
    let say = |text: &str| json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}});
    let end = json!({"result": {"stopReason": "end_turn"}});
    let steps = [
        commands(&["a"]),
        say("Hello"),
        commands(&["a", "b"]),
        json!({"run": "r1"}),
        say("."),
        end.clone(),
        say("By the way"),
        json!({"run": "r2"}),
        end,
    ];
    let stream = play(in_stream(Profile::V1), &steps);
    verify(Profile::V1, &stream);
    let told: Vec<_> = of_type(&stream, "CUSTOM");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["value"]["availableCommands"].as_array().map(Vec::len), Some(2));
    let texts: Vec<_> =
        of_type(&stream, "TEXT_MESSAGE_CONTENT").iter().map(|text| text["delta"].clone()).collect();
    assert_eq!(texts, ["Hello", ".", "By the way"]);
    let second =
        stream.iter().position(|event| event["runId"] == "r2" && event["type"] == "RUN_STARTED");
    assert_eq!(stream[second.unwrap() + 1]["type"], "TEXT_MESSAGE_START");
}

#[test]
fn profile_follows_each_run_unless_set() {
    let mut translator = agui_bridge::Translator::new(agui_bridge::Options::new());
    for (version, outcome) in [(r#","protocolVersion":"1.0""#, true), ("", false)] {
        let input = format!(
            r#"{{"threadId":"t","runId":"r{version:.0}{outcome}","messages":[]{version}}}"#
        );
        let input = serde_json::from_str(&input).unwrap();
        assert_eq!(translator.begin_run(&input, &[]), Ok(agui_bridge::TurnStart::Prompt));
        translator.handle_no_work();
        let end = crate::script::events(&mut translator).pop();
        let end = serde_json::to_value(end).unwrap();
        assert_eq!(end.get("outcome").is_some(), outcome);
    }
}

#[test]
fn each_plan_is_an_activity() {
    let update = |plan: Value| json!({"sessionUpdate": "plan_update", "plan": plan});
    let entry = json!({"content": "Look", "priority": "high", "status": "pending"});
    let updates = [
        update(json!({"type": "items", "planId": "p", "entries": [entry]})),
        update(json!({"type": "items", "planId": "p", "entries": [entry]})),
        update(json!({"type": "file", "planId": "q", "uri": "file:///plan.md"})),
        update(json!({"type": "markdown", "planId": "q", "content": "# Plan"})),
        update(json!({"type": "graph", "planId": "r", "nodes": []})),
        json!({"sessionUpdate": "plan_removed", "planId": "p"}),
    ];
    let contents = [
        ("p", json!({"planId": "p", "entries": [entry]})),
        ("q", json!({"planId": "q", "uri": "file:///plan.md"})),
        ("q", json!({"planId": "q", "markdown": "# Plan"})),
        ("r", json!({"planId": "r", "plan": {"type": "graph", "planId": "r", "nodes": []}})),
        ("p", json!({"planId": "p", "removed": true})),
    ];
    let shown = contents.clone().map(|(id, content)| {
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": format!("act-plan-session-{id}"),
            "activityType": "PLAN", "content": content, "replace": true})
    });
    assert_eq!(turn(&updates), shown);
    let told = contents
        .map(|(_, content)| json!({"type": "CUSTOM", "name": "acp.plan", "value": content}));
    assert_eq!(turn_for(Profile::Legacy, &updates), told);
}

#[test]
fn compaction_is_one_activity_with_a_growing_summary() {
    let update = |members: Value| with_tag("compaction_update", &members);
    let chunk = |text: &str| {
        json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c",
        "content": {"type": "text", "text": text}})
    };
    let updates = [
        update(json!({"compactionId": "c", "status": "in_progress"})),
        chunk("So "),
        chunk("far"),
        update(json!({"compactionId": "c", "status": "completed"})),
        update(json!({"compactionId": "c", "status": "completed"})),
        update(json!({"compactionId": "d", "status": "failed", "error": "no room"})),
    ];
    let contents = [
        json!({"compactionId": "c", "status": "in_progress"}),
        json!({"compactionId": "c", "status": "in_progress", "summary": "So "}),
        json!({"compactionId": "c", "status": "in_progress", "summary": "So far"}),
        json!({"compactionId": "c", "status": "completed", "summary": "So far"}),
        json!({"compactionId": "d", "status": "failed", "error": "no room"}),
    ];
    let body = turn(&updates);
    let shown: Vec<_> = body.iter().map(|event| event["content"].clone()).collect();
    assert_eq!(shown, contents);
    assert_eq!(body[0]["messageId"], "act-compaction-c");
    let told: Vec<_> = turn_for(Profile::Legacy, &updates)
        .iter()
        .map(|event| (event["name"].clone(), event["value"].clone()))
        .collect();
    assert_eq!(told, contents.map(|content| (json!("acp.compaction"), content)));
}

/// A notification of an extension method is shown if its method is listed, also after waiting for a
/// run.
#[test]
fn listed_extensions_are_shown() {
    let mut options = in_stream(Profile::V1);
    options.extensions = vec!["_acme/status".into(), "_other/*".into()];
    let mut translator = Translator::new(options);
    let params = |text: &str| Raw::from_text(text).ok();
    translator.handle_extension("_acme/status", params(r#"{"sessionId":"session","n":1}"#));
    Step::read(&json!({"run": "r"})).apply(&mut translator).unwrap();
    translator.handle_extension("_acme/status/other", params("{}"));
    translator.handle_extension("_other/x", None);
    translator.handle_extension("_secret", params("{}"));
    Step::read(&json!({"result": {"stopReason": "end_turn"}})).apply(&mut translator).unwrap();
    let told: Vec<_> = events(&mut translator)
        .iter()
        .map(|event| serde_json::to_value(event).unwrap())
        .filter(|event| event["type"] == "CUSTOM")
        .map(|event| (event["name"].clone(), event["value"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!("acp.ext:_acme/status"), json!({"sessionId": "session", "n": 1})),
            (json!("acp.ext:_other/x"), json!({})),
        ]
    );
}

/// Recorded: codex-acp-zed loads a call as completed, and reports its output in a second update.
#[test]
fn repeated_call_has_its_output() {
    let call = |members: Value| {
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t"});
        update.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        json!({"update": update})
    };
    let say = json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Done."}}});
    let other = json!({"update": {"sessionUpdate": "tool_call", "toolCallId": "u", "title": "u", "status": "completed"}});
    let ended = call(json!({"status": "completed", "title": "t"}));
    let output = call(json!({"rawOutput": "out"}));
    for (between, result) in [(None, "out"), (Some(&say), ""), (Some(&other), "")] {
        let mut steps = vec![json!({"load": true}), ended.clone()];
        steps.extend(between.cloned());
        steps.extend([output.clone(), say.clone(), json!({"load": false}), json!({"run": "r"})]);
        steps.push(json!({"result": {"stopReason": "end_turn"}}));
        let stream = play(in_stream(Profile::V1), &steps);
        verify(Profile::V1, &stream);
        let messages = of_type(&stream, "MESSAGES_SNAPSHOT")[0]["messages"].as_array().unwrap();
        let result_of = |id: &str| messages.iter().position(|message| message["toolCallId"] == id);
        let at = result_of("t").unwrap();
        assert_eq!(messages[at]["content"], result, "{between:?}");
        let is_said = |message: &Value| {
            message["content"].as_str().is_some_and(|text| text.starts_with("Done."))
        };
        let said = messages.iter().position(is_said).unwrap();
        assert!(at < said, "{between:?}");
    }
}
