//! The client: requests and responses, as over HTTP.
use crate::streams::recorded;
use agui_types::client::{Agent, Deviation, ReceivedEvent, Response, ResponseError};
use agui_types::event::Event;
use agui_types::interrupt::{ResumeEntry, ResumeStatus};
use agui_types::message::Message;
use agui_types::reduce::RunEnd;
use agui_types::verify::Rule;
use jsonrpc_core::wire;
use serde_json::{Value, json};

fn frames(stream: &[Value]) -> Vec<u8> {
    stream.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect()
}

fn all(response: &mut Response) -> Result<Vec<ReceivedEvent>, ResponseError> {
    std::iter::from_fn(|| response.poll()).collect()
}

/// Reads a whole answer, in pieces of this size.
fn answered(
    agent: &Agent,
    run: &str,
    body: &[u8],
    piece: usize,
) -> (Response, Result<Vec<ReceivedEvent>, ResponseError>) {
    let request = agent.request(run, Vec::new()).expect("nothing is asked");
    let mut response = request.response(200, Some("text/event-stream; charset=utf-8"));
    let mut received = Vec::new();
    for piece in body.chunks(piece) {
        response.push(piece);
        match all(&mut response) {
            Ok(more) => received.extend(more),
            Err(failure) => return (response, Err(failure)),
        }
    }
    response.finish();
    let rest = all(&mut response).map(|rest| received.into_iter().chain(rest).collect());
    (response, rest)
}

/// Checks in which this client is stricter than the first-party one.
const STRICTER: &[(&str, Rule)] =
    &[("finished by wrong run id", Rule::RunChanged), ("truncated", Rule::Truncated)];

/// Each recorded stream gives the first-party client's verdict, messages, state and interrupts, in
/// pieces of any size.
#[test]
fn recorded_answers_match_the_first_party_client() {
    let mut stricter = Vec::new();
    for stream in recorded() {
        let name = stream["name"].as_str().expect("a name");
        let events = stream["stream"].as_array().expect("a list");
        let named = |member: &str| {
            let started = |event: &&Value| event["type"] == "RUN_STARTED";
            let event = events.iter().rev().find(started);
            event.and_then(|event| event[member].as_str()).unwrap_or("r").to_owned()
        };
        let mut agent = Agent::new(named("threadId"));
        let input = &stream["input"];
        let body = frames(events);
        if let Some(messages) = input.get("messages") {
            agent.messages = wire::decode(&messages.to_string()).expect("messages");
        }
        if let Some(state) = input.get("state") {
            agent.state = state.clone();
        }
        for piece in [7, 1000] {
            let (response, received) = answered(&agent, &named("runId"), &body, piece);
            match (received, &stream["verdict"]) {
                (Err(_), verdict) if verdict == "rejected" => {}
                (Ok(_), verdict) if verdict == "accepted" => {
                    let messages = serde_json::to_value(response.messages()).expect("JSON");
                    assert_eq!(messages, stream["messages"], "{name}");
                    assert_eq!(response.state(), &stream["state"], "{name}");
                    let mut agent = agent.clone();
                    agent.take(response);
                    let asked = serde_json::to_value(agent.interrupts()).expect("JSON");
                    assert_eq!(asked, stream["pendingInterrupts"], "{name}");
                }
                (Err(ResponseError::Violation(violation)), _) => {
                    if piece == 7 {
                        stricter.push((name.to_owned(), violation.rule()));
                    }
                }
                (other, verdict) => panic!("{name}: {verdict}, but {other:?}"),
            }
        }
    }
    let stricter: Vec<_> = stricter.iter().map(|(name, rule)| (name.as_str(), *rule)).collect();
    assert_eq!(stricter, STRICTER);
}

fn started(run: &str) -> Value {
    json!({"type":"RUN_STARTED","threadId":"t","runId":run})
}

fn finished(run: &str) -> Value {
    json!({"type":"RUN_FINISHED","threadId":"t","runId":run})
}

