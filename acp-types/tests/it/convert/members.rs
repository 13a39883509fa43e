//! Members of messages that both versions have, and the diagnostics of those that only one has.
use super::cases::{outputs, update, updates, v1_editor, v2_editor};
use super::chain::{Chain, opened_v1, opened_v2};
use acp_types::convert::{BridgeDiagnostic, BridgeLoss, MAX_CONTENT_BYTES};
use serde_json::{Value, json};

fn lost(diagnostics: &[BridgeDiagnostic]) -> Vec<(BridgeLoss, &str)> {
    let lost = diagnostics.iter().map(|diagnostic| match diagnostic {
        BridgeDiagnostic::Lost(loss, detail) => (*loss, &**detail),
        other => panic!("{other}"),
    });
    lost.collect()
}

/// MCP servers with all members, of which version 2 tags each.
fn servers(version: u16) -> Value {
    let mut stdio = json!({
        "name": "a", "command": "/bin/a", "args": ["x", "y"], "env": [{"name": "E", "value": "v"}], "_meta": {"s": 1},
    });
    if version == 2 {
        stdio["type"] = json!("stdio");
    }
    let http = json!({
        "type": "http", "name": "h", "url": "http://localhost/", "headers": [{"name": "H", "value": "v"}], "_meta": {"h": 1},
    });
    json!([stdio, http])
}

/// Sends a request of the editor, and asserts that the agent receives the same one.
fn assert_comes_back(chain: &mut Chain, method: &str, params: Value) {
    let line = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
    chain.editor(&line);
    assert_eq!(chain.to_agent.back(), Some(&line), "{:?}", chain.diagnostics);
}

/// A request that both versions have reaches the agent with each of its members.
#[test]
fn requests_keep_their_members() {
    let text = json!([{"type": "text", "text": "hi", "_meta": {"b": 1}}]);
    let setup = |version: u16, members: Value| {
        let mut params = json!({
            "cwd": "/w", "additionalDirectories": ["/x", "/y"], "mcpServers": servers(version), "_meta": {"k": [1.5]},
        });
        for (name, value) in members.as_object().unwrap() {
            params[name] = value.clone();
        }
        params
    };
    let mut chain = opened_v1();
    assert_comes_back(&mut chain, "session/new", setup(1, json!({})));
    assert_comes_back(&mut chain, "session/load", setup(1, json!({"sessionId": "o"})));
    let mode = json!({"sessionId": "s", "modeId": "b", "_meta": {"m": 1}});
    assert_comes_back(&mut chain, "session/set_mode", mode);
    let prompt = json!({"sessionId": "s", "prompt": text, "_meta": {"p": 1}});
    assert_comes_back(&mut chain, "session/prompt", prompt.clone());

    let mut chain = opened_v2();
    let start = json!({"type": "start"});
    assert_comes_back(&mut chain, "session/new", setup(2, json!({})));
    assert_comes_back(&mut chain, "session/resume", setup(2, json!({"sessionId": "o"})));
    let replay = setup(2, json!({"sessionId": "o", "replayFrom": start}));
    assert_comes_back(&mut chain, "session/resume", replay);
    assert_comes_back(&mut chain, "session/fork", setup(2, json!({"sessionId": "s"})));
    let option = json!({
        "sessionId": "s", "configId": "fast", "type": "boolean", "value": false, "_meta": {"o": 1},
    });
    assert_comes_back(&mut chain, "session/set_config_option", option);
    assert_comes_back(&mut chain, "session/prompt", prompt);
}

