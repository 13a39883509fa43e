//! Sockets over a pipe, with virtual time.
use super::*;
use crate::chat_socket::link::{MAX_WAITING, PING_TIME, SILENCE};
use futures::{SinkExt, StreamExt, stream};
use serde_json::{Value, json};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::io::{DuplexStream, duplex};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_util::sync::CancellationToken;

const IDLE: Duration = Duration::from_secs(1000);

/// The word that is answered without an end of the run.
const ENDLESS: &str = "endless";

/// The word that is answered by a stream that breaks off.
const BROKEN: &str = "broken";

/// The word that is answered by a tool that asks.
const ASKING: &str = "asking";

struct Script {
    registry: Arc<Registry>,
    begun: Arc<Notify>,
    /// Whether a question is open, on any socket.
    is_open: Arc<AtomicBool>,
}

/// Returns the events of a run.
fn run(events: &[Value]) -> BoxStream<'static, Bytes> {
    let events = [&[json!({ "type": "RUN_STARTED" })], events].concat();
    let events = events.into_iter().map(|mut event| {
        (event["threadId"], event["runId"]) = ("t".into(), "r".into());
        Bytes::from(format!("data: {event}\n\n"))
    });
    stream::iter(events.collect::<Vec<_>>()).boxed()
}

/// Returns the answer to an input while a question is open, as the conversation of an agent
/// answers.
fn answer_while_open(input: &RunAgentInput, is_open: &AtomicBool) -> BoxStream<'static, Bytes> {
    let resume = serde_json::to_value(&input.resume).unwrap();
    let cancelled = json!([{ "interruptId": "int-1", "status": "cancelled" }]);
    if resume == cancelled {
        is_open.store(false, Relaxed);
        let result = json!({ "type": "TOOL_CALL_RESULT", "messageId": "m-2", "toolCallId": "call-1", "content": "declined" });
        return run(&[result, json!({ "type": "RUN_FINISHED" })]);
    }
    assert!(resume.is_null(), "{resume}");
    run(&[json!({ "type": "RUN_ERROR", "code": "INTERRUPTS_OPEN", "message": "int-1" })])
}

fn asks() -> Value {
    let question = json!({ "id": "int-1", "reason": "input_required", "message": "Which?" });
    json!({ "type": "RUN_FINISHED", "outcome": { "type": "interrupt", "interrupts": [question] } })
}

impl ChatBackend for Script {
    async fn start(&self, input: RunAgentInput) -> Result<BoxStream<'static, Bytes>, String> {
        self.begun.notify_one();
        let said = serde_json::to_string(&input.messages.last()).unwrap();
        Ok(if self.is_open.load(Relaxed) {
            answer_while_open(&input, &self.is_open)
        } else if said.contains(ASKING) {
            self.is_open.store(true, Relaxed);
            let call = json!({ "type": "TOOL_CALL_START", "toolCallId": "call-1", "toolCallName": "book" });
            let arguments = json!({ "type": "TOOL_CALL_ARGS", "toolCallId": "call-1", "delta": "{\"to\":\"Oslo\"}" });
            let end = json!({ "type": "TOOL_CALL_END", "toolCallId": "call-1" });
            run(&[call, arguments, end, asks()])
        } else if said.contains(ENDLESS) {
            run(&[]).chain(stream::once(pending())).boxed()
        } else if said.contains(BROKEN) {
            run(&[])
        } else {
            run(&[json!({ "type": "RUN_FINISHED" })])
        })
    }

    fn interrupted_run(&self, conversation_id: &str) -> Option<BoxStream<'static, Bytes>> {
        assert_eq!(conversation_id, "c");
        self.is_open.load(Relaxed).then(|| run(&[asks()]))
    }

    fn name(&self) -> String {
        "name".to_owned()
    }

    fn registry(&self) -> Arc<Registry> {
        self.registry.clone()
    }
}

struct Client {
    socket: WebSocketStream<DuplexStream>,
    begun: Arc<Notify>,
    ending: CancellationToken,
    serving: JoinHandle<()>,
}

impl Client {
    async fn connect() -> Self {
        Self::connect_to(Arc::default()).await
    }

    /// Opens another socket of a user.
    async fn connect_to(is_open: Arc<AtomicBool>) -> Self {
        let (client, server) = duplex(64 * 1024);
        let begun = Arc::new(Notify::new());
        let ending = CancellationToken::new();
        let server = WebSocketStream::from_raw_socket(server, Role::Server, None).await;
        let limits = SocketLimits { idle: IDLE, ending: ending.clone() };
        let backend = Script { registry: Arc::default(), begun: begun.clone(), is_open };
        let serving = tokio::spawn(Chat::new(backend, Link::new(server, limits)).serve());
        let socket = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
        Self { socket, begun, ending, serving }
    }

    async fn say(&mut self, text: &str) {
        let message = json!({ "type": "message", "conversation_id": "c", "content": text });
        self.socket.send(Message::text(message.to_string())).await.unwrap();
    }

