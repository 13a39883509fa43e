//! Agents of both versions on one connection. `initialize` selects the version, and with it the
//! handlers.
use super::driver::{Driver, Serve};
use super::shared::SharedConnection;
use super::{ConnectionOptions, Context, Peer, v1, v2};
use crate::agent::{ClientNotification, ClientRequest, Connection};
use crate::client::Diagnostic;
use crate::v1::initialization::ProtocolVersion;
use alloc::rc::Rc;
use alloc::sync::Arc;
use core::future::Future;
use futures::{Sink, Stream};
use jsonrpc_core::framing::{Frame, FrameError};

/// The versions of this module.
const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion::V1, ProtocolVersion::V2];

/// The handlers of both versions, as one side.
struct Both<One, Two> {
    one: One,
    two: Two,
}

impl<One, Two> Serve<Connection> for Both<One, Two>
where
    One: Serve<Connection>,
    Two: Serve<Connection, Answer = One::Answer, Handling = One::Handling>,
{
    type Answer = One::Answer;
    type Handling = One::Handling;

    fn request(&self, request: ClientRequest, context: Context) -> Self::Answer {
        match request {
            ClientRequest::V1(_) => self.one.request(request, context),
            ClientRequest::V2(_) => self.two.request(request, context),
        }
    }

    fn notification(&self, notification: ClientNotification, peer: Peer) -> Self::Handling {
        match notification {
            ClientNotification::V1(_) => self.one.notification(notification, peer),
            ClientNotification::V2(_) => self.two.notification(notification, peer),
        }
    }

    fn problem(&self, problem: &Diagnostic) {
        self.one.problem(problem);
    }
}

/// Connects an agent of both versions with a client, which selects one by `initialize`. Returns the
/// future that runs the connection, and the client as a [`Peer`]. Diagnostics are reported to
/// [`v1::Agent::problem`].
///
/// ```
/// use acp_types::connection::{ConnectionOptions, Context, Result, async_trait, connect_agent, v1, v2};
/// use acp_types::{v1 as one, v2 as two};
/// use futures::{SinkExt, StreamExt};
/// use jsonrpc_core::framing::Frame;
/// use jsonrpc_core::memory;
/// # use jsonrpc_core::{ErrorCode, ErrorObject};
/// # fn no<T>() -> Result<T> { Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "not in this example")) }
///
/// struct Bilingual;
///
/// #[async_trait]
/// impl v1::Agent for Bilingual {
///     async fn initialize(
///         &self,
///         _: one::initialization::InitializeRequest,
///         _: Context,
///     ) -> Result<one::initialization::InitializeResponse> {
///         Ok(one::initialization::InitializeResponse::new(one::initialization::ProtocolVersion::V1))
///     }
/// #   async fn new_session(&self, _: one::session_setup::NewSessionRequest, _: Context) -> Result<one::session_setup::NewSessionResponse> { no() }
/// #   async fn prompt(&self, _: one::prompt_turn::PromptRequest, _: Context) -> Result<one::prompt_turn::PromptResponse> { no() }
///     // …
/// }
///
/// #[async_trait]
/// impl v2::Agent for Bilingual {
///     async fn initialize(
///         &self,
///         _: two::initialization::InitializeRequest,
///         _: Context,
///     ) -> Result<two::initialization::InitializeResponse> {
///         let info = two::initialization::Implementation::new("bilingual", "1.0.0");
///         Ok(two::initialization::InitializeResponse::new(two::initialization::ProtocolVersion::V2, info))
///     }
/// #   async fn new_session(&self, _: two::session_setup::NewSessionRequest, _: Context) -> Result<two::session_setup::NewSessionResponse> { no() }
/// #   async fn prompt(&self, _: two::prompt_lifecycle::PromptRequest, _: Context) -> Result<two::prompt_lifecycle::PromptResponse> { no() }
///     // …
/// }
///
/// let ((reads, writes), (mut client_reads, mut client_writes)) = memory::duplex(8);
/// let (agent, _) = connect_agent(Bilingual, reads, writes, ConnectionOptions::default());
/// let client = async {
///     let line = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}"#;
///     client_writes.send(Frame::from(line)).await?;
///     let answer = client_reads.next().await.ok_or("no answer")??;
///     drop(client_writes);
///     Ok::<_, Box<dyn std::error::Error>>(answer?.text()?.to_owned())
/// };
/// let (agent, answer) = futures::executor::block_on(async { futures::join!(agent, client) });
/// agent?;
/// assert!(answer?.contains(r#""protocolVersion":2"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn connect_agent<St, Si, E, S>(
    side: S,
    stream: St,
    sink: Si,
    options: ConnectionOptions,
) -> (impl Future<Output = Result<(), E>> + Unpin + Send + use<St, Si, E, S>, Peer)
where
    St: Stream<Item = Result<Result<Frame, FrameError>, E>> + Unpin + Send,
    Si: Sink<Frame, Error = E> + Unpin + Send,
    S: v1::Agent + v2::Agent,
{
    let side = Arc::new(side);
    let both = Both { one: v1::Handles(side.clone()), two: v2::Handles(side) };
    let shared = Arc::new(SharedConnection::new(options.agent(&VERSIONS), options));
    (Driver::new(stream, sink, both, shared.clone(), options), Peer::new(shared))
}

/// Connects an agent of both versions on one thread with a client; see [`connect_agent`].
pub fn connect_local_agent<St, Si, E, S>(
    side: S,
    stream: St,
    sink: Si,
    options: ConnectionOptions,
) -> (impl Future<Output = Result<(), E>> + Unpin + use<St, Si, E, S>, Peer)
where
    St: Stream<Item = Result<Result<Frame, FrameError>, E>> + Unpin,
    Si: Sink<Frame, Error = E> + Unpin,
    S: v1::LocalAgent + v2::LocalAgent,
{
    let side = Rc::new(side);
    let both = Both { one: v1::LocalHandles(side.clone()), two: v2::LocalHandles(side) };
    let shared = Arc::new(SharedConnection::new(options.agent(&VERSIONS), options));
    (Driver::new(stream, sink, both, shared.clone(), options), Peer::new(shared))
}
