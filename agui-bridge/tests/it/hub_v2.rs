//! A hub with an agent of ACP v2: its login, the settings and commands of its sessions.
use crate::thread::{frames, input, options, user};
use acp_types::client::{self, Call};
use acp_types::v1::authentication::AuthenticateRequest;
use acp_types::v1::initialization::Implementation;
use agui_bridge::conversation::{Acceptance, Notice, Setting, config_value};
use agui_bridge::hub::{Hub, HubEvent, HubOptions};
use jsonrpc_core::wire::Raw;
use serde_json::{Value, json};
use std::time::Duration;

const NOW: Duration = Duration::ZERO;

/// Returns the next line to the agent.
fn sent(hub: &mut Hub) -> Value {
    let transmit = hub.poll_transmit().expect("a line to the agent");
    serde_json::from_slice(&transmit.line).unwrap()
}

/// Expects a request of this method, answers it, and returns its parameters.
fn answer(hub: &mut Hub, method: &str, result: Value) -> Value {
    let mut request = sent(hub);
    assert_eq!(request["method"], method, "{request}");
    let response = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
    hub.handle_line(Ok(&response.to_string()), NOW);
    request["params"].take()
}

/// The option with the modes, and this value.
fn mode_options(value: &str) -> Value {
    let values = json!([{ "value": "ask", "name": "Ask" }, { "value": "auto", "name": "Auto" }]);
    json!([{
        "configId": "mode", "name": "Mode", "category": "mode", "type": "select",
        "currentValue": value, "options": values,
    }])
}

/// Returns the current mode in the settings of the session.
fn mode(hub: &Hub) -> Value {
    let settings = hub.conversation("t").unwrap().session_settings().unwrap();
    let settings = serde_json::to_value(settings).unwrap();
    assert_eq!(settings["configOptions"][0]["id"], "mode", "{settings}");
    settings["configOptions"][0]["currentValue"].clone()
}

/// Connects the agent, and opens a session with a prompt. The request for the prompt is not
/// answered.
fn opened() -> Hub {
    let mut hub = Hub::new(HubOptions::new(options()));
    let login = Call::new(&AuthenticateRequest::new("key"));
    hub.connect_with_login(client::Options::new(Implementation::new("c", "1")), login, NOW);
    let said = input("r", &[user("u", "Hi")], &json!({}));
    assert_eq!(hub.handle_run("t", said, NOW).unwrap(), Acceptance::Queued);
    let info = json!({ "name": "a", "version": "1" });
    let agent = json!({
        "protocolVersion": 2, "info": info, "capabilities": { "session": {} },
        "authMethods": [{ "methodId": "key", "type": "agent", "name": "Key" }],
    });
    let offered = answer(&mut hub, "initialize", agent);
    assert_eq!(offered["protocolVersion"], 2);
    assert_eq!(answer(&mut hub, "auth/login", json!({})), json!({ "methodId": "key" }));
    let commands = json!([{ "type": "command", "name": "help", "description": "Helps" }]);
    let session = json!({
        "sessionId": "s", "configOptions": mode_options("ask"), "availableCommands": commands,
    });
    answer(&mut hub, "session/new", session);
    assert_eq!(sent(&mut hub)["method"], "session/prompt");
    hub
}

