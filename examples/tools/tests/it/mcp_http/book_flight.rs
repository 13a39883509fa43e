//! Bookings over HTTP, by clients of both generations.
use crate::mcp_http::world::{Events, World};
use demo_agent::book_flight::{self, FixedTip, Flight, Trip, flights, seat_map};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{MemoryStore, PluginHost, SessionLimits, SessionStore, SuspendPolicy};
use mcp_bridge::seal::{SealedStates, StateKey};
use mcp_bridge_http::{EndpointOptions, PluginService, random_bytes, since_1970};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Starts a program that offers the tool, with the state that outlives it.
pub(crate) async fn program(
    policy: SuspendPolicy,
    store: &Arc<MemoryStore>,
    owner: &str,
    has_model: bool,
) -> World {
    let store = Arc::clone(store) as Arc<dyn SessionStore>;
    let tool = book_flight::tool().expect("forms");
    let mut limits = SessionLimits::default();
    limits.poll = Duration::from_millis(20);
    let host = PluginHost::new([tool], policy, store, owner, Arc::new(since_1970));
    let host = host.with_limits(limits);
    let mut service = PluginService::new(host, Implementation::new("travel", "1"));
    if has_model {
        service = service.with_sampler(Arc::new(FixedTip));
    }
    World::new(Arc::new(service), EndpointOptions::default()).await
}

pub(crate) fn token() -> SuspendPolicy {
    let random = |nonce: &mut [u8; 12]| *nonce = random_bytes().expect("randomness");
    let key = StateKey::new(1, [7; 32]);
    let codec = SealedStates::new(key, Duration::from_secs(60), since_1970, random);
    SuspendPolicy::Token { codec: Arc::new(codec), is_single_use: true }
}

pub(crate) fn trip() -> Trip {
    Trip { from: "Paris".into(), destination: "Oslo".into() }
}

fn flight() -> Flight {
    flights(&trip()).remove(1)
}

fn is_taken(seat: &str) -> bool {
    seat_map(&flight()).taken_seats.iter().any(|taken| taken == seat)
}

/// Returns the answer for a seat that is taken or free.
fn seat(taken: bool) -> Value {
    let all = (1..=12).flat_map(|row| ["A", "B", "C", "D", "E", "F"].map(|seat| (row, seat)));
    let found = all.into_iter().find(|(row, seat)| is_taken(&format!("{row}{seat}")) == taken);
    let (row, seat) = found.expect("a seat");
    json!({ "action": "accept", "content": { "row": row, "seat": seat } })
}

/// Returns the response of a client to a request. The first seat it chooses is taken.
pub(crate) fn result(request: &Value) -> Value {
    let message = request["params"]["message"].as_str().unwrap_or_default();
    match request["method"].as_str() {
        Some("elicitation/create") if message.starts_with("Which flight") => {
            json!({ "action": "accept", "content": { "flightId": flight().id } })
        }
        Some("elicitation/create") => seat(message.starts_with("Which seat")),
        Some("sampling/createMessage") => {
            let text = json!({ "type": "text", "text": "Bring a coat." });
            json!({ "role": "assistant", "content": text, "model": "m" })
        }
        other => panic!("asked for {other:?}"),
    }
}

pub(crate) fn check(result: &Value, tip: &str) {
    let booking = &result["structuredContent"];
    assert_eq!(booking["status"], "booked", "{result}");
    assert_eq!(booking["flight"]["id"], flight().id);
    assert!(!is_taken(booking["seat"].as_str().expect("a seat")));
    assert_eq!(&booking["tip"], &json!(tip));
    assert_eq!(&booking["price"], &json!(flight().price));
    assert!(booking["ticketNumber"].as_str().expect("a number").starts_with("TKT-"));
}

/// Makes the call and answers until it completes, each time at the next of `programs`. Returns the
/// result and the number of rounds.
pub(crate) async fn book(
    programs: &[&World],
    can: &Value,
    answer: impl Fn(&Value) -> Value,
) -> (Value, usize) {
    let params = json!({ "name": "book_flight", "arguments": trip() });
    let begun = programs[0].modern(0, "tools/call", params, can).send().await.expect("an answer");
    let begun = begun.json().await.expect("JSON");
    let (first, others) = programs.split_first().expect("a program");
    let next: Vec<_> = others.iter().chain([first]).copied().collect();
    go_on(&next, can, answer, &begun).await
}

/// Continues like [`book`] from a first response.
pub(crate) async fn go_on(
    programs: &[&World],
    can: &Value,
    answer: impl Fn(&Value) -> Value,
    begun: &Value,
) -> (Value, usize) {
    let mut response = begun.clone();
    for round in 0..10 {
        let result = &response["result"];
        if result["resultType"] != "input_required" {
            return (result.clone(), round);
        }
        let asked = result["inputRequests"].as_object().expect("requests");
        let answers = asked.iter().map(|(key, request)| (key.clone(), answer(request)));
        let params = json!({
            "name": "book_flight", "arguments": trip(), "requestState": result["requestState"],
            "inputResponses": Value::Object(answers.collect()),
        });
        let program = programs[round % programs.len()];
        let id = i64::try_from(round).expect("small");
        let request = program.modern(id, "tools/call", params, can).send().await;
        response = request.expect("an answer").json().await.expect("JSON");
    }
    panic!("it asks for ever");
}

#[tokio::test]
async fn modern_client_books_a_flight() {
    let can = json!({ "elicitation": {}, "sampling": {} });
    for policy in [SuspendPolicy::Park, SuspendPolicy::ParkOrReplay, SuspendPolicy::Replay, token()]
    {
        let program = program(policy, &Arc::default(), "a", true).await;
        let (booked, rounds) = book(&[&program], &can, result).await;
        check(&booked, "Bring a coat.");
        assert_eq!(rounds, 4, "flight, seat, other seat, tip");
    }
}

