//! The session in the shared state, and replayed sessions.
use crate::script::{in_stream, of_type, play, verify};
use agui_bridge::Options;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use serde_json::{Value, json};

fn with_state() -> Options {
    let mut options = in_stream(Profile::V1);
    options.state = true;
    options
}

fn updates() -> Vec<Value> {
    let option = json!({"id": "o", "name": "O", "type": "boolean", "currentValue": true});
    let entry = json!({"content": "Look", "priority": "high", "status": "pending"});
    [
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "n", "description": "d"}]}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"}),
        json!({"sessionUpdate": "config_option_update", "configOptions": [option]}),
        json!({"sessionUpdate": "session_info_update", "title": "Chat", "updatedAt": "2026-01-01T00:00:00Z"}),
        json!({"sessionUpdate": "session_info_update", "title": null}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 9}),
        json!({"sessionUpdate": "plan", "entries": [entry]}),
    ]
    .into_iter()
    .map(|update| json!({"update": update}))
    .collect()
}

fn expected() -> Value {
    let option = json!({"id": "o", "name": "O", "type": "boolean", "currentValue": true});
    let entry = json!({"content": "Look", "priority": "high", "status": "pending"});
    json!({"commands": [{"name": "n", "description": "d"}], "mode": "code", "configOptions": [option],
        "session": {"updatedAt": "2026-01-01T00:00:00Z"}, "usage": {"used": 1, "size": 9}, "plan": {"entries": [entry]}})
}

/// Returns a client's state after a stream.
fn state(given: &Value, stream: &[Value]) -> Value {
    let input =
        json!({"threadId": "thread", "runId": "r", "messages": [], "state": given}).to_string();
    let input: RunAgentInput = serde_json::from_str(&input).unwrap();
    let mut reducer = Reducer::for_input(&input).unwrap();
    for event in stream {
        let event: Event = serde_json::from_str(&event.to_string()).unwrap();
        assert_eq!(reducer.handle(&event), None, "{event:?}");
    }
    reducer.state().clone()
}

fn run(run: &str, state: &Value) -> Value {
    json!({"run": run, "state": state})
}

const END: &str = r#"{"result":{"stopReason":"end_turn"}}"#;

fn end() -> Value {
    serde_json::from_str(END).unwrap()
}

#[test]
fn session_is_part_of_the_state() {
    for given in [json!({}), json!({"mine": 1}), json!({"acp": {"old": 1}}), json!({"acp": 7})] {
        let steps = [&[run("r", &given)][..], &updates(), &[end()]].concat();
        let stream = play(with_state(), &steps);
        verify(Profile::V1, &stream);
        let mut wanted = given.clone();
        let acp = state(&given, &stream)["acp"].clone();
        assert_eq!(acp, expected(), "{given}");
        wanted["acp"] = expected();
        assert_eq!(state(&given, &stream), wanted);
        assert!(of_type(&stream, "STATE_SNAPSHOT").is_empty());
        let customs: Vec<_> =
            of_type(&stream, "CUSTOM").iter().map(|event| event["name"].clone()).collect();
        assert_eq!(customs, ["acp.session_info", "acp.session_info"]);
    }
}

#[test]
fn state_other_than_an_object_is_unchanged() {
    for given in [json!([1]), json!("text"), json!(7)] {
        let steps = [&[run("r", &given)][..], &updates(), &[end()]].concat();
        let stream = play(with_state(), &steps);
        verify(Profile::V1, &stream);
        assert!(stream.iter().all(|event| !event["type"].as_str().unwrap().starts_with("STATE")));
        assert!(of_type(&stream, "CUSTOM").iter().any(|event| event["name"] == "acp.mode"));
    }
}

#[test]
fn later_run_repairs_the_state() {
    let kept = json!({"mine": 2, "acp": expected()});
    for (given, deltas) in
        [(kept, 0), (json!({"mine": 2}), 1), (json!({"mine": 2, "acp": {"mode": "?"}}), 1)]
    {
        let steps =
            [&[run("r1", &json!({}))][..], &updates(), &[end(), run("r2", &given), end()]].concat();
        let stream = play(with_state(), &steps);
        verify(Profile::V1, &stream);
        let second = stream
            .iter()
            .position(|event| event["runId"] == "r2" && event["type"] == "RUN_STARTED")
            .unwrap();
        let second = &stream[second..];
        assert_eq!(of_type(second, "STATE_DELTA").len(), deltas);
        let after = state(&given, second);
        assert_eq!(&after["acp"], &expected());
        assert_eq!(&after["mine"], &json!(2));
    }
}

