//! Limits of connections.
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use host::http::{
    Access, AuthSettings, ConnectionLimits, SiteSettings, UserLimits, authenticate, serve,
};
use std::future::pending;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Time limit of each wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// A limit that a test waits for.
const SHORT: Duration = Duration::from_millis(200);

const LIMITS: ConnectionLimits = ConnectionLimits {
    connections: 4,
    strangers: 3,
    header: PATIENCE,
    body: PATIENCE,
    idle: PATIENCE,
    write: PATIENCE,
};

struct Server {
    address: SocketAddr,
    token: String,
    ending: CancellationToken,
    task: JoinHandle<()>,
    /// A request to `/waits` has begun.
    begun: Arc<Notify>,
}

impl Server {
    async fn start(limits: ConnectionLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let site = SiteSettings::default();
        let auth = AuthSettings::default();
        let of_user = UserLimits { at_work: 100, a_minute: 1000 };
        let (access, token) = Access::new(&site, &auth, of_user, address).unwrap();
        let read = async |body: Body| match to_bytes(body, 1000).await {
            Ok(_) => StatusCode::OK,
            Err(error) if error.to_string().contains("not complete after") => {
                StatusCode::REQUEST_TIMEOUT
            }
            Err(_) => StatusCode::BAD_REQUEST,
        };
        let begun = Arc::new(Notify::new());
        let begins = begun.clone();
        let waits = async move || {
            begins.notify_one();
            pending::<()>().await;
        };
        let router = Router::new()
            .route("/known", get(async || "ok"))
            .route("/waits", get(waits))
            .route_layer(from_fn_with_state(Arc::new(access), authenticate))
            .route("/open", get(async || "ok"))
            .route("/read", post(read));
        let ending = CancellationToken::new();
        let task = tokio::spawn(serve(listener, None, router, limits, ending.clone()));
        Self { address, token: token.unwrap().reveal().to_owned(), ending, task, begun }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Opens a connection of a user, with a request to this path.
    async fn user(&self, path: &str) -> TcpStream {
        let mut stream = self.connect().await;
        let authorization = format!("Authorization: Bearer {}", self.token);
        send(
            &mut stream,
            &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n\r\n"),
        )
        .await;
        stream
    }
}

async fn send(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.unwrap();
}

/// Reads what has arrived. It is empty at the end of the connection.
async fn receive(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let read = timeout(PATIENCE, stream.read(&mut buffer)).await.expect("nothing arrives");
    // A connection that is closed with unread data is reset.
    String::from_utf8_lossy(&buffer[..read.unwrap_or(0)]).into_owned()
}

/// Nothing has arrived, not even the end of the connection.
fn assert_open(stream: &TcpStream) {
    let nothing = stream.try_read(&mut [0]).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
}

const OPEN: &str = "GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[tokio::test]
async fn silent_connections_do_not_keep_others_out() {
    let server = Server::start(LIMITS).await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(server.connect().await);
        let mut other = server.user("/known").await;
        assert!(receive(&mut other).await.starts_with("HTTP/1.1 200"));
    }
    for closed in &mut silent[..17] {
        assert_eq!(receive(closed).await, "");
    }
    let last = silent.last_mut().unwrap();
    send(last, OPEN).await;
    assert!(receive(last).await.starts_with("HTTP/1.1 200"), "the newest is kept");
}

/// Connections without a user make room for each other, and not at the cost of a user.
#[tokio::test]
async fn silent_connections_do_not_close_those_of_users() {
    let server = Server::start(LIMITS).await;
    let mut user = server.user("/known").await;
    assert!(receive(&mut user).await.starts_with("HTTP/1.1 200"));
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(server.connect().await);
    }
    let last = silent.last_mut().unwrap();
    send(last, OPEN).await;
    assert!(receive(last).await.starts_with("HTTP/1.1 200"), "all were accepted");
    assert_open(&user);
    let authorization = format!("Authorization: Bearer {}", server.token);
    send(&mut user, &format!("GET /known HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n\r\n"))
        .await;
    assert!(receive(&mut user).await.starts_with("HTTP/1.1 200"), "the user's is open");
}

