//! The chat over a WebSocket.
use crate::server::Refusal;
use crate::threads::Threads;
use agent_tools::mcp_bridge::registry::Registry;
use agui_types::input::RunAgentInput;
use axum::body::Bytes;
use axum::extract::{Extension, Query, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use chat_socket::{ChatBackend, NoWebSocket};
use futures::StreamExt;
use futures::stream::BoxStream;
use http_access::{AtWork, Part, Principal};
use run_telemetry::HttpSpan;
use run_telemetry::trace_context::TraceContext;
use serde::Deserialize;
use std::sync::Arc;

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
    /// The socket counts as a request of its user.
    _at_work: AtWork,
}

/// `GET /api/ai/ws`
pub(crate) async fn open(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Extension(at_work): Extension<AtWork>,
    Part(Query(With { agent })): Part<Query<With>>,
    request: Request,
) -> Result<Response, Refusal> {
    let caller = request.extensions().get::<HttpSpan>().map(|HttpSpan(span)| span.clone());
    let limits = threads.of_sockets();
    let backend = Backend { threads, principal, agent, caller, _at_work: at_work };
    chat_socket::upgrade(request, backend, limits)
        .map_err(|NoWebSocket(why)| Refusal::new(StatusCode::UPGRADE_REQUIRED, why))
}

impl ChatBackend for Backend {
    async fn start(&self, input: RunAgentInput) -> Result<BoxStream<'static, Bytes>, String> {
        let (principal, agent) = (self.principal.clone(), self.agent.as_deref());
        let started = self.threads.start(principal, agent, input, false, self.caller.clone()).await;
        started.map(|reader| reader.read().boxed()).map_err(|error| error.to_string())
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