#[test]
fn oversized_facts_become_events() {
    let mut options = with_state();
    options.limits.state = 200;
    let commands = |count: usize| {
        let commands = vec![json!({"name": "n", "description": "d"}); count];
        json!({"update": {"sessionUpdate": "available_commands_update", "availableCommands": commands}})
    };
    let steps = [run("r", &json!({})), commands(1), commands(50), end()];
    let stream = play(options, &steps);
    verify(Profile::V1, &stream);
    assert_eq!(state(&json!({}), &stream), json!({"acp": {}}));
    assert_eq!(of_type(&stream, "CUSTOM")[0]["name"], "acp.commands");
}

#[test]
fn usage_is_sent_once_a_second_and_at_the_end() {
    let usage =
        |used: u64| json!({"update": {"sessionUpdate": "usage_update", "used": used, "size": 9}});
    let tick = |time: u64| json!({"tick": time});
    let steps = [
        tick(5000),
        run("r", &json!({})),
        usage(1),
        tick(5100),
        usage(2),
        usage(3),
        tick(6000),
        usage(4),
        usage(5),
        end(),
    ];
    let stream = play(with_state(), &steps);
    let told: Vec<_> = of_type(&stream, "STATE_DELTA")
        .iter()
        .map(|event| {
            event["delta"][0]["value"]
                .pointer("/usage/used")
                .unwrap_or(&event["delta"][0]["value"]["used"])
                .clone()
        })
        .collect();
    assert_eq!(told, [1, 4, 5]);
    assert_eq!(state(&json!({}), &stream)["acp"]["usage"]["used"], 5);
}

#[test]
fn replayed_session_is_one_snapshot() {
    let chunk = |kind: &str, text: &str| json!({"update": {"sessionUpdate": kind, "content": {"type": "text", "text": text}}});
    let call = |members: Value| {
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t"});
        update.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap());
        json!({"update": update})
    };
    let told = [
        json!({"load": true}),
        chunk("user_message_chunk", "What is it?"),
        chunk("agent_message_chunk", "I look."),
        call(json!({"title": "Look", "kind": "read", "status": "completed", "rawOutput": "milk"})),
        chunk("agent_message_chunk", "Milk."),
        json!({"update": {"sessionUpdate": "current_mode_update", "currentModeId": "code"}}),
        json!({"load": false}),
    ];
    let new = json!({"id": "u9", "role": "user", "content": "Thanks"});
    let begin =
        json!({"run": "r", "messages": [new], "prompt": [{"type": "text", "text": "Thanks"}]});
    let steps = [
        &told[..],
        &[begin, chunk("agent_message_chunk", "Bye."), call(json!({"status": "completed"})), end()],
    ]
    .concat();
    for (options, state_events) in
        [(in_stream(Profile::V1), 0), (with_state(), 1), (in_stream(Profile::Legacy), 0)]
    {
        let profile = options.profile.unwrap();
        let stream = play(options, &steps);
        verify(profile, &stream);
        let snapshots = of_type(&stream, "MESSAGES_SNAPSHOT");
        assert_eq!(snapshots.len(), 1);
        let messages = snapshots[0]["messages"].as_array().unwrap();
        let roles: Vec<_> = messages
            .iter()
            .map(|message| {
                (message["role"].as_str().unwrap(), message["content"].as_str().unwrap_or(""))
            })
            .filter(|(role, _)| *role != "activity")
            .collect();
        assert_eq!(
            roles,
            [
                ("user", "What is it?"),
                ("assistant", "I look."),
                ("tool", "milk"),
                ("assistant", "Milk."),
                ("user", "Thanks")
            ]
        );
        assert_eq!(stream[1]["type"], "MESSAGES_SNAPSHOT");
        assert_eq!(of_type(&stream, "STATE_DELTA").len(), state_events);
        assert_eq!(of_type(&stream, "TOOL_CALL_START").len(), 0);
        let said = of_type(&stream, "TEXT_MESSAGE_START");
        assert_eq!(said.len(), 1);
        assert!(messages.iter().all(|message| message["id"] != said[0]["messageId"]));
    }
}