#[test]
fn commands_of_the_response_are_shown() {
    let mut hub = opened();
    let frames: Vec<u8> =
        std::iter::from_fn(|| hub.poll_run()).flat_map(|event| frames(&event)).collect();
    let frames = String::from_utf8(frames).unwrap();
    assert!(frames.contains(r#""name":"acp.commands""#), "{frames}");
    assert!(frames.contains(r#""name":"help""#), "{frames}");
}

#[test]
fn mode_is_set_as_the_option_of_its_category() {
    let mut hub = opened();
    assert_eq!(mode(&hub), "ask");
    let value = config_value(&Raw::from_text(r#""ask""#).unwrap()).unwrap();
    for (setting, value) in [
        (Setting::Mode("auto".into()), "auto"),
        (Setting::ConfigOption("mode".into(), value), "ask"),
    ] {
        let key = hub.with_conversation("t", NOW, |it| it.handle_setting(setting.clone(), NOW));
        let key = key.expect("the thread").expect("a session");
        let params = answer(
            &mut hub,
            "session/set_config_option",
            json!({ "configOptions": mode_options(value) }),
        );
        let expected =
            json!({ "sessionId": "s", "configId": "mode", "type": "id", "value": value });
        assert_eq!(params, expected);
        assert_eq!(mode(&hub), value);
        let ended = std::iter::from_fn(|| hub.poll_event()).any(|event| {
            matches!(event, HubEvent::Notice(_, Notice::SettingEnded(it, Ok(()))) if it == key)
        });
        assert!(ended, "{setting:?}");
    }
}

#[test]
fn changed_options_of_the_agent_are_settings() {
    let mut hub = opened();
    let update =
        json!({ "sessionUpdate": "config_option_update", "configOptions": mode_options("auto") });
    let params = json!({ "sessionId": "s", "update": update });
    let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
    hub.handle_line(Ok(&line.to_string()), NOW);
    assert_eq!(mode(&hub), "auto");
}

/// Returns the content of the prompt for these messages, in a session with a skill, and the texts
/// of the user that the page gets if the agent repeats its prompt.
fn prompted(messages: &[Value], capabilities: &Value) -> (Value, Vec<String>) {
    let mut hub = Hub::new(HubOptions::new(options()));
    hub.connect(client::Options::new(Implementation::new("c", "1")), NOW);
    let said = input("r", messages, &json!({}));
    assert_eq!(hub.handle_run("t", said, NOW).unwrap(), Acceptance::Queued);
    let info = json!({ "name": "a", "version": "1" });
    let capabilities = json!({ "session": { "prompt": capabilities } });
    let agent = json!({ "protocolVersion": 2, "info": info, "capabilities": capabilities });
    answer(&mut hub, "initialize", agent);
    let skill = json!({ "type": "skill", "name": "review", "description": "Reviews" });
    answer(&mut hub, "session/new", json!({ "sessionId": "s", "availableCommands": [skill] }));
    let prompt = answer(&mut hub, "session/prompt", json!({ "messageId": "m" }))["prompt"].take();
    let update =
        json!({ "sessionUpdate": "user_message", "messageId": "m", "content": prompt.clone() });
    let params = json!({ "sessionId": "s", "update": update });
    let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
    hub.handle_line(Ok(&line.to_string()), NOW);
    let shown = std::iter::from_fn(|| hub.poll_run()).flat_map(|event| frames(&event)).collect();
    let shown = String::from_utf8(shown).unwrap();
    let users = shown.lines().filter(|line| line.contains(r#""role":"user""#));
    (prompt, users.map(ToOwned::to_owned).collect())
}

#[test]
fn skill_is_the_first_content_of_its_prompt() {
    let skill = json!({ "type": "skill", "name": "review" });
    let rest = json!({ "type": "text", "text": "the  last\nchange" });
    let takes_skills = json!({ "skill": {} });
    for separator in [" ", "\n", "  "] {
        let said = user("u", &format!("/review{separator}the  last\nchange"));
        let (prompt, repeated) = prompted(&[said], &takes_skills);
        assert_eq!(prompt, json!([skill, rest]), "{separator:?}");
        assert_eq!(repeated, [""; 0], "{separator:?}");
    }
    let alone = prompted(&[user("u", "/review")], &takes_skills);
    assert_eq!(alone, (json!([skill]), vec![]));
}

#[test]
fn skill_precedes_the_history_of_a_conversation() {
    let history =
        [user("u1", "/review"), json!({ "id": "a", "role": "assistant", "content": "Done" })];
    let messages = [&history[..], &[user("u2", "/review again")]].concat();
    let (prompt, repeated) = prompted(&messages, &json!({ "skill": {} }));
    assert_eq!(prompt[0], json!({ "type": "skill", "name": "review" }));
    let history = prompt[1]["text"].as_str().unwrap();
    assert!(history.contains("/review\n"), "{history}");
    assert_eq!(prompt[2], json!({ "type": "text", "text": "again" }));
    assert_eq!(prompt[3], Value::Null);
    assert_eq!(repeated, [""; 0]);
}

#[test]
fn other_words_with_a_slash_are_text() {
    let takes_skills = json!({ "skill": {} });
    for text in ["/reviews it", "/Review", "review", " /review", "/", "/help"] {
        let (prompt, _) = prompted(&[user("u", text)], &takes_skills);
        assert_eq!(prompt, json!([{ "type": "text", "text": text }]), "{text}");
    }
    let (prompt, _) = prompted(&[user("u", "/review it")], &json!({}));
    assert_eq!(prompt, json!([{ "type": "text", "text": "/review it" }]));
}
