//! Accepting connections, with limits of their number and their time.
use crate::http::Tls;
use crate::http::connection::{Connections, OpenConnection, TimedBody, held};
use crate::http::progress::{Streams, observed};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Wait after an error of the system, such as too many open files.
const ACCEPT_WAIT: Duration = Duration::from_millis(100);

/// Interval of the pings by which a lost HTTP/2 client is noticed, and the time to answer one.
const PING_TIME: Duration = Duration::from_secs(20);

/// Open files that a connection may need: its own, and one of its work.
#[cfg(unix)]
const FILES_EACH: usize = 2;

/// Limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Connections. A connection without a request is closed in favour of a new one.
    pub connections: usize,
    /// Connections on which no request was authenticated. The oldest is closed in favour of a new
    /// one.
    pub strangers: usize,
    /// Time until the headers of the first request are complete.
    pub header: Duration,
    /// Time until the body of a request is complete.
    pub body: Duration,
    /// Time until the headers of a further request are complete.
    pub idle: Duration,
    /// Time that the client may take to read the data that was sent. On HTTP/2 also for a part of
    /// each response: the stream of a client that takes less is reset.
    pub write: Duration,
}

impl ConnectionLimits {
    /// Returns limits that fit into the number of files that this process may open.
    #[must_use]
    pub fn within_open_files(self) -> Self {
        #[cfg(unix)]
        if let Ok((files, _)) =
            nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE)
        {
            let most = usize::try_from(files).unwrap_or(usize::MAX) / FILES_EACH;
            let connections = self.connections.min(most.max(1));
            let strangers = self.strangers.min((connections / 2).max(1));
            return Self { connections, strangers, ..self };
        }
        self
    }
}

/// Serves HTTP/1.1 and HTTP/2 until `ending` is cancelled and the requests at work have ended. A
/// connection that was upgraded is at work as long as its handler keeps a
/// [`Connection`](crate::http::Connection) or an [`RequestPermit`](crate::http::RequestPermit).
///
/// Requests carry a [`Connection`](crate::http::Connection). With `tls`, connections are encrypted;
/// without, they are in clear.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    router: Router,
    limits: ConnectionLimits,
    ending: CancellationToken,
) {
    let connections = Arc::new(Connections::new(limits.connections, limits.strangers));
    loop {
        let accepted = tokio::select! {
            () = ending.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let Some(open) = connections.enter(peer) else { continue };
                // Otherwise a short event waits until the client has acknowledged the one before.
                // An error means that the client has left.
                let _left = stream.set_nodelay(true);
                let serving = (open, router.clone(), limits, ending.clone());
                match &tls {
                    Some(tls) => drop(tokio::spawn(secure(stream, tls.clone(), serving))),
                    None => drop(tokio::spawn(drive(stream, serving))),
                }
            }
            Err(error) if is_of_client(error.kind()) => {}
            Err(error) => {
                tracing::error!(%error, "cannot accept a connection");
                sleep(ACCEPT_WAIT).await;
            }
        }
    }
    drop(listener);
    connections.tracker.close();
    connections.tracker.wait().await;
}

/// Whether an error is about the connection that was to be accepted.
fn is_of_client(error: ErrorKind) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error, ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// A connection, its router and limits, and the end of the server.
type Serving = (Arc<OpenConnection>, Router, ConnectionLimits, CancellationToken);

/// Serves one connection after its TLS handshake, which has the time of the first headers.
async fn secure(stream: TcpStream, tls: Arc<Tls>, serving: Serving) {
    let (open, _, limits, ending) = &serving;
    let stream = tokio::select! {
        stream = timeout(limits.header, tls.acceptor().accept(stream)) => stream,
        () = open.evicted.cancelled() => return,
        () = ending.cancelled() => return,
    };
    match stream {
        Ok(Ok(stream)) => drive(stream, serving).await,
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake has failed"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

/// Serves one connection.
async fn drive(
    stream: impl AsyncRead + AsyncWrite + Send + 'static,
    (open, router, limits, ending): Serving,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write));
    let mut builder = auto::Builder::new(Streams(limits.write));
    // Its own limit also ends idle connections, after 30 s by default.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None);
    let http2 = &mut builder.http2();
    http2.timer(TokioTimer::new()).keep_alive_interval(PING_TIME).keep_alive_timeout(PING_TIME);
    let service = service_fn(|request: Request<Incoming>| {
        let connection = open.begin();
        let router = router.clone();
        let mut request = request.map(|body| Body::new(TimedBody::new(body, limits.body)));
        request.extensions_mut().insert(connection.clone());
        async move {
            let response = router.oneshot(request).await?;
            Ok::<_, Infallible>(response.map(|body| observed(Body::new(held(body, connection)))))
        }
    });
    let io = TokioIo::new(Box::pin(stream));
    let mut serving = pin!(builder.serve_connection_with_upgrades(io, service));
    let mut idle = pin!(open.is_idle(limits.header, limits.idle));
    let mut is_ending = false;
    loop {
        tokio::select! {
            served = serving.as_mut() => {
                if let Err(error) = served {
                    tracing::debug!(error, "a connection has ended");
                }
                return;
            }
            () = open.evicted.cancelled() => return,
            () = &mut idle => return,
            () = ending.cancelled(), if !is_ending => {
                is_ending = true;
                serving.as_mut().graceful_shutdown();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    const IDLE: Duration = Duration::from_secs(75);

    const LIMITS: ConnectionLimits = ConnectionLimits {
        connections: 1,
        strangers: 1,
        header: Duration::from_secs(10),
        body: Duration::from_secs(60),
        idle: IDLE,
        write: Duration::from_secs(30),
    };

    /// Serves one connection, and returns the end of its client.
    fn connect() -> DuplexStream {
        let (client, server) = duplex(4096);
        let connections = Arc::new(Connections::new(LIMITS.connections, LIMITS.strangers));
        let open = connections.enter(([127, 0, 0, 1], 1).into()).unwrap();
        let router = Router::new().route("/", get(async || "ok"));
        tokio::spawn(async move {
            let _connections = connections;
            drive(server, (open, router, LIMITS, CancellationToken::new())).await;
        });
        client
    }

    /// Sends a request, and returns what is received.
    async fn receive(client: &mut DuplexStream) -> String {
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut buffer = [0; 4096];
        let read = client.read(&mut buffer).await.unwrap();
        String::from_utf8_lossy(&buffer[..read]).into_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn connection_is_kept_between_requests_for_its_time() {
        let mut client = connect();
        for _ in 0..3 {
            assert!(receive(&mut client).await.starts_with("HTTP/1.1 200"));
            sleep(IDLE - Duration::from_secs(1)).await;
        }
        assert!(receive(&mut client).await.starts_with("HTTP/1.1 200"));
        let begun = tokio::time::Instant::now();
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0, "the connection ends");
        assert_eq!(begun.elapsed().as_secs(), IDLE.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn incomplete_headers_do_not_keep_a_connection() {
        let mut client = connect();
        assert!(receive(&mut client).await.starts_with("HTTP/1.1 200"));
        let begun = tokio::time::Instant::now();
        client.write_all(b"GET / HTTP/1.1\r\nHost: loc").await.unwrap();
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0, "the connection ends");
        assert_eq!(begun.elapsed().as_secs(), IDLE.as_secs());
    }
}
