//! Sessions of subagents, for editors that show subagents and for others.
use super::cases::{Outputs, outputs, updates, v1_editor};
use crate::lint::linter;
use acp_types::convert::{Bridge, BridgeDiagnostic, BridgeLoss};
use jsonrpc_core::transcript::Direction;
use serde_json::{Value, json};

/// A bridge with an open prompt in the session `s`, and `t` of a subagent, which has `u` of another
/// one.
fn with_subagents(capabilities: Value) -> Bridge {
    let mut bridge = v1_editor(capabilities);
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#);
    update(&mut bridge, "s", begun("t"));
    update(&mut bridge, "t", begun("u"));
    bridge
}

fn begun(id: &str) -> Value {
    json!({"sessionUpdate": "subagent_update", "sessionId": id, "title": "T", "state": {"state": "running"}})
}

fn chunk() -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "x"}})
}

fn update(bridge: &mut Bridge, session: &str, update: Value) -> Outputs {
    bridge.handle_agent_line(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}).to_string());
    outputs(bridge)
}

fn request(bridge: &mut Bridge, method: &str, params: Value) -> Outputs {
    bridge.handle_agent_line(
        &json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string(),
    );
    outputs(bridge)
}

fn lost((_, _, diagnostics): &Outputs) -> Vec<(BridgeLoss, &str)> {
    let lost = diagnostics.iter().filter_map(|diagnostic| match diagnostic {
        BridgeDiagnostic::Lost(loss, detail) => Some((*loss, &**detail)),
        _ => None,
    });
    lost.collect()
}

fn options() -> Value {
    json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}])
}

/// An editor that does not show subagents gets no messages of their sessions, which it does not
/// know.
#[test]
fn messages_of_a_subagent_are_for_editors_that_show_subagents() {
    for (capabilities, expected) in [(json!({"subagents": {}}), 1), (json!({}), 0)] {
        let mut bridge = with_subagents(capabilities);
        for session in ["t", "u"] {
            let done = update(&mut bridge, session, chunk());
            assert_eq!(done.0.len(), expected, "{session}");
            assert_eq!(lost(&done).len(), 1 - expected, "{session}");
        }
        // A session of the editor does not become that of a subagent.
        update(&mut bridge, "u", begun("s"));
        assert_eq!(update(&mut bridge, "s", chunk()).0[0]["params"]["sessionId"], "s");
    }
}

/// An agent cannot hide a session of the editor by naming it as that of a subagent.
#[test]
fn session_of_the_editor_is_not_hidden() {
    let mut bridge = v1_editor(json!({}));
    update(&mut bridge, "s", begun("t"));
    update(&mut bridge, "t", begun("s"));
    assert_eq!(update(&mut bridge, "s", chunk()).0[0]["params"]["sessionId"], "s");
    update(&mut bridge, "other", chunk());
    update(&mut bridge, "s", begun("other"));
    assert_eq!(update(&mut bridge, "other", chunk()).0[0]["params"]["sessionId"], "other");
}

/// The editor gets a subagent's tool calls, with their terminals, in the session that it shows. Ids
/// of both do not mix.
#[test]
fn tool_calls_of_a_subagent_are_shown_in_the_session_of_the_editor() {
    let mut bridge = with_subagents(json!({}));
    let terminal = |session: &str| json!({"sessionUpdate": "terminal_update", "terminalId": "x", "command": session});
    let call = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Run", "status": "in_progress",
        "content": [{"type": "terminal", "terminalId": "x"}],
    });
    for (session, id) in [("s", "c"), ("t", "t/c"), ("u", "u/c")] {
        update(&mut bridge, session, terminal(session));
        let (editor, ..) = update(&mut bridge, session, call.clone());
        assert_eq!(editor[0]["params"]["sessionId"], "s");
        let [shown] = updates(&editor)[..] else { panic!("{editor:?}") };
        assert_eq!(&shown["sessionUpdate"], &json!("tool_call"));
        assert_eq!(&shown["toolCallId"], &json!(id));
        let text = format!("```console\n$ {session}\n```");
        assert_eq!(shown["content"][0]["content"]["text"], text);
    }
    let output =
        json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": "eA=="});
    let (editor, ..) = update(&mut bridge, "t", output);
    let [shown] = updates(&editor)[..] else { panic!("{editor:?}") };
    assert_eq!(shown["toolCallId"], "t/c");
    assert_eq!(shown["content"][0]["content"]["text"], "```console\n$ t\nx\n```");
    let content = json!({"type": "terminal", "terminalId": "x"});
    let more =
        json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": content});
    let (editor, ..) = update(&mut bridge, "u", more);
    let [shown] = updates(&editor)[..] else { panic!("{editor:?}") };
    assert_eq!(shown["toolCallId"], "u/c");
    let texts: Vec<_> = (0..2).map(|at| &shown["content"][at]["content"]["text"]).collect();
    assert_eq!(texts, ["```console\n$ u\n```"; 2]);
}

