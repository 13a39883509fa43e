//! Sessions that are opened before the first run, and settings that outlast a session.
use super::*;
use crate::thread::{opened, permission, update};
use agui_bridge::conversation::{ConversationOptions, PageTools, SessionSettings};
use agui_bridge::conversation::{Setting, SettingError, SettingKey, config_value};
use agui_types::tool::Tool;
use serde_json::Value;

const NO_TOOLS: &[Tool] = &[];

fn modes() -> Value {
    json!({"modes": {"currentModeId": "ask", "availableModes": [
        {"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}})
}

fn model(current: &str) -> Value {
    json!([{"id": "model", "name": "Model", "category": "model", "type": "select",
        "currentValue": current,
        "options": [{"value": "fast", "name": "Fast"}, {"value": "deep", "name": "Deep"}]}])
}

fn code() -> Setting {
    Setting::Mode("code".into())
}

fn deep() -> Setting {
    Setting::ConfigOption("model".into(), config_value(&raw(&json!("deep"))).unwrap())
}

fn prepare(rig: &mut Rig, tools: &[Tool]) {
    rig.thread.handle_preparation(tools, rig.now);
    rig.wait(Duration::ZERO);
}

/// Whether each preparation so far has succeeded.
fn prepared(rig: &Rig) -> Vec<bool> {
    let prepared = rig.notices.iter().filter_map(|notice| match notice {
        Notice::Prepared(outcome) => Some(outcome.is_ok()),
        _ => None,
    });
    prepared.collect()
}

fn current_mode(rig: &Rig) -> String {
    let settings = rig.thread.session_settings().unwrap();
    settings.modes.as_ref().unwrap().current_mode_id.to_string()
}

/// Changes a setting, which the agent accepts.
fn set(rig: &mut Rig, setting: Setting) -> SettingKey {
    let key = rig.thread.handle_setting(setting, rig.now).unwrap();
    rig.thread.handle_setting_ended(key, Ok(None), rig.now);
    rig.wait(Duration::ZERO);
    key
}

/// The settings of the commands since the last call, and whether a prompt follows them.
fn sent_settings(rig: &mut Rig) -> (Vec<Setting>, bool) {
    let commands = rig.take_commands();
    let settings = commands.iter().filter_map(|command| match command {
        Command::Set { setting, .. } => Some(setting.clone()),
        _ => None,
    });
    let settings = settings.collect();
    (settings, matches!(commands.last(), Some(Command::Prompt { .. })))
}

#[test]
fn prepared_session_is_that_of_the_first_run() {
    let mut rig = Rig::connected(options());
    prepare(&mut rig, NO_TOOLS);
    assert_eq!(rig.opening().origin, SessionOrigin::New);
    assert_eq!(prepared(&rig), Vec::<bool>::new());
    assert!(rig.session(opened("s", &modes())).is_none());
    assert_eq!(prepared(&rig), [true]);
    assert_eq!(current_mode(&rig), "ask");
    rig.take_commands();
    set(&mut rig, code());
    assert_eq!(rig.say("1", "Hi"), Ok(Acceptance::Begun));
    let (settings, has_prompt) = sent_settings(&mut rig);
    assert_eq!(settings, [code()], "by the user, once");
    assert!(has_prompt);
    rig.end();
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", OK]);
    rig.turn("2", "Go on", "Yes.");
    assert!(!rig.commands.iter().any(|command| matches!(command, Command::Open(..))));
}

#[test]
fn run_waits_for_the_session_being_prepared() {
    let mut rig = Rig::connected(options());
    prepare(&mut rig, NO_TOOLS);
    assert_eq!(rig.say("1", "Hi"), Ok(Acceptance::Queued));
    rig.open("s");
    let opened = rig.commands.iter().filter(|command| matches!(command, Command::Open(..)));
    assert_eq!(opened.count(), 1);
    assert_eq!(rig.prompt(), ["Hi"]);
    assert_eq!(prepared(&rig), [true]);
}

#[test]
fn several_preparations_end_together() {
    let mut rig = Rig::new(options());
    prepare(&mut rig, NO_TOOLS);
    prepare(&mut rig, NO_TOOLS);
    assert!(rig.commands.is_empty(), "the agent is not connected");
    rig.connect(AgentFeatures::default());
    assert_eq!(rig.commands.len(), 1);
    rig.open("s");
    assert_eq!(prepared(&rig), [true]);
    prepare(&mut rig, NO_TOOLS);
    assert_eq!(prepared(&rig), [true, true], "the session is open");
}

#[test]
fn refused_preparation_does_not_prevent_a_run() {
    let mut rig = Rig::connected(options());
    prepare(&mut rig, NO_TOOLS);
    let busy = refused(&json!({"code": -32603, "message": "later"}));
    assert!(rig.session(SessionEvent::Refused(busy.clone())).is_none());
    assert_eq!(prepared(&rig), [false]);
    assert_eq!(rig.say("1", "Hi"), Ok(Acceptance::Begun));
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hi"]);
    rig.end();
    // The run that waits for a refused session opens another one.
    let mut rig = Rig::connected(options());
    prepare(&mut rig, NO_TOOLS);
    rig.say("1", "Hi").unwrap();
    assert!(rig.session(SessionEvent::Refused(busy)).is_none());
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hi"]);
    let lost = |notice: &Notice| {
        matches!(notice, Notice::Forget)
            || matches!(notice, Notice::Diagnostic(ConversationDiagnostic::SessionLost(_)))
    };
    assert!(!rig.notices.iter().any(lost), "no session is lost: {:?}", rig.notices);
}

#[test]
fn question_of_a_refused_session_is_cancelled() {
    let mut rig = Rig::connected(options());
    prepare(&mut rig, NO_TOOLS);
    assert!(rig.session(permission(1)).is_none());
    let busy = refused(&json!({"code": -32603, "message": "later"}));
    assert!(rig.session(SessionEvent::Refused(busy)).is_none());
    let replies = rig.commands.iter().filter(|command| matches!(command, Command::Reply { .. }));
    assert_eq!(replies.count(), 1, "{:?}", rig.commands);
}

#[test]
fn lost_agent_ends_a_preparation() {
    let mut rig = Rig::connected(options());
    prepare(&mut rig, NO_TOOLS);
    rig.disconnect();
    assert_eq!(prepared(&rig), [false]);
    prepare(&mut rig, NO_TOOLS);
    assert_eq!(prepared(&rig), [false, false]);
}

#[test]
fn session_of_an_earlier_process_is_prepared() {
    let mut first = Rig::connected(options());
    first.turn("1", "Hi", "Hello.");
    let remembered = first.thread.remembered().unwrap().clone();
    let mut rig = Rig::of(
        agui_bridge::conversation::Conversation::new(options()).with_remembered(remembered),
    );
    rig.connect(resumes());
    prepare(&mut rig, NO_TOOLS);
    assert_eq!(rig.opening().origin, SessionOrigin::Resume("s".into()));
    rig.open("s");
    assert_eq!(prepared(&rig), [true]);
    rig.say("2", "Go on").unwrap();
    assert_eq!(rig.prompt(), ["Go on"], "the agent has the conversation");
}

#[test]
fn prepared_session_without_the_pages_tools_is_replaced() {
    let server = acp_types::v1::session_setup::McpServerStdio::new("ui", "ui-server", [], []);
    let mut with_tools = options();
    let servers = vec![acp_types::v1::session_setup::McpServer::Stdio(server)];
    with_tools.page_tools = PageTools::Mcp { servers, always: false };
    let mut features = AgentFeatures::default();
    features.mcp_stdio = true;
    let tools = json!([{"name": "pick", "description": "", "parameters": {"type": "object"}}]);
    let run = || input("1", &[user("u", "Hi")], &json!({"tools": tools}));

    let mut rig = Rig::new(with_tools.clone());
    rig.connect(features.clone());
    prepare(&mut rig, NO_TOOLS);
    assert_eq!(rig.opening().mcp_servers.len(), 0);
    assert!(rig.session(opened("s", &modes())).is_none());
    set(&mut rig, code());
    rig.take_commands();
    rig.run(run()).unwrap();
    assert!(matches!(rig.commands[..], [Command::Release(_), Command::Open(..)]));
    assert_eq!(rig.opening().mcp_servers.len(), 1);
    assert!(rig.session(opened("s2", &modes())).is_none());
    assert_eq!(sent_settings(&mut rig), (vec![code()], true), "the choice of the user");

    let mut rig = Rig::new(with_tools);
    rig.connect(features);
    let tools: Vec<Tool> = run().tools.unwrap();
    prepare(&mut rig, &tools);
    assert_eq!(rig.opening().mcp_servers.len(), 1);
    assert!(rig.notices.contains(&Notice::ToolsChanged));
    let listed = rig.thread.tools().list().count();
    assert_eq!(listed, 1, "the agent lists them before the first prompt");
    rig.open("s");
    rig.take_commands();
    rig.run(run()).unwrap();
    assert!(matches!(rig.commands[..], [Command::Prompt { .. }]), "{:?}", rig.commands);
}

#[test]
fn history_goes_to_a_prepared_session() {
    let mut rig = Rig::connected(options());
    prepare(&mut rig, NO_TOOLS);
    rig.open("s");
    let earlier = json!({"id": "a", "role": "assistant", "content": "Hello."});
    let messages = [user("u-1", "Hi"), earlier, user("u-2", "Go on")];
    rig.run(input("1", &messages, &json!({}))).unwrap();
    assert!(rig.prompt()[0].contains("Hello."), "{:?}", rig.prompt());
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", "CUSTOM acp.notice"]);
}

#[test]
fn unused_session_is_not_remembered() {
    let mut rig = Rig::connected(options());
    prepare(&mut rig, NO_TOOLS);
    rig.open("s");
    let mut cancelled = RunRequest::from(input("1", &[user("u", "Hi")], &json!({})));
    cancelled.cancel = Some(agui_bridge::CancelReason::User);
    rig.run(cancelled).unwrap();
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", CANCELLED]);
    let remembered = rig.thread.remembered().and_then(|remembered| remembered.session_id());
    assert_eq!(remembered, None);
}

/// A thread in which the user has chosen the mode `code`, after its first turn.
fn with_choice() -> Rig {
    let mut rig = Rig::new(options());
    rig.connect(resumes());
    rig.say("1", "Hi").unwrap();
    assert!(rig.session(opened("s", &modes())).is_none());
    set(&mut rig, code());
    rig
}

/// Ends the turn, and sends the next message in the session of a restarted agent.
fn go_on(rig: &mut Rig, response: &Value) {
    rig.end();
    rig.disconnect();
    rig.connect(resumes());
    rig.say("2", "Go on").unwrap();
    rig.take_commands();
    assert!(rig.session(opened("s", response)).is_none());
}

#[test]
fn choices_outlast_a_session() {
    let mut rig = with_choice();
    go_on(&mut rig, &modes());
    assert_eq!(sent_settings(&mut rig), (vec![code()], true));
    assert_eq!(current_mode(&rig), "ask", "until the agent has accepted it");
}

#[test]
fn choice_that_the_agent_replaces_is_forgotten() {
    let mut rig = with_choice();
    let changed = json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"});
    assert!(rig.session(SessionEvent::Update(update(&changed))).is_none());
    go_on(&mut rig, &modes());
    assert_eq!(sent_settings(&mut rig), (vec![], true));
}

/// The key of the last change of a setting.
fn last_change(rig: &Rig) -> SettingKey {
    let mut keys = rig.commands.iter().rev().filter_map(|command| match command {
        Command::Set { key, .. } => *key,
        _ => None,
    });
    keys.next().unwrap()
}

#[test]
fn refused_choice_is_shown_in_the_run() {
    let mut rig = with_choice();
    go_on(&mut rig, &modes());
    let key = last_change(&rig);
    let no = Err(SettingError::Failed("no".into()));
    rig.thread.handle_setting_ended(key, no, rig.now);
    rig.wait(Duration::ZERO);
    let shown = serde_json::to_string(&rig.events.last().unwrap().1).unwrap();
    assert!(shown.contains("your setting `mode`: no"), "{shown}");
    let ended = |notice: &&Notice| matches!(notice, Notice::SettingEnded(it, _) if *it == key);
    assert_eq!(rig.notices.iter().find(ended), None, "nobody has asked for it");
}

fn with_options() -> AgentFeatures {
    let mut features = AgentFeatures::default();
    features.options = true;
    features
}

/// Answers `session/options` with the mode `ask` and the model `fast`.
fn answer_options(rig: &mut Rig) {
    let Some(Command::AskOptions { key, cwd }) = rig.commands.last().cloned() else {
        panic!("{:?}", rig.commands)
    };
    assert_eq!(cwd, "/work");
    let mut settings = json!({"configOptions": model("fast")});
    settings["modes"] = modes()["modes"].clone();
    let settings: SessionSettings = serde_json::from_value(settings).unwrap();
    rig.thread.handle_options(key, Ok(settings), rig.now);
    rig.wait(Duration::ZERO);
}

#[test]
fn options_are_asked_for_without_a_session() {
    let mut rig = Rig::new(options());
    rig.connect(with_options());
    prepare(&mut rig, NO_TOOLS);
    answer_options(&mut rig);
    assert_eq!(prepared(&rig), [true]);
    assert_eq!(current_mode(&rig), "ask");
    rig.take_commands();
    for setting in [code(), deep()] {
        let key = rig.thread.handle_setting(setting, rig.now).unwrap();
        rig.wait(Duration::ZERO);
        assert!(rig.notices.contains(&Notice::SettingEnded(key, Ok(()))));
    }
    assert_eq!(current_mode(&rig), "code");
    assert_eq!(rig.take_commands(), [], "the agent learns of it with the session");
    rig.say("1", "Hi").unwrap();
    let initial = serde_json::to_value(&rig.opening().config_options).unwrap();
    assert_eq!(initial, json!([{"configId": "model", "value": "deep"}]));
    let mut response = modes();
    response["configOptions"] = model("deep");
    rig.take_commands();
    assert!(rig.session(opened("s", &response)).is_none());
    assert_eq!(sent_settings(&mut rig), (vec![code()], true), "modes have no initial value");
}

#[test]
fn setting_that_is_not_offered_is_refused() {
    let mut rig = Rig::new(options());
    rig.connect(with_options());
    prepare(&mut rig, NO_TOOLS);
    answer_options(&mut rig);
    let key = rig.thread.handle_setting(Setting::Mode("fly".into()), rig.now).unwrap();
    rig.wait(Duration::ZERO);
    let refused =
        |notice: &Notice| matches!(notice, Notice::SettingEnded(it, Err(_)) if *it == key);
    assert!(rig.notices.iter().any(refused));
    assert_eq!(current_mode(&rig), "ask");
}

#[test]
fn refused_options_end_the_preparation() {
    let mut rig = Rig::new(options());
    rig.connect(with_options());
    prepare(&mut rig, NO_TOOLS);
    let Some(Command::AskOptions { key, .. }) = rig.commands.last().cloned() else {
        panic!("{:?}", rig.commands)
    };
    rig.thread.handle_options(key, Err(SettingError::Failed("no".into())), rig.now);
    rig.wait(Duration::ZERO);
    assert_eq!(prepared(&rig), [false]);
    rig.say("1", "Hi").unwrap();
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hi"]);
}

#[test]
fn question_is_open_while_a_session_is_prepared() {
    let mut rig = Rig::begun(options(), "Hi");
    assert!(rig.session(permission(1)).is_none());
    prepare(&mut rig, NO_TOOLS);
    assert_eq!(prepared(&rig), [true], "the session is open");
    assert!(!rig.commands.iter().any(|command| matches!(command, Command::Release(_))));
}

fn instructed() -> ConversationOptions {
    let mut options = options();
    options.system_prompt = Some("Answer in verse.".to_owned());
    options
}

#[test]
fn instructions_of_the_program_begin_a_session() {
    let mut features = AgentFeatures::default();
    features.system_prompt = true;
    let mut rig = Rig::new(instructed());
    rig.connect(features);
    rig.say("1", "Hi").unwrap();
    assert_eq!(rig.opening().system_prompt.as_deref(), Some("Answer in verse."));
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hi"]);

    let mut rig = Rig::connected(instructed());
    prepare(&mut rig, NO_TOOLS);
    assert_eq!(rig.opening().system_prompt, None, "the agent does not accept it");
    rig.open("s");
    rig.say("1", "Hi").unwrap();
    assert_eq!(rig.prompt(), ["Answer in verse.", "Hi"]);
    rig.end();
    rig.say("2", "Go on").unwrap();
    assert_eq!(rig.prompt(), ["Go on"], "the agent has them");
}

#[test]
fn choices_outlast_the_process() {
    let mut first = Rig::connected(options());
    prepare(&mut first, NO_TOOLS);
    assert!(first.session(opened("s", &modes())).is_none());
    set(&mut first, code());
    let remembered = first.notices.iter().rev().find_map(|notice| match notice {
        Notice::Remember(remembered) => Some((**remembered).clone()),
        _ => None,
    });
    let remembered = serde_json::to_string(&remembered.unwrap()).unwrap();
    let remembered = serde_json::from_str(&remembered).unwrap();
    let later = agui_bridge::conversation::Conversation::new(options());
    let mut rig = Rig::of(later.with_remembered(remembered));
    rig.connect(resumes());
    rig.say("1", "Hi").unwrap();
    assert_eq!(rig.opening().origin, SessionOrigin::New, "the first one had no prompt");
    rig.take_commands();
    assert!(rig.session(opened("s2", &modes())).is_none());
    assert_eq!(sent_settings(&mut rig), (vec![code()], true));
}

/// Options in which the effort depends on the model.
fn effort(model: &str, effort: Option<&str>) -> Value {
    let mut options = self::model(model);
    if let Some(effort) = effort {
        let values = [("low", "Low"), ("high", "High")];
        let values = values.map(|(value, name)| json!({"value": value, "name": name}));
        options.as_array_mut().unwrap().push(json!({"id": "effort", "name": "Effort",
            "type": "select", "currentValue": effort, "options": values}));
    }
    options
}

fn high() -> Setting {
    Setting::ConfigOption("effort".into(), config_value(&raw(&json!("high"))).unwrap())
}

/// Ends the last change of a setting with these options.
fn end_change(rig: &mut Rig, options: Value) {
    let key = last_change(rig);
    let options = serde_json::from_value(options).unwrap();
    rig.thread.handle_setting_ended(key, Ok(Some(options)), rig.now);
    rig.wait(Duration::ZERO);
}

/// A thread with the choices of a model and of an effort that only this model has.
fn with_effort() -> Rig {
    let mut rig = Rig::new(options());
    rig.connect(resumes());
    rig.say("1", "Hi").unwrap();
    let response = json!({"configOptions": effort("fast", None)});
    assert!(rig.session(opened("s", &response)).is_none());
    for (setting, options) in
        [(deep(), effort("deep", Some("low"))), (high(), effort("deep", Some("high")))]
    {
        rig.thread.handle_setting(setting, rig.now).unwrap();
        rig.wait(Duration::ZERO);
        end_change(&mut rig, options);
    }
    rig
}

#[test]
fn choice_that_depends_on_another_is_set_after_it() {
    let mut rig = with_effort();
    go_on(&mut rig, &json!({"configOptions": effort("fast", None)}));
    assert_eq!(rig.commands.len(), 2, "the model and the prompt: {:?}", rig.commands);
    end_change(&mut rig, effort("deep", Some("low")));
    assert_eq!(sent_settings(&mut rig).0, [deep(), high()]);
}

#[test]
fn choice_that_is_no_longer_offered_is_shown_in_the_run() {
    let mut rig = with_effort();
    go_on(&mut rig, &json!({"configOptions": effort("deep", None)}));
    let shown = serde_json::to_string(&rig.events).unwrap();
    assert!(shown.contains("your setting `effort`"), "{shown}");
}

#[test]
fn choice_that_another_one_replaces_is_forgotten() {
    let mut rig = with_effort();
    rig.thread.handle_setting(deep(), rig.now).unwrap();
    rig.wait(Duration::ZERO);
    end_change(&mut rig, effort("deep", Some("low")));
    go_on(&mut rig, &json!({"configOptions": effort("deep", Some("low"))}));
    assert_eq!(sent_settings(&mut rig), (vec![], true), "the agent has chosen the effort");
}

#[test]
fn run_with_members_of_its_own_has_a_session_of_its_own() {
    let mut rig = Rig::connected(options());
    prepare(&mut rig, NO_TOOLS);
    rig.open("s");
    rig.take_commands();
    let mut run = RunRequest::from(input("1", &[user("u", "Hi")], &json!({})));
    run.meta.insert("tenant", raw(&json!("one")));
    rig.run(run).unwrap();
    assert!(matches!(rig.commands[..], [Command::Release(_), Command::Open(..)]));
}

#[test]
fn repeated_instructions_are_not_shown() {
    let mut rig = Rig::connected(instructed());
    rig.say("1", "Hi").unwrap();
    rig.open("s");
    for text in ["Answer in verse.", "Hi"] {
        let content = json!({"type": "text", "text": text});
        let chunk = json!({"sessionUpdate": "user_message_chunk", "content": content});
        assert!(rig.session(SessionEvent::Update(update(&chunk))).is_none());
    }
    rig.end();
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", OK]);
}
