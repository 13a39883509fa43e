//! The HTTP endpoint.
use crate::connection::{Connection, EndOnDrop, error_text};
use crate::guard::{accepts, is_json, is_our_host, is_our_origin};
use crate::random::random_id;
use crate::service::Service;
use crate::sse::Sse;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use jsonrpc_core::{ErrorCode, ErrorObject, Message, RequestId, peek, wire};
use mcp_bridge::http::{PROTOCOL_VERSION, SESSION_ID, check};
use mcp_bridge::mcp::base::{Era, ProtocolVersion};
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::error::{
    HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION,
};
use mcp_bridge::mcp::tasks::Task;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::server::Received;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::time::timeout;

/// Returns the principal of a request by its headers, or `None` if access is denied.
pub type Authenticate = Arc<dyn Fn(&HeaderMap) -> Option<String> + Send + Sync>;

/// Options of an [`Endpoint`].
#[derive(Clone)]
#[non_exhaustive]
pub struct EndpointOptions {
    /// Host names of the server, in addition to local ones (`localhost` and its addresses).
    pub hosts: Vec<String>,
    /// Origins with pages that may use the endpoint, in addition to local pages.
    pub origins: Vec<String>,
    /// Authenticates requests. Without it, all requests have the same principal. Sessions and calls are accessible only
    /// to the principal that started them.
    pub authenticate: Option<Authenticate>,
    /// Maximum size of a request body, in bytes.
    pub max_body: usize,
    /// Maximum number of sessions, and of concurrent requests since 2026-07-28.
    pub max_connections: usize,
    /// Time after which a session without requests or readers is evicted.
    pub idle_time: Duration,
    /// Time limit for answers to questions of an open call. `None` means no limit.
    pub question_time: Option<Duration>,
    /// Time limit for responses that are not streams.
    pub patience: Duration,
    /// Interval of keep-alive comments on idle streams.
    pub keep_alive: Duration,
}

impl Default for EndpointOptions {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            authenticate: None,
            max_body: 4 << 20,
            max_connections: 1024,
            idle_time: Duration::from_secs(3600),
            question_time: Some(Duration::from_secs(3600)),
            patience: Duration::from_secs(5),
            keep_alive: Duration::from_secs(15),
        }
    }
}

impl fmt::Debug for EndpointOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointOptions")
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .field("authenticates", &self.authenticate.is_some())
            .finish_non_exhaustive()
    }
}

/// An endpoint for clients of both generations.
pub struct Endpoint {
    service: Arc<dyn Service>,
    options: Arc<EndpointOptions>,
    sessions: Mutex<BTreeMap<String, Arc<Connection>>>,
    /// Open requests since 2026-07-28.
    requests: Mutex<Vec<Weak<Connection>>>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Creates a router with an endpoint at a path.
pub fn router(path: &str, endpoint: Arc<Endpoint>) -> Router {
    let handle = |State(endpoint): State<Arc<Endpoint>>, request: Request| async move {
        endpoint.handle(request).await
    };
    Router::new().route(path, any(handle)).with_state(endpoint)
}

/// An authorized request.
struct Sender<'a> {
    headers: &'a HeaderMap,
    principal: String,
}

impl Sender<'_> {
    /// Returns the value of a header. Repeated headers are rejected, because intermediaries may have read the other
    /// one.
    fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?;
        value.to_str().ok().filter(|_| values.next().is_none())
    }

    fn version(&self) -> Option<ProtocolVersion> {
        self.header(PROTOCOL_VERSION).map(ProtocolVersion::from)
    }

    /// Returns whether a header is absent, or present once as text.
    fn is_readable(&self, name: &str) -> bool {
        !self.headers.contains_key(name) || self.header(name).is_some()
    }
}

impl Endpoint {
    /// Creates an endpoint without sessions.
    pub fn new(service: Arc<dyn Service>, options: EndpointOptions) -> Arc<Self> {
        let options = Arc::new(options);
        Arc::new(Self { service, options, sessions: Mutex::default(), requests: Mutex::default() })
    }

    /// Handles an HTTP request, regardless of its path.
    pub async fn handle(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let headers = &parts.headers;
        if !is_our_host(headers, &self.options.hosts) {
            return refuse(StatusCode::FORBIDDEN, "the host is not one of this server");
        }
        if !is_our_origin(headers, &self.options.origins) {
            return refuse(StatusCode::FORBIDDEN, "pages of this origin may not use this server");
        }
        let principal = match &self.options.authenticate {
            Some(authenticate) => authenticate(headers),
            None => Some(String::new()),
        };
        let Some(principal) = principal else {
            let mut response = refuse(StatusCode::UNAUTHORIZED, "nobody who may use this server");
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
            return response;
        };
        let sender = Sender { headers, principal };
        if !sender.is_readable(PROTOCOL_VERSION) {
            return refuse(StatusCode::BAD_REQUEST, "expected one version of the protocol");
        }
        match parts.method {
            Method::POST => self.post(&sender, body).await,
            Method::GET => self.get(&sender),
            Method::DELETE => self.delete(&sender),
            _ => not_allowed("POST, GET, DELETE"),
        }
    }

    /// Replaces the tools by those of the service, and notifies clients.
    pub fn tools_changed(&self) {
        self.connections().iter().for_each(|connection| connection.tools_changed());
    }