/// The user of an editor that does not show subagents is call in the session that the editor
/// shows, with the tool call.
#[test]
fn permission_for_a_subagent_is_asked_in_the_session_of_the_editor() {
    let subject = json!({"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Edit", "kind": "edit"}});
    let command = json!({"type": "command", "command": "ls", "cwd": "/w", "toolCallId": "c"});
    for (subject, announced) in [(subject, 1), (command, 0)] {
        for session in ["t", "u"] {
            let mut bridge = with_subagents(json!({}));
            let params = json!({"sessionId": session, "title": "May I?", "subject": subject, "options": options()});
            let done = request(&mut bridge, "session/request_permission", params);
            let named = format!("{session}: session/request_permission");
            assert!(lost(&done).contains(&(BridgeLoss::NotAnnounced, &*named)), "{done:?}");
            let (editor, ..) = done;
            assert_eq!(editor.len(), announced + 1);
            assert!(editor.iter().all(|line| line["params"]["sessionId"] == "s"), "{editor:?}");
            let call = &editor[announced]["params"]["toolCall"];
            let id = json!(format!("{session}/c"));
            assert_eq!(&call["toolCallId"], &id);
            assert_eq!(&editor[announced]["id"], &json!(7));
            if announced == 1 {
                let call = updates(&editor)[0];
                assert_eq!(&call["sessionUpdate"], &json!("tool_call"));
                assert_eq!(&call["toolCallId"], &id);
            }
            let answer = r#"{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}"#;
            bridge.handle_editor_line(answer);
            let (_, agent, _) = outputs(&mut bridge);
            assert_eq!(agent, [serde_json::from_str::<Value>(answer).unwrap()]);
        }
    }
}

/// An editor that shows subagents is call in the session of the subagent.
#[test]
fn permission_for_a_shown_subagent_is_asked_in_its_session() {
    let mut bridge = with_subagents(json!({"subagents": {}}));
    let params = json!({"sessionId": "t", "title": "May I?", "options": options()});
    let done = request(&mut bridge, "session/request_permission", params);
    assert_eq!(done.0[0]["params"]["sessionId"], "t");
    assert!(lost(&done).iter().all(|(loss, _)| *loss == BridgeLoss::Permission), "{done:?}");
}

/// A form and a URL of a subagent are shown in the session of the editor. Those without a session
/// stay as they are.
#[test]
fn elicitation_of_a_subagent_is_shown_in_the_session_of_the_editor() {
    let form = json!({"mode": "form", "requestedSchema": {"type": "object", "properties": {}}});
    let url = json!({"mode": "url", "elicitationId": "e", "url": "https://example.com/"});
    for (capabilities, session, call) in
        [(json!({}), "s", "t/c"), (json!({"subagents": {}}), "t", "c")]
    {
        for mode in [&form, &url] {
            let mut bridge = with_subagents(capabilities.clone());
            let mut params = mode.clone();
            (params["message"], params["sessionId"], params["toolCallId"]) =
                (json!("Which?"), json!("t"), json!("c"));
            let done = request(&mut bridge, "elicitation/create", params.clone());
            let expected = [(BridgeLoss::NotAnnounced, "t: elicitation/create")];
            assert_eq!(lost(&done), &expected[..usize::from(session == "s")]);
            (params["sessionId"], params["toolCallId"]) = (json!(session), json!(call));
            assert_eq!(done.0[0]["params"], params);
        }
    }
}

/// The linter finds nothing in what an editor of version 1 gets of a subagent with a permission.
#[test]
fn questions_of_a_subagent_follow_version_1() {
    let mut linter = linter();
    let mut bridge = Bridge::new(acp_types::convert::BridgeOptions::default());
    let mut pass = |is_editor: bool, line: Value| {
        let line = line.to_string();
        if is_editor {
            linter.handle_line(Direction::Sent, line.as_bytes());
            bridge.handle_editor_line(&line);
        } else {
            bridge.handle_agent_line(&line);
        }
        for line in outputs(&mut bridge).0 {
            linter.handle_line(Direction::Received, line.to_string().as_bytes());
        }
    };
    let update_line = |session: &str, update: Value| json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}});
    let state = |state: Value| {
        let mut update = state;
        update["sessionUpdate"] = json!("state_update");
        update_line("s", update)
    };
    pass(
        true,
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientInfo": {"name": "e", "version": "1"}, "clientCapabilities": {}}}),
    );
    pass(
        false,
        json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {"session": {}}}}),
    );
    pass(
        true,
        json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}),
    );
    pass(false, json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}));
    pass(
        true,
        json!({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [{"type": "text", "text": "Go"}]}}),
    );
    pass(false, json!({"jsonrpc": "2.0", "id": 2, "result": {"messageId": "u"}}));
    pass(false, state(json!({"state": "running"})));
    pass(false, update_line("s", begun("t")));
    pass(false, update_line("t", chunk()));
    pass(
        false,
        json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": {
            "sessionId": "t", "title": "May I?", "options": options(),
            "subject": {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Edit"}},
        }}),
    );
    pass(
        true,
        json!({"jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}}),
    );
    pass(
        false,
        update_line(
            "t",
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
        ),
    );
    pass(false, state(json!({"state": "idle", "stopReason": "end_turn"})));
    linter.finish();
    let findings: Vec<_> = std::iter::from_fn(|| linter.poll_finding()).collect();
    assert!(findings.is_empty(), "{findings:?}");
}