#[tokio::test]
async fn server_samples_for_a_client_without_a_model() {
    let can = json!({ "elicitation": {} });
    let with = program(SuspendPolicy::Replay, &Arc::default(), "a", true).await;
    let (booked, rounds) = book(&[&with], &can, result).await;
    check(&booked, "Take the train into the city: it is faster than a taxi.");
    assert_eq!(rounds, 3);

    let without = program(SuspendPolicy::Replay, &Arc::default(), "a", false).await;
    let params = json!({ "name": "book_flight", "arguments": trip() });
    let response = without.modern(1, "tools/call", params, &json!({})).send().await.expect("one");
    assert_eq!(response.status(), 400);
    let body: Value = response.json().await.expect("JSON");
    assert_eq!(body["error"]["code"], -32021);
}

#[tokio::test]
async fn call_is_resumed_after_a_restart_and_by_another_program() {
    let can = json!({ "elicitation": {}, "sampling": {} });
    for policy in [SuspendPolicy::Replay, token()] {
        let store = Arc::default();
        let mut programs = Vec::new();
        for owner in ["a", "b", "c", "d", "e"] {
            programs.push(program(policy.clone(), &store, owner, false).await);
        }
        let programs: Vec<_> = programs.iter().collect();
        let (booked, rounds) = book(&programs, &can, result).await;
        check(&booked, "Bring a coat.");
        assert_eq!(rounds, 4);
    }
}

/// Returns the next message other than progress.
pub(crate) async fn next_but_progress(events: &mut Events, how_far: &mut Vec<f64>) -> Value {
    loop {
        let message = events.message().await;
        if message["method"] != "notifications/progress" {
            return message;
        }
        how_far.push(message["params"]["progress"].as_f64().expect("a number"));
    }
}

#[tokio::test]
async fn legacy_client_is_asked_in_the_stream_of_the_call() {
    for policy in [SuspendPolicy::Park, SuspendPolicy::ParkOrReplay, SuspendPolicy::Replay, token()]
    {
        let program = program(policy, &Arc::default(), "a", false).await;
        let session = program.session(&json!({ "elicitation": {}, "sampling": {} })).await;
        let meta = json!({ "progressToken": "p" });
        let params = json!({ "name": "book_flight", "arguments": trip(), "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mut events = Events::of(session.post(&call).await);
        let mut how_far = Vec::new();
        for _ in 0..4 {
            let request = next_but_progress(&mut events, &mut how_far).await;
            let answer =
                json!({ "jsonrpc": "2.0", "id": request["id"], "result": result(&request) });
            assert_eq!(session.post(&answer).await.status(), 202);
        }
        let done = next_but_progress(&mut events, &mut how_far).await;
        assert_eq!(how_far, [0.0, 1.0, 2.0, 3.0], "each once, although the tool is replayed");
        assert_eq!(done["id"], 1);
        check(&done["result"], "Bring a coat.");
        assert!(events.next().await.is_none(), "the stream ends with the response");
    }
}

/// Returns the arguments with which a model answers the questions of a result.
fn answered(asked: &Value) -> Value {
    let questions = asked["questions"].as_array().expect("questions");
    let answer = |question: &Value| {
        let request = json!({ "method": "elicitation/create", "params": question });
        (question["key"].as_str().expect("a key").to_owned(), result(&request))
    };
    let answers: serde_json::Map<_, _> = questions.iter().map(answer).collect();
    let arguments = json!({ "tool": asked["tool"], "state": asked["state"], "answers": answers });
    json!({ "name": "answer_question", "arguments": arguments })
}

#[tokio::test]
async fn model_asks_for_a_client_without_forms() {
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay, token()] {
        let tool = book_flight::tool().expect("forms");
        let host = PluginHost::new(
            [tool],
            policy,
            Arc::new(MemoryStore::default()),
            "a",
            Arc::new(since_1970),
        );
        let service = PluginService::new(host, Implementation::new("travel", "1"));
        let service = service.with_sampler(Arc::new(FixedTip)).with_questions_in_results();
        let world = World::new(Arc::new(service), EndpointOptions::default()).await;
        let session = world.session(&json!({})).await;
        for is_modern in [true, false] {
            let mut params = json!({ "name": "book_flight", "arguments": trip() });
            let mut rounds = 0;
            let booked = loop {
                let response: Value = if is_modern {
                    let response =
                        world.modern(rounds, "tools/call", params, &json!({})).send().await;
                    response.expect("an answer").json().await.expect("JSON")
                } else {
                    let call = json!({ "jsonrpc": "2.0", "id": rounds, "method": "tools/call", "params": params });
                    Events::of(session.post(&call).await).message().await
                };
                let given = &response["result"]["structuredContent"];
                if given["status"] != "input_required" {
                    break response["result"].clone();
                }
                assert!(rounds < 5, "it asks for ever");
                params = answered(given);
                rounds += 1;
            };
            check(&booked, "Take the train into the city: it is faster than a taxi.");
            assert_eq!(rounds, 3, "flight, seat, other seat");
        }
        let nonsense = json!({ "name": "answer_question", "arguments": { "tool": 1 } });
        let refused =
            world.modern(9, "tools/call", nonsense, &json!({})).send().await.expect("one");
        let refused: Value = refused.json().await.expect("JSON");
        assert_eq!(refused["error"]["code"], -32602);
    }
}
