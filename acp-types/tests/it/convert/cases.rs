//! Single messages, and the negotiation of versions.
use super::chain::{Chain, opened_v2};
use acp_types::convert::{Bridge, BridgeDiagnostic, BridgeLoss, BridgeOptions, Output};
use acp_types::v1::initialization::ProtocolVersion;
use serde_json::{Value, json};

/// The outputs of a bridge: lines for the editor, lines for the agent, and diagnostics.
pub(super) type Outputs = (Vec<Value>, Vec<Value>, Vec<BridgeDiagnostic>);

pub(super) fn outputs(bridge: &mut Bridge) -> Outputs {
    let mut editor = Vec::new();
    let mut agent = Vec::new();
    let mut diagnostics = Vec::new();
    while let Some(output) = bridge.poll_output() {
        match output {
            Output::ToEditor(line) => editor.push(serde_json::from_str(&line).unwrap()),
            Output::ToAgent(line) => agent.push(serde_json::from_str(&line).unwrap()),
            Output::Diagnostic(diagnostic) => diagnostics.push(diagnostic),
            _ => panic!("unknown output"),
        }
    }
    (editor, agent, diagnostics)
}

/// A bridge between an editor of version 1 and an agent of version 2, with these client
/// capabilities and the session `s`.
pub(super) fn v1_editor(capabilities: Value) -> Bridge {
    let mut bridge = Bridge::new(BridgeOptions::default());
    bridge.handle_editor_line(
        &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": capabilities}}).to_string(),
    );
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}}"#);
    outputs(&mut bridge);
    bridge
}

pub(super) fn v2_editor(agent_capabilities: Value) -> Bridge {
    let mut bridge = Bridge::new(BridgeOptions::default().with_agent(ProtocolVersion::V1));
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"e","version":"1"}}}"#);
    bridge.handle_agent_line(
        &json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1, "agentCapabilities": agent_capabilities}}).to_string(),
    );
    outputs(&mut bridge);
    bridge
}

pub(super) fn update(bridge: &mut Bridge, update: Value) -> Outputs {
    bridge.handle_agent_line(
        &json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}).to_string(),
    );
    outputs(bridge)
}

pub(super) fn updates(lines: &[Value]) -> Vec<&Value> {
    lines.iter().map(|line| &line["params"]["update"]).collect()
}

/// A whole message is sent as far as it is new, and again if it differs.
#[test]
fn whole_messages_are_completed_or_sent_again() {
    let mut bridge = v1_editor(json!({}));
    let chunk = |text: &str| json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": text}});
    let whole = |text: &str| json!({"sessionUpdate": "agent_message", "messageId": "m", "content": [{"type": "text", "text": text}]});
    let mut texts = |given| -> (Vec<String>, usize) {
        let (editor, _, diagnostics) = update(&mut bridge, given);
        let chunks = updates(&editor).into_iter().map(|it| {
            format!(
                "{}:{}",
                it["messageId"].as_str().unwrap(),
                it["content"]["text"].as_str().unwrap()
            )
        });
        (chunks.collect::<Vec<_>>(), diagnostics.len())
    };
    assert_eq!(texts(chunk("Gr\u{fc}")), (vec!["m:Gr\u{fc}".to_owned()], 0));
    assert_eq!(texts(whole("Gr\u{fc}\u{df}e")), (vec!["m:\u{df}e".to_owned()], 0));
    assert_eq!(texts(whole("Gr\u{fc}\u{df}e")), (Vec::new(), 0));
    assert_eq!(texts(whole("Grob")), (vec!["m#2:Grob".to_owned()], 1));
    assert_eq!(texts(chunk("!")), (vec!["m#2:!".to_owned()], 0));
    assert_eq!(texts(whole("Grob!")), (Vec::new(), 0));
}

/// A terminal is a code block of the tool calls that show it, replaced at each change. Characters
/// may be split.
#[test]
fn terminal_becomes_text_of_its_tool_call() {
    let mut bridge = v1_editor(json!({}));
    update(
        &mut bridge,
        json!({"sessionUpdate": "terminal_update", "terminalId": "t", "command": "cat f"}),
    );
    update(
        &mut bridge,
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Cat", "content": [{"type": "terminal", "terminalId": "t"}]}),
    );
    // The bytes of `ü` and of a fence.
    update(
        &mut bridge,
        json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "ww=="}),
    );
    let (editor, ..) = update(
        &mut bridge,
        json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "vGBgYAo="}),
    );
    let [change] = updates(&editor)[..] else { panic!("{editor:?}") };
    assert_eq!(change["content"][0]["content"]["text"], "````console\n$ cat f\n\u{fc}```\n````");
    let (editor, ..) = update(
        &mut bridge,
        json!({"sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 3}}),
    );
    let text = updates(&editor)[0]["content"][0]["content"]["text"].as_str().unwrap();
    assert!(text.ends_with("```\n[exit code 3]\n````"), "{text}");
}

/// Content chunks extend the content, which version 1 sends as a whole.
#[test]
fn content_chunks_become_whole_content() {
    let mut bridge = v1_editor(json!({}));
    let text = |text: &str| json!({"type": "content", "content": {"type": "text", "text": text}});
    for count in 1..4 {
        let (editor, ..) = update(
            &mut bridge,
            json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": text("x")}),
        );
        let [change] = updates(&editor)[..] else { panic!("{editor:?}") };
        assert_eq!(
            change["sessionUpdate"],
            if count == 1 { "tool_call" } else { "tool_call_update" }
        );
        assert_eq!(change["content"].as_array().unwrap().len(), count);
    }
}

/// What an editor does not announce is not sent to it.
#[test]
fn updates_are_sent_if_the_editor_announces_them() {
    let plan = json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [{"content": "c", "priority": "low", "status": "cancelled"}]}});
    let table = [
        (plan.clone(), json!({"plan": {}}), Some("plan"), "plan_update"),
        (
            json!({"sessionUpdate": "notice", "severity": "info", "title": "n"}),
            json!({"session": {"notices": {}}}),
            None,
            "notice",
        ),
        (
            json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"}),
            json!({"session": {"compaction": {}}}),
            None,
            "compaction_update",
        ),
        (
            json!({"sessionUpdate": "subagent_update", "sessionId": "c"}),
            json!({"subagents": {}}),
            None,
            "subagent_update",
        ),
    ];
    for (given, announced, otherwise, expected) in table {
        let (editor, ..) = update(&mut v1_editor(announced), given.clone());
        assert_eq!(updates(&editor)[0]["sessionUpdate"], expected);
        let (editor, _, diagnostics) = update(&mut v1_editor(json!({})), given);
        let sent = updates(&editor);
        assert_eq!(sent.first().map(|it| it["sessionUpdate"].as_str().unwrap()), otherwise);
        assert!(!diagnostics.is_empty());
    }
    let (editor, ..) = update(&mut v1_editor(json!({})), plan);
    assert_eq!(updates(&editor)[0]["entries"][0]["status"], "completed");
}