    /// Notifies subscribed clients of a principal of the status of a task.
    pub fn notify_task(&self, principal: &str, task: &Task) {
        let connections = self.connections();
        let theirs = connections.iter().filter(|connection| connection.principal == principal);
        theirs.for_each(|connection| connection.notify_task(task));
    }

    /// Ends all sessions and open requests.
    pub fn close(&self) {
        self.connections().iter().for_each(|connection| connection.close());
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the number of sessions, up to 2025-11-25.
    pub fn session_count(&self) -> usize {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn connections(&self) -> Vec<Arc<Connection>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.values().cloned().chain(requests.iter().filter_map(Weak::upgrade)).collect()
    }

    async fn post(&self, sender: &Sender<'_>, body: Body) -> Response {
        let takes = |kind| accepts(sender.headers, kind);
        if !takes("application/json") || !takes("text/event-stream") {
            let text = "expected an Accept header with application/json and text/event-stream";
            return refuse(StatusCode::NOT_ACCEPTABLE, text);
        }
        if !is_json(sender.headers) {
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected a JSON body");
        }
        let Ok(body) = axum::body::to_bytes(body, self.options.max_body).await else {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");
        };
        let Ok(text) = std::str::from_utf8(&body) else {
            return refuse(StatusCode::BAD_REQUEST, "the body is not UTF-8");
        };
        let message = match Message::decode(text) {
            Ok(message) => Received::from(message),
            Err(error) => {
                let problem = ErrorObject::new(error.code(), error.to_string());
                return error_response(StatusCode::BAD_REQUEST, error.id(), &problem);
            }
        };
        let body_version = message.meta().and_then(|meta| meta.protocol_version.as_ref());
        let version = sender.version();
        let is_legacy = |version: &ProtocolVersion| version.era() == Some(Era::Legacy);
        if body_version.is_some() || version.as_ref().is_some_and(|version| !is_legacy(version)) {
            self.post_modern(sender, message).await
        } else {
            self.post_legacy(sender, message, version).await
        }
    }

    /// Handles a stateless request, since 2026-07-28.
    async fn post_modern(&self, sender: &Sender<'_>, message: Received<'_>) -> Response {
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
        let connection = self.connection(sender.principal.clone(), Era::Modern);
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
        let (is_resumable, is_primed) = (false, false);
        let end = Some(end);
        Sse { reader, connection, keep_alive, is_resumable, is_primed, first, end }.into_response()
    }

    /// Handles a message in a session, up to 2025-11-25.
    async fn post_legacy(
        &self,
        sender: &Sender<'_>,
        message: Received<'_>,
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
                let Ok(session) = random_id() else {
                    return refuse(StatusCode::INTERNAL_SERVER_ERROR, "no randomness");
                };
                (self.connection(sender.principal.clone(), Era::Legacy), Some(session))
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
        let Ok(mut reader) = stream.read(None) else {
            return refuse(StatusCode::INTERNAL_SERVER_ERROR, "the stream has ended");
        };
        let mut first = None;
        // A call may send requests, so its stream starts immediately.
        if method.as_deref() != Some("tools/call") {
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

    /// Returns the stream of messages without a request, or the rest of an interrupted stream. Up to 2025-11-25.
    fn get(&self, sender: &Sender<'_>) -> Response {
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
        let (is_resumable, first, end) = (true, None, None);
        Sse { reader, connection, keep_alive, is_resumable, is_primed, first, end }.into_response()
    }

    /// Ends a session. Up to 2025-11-25.
    fn delete(&self, sender: &Sender<'_>) -> Response {
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

    fn connection(&self, principal: String, era: Era) -> Arc<Connection> {
        Connection::new(Arc::clone(&self.service), Arc::clone(&self.options), principal, era)
    }

    /// Returns the session with this id, if it belongs to the principal.
    fn session(&self, name: &str, principal: &str) -> Option<Arc<Connection>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(name).filter(|connection| connection.principal == principal).cloned()
    }

    /// Registers an open request, unless there are too many.
    fn keep_request(&self, connection: Arc<Connection>) -> Option<Arc<Connection>> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if requests.len() >= self.options.max_connections {
            requests.retain(|request| request.strong_count() > 0);
        }
        if requests.len() >= self.options.max_connections {
            return None;
        }
        requests.push(Arc::downgrade(&connection));
        Some(connection)
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
        if sessions.len() >= self.options.max_connections {
            return refuse(StatusCode::SERVICE_UNAVAILABLE, "too many sessions");
        }
        if let Ok(value) = HeaderValue::from_str(&name) {
            let header = HeaderName::from_static("mcp-session-id");
            response.headers_mut().insert(header, value);
        }
        sessions.insert(name, connection);
        response
    }
}

fn find<'a>(tools: &'a [Tool], name: &str) -> Option<&'a Tool> {
    tools.iter().find(|tool| tool.name == name)
}

/// Returns the HTTP status of a response, since 2026-07-28.
///
/// Spec: [Request Metadata](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata)
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

fn json(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn error_response(status: StatusCode, id: Option<&RequestId>, error: &ErrorObject) -> Response {
    json(status, error_text(id, error))
}

fn refuse(status: StatusCode, text: &'static str) -> Response {
    error_response(status, None, &ErrorObject::new(ErrorCode::INVALID_REQUEST, text))
}

fn session_not_found(id: Option<&RequestId>) -> Response {
    let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, "session not found");
    error_response(StatusCode::NOT_FOUND, id, &error)
}

fn not_allowed(methods: &'static str) -> Response {
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    response
}
