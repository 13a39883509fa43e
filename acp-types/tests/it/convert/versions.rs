//! The versions of both sides, and lines between sides of the same version.
use super::cases::outputs;
use acp_types::convert::{Bridge, BridgeDiagnostic, BridgeOptions, Output};
use acp_types::v1::initialization::ProtocolVersion;
use serde_json::json;

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
        let mut to_editor = Vec::new();
        let mut to_agent = Vec::new();
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
        assert_eq!(&to_editor[..], &agent[..], "version {version}");
        assert_eq!(&to_agent[..], &editor[..], "version {version}");
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
        assert_eq!(editor.0, 1, "{result}");
        assert_eq!(agent.0, spoken, "{result}");
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
        assert_eq!(&editor[0]["id"], &json!(0));
        assert_eq!(&editor[1]["id"], &json!(1));
        for response in &editor {
            let message = response["error"]["message"].as_str().unwrap();
            assert!(message.contains(expected), "{message}");
        }
        assert!(matches!(diagnostics[..], [BridgeDiagnostic::Unsupported(_)]), "{diagnostics:?}");
    }
}
