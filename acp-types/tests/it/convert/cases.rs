//! Single messages, and the negotiation of versions.
use super::chain::{Chain, opened_v2};
use acp_types::convert::{Bridge, BridgeDiagnostic, BridgeLoss, BridgeOptions, Output};
use acp_types::v1::initialization::ProtocolVersion;
use serde_json::{Value, json};

/// The outputs of a bridge: lines for the editor, lines for the agent, and diagnostics.
pub(super) type Outputs = (Vec<Value>, Vec<Value>, Vec<BridgeDiagnostic>);

pub(super) fn outputs(bridge: &mut Bridge) -> Outputs {
    let (mut editor, mut agent, mut diagnostics) = (Vec::new(), Vec::new(), Vec::new());
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

/// A bridge between an editor of version 1 and an agent of version 2, with these client capabilities and the session `s`.
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

/// Lines between sides of the same version are forwarded as they are, whatever they are.
#[test]
fn same_version_is_forwarded_byte_for_byte() {
    for version in [1, 2] {
        let mut bridge = Bridge::new(BridgeOptions::default().with_agent(ProtocolVersion(version)));
        let editor = [
            format!(
                r#"{{ "id":"\u0061","method":"initialize","params":{{"protocolVersion":{version},"info":{{"name":"e","version":"1"}}}}, "jsonrpc":"2.0"}}"#
            ),
            r#"{"method":"_x",  "jsonrpc":"2.0"}"#.to_owned(),
            "not JSON\r".to_owned(),
        ];
        let response = if version == 2 {
            r#""info":{"name":"a","version":"1"}"#
        } else {
            r#""agentInfo":null"#
        };
        let agent = [
            format!(r#"{{"result":{{ "protocolVersion":{version}, {response} }},"id":"a"}}"#),
            r#"[1.50]"#.to_owned(),
        ];
        let (mut to_editor, mut to_agent) = (Vec::new(), Vec::new());
        let lines =
            editor.iter().map(|line| (true, line)).zip(agent.iter().map(|line| (false, line)));
        let mut lines: Vec<_> = lines.flat_map(|(sent, received)| [sent, received]).collect();
        lines.push((true, &editor[2]));
        for (is_editor, line) in lines {
            if is_editor {
                bridge.handle_editor_line(line);
            } else {
                bridge.handle_agent_line(line);
            }
            while let Some(output) = bridge.poll_output() {
                match output {
                    Output::ToEditor(line) => to_editor.push(line),
                    Output::ToAgent(line) => to_agent.push(line),
                    other => {
                        assert!(matches!(
                            other,
                            Output::Diagnostic(BridgeDiagnostic::Spoken { .. })
                        ));
                    }
                }
            }
        }
        assert!(bridge.is_passing());
        assert_eq!((&to_editor[..], &to_agent[..]), (&agent[..], &editor[..]), "version {version}");
    }
}

/// An agent speaks the version of its response's shape.
#[test]
fn shape_of_the_response_decides_the_version() {
    let table = [
        (r#"{"protocolVersion":2,"agentCapabilities":{}}"#, 1),
        (r#"{"protocolVersion":2}"#, 1),
        (r#"{"protocolVersion":1}"#, 1),
        (r#"{"protocolVersion":1,"info":{"name":"a","version":"1"},"capabilities":{}}"#, 2),
        (r#"{"protocolVersion":2,"info":{"name":"a","version":"1"}}"#, 2),
    ];
    for (result, spoken) in table {
        let mut bridge = Bridge::new(BridgeOptions::default());
        bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true}}}"#);
        let (_, offer, _) = outputs(&mut bridge);
        assert_eq!(offer[0]["params"]["protocolVersion"], 2);
        assert_eq!(offer[0]["params"]["info"]["name"], "unknown");
        assert_eq!(offer[0]["params"]["clientCapabilities"]["terminal"], true);
        bridge.handle_agent_line(&format!(r#"{{"jsonrpc":"2.0","id":0,"result":{result}}}"#));
        let (response, _, diagnostics) = outputs(&mut bridge);
        let Some(BridgeDiagnostic::Spoken { editor, agent, .. }) = diagnostics.first() else {
            panic!("{diagnostics:?}")
        };
        assert_eq!((editor.0, agent.0), (1, spoken), "{result}");
        assert_eq!(bridge.is_passing(), spoken == 1, "{result}");
        assert_eq!(response[0]["result"]["protocolVersion"], 1, "{result}");
    }
}

/// An error names the versions that were offered and answered, and the next step.
#[test]
fn agent_without_a_common_version_is_an_error() {
    let table = [
        (
            2,
            r#""result":{"protocolVersion":3,"info":{"name":"a","version":"1"}}"#,
            "version 2 was offered, and the agent answered version 3. Versions 1 and 2 are supported",
        ),
        (
            2,
            r#""result":{"protocolVersion":7,"agentCapabilities":{}}"#,
            "version 2 was offered, and the agent answered version 7. Versions 1 and 2 are supported",
        ),
        (
            2,
            r#""result":{"protocolVersion":"2025-06-18"}"#,
            "version 2 was offered, and the agent answered version \"2025-06-18\". Versions 1 and 2 are supported",
        ),
        (
            1,
            r#""result":{"protocolVersion":-1}"#,
            "version 1 was offered, and the agent answered version -1. Versions 1 and 2 are supported",
        ),
        (
            2,
            r#""error":{"code":-32022,"message":"no","data":{"requested":2,"supported":[3,4]}}"#,
            "version 2 was offered, and the agent supports only 3, 4. Versions 1 and 2 are supported",
        ),
        (
            1,
            r#""error":{"code":-32022,"message":"no","data":{"requested":1,"supported":[2]}}"#,
            "version 1 was offered, and the agent supports only 2. Offer the agent version 2.",
        ),
        (
            2,
            r#""error":{"code":-32022,"message":"no"}"#,
            "version 2 was offered, and the agent refused it without naming its own. Versions 1 and 2 are supported",
        ),
    ];
    for (offered, outcome, expected) in table {
        let options = BridgeOptions::default().with_agent(ProtocolVersion(offered));
        let mut bridge = Bridge::new(options);
        bridge.handle_editor_line(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#,
        );
        bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#);
        bridge.handle_agent_line(&format!(r#"{{"jsonrpc":"2.0","id":0,{outcome}}}"#));
        let (editor, agent, diagnostics) = outputs(&mut bridge);
        assert_eq!(agent.len(), 1, "only `initialize`");
        assert_eq!((&editor[0]["id"], &editor[1]["id"]), (&json!(0), &json!(1)));
        for response in &editor {
            let message = response["error"]["message"].as_str().unwrap();
            assert!(message.contains(expected), "{message}");
        }
        assert!(matches!(diagnostics[..], [BridgeDiagnostic::Unsupported(_)]), "{diagnostics:?}");
    }
}

/// A prompt of version 1 is open until the turn ends.
#[test]
fn prompt_of_version_1_ends_with_the_turn() {
    let table = [
        (
            json!({"stopReason": "max_tokens"}),
            json!({"result": {"stopReason": "max_tokens"}}),
            None,
        ),
        (
            json!({"stopReason": "error", "error": {"code": -32000, "message": "login"}}),
            json!({"error": {"code": -32000, "message": "login"}}),
            None,
        ),
        (
            json!({"stopReason": "_tired"}),
            json!({"result": {"stopReason": "end_turn"}}),
            Some(BridgeLoss::StopReason),
        ),
    ];
    for (end, expected, loss) in table {
        let mut bridge = v1_editor(json!({}));
        bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}"#);
        bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"messageId":"u"}}"#);
        update(&mut bridge, json!({"sessionUpdate": "state_update", "state": "running"}));
        let mut state = json!({"sessionUpdate": "state_update", "state": "idle"});
        end.as_object().unwrap().iter().for_each(|(name, value)| state[name] = value.clone());
        let (editor, _, diagnostics) = update(&mut bridge, state);
        let [response] = &editor[..] else { panic!("{editor:?}") };
        assert_eq!(response["id"], "p");
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&response[name], value);
        }
        let lost = diagnostics.iter().find_map(|it| match it {
            BridgeDiagnostic::Lost(loss, _) => Some(*loss),
            _ => None,
        });
        assert_eq!(lost, loss);
    }
}

/// A user message without content is not the message of a prompt, which follows.
#[test]
fn message_without_content_is_no_prompt() {
    let mut bridge = v1_editor(json!({}));
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}"#);
    outputs(&mut bridge);
    let mut told = |message: &str, content: Value| {
        let message =
            json!({"sessionUpdate": "user_message", "messageId": message, "content": content});
        let (editor, _, diagnostics) = update(&mut bridge, message);
        let is_lost = diagnostics
            .iter()
            .any(|it| matches!(it, BridgeDiagnostic::Lost(BridgeLoss::PromptMessage, _)));
        (editor.len(), is_lost)
    };
    assert_eq!(told("empty", json!([])), (0, false));
    assert_eq!(told("u", json!([{"type": "text", "text": "hi"}])), (0, true));
    assert_eq!(told("other", json!([{"type": "text", "text": "hi"}])), (1, false));
}

/// The end of a turn does not end a prompt that the agent holds, and a turn may end before the response to its prompt.
#[test]
fn held_prompt_survives_the_end_of_another_turn() {
    let mut bridge = v1_editor(json!({}));
    for id in ["p", "q"] {
        bridge.handle_editor_line(&json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}).to_string());
    }
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"messageId":"u"}}"#);
    outputs(&mut bridge);
    update(&mut bridge, json!({"sessionUpdate": "state_update", "state": "running"}));
    let idle = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"});
    let (editor, ..) = update(&mut bridge, idle.clone());
    assert_eq!(editor.iter().map(|line| &line["id"]).collect::<Vec<_>>(), ["p"]);
    update(&mut bridge, json!({"sessionUpdate": "state_update", "state": "running"}));
    let (editor, ..) = update(&mut bridge, idle);
    assert_eq!(editor, Vec::<Value>::new());
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"q","result":{"messageId":"v"}}"#);
    let (editor, ..) = outputs(&mut bridge);
    assert_eq!(editor.iter().map(|line| &line["id"]).collect::<Vec<_>>(), ["q"]);
}

