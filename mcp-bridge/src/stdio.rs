//! Serves tools over stdin and stdout, for clients that start the server as a child process.
//!
//! ```no_run
//! use mcp_bridge::mcp::capabilities::Implementation;
//! use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginTool};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let add = PluginTool::builder("add", "1")
//!         .elicits::<NoElicitations>()
//!         .execute(|add: Add, _: PluginContext<NoElicitations>| async move { Ok(add.a + add.b) })?;
//!     mcp_bridge::stdio::serve(Implementation::new("adder", "1"), [add]).await?;
//!     Ok(())
//! }
//! ```
//!
//! Spec: [stdio](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio)
use crate::mcp::base::Era;
use crate::mcp::capabilities::Implementation;
use crate::mcp::dispatch::ClientRequest;
use crate::mcp::tools::Tool;
use crate::plugin::{
    MemoryStore, Notice, NoticeSink, PluginHost, PluginTool, SessionError, SuspendPolicy, Turn,
    outcome, send_notice,
};
use crate::server::{
    CallId, CallOutcome, Server, ServerEvent, ServerOptions, ToolCall, adapt_outcome,
};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::framing::Lines;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};
use std::collections::HashMap;
use std::io;
use std::time::SystemTime;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinError, JoinSet};

/// Maximum number of queued notices. Further ones are dropped until the client reads.
const MAX_NOTICES: usize = 1024;

/// Size of the read buffer in bytes.
const READ_SIZE: usize = 64 << 10;

/// Serves tools over stdin and stdout until stdin ends. Calls that wait for an answer are kept in
/// memory.
///
/// # Errors
/// Returns an error if reading stdin or writing stdout fails.
pub async fn serve(
    server_info: Implementation,
    tools: impl IntoIterator<Item = PluginTool>,
) -> io::Result<()> {
    let store = Arc::new(MemoryStore::default());
    let clock = Arc::new(since_1970);
    let owner = format!("{}-{:x}", std::process::id(), since_1970().as_nanos());
    let host = PluginHost::new(tools, SuspendPolicy::Park, store, owner, clock);
    let tools: Vec<Tool> = host.tools().cloned().collect();
    let options = ServerOptions::new(server_info, tools);
    serve_on(Arc::new(host), options, refuse, tokio::io::stdin(), tokio::io::stdout()).await
}

/// Serves the tools of a host on a single client connection until `reader` ends. Unfinished calls
/// are then dropped.
///
/// `answer` answers requests that are not about tools, such as those for prompts and resources,
/// which `options` have to declare; [`refuse`] is for servers of tools only. Each result is one
/// since 2026-07-28, and is [adapted](crate::server::adapt_outcome) to an older client. Skills and
/// subscriptions need no answer.
///
/// # Errors
/// Returns an error if reading `reader` or writing `writer` fails.
pub async fn serve_on<A>(
    host: Arc<PluginHost>,
    options: ServerOptions,
    answer: impl Fn(Arc<ClientRequest>) -> A,
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
) -> io::Result<()>
where
    A: Future<Output = Result<Raw, ErrorObject>> + Send + 'static,
{
    let (notices, mut reported) = mpsc::channel(MAX_NOTICES);
    let server = Server::new(options);
    let running = BTreeMap::new();
    let calls = JoinSet::new();
    let mut served = StdioConnection { host, server, running, calls, notices, next_id: 0 };
    let mut asked = HashMap::new();
    let mut answers = JoinSet::new();
    let mut lines = Lines::new(Lines::DEFAULT_LIMIT);
    let mut buffer = alloc::vec![0; READ_SIZE];
    loop {
        while let Some((id, request, era)) = served.next_request() {
            let request = Arc::<ClientRequest>::from(request);
            let outcome = answer(Arc::clone(&request));
            let adapted = async move { adapt_outcome(&request, outcome.await, era) };
            asked.insert(answers.spawn(adapted).id(), id);
        }
        let mut written = Vec::new();
        while let Some(outgoing) = served.server.poll_outgoing() {
            outgoing.message.as_message().to_line(&mut written);
        }
        writer.write_all(&written).await?;
        writer.flush().await?;
        tokio::select! {
            // Notices are sent before the result of their call.
            biased;
            Some((call, notice)) = reported.recv() => {
                // An error means that the call has ended.
                let _ended = send_notice(&mut served.server, call, &notice);
            }
            Some(ended) = served.calls.join_next() => served.end(ended),
            Some(ended) = answers.join_next_with_id() => {
                let (task, outcome) = ended.unwrap_or_else(|error| (error.id(), Err(panicked())));
                if let Some(id) = asked.remove(&task) {
                    // An error means that the request was cancelled.
                    let _cancelled = served.server.respond(&id, outcome.as_ref().map_err(Clone::clone));
                }
            }
            length = reader.read(&mut buffer) => match length? {
                0 => return Ok(()),
                length => {
                    lines.push(buffer.get(..length).unwrap_or_default());
                    while let Some(line) = lines.next() {
                        served.server.handle_line(line);
                    }
                }
            },
        }
    }
}

