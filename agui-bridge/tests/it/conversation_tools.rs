//! Tools and settings of a conversation: page tools, program tools, and settings of the user.
use crate::thread::{
    Rig, failed, input, opened, options, permission, raw, refused, request, said, update, user,
};
use acp_types::client::{self, AuthMethods, SessionEvent};
use acp_types::v1::elicitation::{ElicitationAction, ElicitationSchema};
use acp_types::v1::session_setup::{McpServer, McpServerHttp, McpServerSse, McpServerStdio};
use agui_bridge::conversation::{
    AgentFeatures, AgentReply, Command, ConversationDiagnostic, ConversationOptions, Notice,
    PageTools, QuestionError, Setting, SettingError, ToolQuestion, UserAnswer, config_value,
};
use agui_bridge::frontend_tool::{CallError, Completion, NewCall, Outcome, ToolResult};
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde_json::{Value, json};
use std::time::Duration;

fn tools() -> Value {
    json!({"tools": [{"name": "pick", "description": "Asks for a colour.", "parameters": {"type": "object"}}]})
}

fn with(page_tools: PageTools) -> ConversationOptions {
    let mut options = options();
    options.page_tools = page_tools;
    options
}

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

fn call() -> NewCall {
    NewCall::new("pick", raw(&json!({"of": "the wall"})))
}

/// A thread with an open call of a page tool.
fn calling() -> (Rig, agui_types::id::ToolCallId) {
    let mut rig = Rig::connected(with(PageTools::Mcp { servers: vec![], always: false }));
    rig.run(input("1", &[user("u", "Hi")], &tools())).unwrap();
    rig.open("s");
    let id = rig.thread.handle_tool_call(call(), rig.now).unwrap();
    (rig, id)
}

