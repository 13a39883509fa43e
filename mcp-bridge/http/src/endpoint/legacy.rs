//! Sessions, up to 2025-11-25.
use super::reply::{error_response, json, not_allowed, refuse, session_not_found};
use super::room::NoRoom;
use super::{Endpoint, Sender};
use crate::connection::Connection;
use crate::guard::accepts;
use crate::random::random_id;
#[cfg(feature = "client")]
use crate::replicas::{ForwardOutcome, Replicas};
use crate::sse::Sse;
use crate::stream::MessageStream;
#[cfg(feature = "client")]
use axum::body::Body;
#[cfg(feature = "client")]
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use jsonrpc_core::{ErrorCode, ErrorObject, Message, peek};
use mcp_bridge::http::SESSION_ID;
use mcp_bridge::mcp::base::{Era, ProtocolVersion};
use mcp_bridge::server::ReceivedMessage;
use std::io;
use std::sync::{Arc, PoisonError};
use tokio::time::timeout;

/// A request in a session, or the request that starts one.
struct SessionRequest {
    connection: Arc<Connection>,
    stream: Arc<MessageStream>,
    /// Id of the session that the request starts.
    new_session: Option<String>,
    is_call: bool,
    version: Option<ProtocolVersion>,
}

impl Endpoint {
    /// Handles a message in a session, up to 2025-11-25.
    pub(super) async fn post_legacy(
        &self,
        sender: &Sender<'_>,
        message: ReceivedMessage<'_>,
        version: Option<ProtocolVersion>,
    ) -> Response {
        let method = match message.message() {
            Message::Request(request) => Some(request.method.to_string()),
            _ => None,
        };
        let id = message.message().id().cloned();
        let is_initialize = method.as_deref() == Some("initialize");
        let (connection, new_session) = match sender.header(SESSION_ID) {
            Some(session) => match self.session(session, &sender.principal) {
                Some(connection) => (connection, None),
                None => return session_not_found(id.as_ref()),
            },
            None if is_initialize => {
                let Ok(session) = self.new_session() else {
                    return refuse(StatusCode::INTERNAL_SERVER_ERROR, "no randomness");
                };
                (self.connection(sender, Era::Legacy), Some(session))
            }
            None => {
                let text = "no session: expected `initialize`, or the header Mcp-Session-Id";
                let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, text);
                return error_response(StatusCode::BAD_REQUEST, id.as_ref(), &error);
            }
        };
        let stream = match connection.take(message) {
            Ok(Some(stream)) => stream,
            Ok(None) => return StatusCode::ACCEPTED.into_response(),
            Err(_) => {
                let text = "the request id is already in use";
                let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, text);
                return error_response(StatusCode::BAD_REQUEST, id.as_ref(), &error);
            }
        };
        let is_call = method.as_deref() == Some("tools/call");
        self.respond(SessionRequest { connection, stream, new_session, is_call, version }).await
    }

    /// Responds to a request with its only message, or with a stream.
    async fn respond(&self, begun: SessionRequest) -> Response {
        let SessionRequest { connection, stream, new_session, is_call, version } = begun;
        let Ok(mut reader) = stream.read(None) else {
            return refuse(StatusCode::INTERNAL_SERVER_ERROR, "the stream has ended");
        };
        let mut first = None;
        // A call may send requests, so its stream starts immediately.
        if !is_call {
            match timeout(self.options.patience, reader.next()).await {
                Ok(Some(message)) if reader.is_at_end() => {
                    let response = json(StatusCode::OK, message.to_string());
                    return match new_session {
                        Some(session) => self.begin(session, connection, &message, response),
                        None => response,
                    };
                }
                Ok(Some(message)) => first = Some(message),
                Ok(None) => return StatusCode::NO_CONTENT.into_response(),
                Err(_) => {}
            }
        }
        // Older clients treat an event without data as a malformed message.
        let is_new = version.is_some_and(|version| version >= ProtocolVersion::V20251125);
        let keep_alive = self.options.keep_alive;
        let is_primed = is_new && first.is_none();
        let sse =
            Sse { reader, connection, keep_alive, is_resumable: true, is_primed, first, end: None };
        sse.into_response()
    }

    /// Returns the stream of messages without a request, or the rest of an interrupted stream. Up
    /// to 2025-11-25.
    pub(super) fn get(&self, sender: &Sender<'_>) -> Response {
        if sender.version().is_some_and(|version| version.era() != Some(Era::Legacy)) {
            return not_allowed("POST");
        }
        let Some(session) = sender.header(SESSION_ID) else {
            return not_allowed("POST");
        };
        if !accepts(sender.headers, "text/event-stream") {
            let text = "expected an Accept header with text/event-stream";
            return refuse(StatusCode::NOT_ACCEPTABLE, text);
        }
        let Some(connection) = self.session(session, &sender.principal) else {
            return session_not_found(None);
        };
        connection.touch();
        let reader = match sender.header("last-event-id") {
            Some(event) => connection.resume(event),
            None => connection.listen(),
        };
        let Ok(reader) = reader else {
            let text = "the event does not exist or is no longer kept";
            let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, text);
            return error_response(StatusCode::BAD_REQUEST, None, &error);
        };
        let keep_alive = self.options.keep_alive;
        let version = sender.version();
        let is_primed = version.is_some_and(|version| version >= ProtocolVersion::V20251125);
        let is_resumable = true;
        let first = None;
        let end = None;
        Sse { reader, connection, keep_alive, is_resumable, is_primed, first, end }.into_response()
    }

    /// Ends a session. Up to 2025-11-25.
    pub(super) fn delete(&self, sender: &Sender<'_>) -> Response {
        let Some(session) = sender.header(SESSION_ID) else {
            return not_allowed("POST");
        };
        match self.session(session, &sender.principal) {
            Some(connection) => {
                self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
                connection.close();
                StatusCode::NO_CONTENT.into_response()
            }
            None => session_not_found(None),
        }
    }

    /// Returns the session with this id, if it belongs to the principal.
    fn session(&self, name: &str, principal: &str) -> Option<Arc<Connection>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(name).filter(|connection| connection.client.principal == principal).cloned()
    }

    /// Returns the id of a new session.
    fn new_session(&self) -> io::Result<String> {
        #[cfg(feature = "client")]
        if let Some(replicas) = &self.options.replicas {
            return replicas.new_session();
        }
        random_id()
    }

    /// Returns the other program that has the session of a request, if any.
    #[cfg(feature = "client")]
    pub(super) fn other_program(&self, sender: &Sender<'_>) -> Option<(&Replicas, String)> {
        let replicas = self.options.replicas.as_ref()?;
        if sender.version().is_some_and(|version| version.era() != Some(Era::Legacy)) {
            return None;
        }
        let program = replicas.owner(sender.header(SESSION_ID)?, sender.headers)?;
        Some((replicas, program.to_owned()))
    }

    /// Forwards a request to the program that has its session.
    #[cfg(feature = "client")]
    pub(super) async fn forward(
        &self,
        replicas: &Replicas,
        program: &str,
        parts: Parts,
        body: Body,
    ) -> Response {
        let body = match self.read(body).await {
            Ok(body) => body,
            Err(response) => return response,
        };
        match replicas.forward(program, parts, body).await {
            ForwardOutcome::Response(response) => response,
            ForwardOutcome::Ended => session_not_found(None),
            ForwardOutcome::Failed => {
                let text = "the program that has the session does not respond; try again";
                refuse(StatusCode::BAD_GATEWAY, text)
            }
        }
    }

    /// Starts a session, unless its first request was rejected or there are too many.
    fn begin(
        &self,
        name: String,
        connection: Arc<Connection>,
        message: &str,
        mut response: Response,
    ) -> Response {
        if peek(message.as_bytes()).is_ok_and(|peek| peek.error().is_some()) {
            return response;
        }
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let idle_time = self.options.idle_time;
        sessions.retain(|_, session| {
            let is_used = session.idle() < idle_time;
            if !is_used {
                session.close();
            }
            is_used
        });
        let open: Vec<_> = sessions.values().cloned().collect();
        match self.make_room(&open, &connection.client) {
            Ok(None) => {}
            Ok(Some(ended)) => sessions.retain(|_, session| !Arc::ptr_eq(session, &ended)),
            Err(NoRoom) => {
                return refuse(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "too many sessions with open calls",
                );
            }
        }
        if let Ok(value) = HeaderValue::from_str(&name) {
            let header = HeaderName::from_static("mcp-session-id");
            response.headers_mut().insert(header, value);
        }
        sessions.insert(name, connection);
        response
    }
}
