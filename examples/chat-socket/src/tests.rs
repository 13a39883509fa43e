//! Sockets over a pipe, with virtual time.
use super::*;
use crate::link::{MAX_WAITING, PING_TIME, SILENCE};
use futures::{SinkExt, stream};
use serde_json::{Value, json};
use std::future::pending;
use std::sync::Arc;
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

struct Script {
    registry: Registry,
    begun: Arc<Notify>,
}

impl ChatBackend for Script {
    async fn start(&self, input: RunAgentInput) -> Result<BoxStream<'static, Bytes>, String> {
        self.begun.notify_one();
        let said = serde_json::to_string(&input.messages.last()).unwrap();
        let ids = json!({ "threadId": "t", "runId": "r" });
        let event = |kind: &str| {
            let mut event = ids.clone();
            event["type"] = kind.into();
            Bytes::from(format!("data: {event}\n\n"))
        };
        let begins = stream::iter([event("RUN_STARTED")]);
        Ok(if said.contains(ENDLESS) {
            begins.chain(stream::once(pending())).boxed()
        } else if said.contains(BROKEN) {
            begins.boxed()
        } else {
            begins.chain(stream::iter([event("RUN_FINISHED")])).boxed()
        })
    }

    fn name(&self) -> String {
        "name".to_owned()
    }

    fn registry(&self) -> &Registry {
        &self.registry
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
        let (client, server) = duplex(64 * 1024);
        let (begun, ending) = (Arc::new(Notify::new()), CancellationToken::new());
        let server = WebSocketStream::from_raw_socket(server, Role::Server, None).await;
        let limits = SocketLimits { idle: IDLE, ending: ending.clone() };
        let backend = Script { registry: Registry::default(), begun: begun.clone() };
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
    assert_eq!((&error["type"], &error["code"]), (&json!("error"), &json!("STREAM_LOST")));
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