#[test]
fn cancelled_request_of_an_accepted_prompt_cancels_the_turn() {
    let mut bridge = v1_editor(json!({}));
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#);
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#;
    bridge.handle_editor_line(cancel);
    let (_, agent, _) = outputs(&mut bridge);
    assert_eq!(agent[1]["method"], "$/cancel_request");
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"messageId":"u"}}"#);
    bridge.handle_editor_line(cancel);
    let (_, agent, _) = outputs(&mut bridge);
    assert_eq!(
        (&agent[0]["method"], &agent[0]["params"]),
        (&json!("session/cancel"), &json!({"sessionId": "s"}))
    );
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

/// A terminal is a code block of the tool calls that show it, replaced at each change. Characters may be split.
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
    let asked = chain.to_agent.back().unwrap();
    assert_eq!(
        (&asked["id"], &asked["method"], &asked["params"]["modeId"]),
        (&json!(2), &json!("session/set_mode"), &json!("b"))
    );
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
    assert_eq!((&editor[..], &link[..], &agent[..]), (&[][..], &[][..], &[][..]));
}

/// The editor of version 2 gets the response to a prompt with the first sign of the agent, or its error.
#[test]
fn prompt_of_version_2_is_answered_by_the_first_output() {
    let prompt = |id: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [{"type": "text", "text": id}]}}).to_string()
    };
    let mut bridge = v2_editor(json!({}));
    bridge.handle_editor_line(&prompt("p"));
    bridge.handle_editor_line(&prompt("q"));
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(updates(&editor)[0]["state"], "running");
    assert_eq!(agent.len(), 1, "the second prompt is held");
    let (editor, ..) = update(
        &mut bridge,
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}),
    );
    let message = &editor[0]["result"]["messageId"];
    assert_eq!((&editor[0]["id"], &updates(&editor)[1]["messageId"]), (&json!("p"), message));
    assert_eq!(updates(&editor)[1]["content"][0]["text"], "p");
    assert_eq!(updates(&editor)[2]["content"]["text"], "x");
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn","usage":{"totalTokens":3,"inputTokens":1,"outputTokens":2}}}"#);
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(
        (&updates(&editor)[0]["stopReason"], &updates(&editor)[0]["usage"]["totalTokens"]),
        (&json!("end_turn"), &json!(3))
    );
    assert_eq!(agent[0]["id"], "q");
    bridge.handle_agent_line(
        r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32000,"message":"login"}}"#,
    );
    let (editor, ..) = outputs(&mut bridge);
    assert_eq!((&editor[0]["id"], &editor[0]["error"]["code"]), (&json!("q"), &json!(-32000)));
    assert_eq!(updates(&editor)[1]["error"]["message"], "login");
}

