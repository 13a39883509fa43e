//! Options of an endpoint.
use axum::http::HeaderMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Returns the principal of a request by its headers, or `None` if access is denied.
pub type Authenticate = Arc<dyn Fn(&HeaderMap) -> Option<String> + Send + Sync>;

/// Options of an [`Endpoint`](crate::Endpoint).
#[derive(Clone)]
#[non_exhaustive]
pub struct EndpointOptions {
    /// Host names of the server, in addition to local ones (`localhost` and its addresses).
    pub hosts: Vec<String>,
    /// Origins with pages that may use the endpoint, in addition to local pages.
    pub origins: Vec<String>,
    /// Authenticates requests. Without it, all requests have the same principal. Sessions and calls
    /// are accessible only to the principal that started them.
    pub authenticate: Option<Authenticate>,
    /// Maximum size of a request body, in bytes.
    pub max_body: usize,
    /// Time limit for the body of a request.
    pub body_time: Duration,
    /// Maximum number of sessions, and of concurrent requests since 2026-07-28. Beyond it, a
    /// session or a subscription without open calls ends in favour of a new one: that of the client
    /// with the most of them, and of those the one without a request for the longest time. A client
    /// is a principal at an IP address, if the program provides the
    /// [address](axum::extract::ConnectInfo). Open calls are not ended: if there is nothing else,
    /// the request is refused.
    pub max_connections: usize,
    /// Maximum number of sessions, and of concurrent requests since 2026-07-28, of one principal.
    /// Beyond it, one of the same principal ends. Without `authenticate`, there is only one
    /// principal, and the maximum has no effect.
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
