//! Two ends of a connection in one program, on one thread, over a pipe in memory: what a typed message costs from one
//! program's hands into the other's.
use acp_types::v1::prompt_turn::{PromptRequest, PromptResponse, SessionNotification, StopReason};
use agent_client_protocol::role::UntypedRole;
use agent_client_protocol::{
    ByteStreams, ConnectionTo, Error, Responder, on_receive_notification, on_receive_request,
};
use agent_client_protocol_schema::v1 as official;
use async_trait::async_trait;
use futures::join;
use jsonrpc_core::codec::Codec;
use jsonrpc_core::driver::{Client, Context, Driver, Handler, Options};
use jsonrpc_core::framing::Lines;
use jsonrpc_core::wire::{self, Raw};
use jsonrpc_core::{CancelMethod, ErrorCode, ErrorObject, Notification, Request};
use serde::de::DeserializeOwned;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{DuplexStream, duplex, split};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local, yield_now};
use tokio_util::codec::{FramedRead, FramedWrite};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

/// A way to exchange so many messages.
pub type Connection = (&'static str, fn(usize));

/// What each is measured with, the peer behind ours.
pub const CONNECTIONS: [(&str, Connection, Connection); 2] = [
    (
        "a notification",
        ("ours: notifications", |count| runtime().block_on(our_notifications(count))),
        ("acp SDK: notifications", |count| block_on_local(their_notifications(count))),
    ),
    (
        "a round trip",
        ("ours: round trips", |count| runtime().block_on(our_round_trips(count))),
        ("acp SDK: round trips", |count| block_on_local(their_round_trips(count))),
    ),
];

/// The connection of this name.
pub fn connection(name: &str) -> Option<Connection> {
    let all = CONNECTIONS.into_iter().flat_map(|(_, ours, theirs)| [ours, theirs]);
    all.into_iter().find(|(known, _)| *known == name)
}

/// How much the pipe holds in each direction.
const PIPE: usize = 64 * 1024;

const UPDATE: &str = r#"{"sessionId":"sess_01JD8QZ5M3Y7C9V4K2N6T8R0XW","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"The parser now keeps the number"}}}"#;
const PROMPT: &str = r#"{"sessionId":"sess_01JD8QZ5M3Y7C9V4K2N6T8R0XW","prompt":[{"type":"text","text":"What does the parser keep?"}]}"#;

fn read<T: DeserializeOwned>(text: &str) -> T {
    wire::decode(text).expect("a message of the model")
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

/// The ends of the SDK are tasks of one thread; ours are futures of one task.
fn block_on_local(connection: impl Future<Output = ()>) {
    LocalSet::new().block_on(&runtime(), connection);
}

/// Reads and answers as a program does that has types for what comes.
#[derive(Default)]
struct Typed {
    notifications: AtomicUsize,
}

fn internal(error: impl std::fmt::Display) -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string())
}

#[async_trait]
impl Handler for Typed {
    async fn request(&self, request: Request<'_>, _: Context) -> Result<Raw, ErrorObject> {
        let params = request.params.ok_or_else(|| internal("no params"))?;
        black_box(wire::decode::<PromptRequest>(params.get()).map_err(internal)?);
        Raw::from_value(&PromptResponse::new(StopReason::EndTurn)).map_err(internal)
    }

    async fn notification(&self, notification: Notification<'_>, _: Client) {
        let params = notification.params.map_or("", |params| params.get());
        black_box(read::<SessionNotification>(params));
        self.notifications.fetch_add(1, Ordering::Relaxed);
    }
}

type OurDriver = Driver<
    FramedRead<tokio::io::ReadHalf<DuplexStream>, Codec>,
    FramedWrite<tokio::io::WriteHalf<DuplexStream>, Codec>,
    Arc<Typed>,
>;

fn ours(end: DuplexStream, handler: &Arc<Typed>) -> (OurDriver, Client) {
    let (reader, writer) = split(end);
    let reader = FramedRead::with_capacity(reader, Codec::new(Lines::default()), PIPE);
    let writer = FramedWrite::new(writer, Codec::new(Lines::default()));
    Driver::new(reader, writer, Arc::clone(handler), Options::new(CancelMethod::ACP))
}

async fn our_notifications(count: usize) {
    let (one, other) = duplex(PIPE);
    let handler = Arc::new(Typed::default());
    let ((sender, client), (receiver, _)) = (ours(one, &handler), ours(other, &handler));
    let update: SessionNotification = read(UPDATE);
    let send = async {
        for _ in 0..count {
            client.notify_value("session/update", black_box(&update)).await.expect("open");
        }
        client.shut_down();
    };
    let (sent, received, ()) = join!(sender, receiver, send);
    sent.and(received).expect("no IO");
    assert_eq!(handler.notifications.load(Ordering::Relaxed), count);
}

async fn our_round_trips(count: usize) {
    let (one, other) = duplex(PIPE);
    let handler = Arc::new(Typed::default());
    let ((sender, client), (receiver, _)) = (ours(one, &handler), ours(other, &handler));
    let prompt: PromptRequest = read(PROMPT);
    let ask = async {
        for _ in 0..count {
            let prompt = black_box(&prompt);
            let answer = client.request_value("session/prompt", prompt).await.expect("open");
            black_box(read::<PromptResponse>(answer.as_str()));
        }
        client.shut_down();
    };
    let (sent, received, ()) = join!(sender, receiver, ask);
    sent.and(received).expect("no IO");
}

fn theirs(end: DuplexStream) -> ByteStreams<impl futures::AsyncWrite, impl futures::AsyncRead> {
    let (reader, writer) = split(end);
    ByteStreams::new(writer.compat_write(), reader.compat())
}

async fn their_notifications(count: usize) {
    let (one, other) = duplex(PIPE);
    let (done, is_done) = oneshot::channel();
    let (mut received, mut done) = (0, Some(done));
    let receiver = UntypedRole.builder().on_receive_notification(
        async move |update: official::SessionNotification, _: ConnectionTo<UntypedRole>| {
            black_box(update);
            received += 1;
            if received == count {
                let _ = done.take().ok_or_else(Error::internal_error)?.send(());
            }
            Ok(())
        },
        on_receive_notification!(),
    );
    let receiver = spawn_local(receiver.connect_to(theirs(other)));
    let update: official::SessionNotification = serde_json::from_str(UPDATE).expect("an update");
    let sent = UntypedRole.builder().connect_with(theirs(one), async |to| -> Result<(), Error> {
        for _ in 0..count {
            to.send_notification(black_box(&update).clone())?;
            // Its queue has no end; without this all would wait in it.
            yield_now().await;
        }
        is_done.await.map_err(|_| Error::internal_error())
    });
    sent.await.expect("open");
    receiver.abort();
}

async fn their_round_trips(count: usize) {
    let (one, other) = duplex(PIPE);
    let receiver = UntypedRole.builder().on_receive_request(
        async |prompt: official::PromptRequest,
               responder: Responder<official::PromptResponse>,
               _: ConnectionTo<UntypedRole>| {
            black_box(prompt);
            responder.respond(official::PromptResponse::new(official::StopReason::EndTurn))
        },
        on_receive_request!(),
    );
    let receiver = spawn_local(receiver.connect_to(theirs(other)));
    let prompt: official::PromptRequest = serde_json::from_str(PROMPT).expect("a prompt");
    let asked = UntypedRole.builder().connect_with(theirs(one), async |to| -> Result<(), Error> {
        for _ in 0..count {
            black_box(to.send_request(black_box(&prompt).clone()).block_task().await?);
        }
        Ok(())
    });
    asked.await.expect("open");
    receiver.abort();
}