    /// Returns the next message of the chat.
    async fn hear(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.next().await.unwrap().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// Sends a message and returns the types of the answer, with the names of tools.
    async fn talk(&mut self, text: &str) -> Vec<String> {
        self.say(text).await;
        let mut types = Vec::new();
        loop {
            let message = self.hear().await;
            let kind = message["type"].as_str().unwrap();
            let detail = message["tool_name"].as_str().or(message["code"].as_str());
            types.push(detail.map_or(kind.to_owned(), |detail| format!("{kind} {detail}")));
            if matches!(kind, "complete" | "error") {
                return types;
            }
        }
    }

    /// Reads up to the close frame, and to the end of the connection.
    async fn closed(&mut self) -> CloseFrame {
        let mut closed = None;
        while let Some(frame) = self.socket.next().await {
            if let Message::Close(frame) = frame.unwrap() {
                closed = frame;
            }
        }
        closed.expect("a close frame")
    }
}

#[tokio::test(start_paused = true)]
async fn pings_are_answered_during_answer() {
    let mut client = Client::connect().await;
    client.say(ENDLESS).await;
    client.begun.notified().await;
    client.socket.send(Message::Ping(Bytes::from_static(b"there?"))).await.unwrap();
    let pong = async {
        while client.socket.next().await.unwrap().unwrap()
            != Message::Pong(Bytes::from_static(b"there?"))
        {}
    };
    timeout(PING_TIME, pong).await.expect("a pong");
}

#[tokio::test(start_paused = true)]
async fn client_that_answers_pings_stays() {
    let mut client = Client::connect().await;
    client.say(ENDLESS).await;
    let reads = async { while client.socket.next().await.unwrap().is_ok() {} };
    timeout(IDLE * 2, reads).await.expect_err("the answer goes on");
    assert!(!client.serving.is_finished());
}

#[tokio::test(start_paused = true)]
async fn silent_client_is_noticed_in_seconds() {
    for text in [ENDLESS, "short"] {
        let mut client = Client::connect().await;
        client.say(text).await;
        client.begun.notified().await;
        let began = Instant::now();
        client.serving.await.unwrap();
        assert!(began.elapsed() <= SILENCE + PING_TIME, "{text}: {:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn client_that_leaves_during_answer_is_noticed_at_once() {
    let mut client = Client::connect().await;
    client.say(ENDLESS).await;
    client.begun.notified().await;
    let began = Instant::now();
    drop(client.socket);
    client.serving.await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn idle_socket_is_closed() {
    let mut client = Client::connect().await;
    client.say("short").await;
    assert_eq!(client.hear().await["type"], "complete");
    let began = Instant::now();
    assert_eq!(client.closed().await.code, CloseCode::Away);
    assert_eq!(began.elapsed().as_secs(), IDLE.as_secs());
    client.serving.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn messages_during_answer_wait_up_to_limit() {
    let mut client = Client::connect().await;
    for _ in 0..=MAX_WAITING {
        client.say("short").await;
    }
    for _ in 0..=MAX_WAITING {
        assert_eq!(client.hear().await["type"], "complete");
    }
    client.say(ENDLESS).await;
    client.begun.notified().await;
    for _ in 0..=MAX_WAITING {
        client.say("short").await;
    }
    assert_eq!(client.closed().await.code, CloseCode::Policy);
}

#[tokio::test(start_paused = true)]
async fn answer_without_end_is_error() {
    let mut client = Client::connect().await;
    client.say(BROKEN).await;
    let error = client.hear().await;
    assert_eq!(&error["type"], &json!("error"));
    assert_eq!(&error["code"], &json!("STREAM_LOST"));
    client.say("short").await;
    assert_eq!(client.hear().await["type"], "complete");
}

#[tokio::test(start_paused = true)]
async fn end_of_server_closes_idle_socket() {
    let mut client = Client::connect().await;
    client.say("short").await;
    assert_eq!(client.hear().await["type"], "complete");
    client.ending.cancel();
    assert_eq!(client.closed().await.code, CloseCode::Restart);
    client.serving.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn next_message_cancels_question_and_ends_its_call() {
    let mut client = Client::connect().await;
    assert_eq!(client.talk(ASKING).await, ["tool_start book", "error ASKED"]);
    assert_eq!(client.talk("short").await, ["tool_complete book", "complete"]);
    assert_eq!(client.talk("short").await, ["complete"]);
    assert_eq!(client.talk(ASKING).await, ["tool_start book", "error ASKED"], "the id is free");
}

#[tokio::test(start_paused = true)]
async fn new_socket_cancels_question_of_another() {
    let is_open = Arc::<AtomicBool>::default();
    let mut first = Client::connect_to(is_open.clone()).await;
    assert_eq!(first.talk(ASKING).await, ["tool_start book", "error ASKED"]);
    drop(first);
    let mut second = Client::connect_to(is_open.clone()).await;
    assert_eq!(second.talk("short").await, ["complete"]);
    assert!(!is_open.load(Relaxed));
    assert_eq!(second.talk("short").await, ["complete"]);
}