/// Open questions of an agent of version 1 are cancelled with the turn, as those of version 2 are.
#[test]
fn cancellation_withdraws_the_open_questions() {
    let mut bridge = v2_editor(json!({}));
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#);
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}"#);
    let (editor, ..) = outputs(&mut bridge);
    let asked = editor.last().unwrap();
    assert_eq!(
        (&asked["params"]["title"], &asked["params"]["subject"]["toolCall"]["toolCallId"]),
        (&json!("c"), &json!("c"))
    );
    bridge.handle_editor_line(
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#,
    );
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(agent[0]["method"], "session/cancel");
    assert_eq!(
        (&editor[0]["method"], &editor[0]["params"]["requestId"]),
        (&json!("$/cancel_request"), &json!(7))
    );
    bridge
        .handle_editor_line(r#"{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"later"}}}"#);
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(
        agent[0]["result"]["outcome"]["outcome"], "cancelled",
        "an unknown outcome is no permission"
    );
    assert_eq!(updates(&editor)[0]["state"], "running");
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
    assert_eq!((editor.len(), &agent[0]["method"]), (0, &json!("session/load")));
    assert_eq!(ask("auth/logout", json!({})).0[0]["error"]["code"], -32601);
    assert_eq!(
        ask("tool_call/cancel", json!({"sessionId": "s", "toolCallId": "c"})).0[0]["error"]["code"],
        -32602
    );
    assert_eq!(ask("session/close", json!({"sessionId": "s"})).0[0]["result"], json!({}));
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":5,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/f"}}"#);
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!((editor.len(), &agent[0]["error"]["code"]), (0, &json!(-32601)));
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
    assert_eq!(
        (
            &session["prompt"]["image"],
            &session["fork"],
            &response["result"]["authMethods"][0]["methodId"]
        ),
        (&json!({}), &json!({}), &json!("m"))
    );
    let [editor, link, agent] = chain.errors();
    assert_eq!((&editor[..], &link[..], &agent[..]), (&[][..], &[][..], &[][..]));
}

