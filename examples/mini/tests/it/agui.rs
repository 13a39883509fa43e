//! The AG-UI server with the AG-UI client, and with requests of the test.
use crate::programs::{AGUI_CLIENT, AGUI_SERVER, Server, printed, run, stderr};
use agui_types::event::{Event, RunFinishedOutcome};
use agui_types::input::RunAgentInput;
use agui_types::sse::Decoder;
use agui_types::verify::Verifier;
use jsonrpc_core::wire::decode;
use reqwest::StatusCode;
use rustls::crypto::ring::default_provider;

/// Returns an HTTP client. Another package of a build may enable TLS, which needs a provider of
/// cryptography.
pub(crate) fn http() -> reqwest::Client {
    let _ = default_provider().install_default();
    reqwest::Client::new()
}

/// Posts an input, and returns the events, which obey the rules of the protocol.
async fn post(server: &Server, input: &str) -> Vec<Event> {
    let input: RunAgentInput = decode(input).expect("an input");
    let response = http().post(&server.url).json(&input).send().await.expect("a response");
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.bytes().await.expect("a body");
    let mut decoder = Decoder::default();
    decoder.push(&body);
    decoder.finish();
    let mut verifier = Verifier::strict_for(&input);
    let mut events = Vec::new();
    while let Some(frame) = decoder.next_frame() {
        let event: Event = frame.expect("a frame").decode().expect("an event");
        verifier.handle(&event).expect("a permitted event");
        events.push(event);
    }
    verifier.finish().expect("a complete run");
    events
}

fn text(events: &[Event]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        Event::TextMessageContent(content) => Some(content.delta.as_str()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn conversation_has_a_tool_call_an_interrupt_and_an_answer() {
    let server = Server::start(AGUI_SERVER, &[]).await;
    let user = r#"{"id":"m1","role":"user","content":"Paint the door."}"#;
    let tools = r#"[{"name":"ask_user","description":"Asks the user."}]"#;
    let first = format!(
        r#"{{"threadId":"t","runId":"r1","protocolVersion":"1.0","messages":[{user}],"tools":{tools}}}"#
    );
    let events = post(&server, &first).await;
    assert_eq!(text(&events), "I paint the door.");
    let Some(Event::ToolCallStart(call)) =
        events.iter().find(|event| matches!(event, Event::ToolCallStart(_)))
    else {
        panic!("no call: {events:?}");
    };
    let Some(Event::RunFinished(finished)) = events.last() else { panic!("no end") };
    let outcome = format!(r#"{{"type":"success","pendingToolCallIds":["{}"]}}"#, call.tool_call_id);
    assert_eq!(serde_json::to_string(&finished.outcome).expect("JSON"), outcome);

    let made = format!(
        r#"{{"id":"m2","role":"assistant","toolCalls":[{{"id":"{}","type":"function","function":{{"name":"ask_user","arguments":"{{}}"}}}}]}}"#,
        call.tool_call_id
    );
    let result = format!(
        r#"{{"id":"m3","role":"tool","toolCallId":"{}","content":"red"}}"#,
        call.tool_call_id
    );
    let messages = format!("[{user},{made},{result}]");
    let second = format!(
        r#"{{"threadId":"t","runId":"r2","protocolVersion":"1.0","messages":{messages},"tools":{tools}}}"#
    );
    let events = post(&server, &second).await;
    let Some(Event::RunFinished(finished)) = events.last() else { panic!("no end") };
    let Some(RunFinishedOutcome::Interrupt(outcome)) = &finished.outcome else {
        panic!("no interrupt: {finished:?}");
    };
    let [interrupt] = &outcome.interrupts[..] else { panic!("{outcome:?}") };
    assert_eq!(interrupt.message.as_deref(), Some("Paint the door red?"));

    for (entry, answer) in [
        (r#""status":"resolved","payload":true"#, "The door is red now."),
        (r#""status":"resolved","payload":false"#, "The door stays as it is."),
        (r#""status":"cancelled""#, "The door stays as it is."),
    ] {
        let resume = format!(r#"[{{"interruptId":"{}",{entry}}}]"#, interrupt.id);
        let third = format!(
            r#"{{"threadId":"t","runId":"r3","protocolVersion":"1.0","messages":{messages},"tools":{tools},"resume":{resume}}}"#
        );
        assert_eq!(text(&post(&server, &third).await), answer);
    }
}

#[tokio::test]
async fn client_answers_the_questions_of_the_server() {
    let server = Server::start(AGUI_SERVER, &[]).await;
    for (input, end) in [
        ("red\ntrue\n", "The door is red now.\n"),
        ("blue\nyes\n", "The door is blue now.\n"),
        ("red\nfalse\n", "The door stays as it is.\n"),
        ("red\n", "The door stays as it is.\n"),
    ] {
        let words = [server.url.as_str(), "paint", "the", "door"];
        let conversation = run(AGUI_CLIENT, &words, input.as_bytes()).await;
        let text = printed(&conversation);
        assert!(text.starts_with("I paint the door.\n"), "{text}");
        assert!(text.ends_with(end), "{input:?}: {text}");
        let shown = stderr(&conversation);
        assert!(shown.contains("[TOOL_CALL_START] ask_user"), "{shown}");
        assert!(shown.contains(r#"The agent asks {"question":"Which colour?"}"#), "{shown}");
    }
}

#[tokio::test]
async fn client_reports_failures() {
    let server = Server::start(AGUI_SERVER, &[]).await;
    let nowhere = format!("{}/nowhere", server.url);
    let not_found = run(AGUI_CLIENT, &[nowhere.as_str(), "paint"], b"").await;
    assert_eq!(not_found.status.code(), Some(1));
    assert!(stderr(&not_found).contains("404"), "{}", stderr(&not_found));

    let unreachable = run(AGUI_CLIENT, &["http://127.0.0.1:1/", "paint"], b"").await;
    assert_eq!(unreachable.status.code(), Some(1));
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let server = Server::start(AGUI_SERVER, &[]).await;
    let input = r#"{"threadId":"t","runId":"r","messages":[]}"#;
    let post = || http().post(&server.url).body(input);
    let json = ("content-type", "application/json");
    let foreign = post().header(json.0, json.1).header("host", "example.com").send().await;
    assert_eq!(foreign.expect("a response").status(), StatusCode::FORBIDDEN);
    // A page may post text to another origin, but no JSON.
    let simple = post().header(json.0, "text/plain").send().await;
    assert_eq!(simple.expect("a response").status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
}
