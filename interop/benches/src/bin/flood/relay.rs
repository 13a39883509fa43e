//! The plain relay: it sends each line of the agent unchanged as one server-sent event. It opens
//! one session, and serves one request at a time.
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::stream::unfold;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::process::Stdio;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, mpsc};

/// Number of parts of the response that wait for the client.
const WAITING: usize = 64;

/// The beginning of the agent's answer to a prompt.
const END: &[u8] = br#"{"jsonrpc":"2.0","id":3,"#;

struct Relay {
    input: Mutex<ChildStdin>,
    response: Mutex<Option<mpsc::Sender<Bytes>>>,
}

#[tokio::main]
pub async fn serve(command: &[&str]) {
    let (program, arguments) = command.split_first().expect("a command");
    let mut agent = Command::new(program);
    agent.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut agent = agent.spawn().expect("an agent");
    let input = agent.stdin.take().expect("a pipe");
    let output = agent.stdout.take().expect("a pipe");
    let relay = Arc::new(Relay { input: Mutex::new(input), response: Mutex::default() });
    relay.request(1, "initialize", &json!({ "protocolVersion": 1 })).await;
    relay.request(2, "session/new", &json!({ "cwd": "/", "mcpServers": [] })).await;
    tokio::spawn(relay.clone().copy(output));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    eprintln!("listening on http://{}", listener.local_addr().expect("an address"));
    let routes = axum::Router::new().route("/api/ai/chat", post(run)).with_state(relay);
    axum::serve(listener, routes).await.expect("a server");
}

async fn run(State(relay): State<Arc<Relay>>, input: Bytes) -> Response {
    let input: Value = serde_json::from_slice(&input).expect("JSON");
    let (sender, receiver) = mpsc::channel(WAITING);
    *relay.response.lock().await = Some(sender);
    let prompt = json!([{ "type": "text", "text": input["messages"][0]["content"] }]);
    let params = json!({ "sessionId": "session-1", "prompt": prompt });
    relay.request(3, "session/prompt", &params).await;
    let parts = unfold(receiver, async |mut parts| {
        Some((Ok::<Bytes, Infallible>(parts.recv().await?), parts))
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(parts)).into_response()
}

impl Relay {
    async fn request(&self, id: u32, method: &str, params: &Value) {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let written = self.input.lock().await.write_all(format!("{line}\n").as_bytes()).await;
        written.expect("an agent that reads");
    }

    /// Copies each line of the agent into a frame. All frames of a read are one part of the
    /// response.
    async fn copy(self: Arc<Self>, mut output: ChildStdout) {
        let mut read = vec![0; 64 * 1024];
        let mut unread = Vec::new();
        loop {
            let size = output.read(&mut read).await.expect("an agent that writes");
            if size == 0 {
                return;
            }
            unread.extend_from_slice(&read[..size]);
            let mut frames = Vec::with_capacity(2 * unread.len());
            let mut taken = 0;
            let mut has_ended = false;
            for line in unread.split_inclusive(|byte| *byte == b'\n') {
                if line.last() != Some(&b'\n') {
                    break;
                }
                frames.extend_from_slice(b"data: ");
                frames.extend_from_slice(line);
                frames.push(b'\n');
                taken += line.len();
                has_ended |= line.starts_with(END);
            }
            unread.drain(..taken);
            let mut response = self.response.lock().await;
            if let Some(sender) = &*response {
                // The client has disconnected.
                let _gone = sender.send(frames.into()).await;
            }
            if has_ended {
                *response = None;
            }
        }
    }
}
