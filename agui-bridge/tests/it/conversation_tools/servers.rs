//! MCP servers of the sessions of a conversation, and agents that refuse them.
use super::*;
use crate::thread::failed;
use acp_types::client::{self, AuthMethods};
use acp_types::v1::session_setup::{McpServer, McpServerHttp, McpServerSse, McpServerStdio};
use agui_bridge::conversation::AgentFeatures;
use jsonrpc_core::{ErrorCode, ErrorObject};

fn stdio() -> McpServer {
    McpServer::Stdio(McpServerStdio::new("ui", "ui-server", [], []))
}

fn http() -> McpServer {
    McpServer::Http(McpServerHttp::new("ui", "http://127.0.0.1:1/mcp", []))
}

fn served(features: AgentFeatures, always: bool, tools: &Value) -> (Vec<McpServer>, Vec<Notice>) {
    let servers = vec![http(), stdio()];
    let mut rig = Rig::new(with(PageTools::Mcp { servers, always }));
    rig.connect(features);
    rig.run(input("1", &[user("u", "Hi")], tools)).unwrap();
    (rig.opening().mcp_servers.clone(), rig.notices)
}

#[test]
fn session_gets_a_supported_server() {
    let none = (AgentFeatures::default(), false);
    let mut over_http = AgentFeatures::default();
    over_http.mcp_http = true;
    over_http.mcp_stdio = true;
    let mut over_stdio = AgentFeatures::default();
    over_stdio.mcp_stdio = true;
    assert_eq!(served(over_http.clone(), false, &tools()).0, [http()]);
    assert_eq!(served(over_stdio, false, &tools()).0, [stdio()]);
    assert_eq!(served(over_http.clone(), false, &json!({})).0, []);
    assert_eq!(served(over_http, true, &json!({})).0, [http()]);
    let (servers, notices) = served(none.0, none.1, &tools());
    assert_eq!(servers, []);
    let unreachable = Notice::Diagnostic(ConversationDiagnostic::ToolsUnreachable);
    assert!(notices.contains(&unreachable) && notices.contains(&Notice::ToolsChanged));
}

/// A thread with page tools, of which the agent has refused the session so often.
fn refusing(refusals: usize) -> Rig {
    let mut rig = with_servers(Vec::new(), &tools());
    (0..refusals).for_each(|_| refuse(&mut rig));
    rig
}

fn notices_of(rig: &Rig) -> Vec<String> {
    let notice = |notice: &Notice| match notice {
        Notice::Diagnostic(diagnostic) => Some(diagnostic.to_string()),
        Notice::ServersRefused(_) => Some("remembered".to_owned()),
        _ => None,
    };
    rig.notices.iter().filter_map(notice).collect()
}

#[test]
fn refused_session_is_opened_over_stdio() {
    let mut rig = refusing(1);
    assert_eq!(rig.opening().mcp_servers, [stdio()]);
    rig.open("s");
    rig.end();
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", "RUN_FINISHED success"]);
    let refused =
        "the agent refused the MCP server of the page's tools: Internal error: no such server";
    assert_eq!(notices_of(&rig), [refused, "remembered"]);
    // The next session does not use the transport again.
    rig.take_commands();
    let messages = [user("u", "Edited"), user("v", "Go on")];
    rig.run(input("2", &messages, &tools())).unwrap();
    assert_eq!(rig.opening().mcp_servers, [stdio()]);
}

#[test]
fn refused_session_is_opened_without_server_and_with_notice() {
    let mut rig = refusing(2);
    assert_eq!(rig.opening().mcp_servers, []);
    rig.open("s");
    rig.end();
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", "CUSTOM acp.notice", "RUN_FINISHED success"]);
    assert_eq!(rig.commands.iter().filter(|it| matches!(it, Command::Prompt { .. })).count(), 1);
}

/// The configured servers of these tests.
fn configured() -> Vec<McpServer> {
    vec![
        McpServer::Http(McpServerHttp::new("docs", "http://127.0.0.1:2/mcp", [])),
        McpServer::Stdio(McpServerStdio::new("files", "/bin/files", [], [])),
        McpServer::Sse(McpServerSse::new("old", "http://127.0.0.1:3/sse", [])),
    ]
}

#[test]
fn session_gets_the_configured_servers_that_the_agent_supports() {
    for (http, sse, stdio, names, missing) in [
        (true, true, true, &["docs", "files", "old"][..], &[][..]),
        (false, false, true, &["files"], &["docs", "old"]),
        (true, false, false, &["docs"], &["files", "old"]),
        (false, false, false, &[], &["docs", "files", "old"]),
    ] {
        let mut options = options();
        options.mcp_servers = configured();
        let mut features = AgentFeatures::default();
        features.mcp_http = http;
        features.mcp_sse = sse;
        features.mcp_stdio = stdio;
        features.resume = true;
        let mut rig = Rig::new(options);
        rig.connect(features);
        rig.run(input("1", &[user("u", "Hi")], &json!({}))).unwrap();
        assert_eq!(names_of(&rig), names);
        let left_out = |name: &&str| {
            format!(
                "the agent does not support the transport of the MCP server `{name}`; its tools are missing"
            )
        };
        let expected: Vec<_> = missing.iter().map(left_out).collect();
        assert_eq!(notices_of(&rig), expected);
    }
}