#[test]
fn response_to_another_request_is_rejected() {
    let error = || json!({"type":"RUN_ERROR","message":"no"});
    let table = [
        (vec![started("r"), finished("r")], None),
        (vec![started("old"), finished("old"), started("r"), finished("r")], None),
        (vec![error()], None),
        (vec![started("r"), error()], None),
        (vec![started("r"), finished("r"), error()], None),
        (vec![started("r"), finished("r"), started("s"), finished("s")], None),
        (vec![started("s"), finished("s"), error()], None),
        (vec![started("s"), error()], Some(Rule::RunNotRequested)),
        (vec![started("r")], Some(Rule::Truncated)),
        (vec![started("r"), finished("r"), started("s")], Some(Rule::Truncated)),
        (vec![started("s"), finished("s")], Some(Rule::RunNotRequested)),
        (vec![started("r"), finished("s")], Some(Rule::RunChanged)),
        (vec![json!({"type":"RUN_STARTED","threadId":"u","runId":"r"})], Some(Rule::ThreadChanged)),
    ];
    for (events, rule) in table {
        let (_, received) = answered(&Agent::new("t"), "r", &frames(&events), 64);
        let found = received.err().map(|failure| match failure {
            ResponseError::Violation(violation) => violation.rule(),
            other => panic!("{events:?}: {other:?}"),
        });
        assert_eq!(found, rule, "{events:?}");
    }
}

/// Returns the verdict of this client, and the messages that it keeps.
fn verdict(events: &[Value]) -> (bool, Value) {
    let (response, received) = answered(&Agent::new("t"), "r", &frames(events), 64);
    (received.is_ok(), serde_json::to_value(response.messages()).expect("JSON"))
}

/// The first-party client accepts a body without events: the conversation stays as it is.
#[test]
fn empty_stream_is_accepted() {
    assert_eq!(verdict(&[]), (true, json!([])));
    let request = Agent::new("t").request("r", Vec::new()).expect("nothing is asked");
    let mut response = request.response(200, Some("text/event-stream"));
    response.push(b": no events\n\n");
    response.finish();
    assert_eq!(response.poll(), None);
    assert_eq!(response.end(), None);
}

/// The first-party client accepts a run after the error of another, under any identifier, and
/// nothing else.
#[test]
fn run_after_the_error_of_a_run_is_accepted() {
    let error = || json!({"type":"RUN_ERROR","message":"no"});
    let custom = || json!({"type":"CUSTOM","name":"x","value":1});
    let text = || json!({"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"});
    let table = [
        (vec![started("r"), error(), started("s"), text(), finished("s")], true),
        (vec![started("r"), error(), started("r"), text(), finished("r")], true),
        (vec![started("q"), error(), started("r"), text(), finished("r")], true),
        (vec![error(), started("r"), text(), finished("r")], true),
        (vec![started("r"), error(), error()], false),
        (vec![started("r"), error(), custom()], false),
        (vec![started("r"), error(), finished("r")], false),
    ];
    for (events, accepted) in table {
        let expected =
            if accepted { json!([{"id":"m","role":"assistant","content":"a"}]) } else { json!([]) };
        assert_eq!(verdict(&events), (accepted, expected), "{events:?}");
    }
}