/// The late result of a turn that was closed does not end the next turn.
#[test]
fn late_result_does_not_end_another_turn() {
    for late in
        [r#""result":{"stopReason":"cancelled"}"#, r#""error":{"code":-32603,"message":"no"}"#]
    {
        let mut bridge = v2_editor(json!({"loadSession": true}));
        let prompt = |id: &str| {
            json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}).to_string()
        };
        bridge.handle_editor_line(&prompt("p"));
        bridge.handle_editor_line(
            r#"{"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"s"}}"#,
        );
        let (editor, agent, _) = outputs(&mut bridge);
        assert_eq!(
            (&agent[1]["method"], &editor[1]["error"]["code"]),
            (&json!("session/cancel"), &json!(-32800))
        );
        assert_eq!(
            (&updates(&editor)[2]["stopReason"], &editor[3]["id"]),
            (&json!("cancelled"), &json!(1))
        );
        bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":2,"method":"session/resume","params":{"sessionId":"s","cwd":"/","replayFrom":{"type":"start"}}}"#);
        bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        bridge.handle_editor_line(&prompt("q"));
        outputs(&mut bridge);
        bridge.handle_agent_line(&format!(r#"{{"jsonrpc":"2.0","id":"p",{late}}}"#));
        assert_eq!(outputs(&mut bridge).0, Vec::<Value>::new());
        bridge
            .handle_agent_line(r#"{"jsonrpc":"2.0","id":"q","result":{"stopReason":"end_turn"}}"#);
        let (editor, ..) = outputs(&mut bridge);
        assert_eq!(updates(&editor).last().unwrap()["stopReason"], "end_turn");
    }
}