/// The names of the servers of the last session, with the transport of the page's server.
fn names_of(rig: &Rig) -> Vec<String> {
    let name = |server: &McpServer| match server {
        McpServer::Http(server) if server.name == "ui" => "ui over http".to_owned(),
        McpServer::Stdio(server) if server.name == "ui" => "ui over stdio".to_owned(),
        McpServer::Http(server) => server.name.clone(),
        McpServer::Sse(server) => server.name.clone(),
        McpServer::Stdio(server) => server.name.clone(),
        other => panic!("{other:?}"),
    };
    rig.opening().mcp_servers.iter().map(name).collect()
}

fn refuse(rig: &mut Rig) {
    let error = json!({"code": -32603, "message": "Internal error", "data": "no such server"});
    assert!(rig.session(SessionEvent::Refused(refused(&error))).is_none());
}

/// A thread with these tools of the page, and these configured servers.
fn with_servers(configured: Vec<McpServer>, tools: &Value) -> Rig {
    let servers = vec![http(), stdio()];
    let mut options = with(PageTools::Mcp { servers, always: false });
    options.mcp_servers = configured;
    let mut features = AgentFeatures::default();
    features.mcp_http = true;
    features.mcp_stdio = true;
    let mut rig = Rig::new(options);
    rig.connect(features);
    rig.run(input("1", &[user("u", "Hi")], tools)).unwrap();
    rig
}

fn with_configured(tools: &Value) -> Rig {
    let mut servers = configured();
    servers.truncate(2);
    with_servers(servers, tools)
}

