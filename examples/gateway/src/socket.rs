//! The chat over a WebSocket.
use crate::chat_socket::{ChatBackend, NoWebSocket};
use crate::refusal::Refusal;
use crate::telemetry::HttpSpan;
use crate::telemetry::trace_context::TraceContext;
use crate::threads::Threads;
use agui_types::input::RunAgentInput;
use axum::body::Bytes;
use axum::extract::{Extension, Query, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use futures::StreamExt;
use futures::stream::BoxStream;
use host::http::{Part, Principal, RequestPermit};
use mcp_bridge::registry::Registry;
use serde::Deserialize;
use std::sync::Arc;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The agent of the chat.
#[derive(Debug, Deserialize)]
pub(crate) struct With {
    /// Name of the agent; by default that of the settings.
    agent: Option<String>,
}

/// The runs of one socket.
struct Backend {
    threads: Arc<Threads>,
    principal: Principal,
    agent: Option<String>,
    /// The span of the request that opened the socket.
    caller: Option<TraceContext>,
    /// The socket counts as a request of its user, and ends with its session.
    at_work: RequestPermit,
    /// Ends the wait for the end of the session with the socket.
    _open: DropGuard,
}

/// `GET /api/ai/ws`
pub(crate) async fn open(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Extension(at_work): Extension<RequestPermit>,
    Part(Query(With { agent })): Part<Query<With>>,
    request: Request,
) -> Result<Response, Refusal> {
    let caller = request.extensions().get::<HttpSpan>().map(|HttpSpan(span)| span.clone());
    let mut limits = threads.of_sockets();
    limits.ending = ending(limits.ending, at_work.clone());
    let open = limits.ending.clone().drop_guard();
    let backend = Backend { threads, principal, agent, caller, at_work, _open: open };
    crate::chat_socket::upgrade(request, backend, limits)
        .map_err(|NoWebSocket(why)| Refusal::new(StatusCode::UPGRADE_REQUIRED, why))
}

/// Returns a token that is cancelled with the gateway, and with the session of the user.
fn ending(gateway: CancellationToken, at_work: RequestPermit) -> CancellationToken {
    let ending = gateway.child_token();
    let socket = ending.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = at_work.session_ended() => socket.cancel(),
            () = socket.cancelled() => {}
        }
    });
    ending
}

impl ChatBackend for Backend {
    async fn start(&self, input: RunAgentInput) -> Result<BoxStream<'static, Bytes>, String> {
        let principal = self.principal.clone();
        let agent = self.agent.as_deref();
        let started = self.threads.start(principal, agent, input, false, self.caller.clone()).await;
        let reader = started.map_err(|error| error.to_string())?;
        let at_work = self.at_work.clone();
        let ended = Box::pin(async move { at_work.session_ended().await });
        Ok(reader.read().take_until(ended).boxed())
    }

    fn interrupted_run(&self, conversation_id: &str) -> Option<BoxStream<'static, Bytes>> {
        let run = self.threads.interrupted(&self.principal, self.agent.as_deref(), conversation_id);
        run.map(|reader| reader.read().boxed())
    }

    fn name(&self) -> String {
        self.threads.name()
    }

    fn registry(&self) -> Arc<Registry> {
        self.threads.toolbox().registry()
    }
}