/// Modes stand for the option of their category.
#[test]
fn modes_stand_for_an_option() {
    let mut chain = Chain::new(ProtocolVersion::V1);
    chain.editor(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}));
    chain.agent(&json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}));
    chain.editor(&json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}));
    let modes = json!({"currentModeId": "a", "availableModes": [{"id": "a", "name": "A", "description": "Asks."}, {"id": "b", "name": "B"}]});
    chain.agent(&json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s", "modes": modes}}));
    assert_eq!(chain.responses(&json!(1))[0]["result"]["modes"], modes);
    chain.editor(&json!({"jsonrpc": "2.0", "id": 2, "method": "session/set_mode", "params": {"sessionId": "s", "modeId": "b"}}));
    let request = chain.to_agent.back().unwrap();
    assert_eq!(&request["id"], &json!(2));
    assert_eq!(&request["method"], &json!("session/set_mode"));
    assert_eq!(&request["params"]["modeId"], &json!("b"));
    chain.agent(&json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    assert_eq!(chain.responses(&json!(2))[0]["result"], json!({}));
    chain.agent(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "current_mode_update", "currentModeId": "a"}}}));
    assert!(
        chain
            .updates()
            .iter()
            .any(|it| it["sessionUpdate"] == "current_mode_update" && it["currentModeId"] == "a")
    );
    let [editor, link, agent] = chain.errors();
    assert_eq!(&editor[..], &[][..]);
    assert_eq!(&link[..], &[][..]);
    assert_eq!(&agent[..], &[][..]);
}

/// Requests that the agent does not support are answered by the bridge.
#[test]
fn baseline_of_version_2_is_answered_for_an_agent_without_it() {
    let mut bridge = v2_editor(json!({"loadSession": true}));
    let mut ask = |method: &str, params: Value| {
        bridge.handle_editor_line(
            &json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
                .to_string(),
        );
        outputs(&mut bridge)
    };
    assert_eq!(ask("session/list", json!({})).0[0]["result"], json!({"sessions": []}));
    let (editor, agent, _) = ask("session/resume", json!({"sessionId": "s", "cwd": "/"}));
    assert_eq!(editor.len(), 0);
    assert_eq!(&agent[0]["method"], &json!("session/load"));
    assert_eq!(ask("auth/logout", json!({})).0[0]["error"]["code"], -32601);
    assert_eq!(
        ask("tool_call/cancel", json!({"sessionId": "s", "toolCallId": "c"})).0[0]["error"]["code"],
        -32602
    );
    assert_eq!(ask("session/close", json!({"sessionId": "s"})).0[0]["result"], json!({}));
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":5,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/f"}}"#);
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(editor.len(), 0);
    assert_eq!(&agent[0]["error"]["code"], &json!(-32601));
}

/// The table in the documentation has each loss, and no other.
#[test]
fn table_names_each_loss() {
    let page = include_str!("../../../CONVERT.md");
    for loss in BridgeLoss::ALL {
        assert!(page.contains(&format!("| `{loss}` |\n")), "{loss} has no row");
    }
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |"));
    for row in rows {
        let name = row.trim_end_matches("` |").rsplit('`').next().unwrap();
        assert!(BridgeLoss::ALL.iter().any(|loss| loss.as_str() == name), "{row}");
    }
}

/// A session of version 2 opens, with its servers, options and commands.
#[test]
fn setup_of_a_session_comes_back() {
    let mut chain = opened_v2();
    let [response] = &chain.responses(&json!("n"))[..] else { panic!("no response") };
    assert_eq!(response["result"]["configOptions"].as_array().unwrap().len(), 2);
    let commands =
        chain.updates().into_iter().find(|it| it["sessionUpdate"] == "available_commands_update");
    assert_eq!(
        commands.unwrap()["availableCommands"][0]["input"],
        json!({"type": "text", "hint": "where"})
    );
    let [response] = &chain.responses(&json!("i"))[..] else { panic!("no response") };
    let session = &response["result"]["capabilities"]["session"];
    assert_eq!(&session["prompt"]["image"], &json!({}));
    assert_eq!(&session["fork"], &json!({}));
    assert_eq!(&response["result"]["authMethods"][0]["methodId"], &json!("m"));
    let [editor, link, agent] = chain.errors();
    assert_eq!(&editor[..], &[][..]);
    assert_eq!(&link[..], &[][..]);
    assert_eq!(&agent[..], &[][..]);
}
