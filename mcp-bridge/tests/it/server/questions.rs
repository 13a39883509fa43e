//! Questions to the client during a call.
use super::*;
use mcp_bridge::mcp::capabilities::ClientCapabilities;
use mcp_bridge::server::{AskError, missing_capability};

/// Runs the tool to its end as a client of either generation. `actions` are the actions of the
/// user.
fn run_book_flight(is_modern: bool, actions: &[&str]) -> (Value, Vec<Value>) {
    let mut client = Client::new(is_modern, &ALL());
    let params = json!({ "name": "book_flight", "arguments": { "from": "NYC" } });
    client.send("tools/call", params.clone());
    let mut actions = actions.iter();
    for _ in 0..10 {
        let call = client.call();
        assert_eq!(call.arguments.as_str(), r#"{"from":"NYC"}"#);
        book_flight(&mut client.server, &call);
        for message in client.take() {
            let result = &message["result"];
            if let Some(content) = result["content"].as_array() {
                return (content[0]["text"].clone(), client.sent);
            }
            if let Some(requests) = result["inputRequests"].as_object() {
                let answers = requests
                    .keys()
                    .map(|key| (key.clone(), answer(key, actions.next().unwrap_or(&"accept"))));
                let mut again = params.clone();
                again["inputResponses"] = answers.collect();
                again["requestState"] = result["requestState"].clone();
                client.send("tools/call", again);
            } else if let Some(method) = message["method"].as_str() {
                let key = message["params"]["message"].as_str().unwrap_or("tip");
                assert_eq!(key == "tip", method == "sampling/createMessage");
                let result = answer(key, actions.next().unwrap_or(&"accept"));
                client.line(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            }
        }
    }
    panic!("it did not end: {:?}", client.sent);
}

/// One tool serves both generations with the same outcome. Only older clients receive requests.
#[test]
fn one_tool_serves_both_generations() {
    for (actions, expected) in [
        (&["accept", "accept"][..], "\"SH-142\" 12 \"bus\""),
        (&["decline"][..], "not booked"),
        (&["accept", "cancel"][..], "not booked"),
    ] {
        let (modern, sent) = run_book_flight(true, actions);
        assert!(sent.iter().all(|message| message["method"].is_null()), "{sent:?}");
        assert!(sent.iter().all(|message| message["result"]["resultType"].is_string()), "{sent:?}");
        let (legacy, sent) = run_book_flight(false, actions);
        assert!(sent.iter().all(|message| message["result"]["resultType"].is_null()), "{sent:?}");
        assert_eq!(modern.as_str(), Some(expected));
        assert_eq!(legacy.as_str(), Some(expected));
    }
}

/// A client is asked only for what it declared.
#[test]
fn client_is_asked_only_what_it_declared() {
    let url = ServerRequest::decode(
        "elicitation/create",
        Some(wire_raw(&json!({ "mode": "url", "message": "m", "url": "u" })).as_ref()),
    )
    .expect("a page");
    let sampling = |tools: Value| {
        let params = json!({ "messages": [], "maxTokens": 1, "tools": tools });
        ServerRequest::decode("sampling/createMessage", Some(wire_raw(&params).as_ref()))
            .expect("a request")
    };
    let roots = ServerRequest::decode("roots/list", None).expect("a request");
    let table = [
        (json!({}), form("m"), Some(json!({ "elicitation": { "form": {} } }))),
        (json!({ "elicitation": {} }), form("m"), None),
        (
            json!({ "elicitation": { "url": {} } }),
            form("m"),
            Some(json!({ "elicitation": { "form": {} } })),
        ),
        (json!({ "elicitation": {} }), url.clone(), Some(json!({ "elicitation": { "url": {} } }))),
        (json!({ "elicitation": { "url": {} } }), url, None),
        (json!({ "sampling": {} }), sampling(json!(null)), None),
        (
            json!({ "sampling": {} }),
            sampling(json!([])),
            Some(json!({ "sampling": { "tools": {} } })),
        ),
        (json!({ "sampling": { "tools": {} } }), sampling(json!([])), None),
        (json!({}), roots.clone(), Some(json!({ "roots": {} }))),
        (json!({ "roots": {} }), roots, None),
    ];
    for (declared, request, expected) in table {
        let capabilities: ClientCapabilities = wire::decode(&declared.to_string()).expect("JSON");
        let missing = missing_capability(&capabilities, &request);
        let missing = missing.map(|missing| serde_json::to_value(missing).expect("JSON"));
        assert_eq!(missing, expected, "{declared} {request:?}");
    }
    let mut client = Client::new(true, &json!({}));
    client.send("tools/call", json!({ "name": "add", "_meta": { CAPABILITIES: {} } }));
    let call = client.call();
    let error =
        client.server.ask(call.id, Needs::new([("k", form("m"))]), None).expect_err("undeclared");
    client.server.fail(call.id, error.error_object().expect("an error object")).expect("open");
    let sent = client.take();
    assert_eq!(sent[0]["error"]["code"], -32021);
    assert_eq!(sent[0]["error"]["message"], "the client did not declare `elicitation.form`");
    assert_eq!(
        sent[0]["error"]["data"],
        json!({ "requiredCapabilities": { "elicitation": { "form": {} } } })
    );
}

/// An empty request, a duplicate key, a request that is not for input, excessive rounds, and a call
/// that has ended are errors.
#[test]
fn invalid_input_requests_are_errors() {
    let mut client = Client::new(false, &ALL());
    client.send("tools/call", json!({ "name": "add" }));
    let id = client.call().id;
    let server = &mut client.server;
    assert_eq!(server.ask(id, Needs::default(), None), Err(AskError::Nothing));
    let twice = Needs::new([("k", form("a")), ("k", form("b"))]);
    assert_eq!(server.ask(id, twice, None), Err(AskError::Duplicate("k".into())));
    let ping = ServerRequest::decode("ping", None).expect("a request");
    assert_eq!(
        server.ask(id, Needs::new([("k", ping)]), None),
        Err(AskError::NotInput("ping".into()))
    );
    let mut state = Needs::default();
    state.request_state = Some("again".into());
    for _ in 1..ServerOptions::DEFAULT_MAX_ROUNDS {
        assert_eq!(server.ask(id, state.clone(), None), Ok(()));
        let Some(ServerEvent::Call(call)) = server.poll_event() else { panic!("no call") };
        assert_eq!(call.id, id);
        assert_eq!(call.request_state.as_deref(), Some("again"));
    }
    assert_eq!(server.ask(id, state.clone(), None), Err(AskError::TooManyRounds));
    server.finish(id, text("x")).expect("open");
    assert!(matches!(server.ask(id, state, None), Err(AskError::NotOpen(_))));
}

/// A cancelled call sends nothing further, and its questions are cancelled.
#[test]
fn cancelled_call_ends() {
    let mut client = Client::new(false, &ALL());
    let id = client.send("tools/call", json!({ "name": "add" }));
    let call = client.call();
    client.server.ask(call.id, Needs::new([("k", form("m"))]), None).expect("it may");
    let question = client.take()[0]["id"].clone();
    client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    let told = client.take();
    assert_eq!(told.len(), 1);
    assert_eq!(&told[0]["method"], &json!("notifications/cancelled"));
    assert_eq!(&told[0]["params"]["requestId"], &question);
    assert!(
        matches!(client.server.poll_event(), Some(ServerEvent::Cancelled(cancelled)) if cancelled == call.id)
    );
    client.line(&json!({ "jsonrpc": "2.0", "id": question, "result": { "action": "accept" } }));
    assert!(client.server.poll_event().is_none() && client.take().is_empty());
    assert!(client.server.finish(call.id, text("late")).is_err());
    assert_eq!(client.server.open_calls(), 0);
}

/// An error response and a deadline are answers.
#[test]
fn unanswered_question_ends_with_an_error() {
    let mut client = Client::new(false, &ALL());
    client.send("tools/call", json!({ "name": "add" }));
    let call = client.call();
    let needs = Needs::new([("a", form("a")), ("b", form("b"))]);
    client.server.ask(call.id, needs, Some(Duration::from_secs(5))).expect("it may");
    let questions = client.take();
    client.line(&json!({ "jsonrpc": "2.0", "id": questions[1]["id"], "error": { "code": -1, "message": "no" } }));
    assert!(client.server.poll_event().is_none());
    assert_eq!(client.server.poll_timeout(), Some(Duration::from_secs(5)));
    client.server.handle_timeout(Duration::from_secs(6));
    let again = client.call();
    let errors: Vec<_> = again
        .responses
        .iter()
        .map(|(key, answer)| (key.as_str(), answer.as_ref().map_err(|it| it.message.clone()).err()))
        .collect();
    assert_eq!(errors, [("a", Some("no answer in time".to_owned())), ("b", Some("no".to_owned()))]);
    assert_eq!(client.take()[0]["method"], "notifications/cancelled");
}