#[test]
fn session_gets_a_supported_server() {
    let none = (AgentFeatures::default(), false);
    let mut over_http = AgentFeatures::default();
    (over_http.mcp_http, over_http.mcp_stdio) = (true, true);
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
    let mut features = AgentFeatures::default();
    (features.mcp_http, features.mcp_stdio) = (true, true);
    let servers = vec![http(), stdio()];
    let mut rig = Rig::new(with(PageTools::Mcp { servers, always: false }));
    rig.connect(features);
    rig.run(input("1", &[user("u", "Hi")], &tools())).unwrap();
    for _ in 0..refusals {
        let error =
            json!({"code": -32603, "message": "Internal error", "data": "404 of the server"});
        assert!(rig.session(SessionEvent::Refused(refused(&error))).is_none());
    }
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
        "the agent refused the MCP server of the page's tools: Internal error: 404 of the server";
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
        (features.mcp_http, features.mcp_sse, features.mcp_stdio) = (http, sse, stdio);
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

/// A thread with tools of the page, if wanted, and configured servers.
fn with_configured(tools: &Value) -> Rig {
    let servers = vec![http(), stdio()];
    let mut options = with(PageTools::Mcp { servers, always: false });
    options.mcp_servers = configured();
    options.mcp_servers.truncate(2);
    let mut features = AgentFeatures::default();
    (features.mcp_http, features.mcp_stdio) = (true, true);
    let mut rig = Rig::new(options);
    rig.connect(features);
    rig.run(input("1", &[user("u", "Hi")], tools)).unwrap();
    rig
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

fn count(rig: &Rig, is: impl Fn(&Command) -> bool) -> usize {
    rig.commands.iter().filter(|command| is(command)).count()
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
        assert_eq!((opened, prompts, released), (attempts, attempts, attempts - 1), "{error}");
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
    assert_eq!(rig.outcome("1"), "RUN_ERROR ACP_INTERNAL_ERROR");
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

#[test]
fn call_is_parked_and_answered_by_the_next_input() {
    let (mut rig, id) = calling();
    rig.wait(Duration::from_millis(100));
    assert_eq!(
        rig.kinds("1"),
        [
            "RUN_STARTED",
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_END",
            "RUN_FINISHED success"
        ]
    );
    assert!(rig.thread.is_interrupted());
    let messages = [
        user("u", "Hi"),
        json!({"id": "a", "role": "assistant", "toolCalls": [
            {"id": id, "type": "function", "function": {"name": "pick", "arguments": "{}"}}]}),
        json!({"id": "r", "role": "tool", "toolCallId": id, "content": "green"}),
    ];
    rig.run(input("2", &messages, &tools())).unwrap();
    let answered = Notice::ToolAnswered(id, Outcome::Result(ToolResult::text("green")));
    assert!(rig.notices.contains(&answered), "{:?}", rig.notices);
    rig.end();
    assert_eq!(rig.outcome("2"), "RUN_FINISHED success");
}

#[test]
fn call_of_a_session_that_is_not_open_is_refused() {
    let mut rig = Rig::connected(with(PageTools::Mcp { servers: vec![], always: false }));
    rig.run(input("1", &[user("u", "Hi")], &tools())).unwrap();
    assert_eq!(rig.thread.handle_tool_call(call(), rig.now), Err(CallError::NoActiveRun));
    rig.wait(Duration::from_millis(100));
    assert_eq!(rig.kinds("1"), ["RUN_STARTED"]);
    rig.open("s");
    assert!(matches!(rig.commands.last(), Some(Command::Prompt { .. })), "{:?}", rig.commands);
}

#[test]
fn result_arrives_outside_of_a_run() {
    let (mut rig, id) = calling();
    let result = ToolResult::text("green");
    let complete = |rig: &mut Rig| {
        let completion = rig.thread.handle_tool_result(&id, result.clone(), rig.now);
        rig.wait(Duration::ZERO);
        completion
    };
    assert_eq!(complete(&mut rig), Completion::Delivered);
    assert_eq!(complete(&mut rig), Completion::AlreadyDone);
    let answered = Notice::ToolAnswered(id.clone(), Outcome::Result(result.clone()));
    assert_eq!(rig.notices.iter().filter(|notice| **notice == answered).count(), 1);
}

#[test]
fn call_ends_with_its_turn() {
    let (mut rig, id) = calling();
    rig.end();
    assert!(rig.notices.contains(&Notice::ToolAnswered(id, Outcome::Cancelled)));
    assert_eq!(rig.thread.handle_tool_call(call(), rig.now), Err(CallError::NoActiveRun));
}

#[test]
fn withdrawn_call_has_no_answer() {
    let (mut rig, id) = calling();
    rig.thread.handle_tool_withdrawn(&id, rig.now);
    rig.end();
    assert!(!rig.notices.iter().any(|notice| matches!(notice, Notice::ToolAnswered(..))));
}

#[test]
fn late_result_begins_the_next_prompt() {
    let (mut rig, id) = calling();
    rig.thread.handle_tool_withdrawn(&id, rig.now);
    rig.end();
    rig.thread.handle_tool_result(&id, ToolResult::text("green"), rig.now);
    rig.run(input("2", &[user("u2", "So?")], &tools())).unwrap();
    assert_eq!(rig.prompt(), [format!("Result of frontend tool pick ({id}): green"), "So?".into()]);
}

#[test]
fn waiting_call_reports_progress() {
    let (mut rig, id) = calling();
    rig.thread.handle_disconnect(rig.now);
    rig.wait(Duration::from_secs(15));
    assert!(rig.notices.contains(&Notice::ToolAlive(id)));
}

#[test]
fn permission_for_a_page_tool_is_granted() {
    let mut rig = Rig::connected(with(PageTools::Mcp { servers: vec![], always: false }));
    rig.run(input("1", &[user("u", "Hi")], &tools())).unwrap();
    rig.open("s");
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let call = json!({"toolCallId": "c", "name": "mcp__ui__pick", "title": "x", "kind": "other"});
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    assert!(rig.session(request(1, "session/request_permission", &params)).is_none());
    let Some(Command::Reply { reply: AgentReply::Answer(answer), .. }) = rig.commands.last() else {
        panic!("{:?}", rig.commands)
    };
    let answer = serde_json::to_value(answer).unwrap();
    assert_eq!(answer, json!({"outcome": {"outcome": "selected", "optionId": "yes"}}));
}

/// codex-acp asks with another title than that of the call. The request to the server follows the permission.
#[test]
fn call_behind_permission_is_that_of_the_page() {
    for title in ["Tool: ui/pick", "pick (ui MCP Server)", "ui/pick"] {
        let mut rig = Rig::connected(with(PageTools::Mcp { servers: vec![], always: false }));
        rig.run(input("1", &[user("u", "Hi")], &tools())).unwrap();
        rig.open("s");
        let announced = json!({
            "sessionUpdate": "tool_call", "toolCallId": "c", "title": title, "status": "in_progress",
            "rawInput": {"server": "ui", "tool": "pick", "arguments": {}},
        });
        rig.session(SessionEvent::Update(update(&announced)));
        let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
        let call =
            json!({"toolCallId": "c", "title": "Approve MCP tool call", "status": "pending"});
        let params = json!({"sessionId": "s", "toolCall": call, "options": options});
        assert!(rig.session(request(1, "session/request_permission", &params)).is_none());
        assert!(matches!(rig.commands.last(), Some(Command::Reply { .. })), "{title}");
        let id = rig.thread.handle_tool_call(self::call(), rig.now).unwrap();
        assert_eq!(id.as_str(), "c", "{title}: one call in the page");
        // The run ends without the wait for a silent agent.
        rig.wait(Duration::from_millis(100));
        assert_eq!(rig.outcome("1"), "RUN_FINISHED success", "{title}");
        assert_eq!(rig.kinds("1").iter().filter(|kind| *kind == "TOOL_CALL_START").count(), 1);
    }
}

/// A title may be the text of a command. The user decides, and the call is that of the page.
#[test]
fn title_of_a_page_tool_grants_no_permission() {
    let titles = ["ui/pick", "Tool: ui/pick", "pick (ui MCP Server)", "mcp__ui__pick", "ui_pick"];
    for (title, kind) in titles.iter().flat_map(|title| [(*title, None), (*title, Some("other"))]) {
        let mut rig = Rig::connected(with(PageTools::Mcp { servers: vec![], always: false }));
        rig.run(input("1", &[user("u", "Hi")], &tools())).unwrap();
        rig.open("s");
        let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
        let mut call = json!({"toolCallId": "c", "title": title, "rawInput": {"command": title}});
        if let Some(kind) = kind {
            call["kind"] = json!(kind);
        }
        let params = json!({"sessionId": "s", "toolCall": call, "options": options});
        assert!(rig.session(request(1, "session/request_permission", &params)).is_none());
        rig.wait(Duration::from_millis(50));
        assert!(!matches!(rig.commands.last(), Some(Command::Reply { .. })), "{title} {kind:?}");
        assert_eq!(rig.outcome("1"), "RUN_FINISHED interrupt", "{title} {kind:?}");
        let end = serde_json::to_value(&rig.events.last().unwrap().1).unwrap();
        let interrupt = &end["outcome"]["interrupts"][0];
        assert_eq!(interrupt["message"], *title);
        let answers =
            json!([{"interruptId": interrupt["id"], "status": "resolved", "payload": true}]);
        let mut next = tools();
        next["resume"] = answers;
        rig.run(input("2", &[user("u", "Hi")], &next)).unwrap();
        assert!(matches!(rig.commands.last(), Some(Command::Reply { .. })), "{title} {kind:?}");
        let id = rig.thread.handle_tool_call(self::call(), rig.now).unwrap();
        assert_eq!(id.as_str(), "c");
        rig.wait(Duration::from_millis(100));
        assert_eq!(rig.outcome("2"), "RUN_FINISHED success", "{title} {kind:?}");
        let starts = ["1", "2"]
            .map(|run| rig.kinds(run).iter().filter(|kind| *kind == "TOOL_CALL_START").count());
        assert_eq!(starts, [0, 1], "{title}: one call in the page");
    }
}

#[test]
fn contextual_tools_are_announced_and_acknowledged() {
    let mut rig = Rig::connected(with(PageTools::Contextual));
    rig.run(input("1", &[user("u", "Hi")], &tools())).unwrap();
    let meta = rig.opening().meta.clone().unwrap();
    assert!(meta.as_str().contains(r#""name":"ui_pick""#), "{meta:?}");
    rig.open("s");
    let method = agui_bridge::contextual_tools::METHOD;
    let calls = |rig: &mut Rig, key, name: &str| {
        let params = json!({"sessionId": "s", "name": name, "args": {}});
        assert!(rig.session(request(key, method, &params)).is_none());
        let Some(Command::Reply { reply, .. }) = rig.commands.last() else { panic!() };
        reply.clone()
    };
    assert!(matches!(calls(&mut rig, 1, "ui_pick"), AgentReply::Result(_)));
    assert!(matches!(calls(&mut rig, 2, "ui_other"), AgentReply::Error(_)));
    assert!(matches!(calls(&mut rig, 3, "pick"), AgentReply::Result(_)));
    let missing = Notice::Diagnostic(ConversationDiagnostic::MissingPrefix("pick".into()));
    assert!(rig.notices.contains(&missing));
    assert_eq!(rig.kinds("1").iter().filter(|kind| *kind == "TOOL_CALL_START").count(), 2);
    rig.end();
    assert_eq!(rig.outcome("1"), "RUN_FINISHED success");
}

#[test]
fn program_tool_asks_the_user() {
    let question = || ToolQuestion::new("book", "Which day?", ElicitationSchema::new());
    let mut rig = Rig::connected(options());
    assert_eq!(rig.thread.handle_question(question(), rig.now), Err(QuestionError::NoSession));
    rig.say("1", "Hi").unwrap();
    rig.open("s");
    let announced =
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "book a room"});
    assert!(rig.session(SessionEvent::Update(update(&announced))).is_none());
    let key = rig.thread.handle_question(question(), rig.now).unwrap();
    rig.wait(Duration::from_millis(50));
    let (_, end) = rig.events.last().unwrap();
    let end = serde_json::to_value(end).unwrap();
    assert_eq!(end["outcome"]["interrupts"][0]["toolCallId"], "c");
    let id = rig.interrupts("1").remove(0);
    let accept: ElicitationAction =
        crate::thread::read(&json!({"action": "accept", "content": {}}));
    rig.thread.handle_answer(&id, UserAnswer::Elicitation(accept.clone()), rig.now).unwrap();
    rig.wait(Duration::ZERO);
    assert!(rig.notices.contains(&Notice::QuestionAnswered(key, accept)));
    assert!(!rig.commands.iter().any(|command| matches!(command, Command::Reply { .. })));
    // A question withdrawn by its tool is cancelled, once.
    let key = rig.thread.handle_question(question(), rig.now).unwrap();
    rig.thread.handle_question_withdrawn(key, rig.now);
    rig.thread.handle_question_withdrawn(key, rig.now);
    rig.wait(Duration::ZERO);
    let cancel = Notice::QuestionAnswered(key, ElicitationAction::Cancel(Extra::new()));
    assert_eq!(rig.notices.iter().filter(|notice| **notice == cancel).count(), 1);
}

#[test]
fn questions_are_bounded() {
    let mut few = options();
    few.max_questions = 1;
    let mut rig = Rig::connected(few);
    rig.say("1", "Hi").unwrap();
    rig.open("s");
    let ask = |rig: &mut Rig| {
        let question = ToolQuestion::new("book", "Which day?", ElicitationSchema::new());
        rig.thread.handle_question(question, rig.now)
    };
    assert!(ask(&mut rig).is_ok());
    assert_eq!(ask(&mut rig), Err(QuestionError::TooMany));
    assert!(rig.session(permission(1)).is_none(), "the agent's requests are apart");
}

#[test]
fn user_changes_a_setting() {
    let mut rig = Rig::connected(options());
    let mode = Setting::Mode("code".into());
    assert_eq!(rig.thread.handle_setting(mode.clone(), rig.now), Err(QuestionError::NoSession));
    rig.say("1", "Hi").unwrap();
    let modes = json!({"currentModeId": "ask", "availableModes": [
        {"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]});
    assert!(rig.session(opened("s", &json!({"modes": modes}))).is_none());
    let current = |rig: &Rig| {
        let settings = rig.thread.session_settings().unwrap();
        settings.modes.as_ref().unwrap().current_mode_id.to_string()
    };
    rig.take_commands();
    let key = rig.thread.handle_setting(mode, rig.now).unwrap();
    rig.wait(Duration::ZERO);
    assert!(matches!(rig.commands[..], [Command::Set { key: Some(set), .. }] if set == key));
    assert_eq!(current(&rig), "ask");
    rig.thread.handle_setting_ended(key, Ok(None), rig.now);
    rig.thread.handle_setting_ended(key, Ok(None), rig.now);
    rig.wait(Duration::ZERO);
    assert_eq!(current(&rig), "code");
    let ended = Notice::SettingEnded(key, Ok(()));
    assert_eq!(rig.notices.iter().filter(|notice| **notice == ended).count(), 1);
    let refused = Err(SettingError::Failed("no".into()));
    let key = rig.thread.handle_setting(Setting::Mode("ask".into()), rig.now).unwrap();
    rig.thread.handle_setting_ended(key, refused.clone(), rig.now);
    rig.wait(Duration::ZERO);
    assert!(rig.notices.contains(&Notice::SettingEnded(key, refused.map(|_: Option<_>| ()))));
    // The agent changes the setting.
    let update = update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"}));
    assert!(rig.session(SessionEvent::Update(update)).is_none());
    assert_eq!(current(&rig), "ask");
}

#[test]
fn input_changes_allowed_settings() {
    let mut allowing = options();
    allowing.rules.forwarded.mode = true;
    allowing.rules.forwarded.config = vec!["model".into(), "count".into()];
    allowing.rules.forwarded.meta = vec!["trace".into()];
    let mut rig = Rig::connected(allowing);
    let props = json!({"forwardedProps": {"acp": {
        "mode": "code", "config": {"model": "large", "count": 3}, "meta": {"trace": 1}, "cwd": "/etc"}}});
    rig.run(input("1", &[user("u", "Hi")], &props)).unwrap();
    rig.open("s");
    let [
        _,
        Command::Set { setting: mode, key: None, .. },
        Command::Set { setting: model, .. },
        Command::Prompt { meta, .. },
    ] = &rig.commands[..]
    else {
        panic!("{:?}", rig.commands)
    };
    let large = config_value(&raw(&json!("large"))).unwrap();
    assert_eq!(*mode, Setting::Mode("code".into()));
    assert_eq!(*model, Setting::ConfigOption("model".into(), large));
    assert_eq!(meta.as_ref().unwrap().as_str(), r#"{"trace":1}"#);
    let diagnostics = [
        ConversationDiagnostic::PropertyLeftOut("/forwardedProps/acp/cwd".into()),
        ConversationDiagnostic::ConfigValue("count".into()),
    ];
    for diagnostic in diagnostics {
        assert!(rig.notices.contains(&Notice::Diagnostic(diagnostic)), "{:?}", rig.notices);
    }
    assert!(rig.session(said("ok")).is_none());
}
