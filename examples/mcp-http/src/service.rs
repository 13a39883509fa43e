//! What a server does.
use crate::connection::Connection;
use crate::random::random_id;
use async_trait::async_trait;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::logging::LoggingLevel;
use mcp_bridge::plugin::{Notice, tell};
use mcp_bridge::server::{CallId, CallOutcome, ServerOptions, ToolCall};
use std::io;
use std::sync::Arc;

/// Which tools there are, and what they do.
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// What the server is for somebody. It is asked for each connection, and for all again after
    /// [`Endpoint::tools_changed`](crate::Endpoint::tools_changed).
    fn options(&self, principal: &str) -> ServerOptions;

    /// Does a call, for the first time or again. It is dropped when the client cancels the call.
    async fn call(&self, call: &ToolCall, context: &CallContext) -> CallOutcome;

    /// Handles the end of a call that waited for answers, because its client cancelled it or left. `request_state` is what the
    /// call [needed](CallOutcome::Needs) with its questions. Up to 2025-11-25.
    async fn abandoned(&self, _request_state: &str, _principal: &str) {}

    /// Answers a request that is not about tools.
    ///
    /// # Errors
    /// What to answer instead; that there is no such method unless this is overridden.
    async fn request(
        &self,
        request: &ClientRequest,
        _context: &RequestContext,
    ) -> Result<Raw, ErrorObject> {
        let problem = format!("unknown method: {}", request.method());
        Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, problem))
    }
}

/// A call that runs.
#[derive(Clone, Debug)]
pub struct CallContext {
    pub(crate) connection: Arc<Connection>,
    pub(crate) call: CallId,
}

impl CallContext {
    /// Who calls.
    pub fn principal(&self) -> &str {
        &self.connection.principal
    }

    /// A name for what the call begins, that nobody can guess.
    ///
    /// # Errors
    /// The operating system has no randomness.
    pub fn new_id(&self) -> io::Result<String> {
        random_id()
    }

    /// Tells something about the call, if the client wants to hear of that. A call that has ended tells nothing more.
    pub fn tell(&self, notice: &Notice) {
        let _ended = self.connection.with_server(|server| tell(server, self.call, notice));
    }

    /// Tells how far the call is.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        self.tell(&Notice::Progress { progress, total, message: message.map(Into::into) });
    }

    /// Tells something for a log.
    pub fn log(&self, level: LoggingLevel, data: Raw) {
        self.tell(&Notice::Log { level, data });
    }

    /// Ends the stream of the call, up to 2025-11-25: the client comes for the rest with `GET` and `Last-Event-ID`, so that no
    /// connection has to stay open while a tool takes its time.
    pub fn end_stream(&self) {
        self.connection.end_stream_of(self.call);
    }
}

/// Who makes a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestContext {
    /// Who it is.
    pub principal: String,
    /// The generation of the request.
    pub era: Era,
}
