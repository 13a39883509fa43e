//! Tools and settings of a conversation: page tools, program tools, and settings of the user.
use crate::thread::{
    Rig, input, opened, options, permission, raw, refused, request, said, update, user,
};
use acp_types::client::SessionEvent;
use acp_types::v1::elicitation::{ElicitationAction, ElicitationSchema};
use agui_bridge::conversation::{
    AgentReply, Command, ConversationDiagnostic, ConversationOptions, Notice, PageTools,
    QuestionError, Setting, SettingError, ToolQuestion, UserAnswer, config_value,
};
use agui_bridge::frontend_tool::{CallError, Completion, NewCall, Outcome, ToolResult};
use jsonrpc_core::wire::Extra;
use serde_json::{Value, json};
use std::time::Duration;

mod servers;

fn tools() -> Value {
    json!({"tools": [{"name": "pick", "description": "Asks for a colour.", "parameters": {"type": "object"}}]})
}

fn with(page_tools: PageTools) -> ConversationOptions {
    let mut options = options();
    options.page_tools = page_tools;
    options
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

fn count(rig: &Rig, is: impl Fn(&Command) -> bool) -> usize {
    rig.commands.iter().filter(|command| is(command)).count()
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

/// A thread with an agent that has announced a call, unless `announced` is null, and requested
/// permission for it.
fn asked(announced: &Value, call: &Value) -> Rig {
    let mut rig = Rig::connected(with(PageTools::Mcp { servers: vec![], always: false }));
    rig.run(input("1", &[user("u", "Hi")], &tools())).unwrap();
    rig.open("s");
    if !announced.is_null() {
        rig.session(SessionEvent::Update(update(announced)));
    }
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    assert!(rig.session(request(1, "session/request_permission", &params)).is_none());
    rig.wait(Duration::from_millis(50));
    rig
}

fn has_replied(rig: &Rig) -> bool {
    rig.commands.iter().any(|command| matches!(command, Command::Reply { .. }))
}

fn starts(rig: &Rig, run: &str) -> usize {
    rig.kinds(run).iter().filter(|kind| *kind == "TOOL_CALL_START").count()
}

/// Requests for permission of agents that name a tool of the page, before they call it.
#[test]
fn permission_for_a_page_tool_is_the_decision_of_the_user() {
    let announced = |members: Value| {
        let mut call = json!({"sessionUpdate": "tool_call", "toolCallId": "c"});
        call.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        call
    };
    let of_codex = |title: &str| {
        announced(json!({"title": title, "status": "in_progress",
            "rawInput": {"server": "ui", "tool": "pick", "arguments": {}}}))
    };
    let later = json!({"toolCallId": "c", "title": "Approve MCP tool call", "status": "pending"});
    let named = json!({"toolCallId": "c", "name": "mcp__ui__pick", "title": "x", "kind": "other"});
    let mut requests = vec![
        (announced(json!({"name": "mcp__ui__pick", "title": "x"})), named.clone()),
        (Value::Null, named),
        (of_codex("Tool: ui/pick"), later.clone()),
        (of_codex("pick (ui MCP Server)"), later.clone()),
        (of_codex("ui/pick"), later),
    ];
    // A title may be the text of a command.
    for title in ["ui/pick", "Tool: ui/pick", "pick (ui MCP Server)", "mcp__ui__pick", "ui_pick"] {
        requests.push((Value::Null, json!({"toolCallId": "c", "title": title, "kind": "other"})));
    }
    for (announced, request) in requests {
        let mut rig = asked(&announced, &request);
        assert!(!has_replied(&rig), "{request}");
        assert_eq!(rig.outcome("1"), "RUN_FINISHED interrupt", "{request}");
        assert_eq!(starts(&rig, "1"), 1, "the call is in the stream: {request}");
        let end = serde_json::to_value(&rig.events.last().unwrap().1).unwrap();
        let interrupt = &end["outcome"]["interrupts"][0];
        assert_eq!(interrupt["message"], request["title"]);
        assert_eq!(interrupt["toolCallId"], "c");
        let mut next = tools();
        next["resume"] =
            json!([{"interruptId": interrupt["id"], "status": "resolved", "payload": true}]);
        rig.run(input("2", &[user("u", "Hi")], &next)).unwrap();
        assert!(has_replied(&rig), "{request}");
        // The call of the page begins when its server receives it, and the run does not wait for a
        // silent agent.
        rig.thread.handle_tool_call(call(), rig.now).unwrap();
        rig.wait(Duration::from_millis(100));
        assert_eq!(rig.outcome("2"), "RUN_FINISHED success", "{request}");
        assert_eq!(starts(&rig, "2"), 1, "{request}");
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
    let mut rig = Rig::begun(few, "Hi");
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
