//! The trait of services, and the contexts of calls and requests.
use crate::connection::Connection;
use crate::random::random_id;
use async_trait::async_trait;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::logging::LoggingLevel;
use mcp_bridge::plugin::{Notice, send_notice};
use mcp_bridge::server::{CallId, CallOutcome, ServerOptions, ToolCall};
use std::io;
use std::sync::Arc;

/// A service: its tools and their implementation.
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// Returns the server options for a principal. Called for each connection, and again after
    /// [`Endpoint::tools_changed`](crate::Endpoint::tools_changed).
    fn options(&self, principal: &str) -> ServerOptions;

    /// Runs a call, for the first time or again. The future is dropped when the client cancels the
    /// call.
    async fn call(&self, call: &ToolCall, context: &CallContext) -> CallOutcome;

    /// Handles the end of a waiting call after its client cancelled it or disconnected.
    /// `request_state` is the state of the call's [`Needs`](CallOutcome::Needs). Up to 2025-11-25.
    async fn abandoned(&self, _request_state: &str, _principal: &str) {}

    /// Handles the first subscription of a client to a resource. Report its changes to
    /// [`Endpoint::notify_changed`](crate::Endpoint::notify_changed). A resource with several
    /// clients is reported once for each. The method is not asynchronous, because the connection
    /// waits for it.
    fn subscribed(&self, _uri: &str) {}

    /// Handles the end of the last subscription of a client to a resource.
    fn unsubscribed(&self, _uri: &str) {}

    /// Answers a request that is not about tools. The future is dropped when the client cancels the
    /// request. Subscriptions are handled without the service.
    ///
    /// # Errors
    /// Returns the error to respond with. The default is that the method does not exist.
    async fn request(
        &self,
        request: &ClientRequest,
        _context: &RequestContext,
    ) -> Result<Raw, ErrorObject> {
        let problem = format!("unknown method: {}", request.method());
        Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, problem))
    }
}

/// Context of a running call.
#[derive(Clone, Debug)]
pub struct CallContext {
    pub(crate) connection: Arc<Connection>,
    pub(crate) call: CallId,
}

impl CallContext {
    /// Returns the principal of the caller.
    pub fn principal(&self) -> &str {
        &self.connection.client.principal
    }

    /// Returns a new unpredictable id for work that the call starts.
    ///
    /// # Errors
    /// Returns an error if the operating system provides no random bytes.
    pub fn new_id(&self) -> io::Result<String> {
        random_id()
    }

    /// Sends a notice of the call, if the client requested it. Ignored after the end of the call.
    pub fn notify(&self, notice: &Notice) {
        let _ended = self.connection.with_server(|server| send_notice(server, self.call, notice));
    }

    /// Reports the progress of the call.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        self.notify(&Notice::Progress { progress, total, message: message.map(Into::into) });
    }

    /// Sends a log message, under the name of a logger if it has one.
    pub fn log(&self, level: LoggingLevel, logger: Option<&str>, data: Raw) {
        self.notify(&Notice::Log { level, logger: logger.map(Into::into), data });
    }

    /// Ends the stream of the call, up to 2025-11-25. The client resumes it with `GET` and
    /// `Last-Event-ID`, so that no connection stays open during a long call.
    pub fn end_stream(&self) {
        self.connection.end_stream_of(self.call);
    }
}

/// Context of a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestContext {
    /// Principal of the request.
    pub principal: String,
    /// Generation of the request.
    pub era: Era,
}