#[tokio::test]
async fn connection_at_work_is_not_closed_for_another() {
    let server = Server::start(LIMITS).await;
    let mut working = Vec::new();
    for _ in 0..3 {
        working.push(server.user("/waits").await);
        timeout(PATIENCE, server.begun.notified()).await.unwrap();
    }
    let mut idle = server.user("/known").await;
    assert!(receive(&mut idle).await.starts_with("HTTP/1.1 200"));
    // The idle connection gives its place to the next one, which is at work then.
    working.push(server.user("/waits").await);
    assert_eq!(receive(&mut idle).await, "");
    timeout(PATIENCE, server.begun.notified()).await.unwrap();
    let mut refused = server.connect().await;
    assert_eq!(receive(&mut refused).await, "");
    for stream in &working {
        assert_open(stream);
    }
    // A place is free when a request has ended.
    drop(working.pop());
    loop {
        let mut next = server.connect().await;
        send(&mut next, OPEN).await;
        if receive(&mut next).await.starts_with("HTTP/1.1 200") {
            return;
        }
    }
}

#[tokio::test]
async fn headers_have_a_time_limit() {
    let server = Server::start(ConnectionLimits { header: SHORT, ..LIMITS }).await;
    for part in ["", "GET /open HTTP/1.1\r\nHost: loc", "PRI * HTTP/2.0\r\n"] {
        let mut stream = server.connect().await;
        send(&mut stream, part).await;
        assert_eq!(receive(&mut stream).await, "", "{part}");
    }
}

#[tokio::test]
async fn idle_connection_ends() {
    let server = Server::start(ConnectionLimits { idle: SHORT, ..LIMITS }).await;
    for part in ["", "GET /open HTTP/1.1\r\n"] {
        let mut stream = server.connect().await;
        send(&mut stream, OPEN).await;
        assert!(receive(&mut stream).await.starts_with("HTTP/1.1 200"));
        send(&mut stream, part).await;
        assert_eq!(receive(&mut stream).await, "", "{part}");
    }
}

#[tokio::test]
async fn request_at_work_is_not_idle() {
    let server = Server::start(ConnectionLimits { header: SHORT, idle: SHORT, ..LIMITS }).await;
    let working = server.user("/waits").await;
    let mut idle = server.connect().await;
    assert_eq!(receive(&mut idle).await, "", "the time has passed");
    assert_open(&working);
}

#[tokio::test]
async fn body_has_a_time_limit() {
    let server = Server::start(ConnectionLimits { body: SHORT, ..LIMITS }).await;
    let mut stream = server.connect().await;
    send(&mut stream, "POST /read HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf")
        .await;
    let answer = receive(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[tokio::test]
async fn end_of_server_ends_idle_connections() {
    let server = Server::start(LIMITS).await;
    let mut stream = server.connect().await;
    send(&mut stream, OPEN).await;
    assert!(receive(&mut stream).await.starts_with("HTTP/1.1 200"));
    server.ending.cancel();
    assert_eq!(receive(&mut stream).await, "");
    timeout(PATIENCE, server.task).await.unwrap().unwrap();
}

/// A frame of HTTP/2.
///
/// Spec: [RFC 9113, section 4.1](https://www.rfc-editor.org/rfc/rfc9113#section-4.1)
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;

/// Sends a request to `/open` on a stream.
async fn request_http2(client: &mut TcpStream, stream: u32) {
    // GET and http of the static table, and two literals: the path, the authority.
    let headers = b"\x82\x86\x04\x05/open\x01\x09localhost";
    // The headers end here, and so does the stream.
    client.write_all(&frame(HEADERS, 0x4 | 0x1, stream, headers)).await.unwrap();
}

/// Returns the payload of the next frame of this kind on the stream.
async fn frame_of(client: &mut TcpStream, kind: u8, stream: u32) -> Vec<u8> {
    loop {
        let mut head = [0; 9];
        timeout(PATIENCE / 6, client.read_exact(&mut head))
            .await
            .expect("nothing arrives")
            .unwrap();
        let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
        client.read_exact(&mut payload).await.unwrap();
        if head[3] == kind && head[5..] == stream.to_be_bytes() {
            return payload;
        }
    }
}

/// The client answers pings and acknowledges all that it receives, so that its socket is not at a
/// standstill.
#[tokio::test]
async fn stream_without_a_window_ends_and_others_continue() {
    let server = Server::start(ConnectionLimits { write: SHORT, ..LIMITS }).await;
    let mut client = server.connect().await;
    client.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    // SETTINGS_INITIAL_WINDOW_SIZE
    client.write_all(&frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0])).await.unwrap();
    request_http2(&mut client, 1).await;
    let cancelled = [0, 0, 0, 8];
    assert_eq!(frame_of(&mut client, RST_STREAM, 1).await, cancelled);
    request_http2(&mut client, 3).await;
    client.write_all(&frame(WINDOW_UPDATE, 0, 3, &[0, 0, 0, 100])).await.unwrap();
    assert_eq!(frame_of(&mut client, 0, 3).await, b"ok");
}