#[test]
fn refused_session_is_opened_without_the_pages_server_and_then_without_configured_ones() {
    let attempts: [&[&str]; 6] = [
        &["docs", "files", "ui over http"],
        &["docs", "files", "ui over stdio"],
        &["docs", "files"],
        &["ui over http"],
        &["ui over stdio"],
        &[],
    ];
    let page = "The page's tools are not available: the agent does not accept their MCP server.";
    let settings = "Tools are missing: the agent does not accept sessions with the MCP servers of the settings: `docs`, `files`.";
    for (refusals, notices) in
        [&[][..], &[], &[page], &[settings], &[settings], &[settings, page]].into_iter().enumerate()
    {
        let mut rig = with_configured(&tools());
        for servers in attempts.iter().take(refusals) {
            assert_eq!(names_of(&rig), *servers);
            refuse(&mut rig);
        }
        assert_eq!(names_of(&rig), attempts[refusals]);
        rig.open("s");
        rig.end();
        assert_eq!(rig.outcome("1"), "RUN_FINISHED success");
        let titles = |run: &str| -> Vec<String> {
            let events = rig.events.iter().filter(|(id, _)| id == run);
            let events = events.map(|(_, event)| serde_json::to_value(event).unwrap());
            let notices = events.filter(|event| event["name"] == "acp.notice");
            notices.map(|event| event["value"]["title"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(titles("1"), notices, "{refusals} refusals");
        // The next session begins with what was accepted, and says again what is missing.
        rig.take_commands();
        let edited = [user("u", "Edited"), user("v", "Go on")];
        rig.run(input("2", &edited, &tools())).unwrap();
        let accepted = attempts[refusals];
        assert_eq!(names_of(&rig), accepted);
        let missing = "the agent refuses sessions with the MCP servers `docs`, `files`; their tools are missing";
        let said = notices_of(&rig).iter().filter(|it| *it == missing).count();
        assert_eq!(said, if refusals >= 3 { 2 } else { 0 });
    }
    let mut rig = with_configured(&tools());
    attempts.iter().for_each(|_| refuse(&mut rig));
    assert_eq!(rig.outcome("1"), "RUN_ERROR ACP_INTERNAL_ERROR");
}

#[test]
fn refused_configured_servers_alone_are_left_out_with_a_notice() {
    let mut rig = with_configured(&json!({}));
    assert_eq!(names_of(&rig), ["docs", "files"]);
    refuse(&mut rig);
    assert_eq!(names_of(&rig), [""; 0]);
    rig.open("s");
    rig.end();
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", "CUSTOM acp.notice", "RUN_FINISHED success"]);
}

#[test]
fn session_that_is_refused_without_server_ends_its_run() {
    let mut rig = refusing(3);
    assert_eq!(rig.outcome("1"), "RUN_ERROR ACP_INTERNAL_ERROR");
    assert!(!notices_of(&rig).contains(&"remembered".to_owned()), "the server is not the reason");
    // The next run begins with the first transport again.
    rig.run(input("2", &[user("u", "Hi"), user("v", "Ho")], &tools())).unwrap();
    assert_eq!(rig.opening().mcp_servers, [http()]);
}

/// The first prompt of a thread fails with this error, as often as a session is opened for it.
fn failing_prompts(error: &Value) -> Rig {
    let mut rig = with_configured(&tools());
    while rig.outcome("1").is_empty() || rig.outcome("1") == "RUN_STARTED" {
        assert!(rig.commands.len() < 40, "no end");
        rig.open("s");
        let call = client::TurnError::Call(refused(error));
        assert!(rig.session(failed(call)).is_none());
    }
    rig
}

#[test]
fn prompt_is_sent_again_if_its_error_names_a_server() {
    for (message, data, attempts) in [
        ("Internal error", json!("MCP error -32000: Connection closed"), 6),
        ("Internal error", json!({"details": "fetch of http://127.0.0.1:1/mcp failed"}), 6),
        ("cannot start /bin/files", json!(null), 4),
        ("no answer of server docs", json!(null), 4),
        ("Server 'docs' is unreachable", json!(null), 4),
        ("Internal error", json!("429 from https://models.example/v1"), 1),
        ("the required fields of the UI", json!(null), 1),
    ] {
        let error = json!({"code": -32603, "message": message, "data": data});
        let rig = failing_prompts(&error);
        assert_eq!(rig.outcome("1"), "RUN_ERROR ACP_INTERNAL_ERROR", "{error}");
        let opened = count(&rig, |it| matches!(it, Command::Open(..)));
        let prompts = count(&rig, |it| matches!(it, Command::Prompt { .. }));
        let released = count(&rig, |it| matches!(it, Command::Release(_)));
        assert_eq!(opened, attempts, "{error}");
        assert_eq!(prompts, attempts, "{error}");
        assert_eq!(released, attempts - 1, "{error}");
        assert!(!notices_of(&rig).contains(&"remembered".to_owned()), "{error}");
    }
}

#[test]
fn prompt_succeeds_over_the_next_transport_which_is_remembered() {
    let error = json!({"code": -32603, "message": "MCP server is unreachable"});
    let error = || failed(client::TurnError::Call(refused(&error)));
    let mut rig = with_configured(&tools());
    rig.open("s");
    let commands = json!({"sessionUpdate": "available_commands_update", "availableCommands": []});
    rig.session(SessionEvent::Update(update(&commands)));
    rig.session(error());
    assert_eq!(names_of(&rig), ["docs", "files", "ui over stdio"]);
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hi"]);
    assert!(!notices_of(&rig).contains(&"remembered".to_owned()), "the prompt may fail again");
    rig.session(said("Hello"));
    assert!(notices_of(&rig).contains(&"remembered".to_owned()));
    // Once the agent has shown something, an error ends the run.
    rig.session(error());
    assert_eq!(rig.outcome("1"), "RUN_ERROR ACP_INTERNAL_ERROR");
    rig.take_commands();
    rig.run(input("2", &[user("u", "Edited"), user("v", "Go on")], &tools())).unwrap();
    assert_eq!(names_of(&rig), ["docs", "files", "ui over stdio"]);
}

#[test]
fn only_the_first_prompt_of_a_session_is_sent_again() {
    let error = json!({"code": -32603, "message": "MCP server is unreachable"});
    let error = || failed(client::TurnError::Call(refused(&error)));
    let mut rig = with_configured(&tools());
    rig.open("s");
    rig.end();
    rig.take_commands();
    rig.run(input("2", &[user("u", "Hi"), user("v", "Ho")], &tools())).unwrap();
    rig.session(error());
    assert_eq!(rig.outcome("2"), "RUN_ERROR ACP_INTERNAL_ERROR");
    // A cancelled prompt is not sent again.
    let mut rig = with_configured(&tools());
    rig.open("s");
    assert!(rig.cancel("1"));
    rig.session(error());
    assert_eq!(count(&rig, |it| matches!(it, Command::Open(..))), 1);
    assert_eq!(rig.outcome("1"), "RUN_FINISHED cancelled");
    // A request of the agent, or a call of a tool, is work as well.
    let mut rig = with_configured(&tools());
    rig.open("s");
    rig.session(permission(1));
    rig.session(error());
    assert_eq!(count(&rig, |it| matches!(it, Command::Open(..))), 1);
}

#[test]
fn missing_login_is_not_attributed_to_server() {
    let mut rig = refusing(0);
    let methods = Box::new(AuthMethods::V1(Vec::new()));
    let error = ErrorObject::new(ErrorCode(-32000), "Authentication required");
    rig.session(SessionEvent::Refused(client::CallError::AuthRequired { error, methods }));
    assert_eq!(rig.outcome("1"), "RUN_ERROR ACP_AUTH_REQUIRED");
}