/// An update that both versions have reaches the editor with each of its members.
#[test]
fn updates_keep_their_members() {
    let image =
        json!({"type": "image", "data": "eA==", "mimeType": "image/png", "_meta": {"i": 1}});
    let content = json!([{"type": "content", "content": image, "_meta": {"c": 1}, "_own": 2}]);
    let chunk = |kind: &str| json!({"sessionUpdate": kind, "messageId": "m", "content": image, "_meta": {"k": 1}, "_own": true});
    let table = [
        chunk("agent_message_chunk"),
        chunk("agent_thought_chunk"),
        json!({
            "sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "kind": "read", "status": "pending",
            "content": content, "_meta": {"t": 1},
        }),
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "content": content,
            "rawOutput": {"a": 1.5}, "locations": [{"path": "/w/f", "line": 3, "_meta": {"l": 1}}], "_meta": {"t": 2},
        }),
        json!({
            "sessionUpdate": "plan", "_meta": {"p": 1},
            "entries": [{"content": "c", "priority": "low", "status": "in_progress", "_meta": {"e": 1}}],
        }),
        json!({
            "sessionUpdate": "available_commands_update", "_meta": {"a": 1},
            "availableCommands": [{"name": "go", "description": "Goes.", "input": {"hint": "where"}, "_meta": {"c": 1}}],
        }),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "b"}),
    ];
    let mut chain = opened_v1();
    chain.editor(&json!({"jsonrpc": "2.0", "id": "p", "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}));
    for given in table {
        let line = json!({
            "jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": "s", "update": given, "_meta": {"n": 1}},
        });
        let before = chain.to_editor.len();
        chain.agent(&line);
        assert!(
            chain.updates().contains(&given),
            "{given} became {:#?}",
            &chain.to_editor[before..]
        );
        let has_meta =
            |line: &Value| line["params"]["update"] != given || line["params"]["_meta"]["n"] == 1;
        assert!(
            given["sessionUpdate"] == "current_mode_update"
                || chain.to_editor[before..].iter().all(has_meta)
        );
    }
    let end = json!({"jsonrpc": "2.0", "id": "p", "result": {"stopReason": "refusal", "_meta": {"r": 1}}});
    chain.agent(&end);
    assert_eq!(chain.to_editor.last(), Some(&end));
}

/// A server that version 2 does not have is named in a diagnostic.
#[test]
fn server_by_sse_is_left_out() {
    let mut bridge = v1_editor(json!({}));
    let mut all = servers(1);
    let sse = json!({"type": "sse", "name": "e", "url": "http://localhost/", "headers": []});
    all.as_array_mut().unwrap().push(sse);
    bridge.handle_editor_line(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": all}}).to_string(),
    );
    let (_, agent, diagnostics) = outputs(&mut bridge);
    assert_eq!(agent[0]["params"]["mcpServers"], servers(2));
    assert_eq!(lost(&diagnostics), [(BridgeLoss::McpServer, "e")]);
}

/// A status of a plan entry that version 1 does not have is replaced, and named.
#[test]
fn unknown_status_of_a_plan_entry_is_pending() {
    let table = [("cancelled", "completed"), ("_odd", "pending")];
    for (given, expected) in table {
        let entry = json!({"content": "c", "priority": "low", "status": given});
        let (editor, _, diagnostics) = update(
            &mut v1_editor(json!({})),
            json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [entry]}}),
        );
        assert_eq!(updates(&editor)[0]["entries"][0]["status"], expected);
        let named = format!("p: {given}");
        let expected = [(BridgeLoss::PlanStatus, &*named), (BridgeLoss::PlanId, "p")];
        assert_eq!(lost(&diagnostics), expected);
    }
}

/// A command with a name that version 2 does not permit is left out, and named.
#[test]
fn command_with_white_space_is_left_out() {
    let command = |name: &str| json!({"name": name, "description": "D."});
    let commands = [command("memory"), command("memory show"), command("a\tb")];
    let (editor, _, diagnostics) = update(
        &mut v2_editor(json!({})),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}),
    );
    let mut expected = command("memory");
    expected["type"] = json!("command");
    assert_eq!(updates(&editor)[0]["availableCommands"], json!([expected]));
    let named = [(BridgeLoss::Command, "memory show"), (BridgeLoss::Command, "a\tb")];
    assert_eq!(lost(&diagnostics), named);
}

/// The removal of a plan empties the plan of the editor, unless the editor does not have it.
#[test]
fn removed_plan_is_empty() {
    let mut bridge = v1_editor(json!({}));
    let removed = json!({"sessionUpdate": "plan_removed", "planId": "p"});
    let (editor, _, diagnostics) = update(&mut bridge, removed.clone());
    assert_eq!(editor, Vec::<Value>::new());
    assert_eq!(lost(&diagnostics), [(BridgeLoss::PlanKind, "p")]);
    let entry = json!({"content": "c", "priority": "low", "status": "pending"});
    update(
        &mut bridge,
        json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [entry]}}),
    );
    let (editor, _, diagnostics) = update(&mut bridge, removed);
    assert_eq!(updates(&editor), [&json!({"sessionUpdate": "plan", "entries": []})]);
    assert_eq!(lost(&diagnostics), [(BridgeLoss::PlanId, "p")]);
}

