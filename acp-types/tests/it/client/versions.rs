//! Versions of a connection of a client.
use super::*;
use acp_types::client::InitializeResponse;
use acp_types::v2;

pub(super) fn both() -> Options {
    let info = v2::initialization::Implementation::new("client", "1");
    let request = v2::initialization::InitializeRequest::new(ProtocolVersion::V2, info);
    v1_options().with_v2(request)
}

#[test]
fn version_follows_the_shape_of_messages() {
    for (options, result, version) in [
        (v1_options(), json!({ "protocolVersion": 1, "agentCapabilities": {} }), Some(1)),
        (v1_options(), json!({ "protocolVersion": 2 }), None),
        (v1_options(), json!({ "protocolVersion": 0 }), None),
        (both(), json!({ "protocolVersion": 2, "agentCapabilities": {} }), Some(1)),
        (both(), json!({ "protocolVersion": 1 }), Some(1)),
        (both(), json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" } }), Some(2)),
        (both(), json!({ "protocolVersion": 3, "info": { "name": "a", "version": "1" } }), None),
    ] {
        let mut client = Client::new(options);
        client.answer(1, result.clone());
        let events = client.events();
        match (version, &events[0]) {
            (Some(version), Event::Initialized(initialized)) => {
                assert_eq!(initialized.version.0, version, "{result}");
                let is_v2 = matches!(initialized.response.value, InitializeResponse::V2(_));
                assert_eq!(is_v2, version == 2, "{result}");
            }
            (None, Event::Closed(CloseReason::Version(_))) => {}
            other => panic!("{result}: {other:?}"),
        }
    }
}

#[test]
fn both_versions_are_offered_in_one_request() {
    let mut client = Client::new(both());
    let sent = client.sent();
    assert_eq!(sent[0]["params"]["protocolVersion"], 2);
    assert_eq!(sent[0]["params"]["info"]["name"], "client");
}

#[test]
fn turn_of_version_2_ends_with_the_idle_state() {
    let mut client = Client::new(both());
    client.answer(1, json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" } }));
    let session = client.0.open_session(v2::session_setup::NewSessionRequest::new("/work"), NOW);
    client.answer(2, json!({ "sessionId": "s" }));
    client.events();
    let turn = client.0.prompt(session, Prompt::v2(["Hi".into()]), NOW).unwrap();
    let state = |state: Value| {
        let mut update = state;
        update["sessionUpdate"] = json!("state_update");
        let params = json!({ "sessionId": "s", "update": update });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
    };
    client.line(state(json!({ "state": "running" })));
    client.answer(3, json!({ "messageId": "m" }));
    let events = client.events();
    assert!(
        matches!(events[1], Event::Session(_, SessionEvent::PromptAccepted(key, _)) if key == turn)
    );
    client.line(state(json!({ "state": "idle", "stopReason": "end_turn" })));
    let events = client.events();
    assert!(
        matches!(
            &events[1],
            Event::Session(_, SessionEvent::TurnEnded(key, Ok(end)))
                if *key == turn && matches!(end.value, TurnEnd::V2(_))
        ),
        "{events:?}"
    );
}

/// The agent works without a prompt when the prompt is sent: the end of that work is not the end of
/// the turn.
#[test]
fn idle_state_of_earlier_work_does_not_end_a_turn() {
    let mut client = Client::new(both());
    client.answer(1, json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" } }));
    let session = client.0.open_session(v2::session_setup::NewSessionRequest::new("/work"), NOW);
    client.answer(2, json!({ "sessionId": "s" }));
    let state = |state: &str| {
        let update = json!({
            "sessionUpdate": "state_update", "state": state, "stopReason": "end_turn",
        });
        let params = json!({ "sessionId": "s", "update": update });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
    };
    let is_end = |event: &Event| matches!(event, Event::Session(_, SessionEvent::TurnEnded(..)));
    client.line(state("running"));
    client.0.prompt(session, Prompt::v2(["Hi".into()]), NOW).unwrap();
    client.line(state("idle"));
    client.answer(3, json!({ "messageId": "m" }));
    assert!(!client.events().iter().any(is_end));
    client.line(state("running"));
    client.line(state("idle"));
    assert_eq!(client.events().iter().filter(|event| is_end(event)).count(), 1);
}

#[test]
fn error_that_names_versions_closes_the_connection_with_them() {
    let step = "the agent's error: Unsupported protocol version; \
        install a release of the agent that speaks an offered version";
    let data = |supported: &[u16]| json!({ "requested": 2, "supported": supported });
    let names_none =
        format!("the agent names none of its versions; the client offers 1 and 2; {step}");
    let table = [
        (
            both(),
            Some(data(&[3, 4])),
            format!("the agent speaks version 4; the client offers 1 and 2; {step}"),
        ),
        (
            v1_options(),
            Some(data(&[2])),
            format!("the agent speaks version 2; the client offers 1; {step}, or offer version 2"),
        ),
        (both(), Some(data(&[])), names_none.clone()),
        (both(), None, names_none),
    ];
    for (options, data, expected) in table {
        let mut client = Client::new(options);
        let mut error = json!({ "code": -32022, "message": "Unsupported protocol version" });
        if let Some(data) = data {
            error["data"] = data;
        }
        client.line(json!({ "jsonrpc": "2.0", "id": 1, "error": error }));
        let events = client.events();
        let Some(Event::Closed(reason)) = events.last() else { panic!("{events:?}") };
        assert_eq!(reason.to_string(), expected);
    }
}

/// A response with another version closes the connection with both versions and the next step, also
/// if it is no number.
#[test]
fn response_with_another_version_closes_the_connection_with_it() {
    for (answered, shown) in [
        (json!(7), "7"),
        (json!(0), "0"),
        (json!("2025-06-18"), "\"2025-06-18\""),
        (json!(-1), "-1"),
        (json!(65536), "65536"),
    ] {
        for (options, offered) in [(both(), "1 and 2"), (v1_options(), "1")] {
            let mut client = Client::new(options);
            let result = json!({ "protocolVersion": answered, "agentCapabilities": {} });
            client.line(json!({ "jsonrpc": "2.0", "id": 1, "result": result }));
            let events = client.events();
            let Some(Event::Closed(reason)) = events.last() else { panic!("{events:?}") };
            let expected = format!(
                "the agent speaks version {shown}; the client offers {offered}; \
                install a release of the agent that speaks an offered version"
            );
            assert_eq!(reason.to_string(), expected);
        }
    }
}

#[test]
fn login_has_another_method_in_version_2() {
    let login = Call::new(&v1::authentication::AuthenticateRequest::new("key")).in_v2();
    let mut client = Client::new(both());
    client.answer(1, json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" } }));
    client.sent();
    client.0.call(login, NOW);
    let sent = client.sent();
    assert_eq!(sent[0]["method"], "auth/login");
    assert_eq!(sent[0]["params"], json!({ "methodId": "key" }));
}
