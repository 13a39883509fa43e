//! Both sides of a connection on one thread, over an in-memory pipe: the cost of a typed message
//! from the sender's call to the receiver's handler.
use acp_types::client::Prompt;
use acp_types::connection::{ConnectionOptions, Context, Peer, Sessions, v1};
use acp_types::v1::initialization::{InitializeRequest, InitializeResponse, ProtocolVersion};
use acp_types::v1::prompt_turn::{PromptRequest, PromptResponse, SessionNotification, StopReason};
use acp_types::v1::session_setup::{NewSessionRequest, NewSessionResponse};
use acp_types::v1::tool_calls::{RequestPermissionRequest, RequestPermissionResponse};
use agent_client_protocol::role::UntypedRole;
use agent_client_protocol::{
    ByteStreams, ConnectionTo, Error, Responder, on_receive_notification, on_receive_request,
};
use agent_client_protocol_schema::v1 as official;
use async_trait::async_trait;
use futures::join;
use jsonrpc_core::codec::Codec;
use jsonrpc_core::framing::Lines;
use jsonrpc_core::{ErrorCode, ErrorObject, wire};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{DuplexStream, duplex, split};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local, yield_now};
use tokio_util::codec::{FramedRead, FramedWrite};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

/// A function that exchanges this number of messages.
pub type Connection = (&'static str, fn(usize));

/// Compared exchanges: name, own function, function of the official SDK.
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

/// Returns the exchange with this name.
pub fn connection(name: &str) -> Option<Connection> {
    let all = CONNECTIONS.into_iter().flat_map(|(_, ours, theirs)| [ours, theirs]);
    all.into_iter().find(|(known, _)| *known == name)
}

/// Capacity of the pipe in each direction, in bytes.
const PIPE: usize = 64 * 1024;

const SESSION: &str = "sess_01JD8QZ5M3Y7C9V4K2N6T8R0XW";
const UPDATE: &str = r#"{"sessionId":"sess_01JD8QZ5M3Y7C9V4K2N6T8R0XW","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"The parser now keeps the number"}}}"#;
const PROMPT: &str = r#"{"sessionId":"sess_01JD8QZ5M3Y7C9V4K2N6T8R0XW","prompt":[{"type":"text","text":"What does the parser keep?"}]}"#;

fn read<T: jsonrpc_core::wire::Wire>(text: &str) -> T {
    wire::decode(text).expect("a message of the model")
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

/// The SDK runs its sides as tasks of one thread. The own sides are futures of one task.
fn block_on_local(connection: impl Future<Output = ()>) {
    LocalSet::new().block_on(&runtime(), connection);
}

/// Handles the messages of both sides.
struct Typed(Arc<AtomicUsize>);

fn internal(error: impl std::fmt::Display) -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string())
}

#[async_trait]
impl v1::Agent for Typed {
    async fn initialize(
        &self,
        _: InitializeRequest,
        _: Context,
    ) -> Result<InitializeResponse, ErrorObject> {
        Ok(InitializeResponse::new(ProtocolVersion::V1))
    }

    async fn new_session(
        &self,
        _: NewSessionRequest,
        _: Context,
    ) -> Result<NewSessionResponse, ErrorObject> {
        Ok(NewSessionResponse::new(SESSION))
    }

    async fn prompt(
        &self,
        request: PromptRequest,
        _: Context,
    ) -> Result<PromptResponse, ErrorObject> {
        black_box(request);
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

#[async_trait]
impl v1::Client for Typed {
    async fn request_permission(
        &self,
        _: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, ErrorObject> {
        Err(internal("not asked for"))
    }

    async fn session_update(&self, update: SessionNotification, _: Peer) {
        black_box(update);
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// An agent and a client: their drivers, and the handle of each side.
fn ours(
    counter: &Arc<AtomicUsize>,
) -> (impl Future<Output = io::Result<()>>, Peer, impl Future<Output = io::Result<()>>, Sessions) {
    let (one, other) = duplex(PIPE);
    let ends = |end: DuplexStream| {
        let (reader, writer) = split(end);
        let reader = FramedRead::with_capacity(reader, Codec::new(Lines::default()), PIPE);
        (reader, FramedWrite::new(writer, Codec::new(Lines::default())))
    };
    let ((reads, writes), (client_reads, client_writes)) = (ends(one), ends(other));
    let side = || Typed(Arc::clone(counter));
    let options = ConnectionOptions::default();
    let (agent, peer) = v1::connect_agent(side(), reads, writes, options);
    let initialize = InitializeRequest::new(ProtocolVersion::V1);
    let (client, sessions) =
        v1::connect_client(side(), client_reads, client_writes, initialize, options);
    (agent, peer, client, sessions)
}

async fn our_notifications(count: usize) {
    let counter = Arc::new(AtomicUsize::new(0));
    let (agent, peer, client, sessions) = ours(&counter);
    let update: SessionNotification = read(UPDATE);
    let send = async {
        let session = sessions.open(NewSessionRequest::new("/", [])).await.expect("open");
        for _ in 0..count {
            peer.notify(black_box(&update)).await.expect("open");
        }
        // The response follows the notifications.
        session.prompt(prompt()).await.expect("open");
        sessions.peer().caught_up().await;
        sessions.shut_down();
    };
    let (agent, client, ()) = join!(agent, client, send);
    agent.and(client).expect("no IO");
    assert_eq!(counter.load(Ordering::Relaxed), count);
}

async fn our_round_trips(count: usize) {
    let answered = Arc::default();
    let (agent, _, client, sessions) = ours(&answered);
    let ask = async {
        let session = sessions.open(NewSessionRequest::new("/", [])).await.expect("open");
        for _ in 0..count {
            black_box(session.prompt(black_box(prompt())).await.expect("open"));
        }
        sessions.shut_down();
    };
    let (agent, client, ()) = join!(agent, client, ask);
    agent.and(client).expect("no IO");
}

fn prompt() -> Prompt {
    Prompt::v1(["What does the parser keep?".into()])
}

fn theirs(end: DuplexStream) -> ByteStreams<impl futures::AsyncWrite, impl futures::AsyncRead> {
    let (reader, writer) = split(end);
    ByteStreams::new(writer.compat_write(), reader.compat())
}

async fn their_notifications(count: usize) {
    let (one, other) = duplex(PIPE);
    let (done, is_done) = oneshot::channel();
    let mut received = 0;
    let mut done = Some(done);
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
            // The queue of the SDK is unbounded, and would hold all messages.
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
