//! Stateless requests, since 2026-07-28.
use super::reply::{error_response, json, refuse};
use super::{Endpoint, Sender};
use crate::connection::{Connection, EndOnDrop};
use crate::sse::Sse;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jsonrpc_core::{ErrorCode, ErrorObject, Message, peek, wire};
use mcp_bridge::http::check;
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::error::{
    HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION,
};
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::server::ReceivedMessage;
use std::sync::{Arc, PoisonError, Weak};
use tokio::time::timeout;

impl Endpoint {
    /// Handles a stateless request, since 2026-07-28.
    pub(super) async fn post_modern(
        &self,
        sender: &Sender<'_>,
        message: ReceivedMessage<'_>,
    ) -> Response {
        let request = match message.message() {
            Message::Request(request) => request,
            // No notification of this generation requires an action.
            Message::Notification(_) => return StatusCode::ACCEPTED.into_response(),
            Message::Response(_) => {
                return refuse(StatusCode::BAD_REQUEST, "expected a request, got a response");
            }
        };
        let service_tools = self.service.options(&sender.principal).tools;
        let tool = match message.request() {
            Some(ClientRequest::CallTool(call)) => find(&service_tools, &call.name),
            _ => None,
        };
        if let Err(error) = check(&message, tool, |name| sender.header(name)) {
            return error_response(StatusCode::BAD_REQUEST, Some(&request.id), &error);
        }
        let has_meta = message.meta().is_some_and(|meta| {
            meta.protocol_version.is_some() && meta.client_capabilities.is_some()
        });
        let connection = self.connection(sender, Era::Modern);
        let Some(connection) = self.keep_request(connection) else {
            return refuse(StatusCode::SERVICE_UNAVAILABLE, "too many open requests");
        };
        // A client that disconnects before the response cancels the request.
        let end = EndOnDrop(Arc::clone(&connection));
        let Ok(Some(stream)) = connection.take(message) else {
            return refuse(StatusCode::BAD_REQUEST, "expected a request");
        };
        let Ok(mut reader) = stream.read(None) else {
            return refuse(StatusCode::INTERNAL_SERVER_ERROR, "the stream has ended");
        };
        let first = timeout(self.options.patience, reader.next()).await;
        let first = match first {
            Ok(Some(message)) if reader.is_at_end() => {
                return json(status_of(&message, has_meta), message.to_string());
            }
            Ok(Some(message)) => Some(message),
            Ok(None) => return StatusCode::NO_CONTENT.into_response(),
            Err(_) => None,
        };
        let keep_alive = self.options.keep_alive;
        let is_resumable = false;
        let is_primed = false;
        let end = Some(end);
        Sse { reader, connection, keep_alive, is_resumable, is_primed, first, end }.into_response()
    }

    /// Registers an open request, unless there are too many with calls.
    fn keep_request(&self, connection: Arc<Connection>) -> Option<Arc<Connection>> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.retain(|request| request.strong_count() > 0);
        let open: Vec<_> = requests.iter().filter_map(Weak::upgrade).collect();
        if let Some(ended) = self.make_room(&open, &connection.client).ok()? {
            requests.retain(|request| !std::ptr::eq(request.as_ptr(), Arc::as_ptr(&ended)));
        }
        requests.push(Arc::downgrade(&connection));
        Some(connection)
    }
}

fn find<'a>(tools: &'a [Tool], name: &str) -> Option<&'a Tool> {
    tools.iter().find(|tool| tool.name == name)
}

/// Returns the HTTP status of a response, since 2026-07-28.
///
/// Spec: [Request
/// Metadata](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata)
fn status_of(message: &str, has_meta: bool) -> StatusCode {
    let error = peek(message.as_bytes()).ok().and_then(|peek| peek.error());
    let error = error.and_then(|error| wire::decode::<ErrorObject>(error).ok());
    match error.map(|error| error.code) {
        None => StatusCode::OK,
        Some(ErrorCode::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(
            HEADER_MISMATCH | MISSING_REQUIRED_CLIENT_CAPABILITY | UNSUPPORTED_PROTOCOL_VERSION,
        ) => StatusCode::BAD_REQUEST,
        Some(_) if !has_meta => StatusCode::BAD_REQUEST,
        Some(_) => StatusCode::OK,
    }
}