/// `null` in the first update of a tool call clears nothing. In a later one it is named.
#[test]
fn nulls_of_a_new_call_are_no_loss() {
    let mut bridge = v1_editor(json!({}));
    let first = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "name": "Read", "title": null,
        "kind": null, "status": "pending", "content": null, "locations": null, "rawInput": null,
        "rawOutput": null, "capabilities": null, "_meta": null,
    });
    let (editor, _, diagnostics) = update(&mut bridge, first);
    let announced = json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "name": "Read", "title": "Read",
        "status": "pending",
    });
    assert_eq!(updates(&editor), [&announced]);
    assert_eq!(lost(&diagnostics), [(BridgeLoss::ToolTitle, "c")]);

    let later = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "rawOutput": null});
    let (_, _, diagnostics) = update(&mut bridge, later);
    assert_eq!(lost(&diagnostics), [(BridgeLoss::Cleared, "c: rawOutput")]);
}

/// `"_meta": null` clears nothing of a new message, as agents replay one. Later it is named.
#[test]
fn null_metadata_of_a_new_message_is_no_loss() {
    let mut bridge = v1_editor(json!({}));
    let message =
        json!({"sessionUpdate": "agent_message", "messageId": "m", "content": [], "_meta": null});
    let (editor, _, diagnostics) = update(&mut bridge, message.clone());
    assert_eq!(editor, Vec::<Value>::new());
    assert_eq!(lost(&diagnostics), []);
    let (_, _, diagnostics) = update(&mut bridge, message);
    assert_eq!(lost(&diagnostics), [(BridgeLoss::MessageMeta, "m")]);
}

/// The user message of a turn has the id that the agent gives it. An update of a closed session is
/// named.
#[test]
fn user_message_has_the_id_of_the_agent() {
    let mut bridge = v2_editor(json!({}));
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}"#);
    outputs(&mut bridge);
    let text = json!({"type": "text", "text": "hi"});
    let (editor, ..) = update(
        &mut bridge,
        json!({"sessionUpdate": "user_message_chunk", "messageId": "u", "content": text}),
    );
    assert_eq!(&editor[0]["id"], &json!("p"));
    assert_eq!(&editor[0]["result"]["messageId"], &json!("u"));
    assert_eq!(updates(&editor)[1]["messageId"], "u");
    let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": text});
    let (_, _, diagnostics) = update(&mut bridge, chunk.clone());
    assert_eq!(lost(&diagnostics), [(BridgeLoss::MessageId, "bridge-1")]);
    bridge.handle_editor_line(
        r#"{"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"s"}}"#,
    );
    outputs(&mut bridge);
    let (editor, _, diagnostics) = update(&mut bridge, chunk);
    assert_eq!(editor, Vec::<Value>::new());
    assert_eq!(lost(&diagnostics), [(BridgeLoss::Update, "agent_message_chunk")]);
}

/// A tool call that only a request for permission names ends with the turn, as the user has
/// decided. One that the agent reports does not.
#[test]
fn call_of_a_permission_ends_with_the_turn() {
    let call = json!({"toolCallId": "c", "title": "T"});
    let reported = json!({"toolCallId": "d"});
    let table = [
        (call.clone(), "y", Some("completed")),
        (call.clone(), "n", Some("cancelled")),
        (call, "", Some("cancelled")),
        (reported, "y", None),
    ];
    for (call, option, expected) in table {
        let mut bridge = v2_editor(json!({}));
        bridge.handle_editor_line(
            r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#,
        );
        update(&mut bridge, json!({"sessionUpdate": "tool_call", "toolCallId": "d", "title": "D"}));
        let options = json!([
            {"optionId": "y", "name": "Yes", "kind": "allow_always"}, {"optionId": "n", "name": "No", "kind": "reject_once"},
        ]);
        bridge.handle_agent_line(
            &json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": {
                "sessionId": "s", "toolCall": call, "options": options,
            }})
            .to_string(),
        );
        let outcome = json!({"outcome": "selected", "optionId": option});
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"outcome": outcome}});
        bridge.handle_editor_line(&answer.to_string());
        outputs(&mut bridge);
        bridge
            .handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}"#);
        let (editor, _, diagnostics) = outputs(&mut bridge);
        let [calls @ .., idle] = &updates(&editor)[..] else { panic!("{editor:?}") };
        assert_eq!(idle["state"], "idle");
        let statuses: Vec<_> = calls.iter().filter_map(|call| call["status"].as_str()).collect();
        assert_eq!(statuses, expected.as_slice());
        let named = expected.map(|status| format!("c: {status}"));
        let named: Vec<_> = named.iter().map(|name| (BridgeLoss::ToolStatus, &**name)).collect();
        assert_eq!(lost(&diagnostics), named);
        // The next turn does not end it again.
        bridge.handle_editor_line(
            r#"{"jsonrpc":"2.0","id":"q","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#,
        );
        bridge
            .handle_agent_line(r#"{"jsonrpc":"2.0","id":"q","result":{"stopReason":"end_turn"}}"#);
        let (editor, ..) = outputs(&mut bridge);
        assert!(updates(&editor).iter().all(|it| it["toolCallId"].is_null()), "{editor:?}");
    }
}

