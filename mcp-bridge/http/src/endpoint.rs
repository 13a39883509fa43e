//! The HTTP endpoint.
mod legacy;
mod modern;
mod reply;
mod room;

use crate::connection::{Client, Connection};
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
use mcp_bridge::server::Received;
use reply::{error_response, not_allowed, refuse};
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicUsize;
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
    /// Time limit for the body of a request.
    pub body_time: Duration,
    /// Maximum number of sessions, and of concurrent requests since 2026-07-28. Beyond it, a session or a subscription without open
    /// calls ends in favour of a new one: that of the client with the most of them, and of those the one without a request for the
    /// longest time. A client is a principal at an IP address, if the program provides the
    /// [address](axum::extract::ConnectInfo). Open calls are not ended: if there is nothing else, the request is refused.
    pub max_connections: usize,
    /// Maximum number of sessions, and of concurrent requests since 2026-07-28, of one principal. Beyond it, one of the same principal
    /// ends. Without `authenticate`, there is only one principal, and the maximum has no effect.
    pub max_connections_each: usize,
    /// Time after which a session without requests or readers is evicted.
    pub idle_time: Duration,
    /// Time limit for answers to questions of an open call. `None` means no limit.
    pub question_time: Option<Duration>,
    /// Time limit for responses that are not streams.
    pub patience: Duration,
    /// Interval of keep-alive comments on idle streams.
    pub keep_alive: Duration,
    /// Other programs behind the same address, which have sessions of their own. Up to 2025-11-25.
    #[cfg(feature = "client")]
    pub replicas: Option<crate::replicas::Replicas>,
}

impl EndpointOptions {
    /// Default of [`body_time`](Self::body_time).
    pub const DEFAULT_BODY_TIME: Duration = Duration::from_secs(60);

    /// Default of [`max_connections`](Self::max_connections).
    pub const DEFAULT_MAX_CONNECTIONS: usize = 1024;

    /// Default of [`max_connections_each`](Self::max_connections_each), a quarter of all.
    pub const DEFAULT_MAX_CONNECTIONS_EACH: usize = Self::DEFAULT_MAX_CONNECTIONS / 4;
}

impl Default for EndpointOptions {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            authenticate: None,
            max_body: 4 << 20,
            body_time: Self::DEFAULT_BODY_TIME,
            max_connections: Self::DEFAULT_MAX_CONNECTIONS,
            max_connections_each: Self::DEFAULT_MAX_CONNECTIONS_EACH,
            idle_time: Duration::from_secs(3600),
            question_time: Some(Duration::from_secs(3600)),
            patience: Duration::from_secs(5),
            keep_alive: Duration::from_secs(15),
            #[cfg(feature = "client")]
            replicas: None,
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
