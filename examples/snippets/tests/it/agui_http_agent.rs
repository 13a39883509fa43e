//! The AG-UI client against servers on loopback.
use agui_types::client::{Agent, Failure};
use agui_types::event::{CustomEvent, Event};
use agui_types::input::RunAgentInput;
use agui_types::interrupt::{Interrupt, ResumeEntry, ResumeStatus};
use agui_types::message::{Message, ToolMessage, UserMessage};
use agui_types::produce::{Interrupts, Run};
use agui_types::tool::Tool;
use agui_types::transport::Encoding;
use agui_types::verify::Rule;
use agui_types::{proto, sse};
use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use jsonrpc_core::wire::{self, Raw};
use rustls::crypto::ring::default_provider;
use snippets::agui_http_agent::{RunError, run};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;

/// An agent that calls a page tool for a colour, then interrupts for a confirmation, and then finishes.
fn answer(input: &RunAgentInput) -> Vec<Event> {
    let mut run = Run::begin(input, Vec::new());
    let ended = match (&input.messages[..], &input.resume) {
        (_, Some(answers)) => {
            let payload = answers.first().and_then(|it| it.payload.clone());
            let answer = payload.unwrap_or_else(|| Raw::from_text("null").expect("JSON"));
            run.emit(CustomEvent::new("snippets.answer", answer)).expect("an event");
            run.finish()
        }
        ([.., Message::Tool(colour)], None) => {
            let message = run.new_message_id();
            run.text(&message, "So it is ").expect("text");
            run.text(&message, &colour.content.text()).expect("text");
            run.interrupt(Interrupts::new(Interrupt::new("sure", "confirmation")))
        }
        _ => {
            run.tool_call(&"call".into(), "pick_colour", None).expect("a call");
            run.arguments(&"call".into(), "{}").expect("arguments");
            run.finish()
        }
    };
    ended.expect("a run ends once");
    run.sink().clone()
}

async fn agent(headers: HeaderMap, body: String) -> Response {
    let Ok(input) = wire::decode::<RunAgentInput>(&body) else {
        return (StatusCode::BAD_REQUEST, "no run input").into_response();
    };
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    let (encoding, mut body) = (Encoding::negotiate(accept), Vec::new());
    for event in answer(&input) {
        match encoding {
            Encoding::Protobuf => proto::write_event(&mut body, &event).expect("bytes"),
            _ => sse::write_event(&mut body, &event).expect("JSON"),
        }
    }
    ([(header::CONTENT_TYPE, encoding.content_type())], body).into_response()
}

/// An agent with a truncated response.
async fn broken(body: String) -> Response {
    let input: RunAgentInput = wire::decode(&body).expect("an input");
    let mut body = Vec::new();
    for event in answer(&input).iter().take(3) {
        sse::write_event(&mut body, event).expect("JSON");
    }
    ([(header::CONTENT_TYPE, sse::CONTENT_TYPE)], body).into_response()
}

async fn serve() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let busy = || async { (StatusCode::SERVICE_UNAVAILABLE, "later") };
    let router = Router::new()
        .route("/agent", post(agent))
        .route("/broken", post(broken))
        .route("/busy", post(busy));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

fn asking() -> Agent {
    let mut agent = Agent::new("thread");
    agent.tools.push(Tool::new("pick_colour", "Asks the user for a colour."));
    agent.messages.push(Message::User(UserMessage::new("u", "Paint it.")));
    agent
}

/// Returns an HTTP client, which panics without a default provider if another package of the build enables TLS.
fn http() -> reqwest::Client {
    let _ = default_provider().install_default();
    reqwest::Client::new()
}

/// A frontend tool, an interrupt and its answer: three runs of one conversation, in both encodings.
#[tokio::test]
async fn conversation_continues_over_http() {
    let (url, http) = (format!("http://{}/agent", serve().await), http());
    for accepts_protobuf in [false, true] {
        let mut agent = asking();
        agent.accepts_protobuf = accepts_protobuf;
        let mut types = Vec::new();
        let kept = |types: &mut Vec<String>, event: &Event| types.push(event.tag().to_owned());
        run(&mut agent, &http, &url, "r1", Vec::new(), |it| kept(&mut types, &it.event))
            .await
            .expect("a run");
        let expected =
            ["RUN_STARTED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "RUN_FINISHED"];
        assert_eq!(types, expected);

        let colour = ToolMessage::new("t", "red", "call");
        agent.messages.push(Message::Tool(colour));
        run(&mut agent, &http, &url, "r2", Vec::new(), |_| ()).await.expect("a run");
        let Some(Message::Assistant(said)) = agent.messages.last() else { panic!("no words") };
        assert_eq!(said.content.as_deref(), Some("So it is red"));
        assert_eq!(agent.interrupts().len(), 1);

        let unanswered = run(&mut agent, &http, &url, "r3", Vec::new(), |_| ()).await;
        assert!(matches!(unanswered, Err(RunError::Unanswered(_))));
        let mut yes = ResumeEntry::new("sure", ResumeStatus::Resolved);
        yes.payload = Some(Raw::from_text("true").expect("JSON"));
        let mut answer = None;
        run(&mut agent, &http, &url, "r3", vec![yes], |it| {
            if let Event::Custom(custom) = &it.event {
                answer = Some(custom.value.as_str().to_owned());
            }
        })
        .await
        .expect("a run");
        assert_eq!(answer.as_deref(), Some("true"));
        assert_eq!(agent.interrupts(), []);
    }
}

#[tokio::test]
async fn errors_are_reported() {
    let (address, http) = (serve().await, http());
    let mut agent = asking();
    let url = format!("http://{address}/broken");
    let cut = run(&mut agent, &http, &url, "r1", Vec::new(), |_| ()).await;
    let Err(RunError::Answer(Failure::Violation(violation))) = cut else { panic!("{cut:?}") };
    assert_eq!(violation.rule(), Rule::Truncated);
    // Everything before the truncation is kept.
    assert_eq!(agent.messages.len(), 2);

    let url = format!("http://{address}/busy");
    let busy = run(&mut agent, &http, &url, "r2", Vec::new(), |_| ()).await;
    let Err(RunError::Answer(failure)) = busy else { panic!("{busy:?}") };
    assert_eq!(failure.to_string(), "HTTP 503: later");
    assert!(failure.may_send_again());

    let url = "http://127.0.0.1:1/";
    let unreachable = run(&mut agent, &http, url, "r3", Vec::new(), |_| ()).await;
    assert!(matches!(unreachable, Err(RunError::Http(_))));
}