/// A tool call that the agent reports after it has call ends as the agent reports.
#[test]
fn call_that_is_reported_after_its_permission_ends_as_reported() {
    for kind in ["tool_call", "tool_call_update"] {
        let mut bridge = v2_editor(json!({}));
        bridge.handle_editor_line(
            r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#,
        );
        bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}"#);
        update(
            &mut bridge,
            json!({"sessionUpdate": kind, "toolCallId": "c", "title": "T", "status": "failed"}),
        );
        bridge
            .handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}"#);
        let (editor, ..) = outputs(&mut bridge);
        let [idle] = updates(&editor)[..] else { panic!("{editor:?}") };
        assert_eq!(idle["state"], "idle");
    }
}

/// A turn continues after the last open question, and a cancelled prompt is a cancelled turn.
#[test]
fn turn_continues_after_the_last_answer() {
    let mut bridge = v2_editor(json!({}));
    bridge.handle_editor_line(
        r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#,
    );
    for id in [7, 8] {
        bridge.handle_agent_line(
            &json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": {
                "sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": [],
            }})
            .to_string(),
        );
    }
    outputs(&mut bridge);
    for (id, states) in [(7, &[][..]), (8, &["running"][..])] {
        bridge.handle_editor_line(
            &json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "cancelled"}}})
                .to_string(),
        );
        let (editor, ..) = outputs(&mut bridge);
        let found: Vec<_> =
            updates(&editor).into_iter().map(|it| it["state"].as_str().unwrap()).collect();
        assert_eq!(found, states, "answer {id}");
    }
    bridge.handle_agent_line(
        r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32800,"message":"cancelled"}}"#,
    );
    let (editor, ..) = outputs(&mut bridge);
    let [call, end] = updates(&editor)[..] else { panic!("{editor:?}") };
    assert_eq!(call["status"], "cancelled");
    assert_eq!(&end["state"], &json!("idle"));
    assert_eq!(&end["stopReason"], &json!("cancelled"));
}

/// The content of tool calls that is sent again with each chunk is bounded, for one call and for
/// all of them.
#[test]
fn content_of_tool_calls_is_bounded() {
    let mut bridge = v1_editor(json!({}));
    let mut sent = |call: &str| -> (usize, usize) {
        let text = "x".repeat(MAX_CONTENT_BYTES / 5 * 2);
        let content = json!({"type": "content", "content": {"type": "text", "text": text}});
        let chunk = json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": call, "content": content});
        let (editor, _, diagnostics) = update(&mut bridge, chunk);
        let blocks = updates(&editor)[0]["content"].as_array().unwrap().len();
        let lost = lost(&diagnostics);
        (blocks, lost.iter().filter(|(loss, _)| *loss == BridgeLoss::Content).count())
    };
    assert_eq!([sent("a"), sent("a"), sent("a")], [(1, 0), (2, 0), (2, 1)]);
    // The oldest other call is forgotten.
    assert_eq!([sent("b"), sent("a")], [(1, 0), (1, 0)]);
}

/// The user message that repeats the prompt is that of the prompt, unless the agent has answered
/// before.
#[test]
fn repeated_prompt_is_one_message() {
    let said = |kind: &str, text: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    let repeats = |before: Option<Value>| -> usize {
        let mut bridge = v2_editor(json!({}));
        bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}"#);
        outputs(&mut bridge);
        before.map(|output| update(&mut bridge, output));
        let (editor, ..) = update(&mut bridge, said("user_message_chunk", "hi"));
        let kinds = updates(&editor);
        kinds.iter().filter(|update| update["sessionUpdate"] == "user_message_chunk").count()
    };
    assert_eq!(repeats(None), 0);
    assert_eq!(repeats(Some(said("agent_message_chunk", "hello"))), 1);
}