/// The first-party client rejects an event with an unknown role, and drops a message with one from
/// a snapshot.
#[test]
fn unknown_role_is_rejected_in_an_event_and_dropped_in_a_snapshot() {
    let table = [
        (json!({"type":"TEXT_MESSAGE_START","messageId":"m","role":"wizard"}), false),
        (json!({"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"wizard","delta":"x"}), false),
        (
            json!({"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","role":"wizard","content":"x"}),
            false,
        ),
        (json!({"type":"REASONING_MESSAGE_START","messageId":"m","role":"wizard"}), false),
        (
            json!({"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"wizard","content":"x"}]}),
            true,
        ),
        (
            json!({"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"wizard","content":{}}),
            true,
        ),
    ];
    for (event, accepted) in table {
        let activity = json!({"id":"m","role":"activity","activityType":"wizard","content":{}});
        let expected =
            if event["type"] == "ACTIVITY_SNAPSHOT" { json!([activity]) } else { json!([]) };
        assert_eq!(
            verdict(&[started("r"), event.clone(), finished("r")]),
            (accepted, expected),
            "{event}"
        );
    }
}

/// A connection that breaks at any byte is reported, and everything before is kept.
#[test]
fn truncated_response_is_not_a_success() {
    let text = json!({"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"é"});
    let body = frames(&[started("r"), text, finished("r")]);
    let whole = body.len() - 2;
    for end in 1..body.len() {
        let (response, received) = answered(&Agent::new("t"), "r", &body[..end], 5);
        // The last frame is also complete without its empty line.
        if end >= whole {
            assert!(received.is_ok(), "{end}: {received:?}");
            continue;
        }
        let failure = received.expect_err("cut off");
        let truncated =
            matches!(&failure, ResponseError::Violation(it) if it.rule() == Rule::Truncated);
        // The last character may have been cut in half.
        assert!(truncated || matches!(failure, ResponseError::Frame(_)), "{end}: {failure}");
        assert_eq!(response.end(), None, "{end}");
    }
}

#[test]
fn refusals_are_reported_with_their_retryability() {
    for (status, again) in [(400, false), (429, true), (500, false), (503, true), (302, false)] {
        let request = Agent::new("t").request("r", Vec::new()).expect("nothing is asked");
        let mut response = request.response(status, Some("application/json"));
        response.push(b"{\"error\":");
        assert_eq!(response.poll(), None);
        response.push(b"\"nope\"}");
        response.finish();
        let failure = response.poll().expect("a failure").expect_err("a failure");
        assert_eq!(failure.to_string(), format!("HTTP {status}: {{\"error\":\"nope\"}}"));
        assert_eq!(failure.may_send_again(), again);
        assert_eq!(response.poll(), None);
    }
    let request = Agent::new("t").request("r", Vec::new()).expect("nothing is asked");
    let mut response = request.response(500, None);
    response.push(&vec![b'x'; Response::MAX_REFUSAL_BYTES + 1]);
    response.finish();
    let Some(Err(ResponseError::Status { body, .. })) = response.poll() else {
        panic!("no status")
    };
    assert_eq!(body.len(), Response::MAX_REFUSAL_BYTES);
}

#[test]
fn request_without_answers_to_interrupts_is_rejected() {
    let interrupt = json!({"type":"RUN_FINISHED","threadId":"t","runId":"r",
        "outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"confirmation"},{"id":"j","reason":"x:y"}]}});
    let mut agent = Agent::new("t");
    let (response, received) = answered(&agent, "r", &frames(&[started("r"), interrupt]), 64);
    received.expect("an answer");
    agent.take(response);
    let entry = |id: &str| ResumeEntry::new(id, ResumeStatus::Resolved);
    let unanswered = agent.request("s", vec![entry("j")]).expect_err("one is open");
    assert_eq!(unanswered.to_string(), r#"interrupts of the last run have no answer: "i""#);
    let request = agent.request("s", vec![entry("j"), entry("i")]).expect("all are answered");
    let sent: Value = serde_json::from_slice(&request.body).expect("JSON");
    assert_eq!(sent["resume"].as_array().map(Vec::len), Some(2));
}

#[test]
fn request_has_the_required_headers_and_body() {
    let mut agent = Agent::new("t");
    let messages = r#"[{"id":"u","role":"user","content":"Hi","mood":1},
        {"id":"a","role":"activity","activityType":"x","content":{}},
        {"id":"b","role":"user","content":[{"type":"binary","mimeType":"image/png","data":"AAAA"}]}]"#;
    agent.messages = wire::decode(messages).expect("messages");
    let request = agent.request("r", Vec::new()).expect("nothing is asked");
    assert_eq!(request.method, "POST");
    assert_eq!(
        request.headers,
        [("content-type", "application/json"), ("accept", "text/event-stream")]
    );
    let sent: Value = serde_json::from_slice(&request.body).expect("JSON");
    let expected = json!({
        "threadId": "t", "runId": "r", "protocolVersion": "1.0", "state": {}, "tools": [], "context": [],
        "forwardedProps": {},
        "messages": [
            {"id":"u","role":"user","content":"Hi"},
            {"id":"b","role":"user","content":[{"type":"image","source":{"type":"data","value":"AAAA","mimeType":"image/png"}}]},
        ],
    });
    assert_eq!(sent, expected);
    let removed: Vec<_> = request.removals.iter().map(|it| it.pointer.as_str()).collect();
    assert_eq!(removed, ["/messages/0/mood", "/messages/1/content/0"]);
    // The activity stays in the conversation.
    let mut response = request.response(200, None);
    response.push(&frames(&[started("r"), finished("r")]));
    response.finish();
    all(&mut response).expect("an answer");
    agent.take(response);
    assert_eq!(agent.messages.len(), 3);
}

#[test]
fn removals_are_reported_with_the_next_event() {
    let body = frames(&[
        json!({"type":"NEWER"}),
        started("r"),
        json!({"type":"THINKING_START","title":"Plan"}),
        json!({"type":"THINKING_END"}),
        json!({"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a"}]}),
        finished("r"),
    ]);
    let (response, received) = answered(&Agent::new("t"), "r", &body, 64);
    let reported: Vec<_> = received
        .expect("an answer")
        .into_iter()
        .map(|ReceivedEvent { event, deviations, .. }| {
            let deviations: Vec<_> = deviations.iter().map(Deviation::to_string).collect();
            (event.tag().to_owned(), deviations.join("; "))
        })
        .collect();
    let expected = [
        ("RUN_STARTED", r#"unknown event "NEWER" at """#),
        (
            "REASONING_START",
            r#"retired event "THINKING_START" at ""; unknown member "title" at "/title""#,
        ),
        ("REASONING_END", r#"retired event "THINKING_END" at """#),
        ("STATE_DELTA", r#"the patch was not applied: operation 0: no value exists at "/a""#),
        ("RUN_FINISHED", ""),
    ];
    let reported: Vec<_> =
        reported.iter().map(|(tag, deviations)| (tag.as_str(), deviations.as_str())).collect();
    assert_eq!(reported, expected);
    assert!(matches!(response.end(), Some(RunEnd::Finished(_))));
}

/// A middleware receives events that are dropped later, and its replacements are processed.
#[test]
fn middleware_receives_events_before_the_stages() {
    let body = frames(&[started("r"), json!({"type":"SAID","text":"Hi"}), finished("r")]);
    let request = Agent::new("t").request("r", Vec::new()).expect("nothing is asked");
    let mut response = request.response(200, None);
    response.push(&body);
    response.finish();
    while let Some(next) = response.next_whole() {
        let (event, removals) = next.expect("an event");
        let event = match &event {
            Event::Unknown(said) if said.tag() == "SAID" => {
                let text = said.members().get("text").expect("a text").as_str();
                let chunk =
                    format!(r#"{{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":{text}}}"#);
                wire::decode(&chunk).expect("a chunk")
            }
            _ => event,
        };
        response.handle(event, removals);
    }
    assert_eq!(all(&mut response).expect("events").len(), 5);
    let [Message::Assistant(message)] = response.messages() else { panic!("no message") };
    assert_eq!(message.content.as_deref(), Some("Hi"));
}

#[cfg(feature = "protobuf")]
#[test]
fn protobuf_response_is_decoded() {
    use agui_types::proto;
    let mut agent = Agent::new("t");
    agent.accepts_protobuf = true;
    let request = agent.request("r", Vec::new()).expect("nothing is asked");
    assert_eq!(request.headers[1].1, "application/vnd.ag-ui.event+proto, text/event-stream;q=0.9");
    let mut body = Vec::new();
    for event in [
        started("r"),
        json!({"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hi"}),
        finished("r"),
    ] {
        let event: Event = wire::decode(&event.to_string()).expect("an event");
        proto::write_event(&mut body, &event).expect("bytes");
    }
    let mut response = request.response(200, Some(proto::CONTENT_TYPE));
    for piece in body.chunks(3) {
        response.push(piece);
    }
    response.finish();
    assert_eq!(all(&mut response).expect("events").len(), 5);
    let mut response = request.response(200, Some(proto::CONTENT_TYPE));
    response.push(&body[..body.len() - 1]);
    response.finish();
    let failure = all(&mut response).expect_err("cut off");
    assert!(matches!(failure, ResponseError::Violation(it) if it.rule() == Rule::Truncated));
}

#[test]
fn reading_is_finished_after_the_end_or_an_error() {
    let run = frames(&[
        json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"}),
        json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}),
    ]);
    let run = String::from_utf8(run).expect("JSON");
    let begun = run.split_inclusive("\n\n").next().expect("an event");
    let bodies = [
        (200, "", None),
        (200, ": a comment\n\n", None),
        (200, &*run, None),
        (200, begun, Some("ends too early")),
        (200, "data: {}\n\n", Some("no type")),
        (500, "no", Some("a refusal")),
    ];
    for (status, body, failure) in bodies {
        let agent = Agent::new("t");
        let request = agent.request("r", Vec::new()).expect("nothing is asked");
        let mut response = request.response(status, Some("text/event-stream"));
        let mut pieces = body.as_bytes().chunks(3);
        let mut errors = 0;
        let mut rounds = 0;
        while !response.is_finished() {
            rounds += 1;
            assert!(rounds <= body.len() + 10, "{body:?}");
            match response.poll() {
                Some(received) => errors += usize::from(received.is_err()),
                None => match pieces.next() {
                    Some(piece) => response.push(piece),
                    None => response.finish(),
                },
            }
        }
        assert_eq!(errors, usize::from(failure.is_some()), "{body:?}: {failure:?}");
        assert!(response.poll().is_none());
    }
}
