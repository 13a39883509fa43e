//! An AG-UI agent over HTTP, without ACP: text, a tool of the page, and an interrupt.
//!
//! ```console
//! $ cargo run -p mini --bin mini-agui-server
//! listening on http://127.0.0.1:4002
//! ```
//!
//! Connect `new HttpAgent({ url: "http://127.0.0.1:4002/" })` of `@ag-ui/client`, or
//! `mini-agui-client`. The agent paints: it asks the page for a colour, if the page offers the tool
//! `ask_user`, and asks for a confirmation before it paints. [`paint`] has the three runs of that
//! conversation. It keeps no state: each input has the whole conversation. [`Answer`] connects a
//! [`Run`], which refuses events that the protocol forbids, with the body of a response.
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::interrupt::{Interrupt, ResumeStatus};
use agui_types::message::Message;
use agui_types::produce::{Interrupts, Run};
use agui_types::sse;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use clap::Parser;
use futures::stream::unfold;
use serde_json::json;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc as queue;
use std::time::Duration;
use tokio::sync::mpsc::{self, Sender};

/// Name of the page's tool.
const ASK_USER: &str = "ask_user";
/// Time between two words.
const PAUSE: Duration = Duration::from_millis(20);
/// Largest number of chunks that wait for a slow client. The run then waits as well.
const MAX_CHUNKS: usize = 16;

/// Serves an AG-UI agent without a model, for clients on this machine
#[derive(Debug, Parser)]
#[command(name = "mini-agui-server", version)]
struct Args {
    /// Address to listen on, of a loopback interface; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4002")]
    listen: SocketAddr,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let args = Args::parse();
    if !args.listen.ip().is_loopback() {
        return Err(io::Error::other("--listen: expected a loopback address"));
    }
    let app = Router::new().route("/", post(run)).layer(from_fn(local));
    let listener = tokio::net::TcpListener::bind(args.listen).await?;
    eprintln!("listening on http://{}", listener.local_addr()?);
    tokio::select! {
        served = axum::serve(listener, app) => served,
        stopped = tokio::signal::ctrl_c() => stopped,
    }
}

/// `POST /`: runs an input, and streams its events.
async fn run(Json(input): Json<RunAgentInput>) -> Response {
    let (chunks, received) = mpsc::channel(MAX_CHUNKS);
    tokio::spawn(async move {
        // An error means that the client has disconnected, or that the events break a rule.
        if let Err(error) = paint(&input, chunks).await {
            eprintln!("a run has ended early: {error}");
        }
    });
    let body = unfold(received, |mut received| async move {
        let chunk: Vec<u8> = received.recv().await?;
        Some((Ok::<_, io::Error>(chunk), received))
    });
    let headers = [(header::CONTENT_TYPE, sse::CONTENT_TYPE), (header::CACHE_CONTROL, "no-cache")];
    (headers, Body::from_stream(body)).into_response()
}

/// Runs the agent. The messages since the last one of the user decide what is next.
async fn paint(input: &RunAgentInput, chunks: Sender<Vec<u8>>) -> Result<(), Box<dyn Error>> {
    let mut answer = Answer::begin(input, chunks);
    if let Some(entry) = input.resume.iter().flatten().next() {
        // The payload is `true`, or the answer of a user in words.
        let payload = entry.payload.as_ref().map(|payload| payload.as_str());
        let is_confirmed = matches!(payload, Some("true" | "\"yes\""));
        let text = match entry.status == ResumeStatus::Resolved && is_confirmed {
            true => format!("The door is {} now.", colour(input)),
            false => "The door stays as it is.".to_owned(),
        };
        answer.say(&text).await?;
        answer.run.finish()?;
        return answer.flush().await;
    }

    let has_result = matches!(input.messages.last(), Some(Message::Tool(_)));
    let has_tool = input.tools.iter().flatten().any(|tool| tool.name == ASK_USER);
    if has_tool && !has_result {
        answer.say("I paint the door.").await?;
        let call = answer.run.new_tool_call_id();
        answer.run.tool_call(&call, ASK_USER, None)?;
        let arguments = json!({ "question": "Which colour?" });
        answer.run.arguments(&call, &arguments.to_string())?;
        // The run ends with a pending call. The next input has its result.
        answer.run.finish()?;
        return answer.flush().await;
    }

    answer.say("I have the brush in my hand.").await?;
    let mut interrupt = Interrupt::new(format!("confirm-{}", input.run_id), "confirmation");
    interrupt.message = Some(format!("Paint the door {}?", colour(input)));
    // The run ends. The next input has the answer among its `resume` entries.
    answer.run.interrupt(Interrupts::new(interrupt))?;
    answer.flush().await
}

/// Returns the result of the page's tool since the last message of the user, else a default.
fn colour(input: &RunAgentInput) -> String {
    let latest = input.messages.iter().rev().take_while(|it| !matches!(it, Message::User(_)));
    let mut results = latest.filter_map(|message| match message {
        Message::Tool(result) => Some(result.content.text()),
        _ => None,
    });
    results.next().unwrap_or_else(|| "white".to_owned())
}

/// A run, and the response that streams its events.
struct Answer {
    run: Run<Box<dyn FnMut(Event) + Send>>,
    /// Events that the run has made since the last chunk.
    events: queue::Receiver<Event>,
    chunks: Sender<Vec<u8>>,
}

impl Answer {
    fn begin(input: &RunAgentInput, chunks: Sender<Vec<u8>>) -> Self {
        let (sender, events) = queue::channel();
        let run = Run::begin(
            input,
            Box::new(move |event| {
                let _ = sender.send(event);
            }) as Box<dyn FnMut(Event) + Send>,
        );
        Self { run, events, chunks }
    }

    /// Streams a message, word by word.
    async fn say(&mut self, text: &str) -> Result<(), Box<dyn Error>> {
        let message = self.run.new_message_id();
        for word in text.split_inclusive(' ') {
            self.run.text(&message, word)?;
            self.flush().await?;
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Sends the events that the run has made. Waits while the client reads slowly.
    async fn flush(&mut self) -> Result<(), Box<dyn Error>> {
        let mut chunk = Vec::new();
        for event in self.events.try_iter() {
            sse::write_event(&mut chunk, &event)?;
        }
        self.chunks.send(chunk).await.map_err(|_| "the client has disconnected")?;
        Ok(())
    }
}

/// Accepts local clients only.
async fn local(request: Request, next: Next) -> Response {
    if !is_local(request.headers()) {
        return (StatusCode::FORBIDDEN, "this server is for local clients").into_response();
    }
    next.run(request).await
}

/// Returns whether a request is for this address. A page of another site may use a name that
/// resolves to it, or send a request without reading the response.
fn is_local(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_own = match headers.get(header::ORIGIN) {
        Some(origin) => origin.to_str().ok() == Some(&*format!("http://{host}")),
        None => true,
    };
    is_own && ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}
