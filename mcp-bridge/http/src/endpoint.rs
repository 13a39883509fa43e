//! The HTTP endpoint.
mod legacy;
mod modern;
mod reply;
mod room;

use crate::connection::{Client, Connection};
use crate::endpoint_options::EndpointOptions;
use crate::guard::{accepts, is_json, is_our_host, is_our_origin};
use crate::service::Service;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::any;
use jsonrpc_core::{ErrorObject, Message};
use mcp_bridge::http::PROTOCOL_VERSION;
use mcp_bridge::mcp::base::{Era, ProtocolVersion};
use mcp_bridge::mcp::subscriptions::ServerChange;
use mcp_bridge::mcp::tasks::Task;
use mcp_bridge::server::ReceivedMessage;
use reply::{error_response, not_allowed, refuse};
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::time::timeout;

/// An endpoint for clients of both generations.
pub struct Endpoint {
    service: Arc<dyn Service>,
    options: Arc<EndpointOptions>,
    sessions: Mutex<BTreeMap<String, Arc<Connection>>>,
    /// Open requests since 2026-07-28.
    requests: Mutex<Vec<Weak<Connection>>>,
    /// Number of connections that ended in favour of others.
    ended: AtomicUsize,
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
    /// The address of the client, if the program provides it.
    address: Option<IpAddr>,
}

impl Sender<'_> {
    /// Returns the value of a header. Repeated headers are rejected, because intermediaries may
    /// have read the other one.
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
        Arc::new(Self {
            service,
            options,
            sessions: Mutex::default(),
            requests: Mutex::default(),
            ended: AtomicUsize::new(0),
        })
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
            let mut response = refuse(StatusCode::UNAUTHORIZED, "expected valid credentials");
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
            return response;
        };
        let address = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|it| it.0.ip());
        let sender = Sender { headers, principal, address };
        if !sender.is_readable(PROTOCOL_VERSION) {
            return refuse(StatusCode::BAD_REQUEST, "expected one version of the protocol");
        }
        #[cfg(feature = "client")]
        if let Some((replicas, program)) = self.other_program(&sender) {
            return self.forward(replicas, &program, parts, body).await;
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

    /// Notifies clients of a change. Tools are replaced by [`tools_changed`](Self::tools_changed).
    pub fn notify_changed(&self, change: &ServerChange) {
        let connections = self.connections();
        connections.iter().for_each(|it| it.with_server(|server| server.notify_changed(change)));
    }

    /// Notifies subscribed clients of a principal of the status of a task.
    pub fn notify_task(&self, principal: &str, task: &Task) {
        let connections = self.connections();
        let theirs =
            connections.iter().filter(|connection| connection.client.principal == principal);
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
        let body = match self.read(body).await {
            Ok(body) => body,
            Err(response) => return response,
        };
        let Ok(text) = std::str::from_utf8(&body) else {
            return refuse(StatusCode::BAD_REQUEST, "the body is not UTF-8");
        };
        let message = match Message::decode(text) {
            Ok(message) => ReceivedMessage::from(message),
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

    /// Reads the body of a request, within the limits of size and time.
    async fn read(&self, body: Body) -> Result<Bytes, Response> {
        let read = axum::body::to_bytes(body, self.options.max_body);
        let read = timeout(self.options.body_time, read).await.map_err(|_| {
            let mut response = refuse(StatusCode::REQUEST_TIMEOUT, "the body took too long");
            // The rest of the body is not read.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
            response
        })?;
        read.map_err(|_| refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"))
    }

    fn connection(&self, sender: &Sender<'_>, era: Era) -> Arc<Connection> {
        let client = Client { principal: sender.principal.clone(), address: sender.address };
        Connection::new(Arc::clone(&self.service), Arc::clone(&self.options), client, era)
    }
}