/// Refuses a request, because its method is unknown.
///
/// # Errors
/// Always returns the error.
pub async fn refuse(request: Arc<ClientRequest>) -> Result<Raw, ErrorObject> {
    let problem = format!("unknown method: {}", request.method());
    Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, problem))
}

/// A call that ran, and its outcome.
type CallEnd = (Box<ToolCall>, Result<Turn, SessionError>);

/// A connection that is being served.
struct StdioConnection {
    host: Arc<PluginHost>,
    server: Server,
    running: BTreeMap<CallId, RunningCall>,
    calls: JoinSet<CallEnd>,
    notices: mpsc::Sender<(CallId, Notice)>,
    next_id: u64,
}

/// A call without a response.
struct RunningCall {
    task: AbortHandle,
    /// Id of the session while the client is asked.
    session: Option<String>,
}

impl StdioConnection {
    /// Handles events until the next request that is not about tools. Returns `None` after the last
    /// event.
    fn next_request(&mut self) -> Option<(RequestId, Box<ClientRequest>, Era)> {
        loop {
            match self.server.poll_event()? {
                ServerEvent::Call(call) => self.begin(call),
                ServerEvent::Cancelled(id) => self.cancel(id),
                ServerEvent::Request { id, request, era } => return Some((id, request, era)),
                ServerEvent::Subscribed(_)
                | ServerEvent::Unsubscribed(_)
                | ServerEvent::Notification(_)
                | ServerEvent::Malformed(_) => {}
            }
        }
    }

    /// Starts a call, for the first time or again.
    fn begin(&mut self, call: Box<ToolCall>) {
        // The connection has a single client, so the id only has to be unique.
        let session = format!("{}-{}", self.host.owner(), self.next_id);
        self.next_id += 1;
        let id = call.id;
        let notices = self.notices.clone();
        let sink: NoticeSink = Arc::new(move |notice| {
            // If the queue is full, the client does not read. Notices are not worth waiting for.
            let _dropped = notices.try_send((id, notice.clone()));
        });
        let host = Arc::clone(&self.host);
        let task = self.calls.spawn(async move {
            let turn = host.handle(&call, &session, "", Some(sink)).await;
            (call, turn)
        });
        self.running.insert(id, RunningCall { task, session: None });
    }

    /// Ends a call that the client cancelled.
    fn cancel(&mut self, id: CallId) {
        let Some(RunningCall { task, session }) = self.running.remove(&id) else { return };
        task.abort();
        if let Some(session) = session {
            let host = Arc::clone(&self.host);
            tokio::spawn(async move {
                // A session that has ended is unchanged.
                let _over = host.abort(&session, "", "the client cancelled the call").await;
            });
        }
    }

    /// Responds to a call that ran.
    fn end(&mut self, ended: Result<CallEnd, JoinError>) {
        let (id, outcome) = match ended {
            Ok((call, turn)) => (call.id, outcome(&call, turn)),
            Err(error) => {
                let task = error.id();
                let Some(id) = self.running.iter().find(|(_, running)| running.task.id() == task)
                else {
                    // The call was cancelled.
                    return;
                };
                (*id.0, CallOutcome::Failed(panicked()))
            }
        };
        let session = match &outcome {
            CallOutcome::Needs(needs) => needs.request_state.clone(),
            _ => None,
        };
        // An error means that the call was cancelled.
        let _cancelled = self.server.complete(id, outcome, None);
        match self.running.get_mut(&id).filter(|_| self.server.is_open(id)) {
            Some(running) => running.session = session,
            None => drop(self.running.remove(&id)),
        }
    }
}

fn panicked() -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the implementation panicked")
}

fn since_1970() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}
