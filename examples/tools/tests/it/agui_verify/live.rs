//! Live agents over HTTP.
use crate::agui_verify::program::{ProgramOutput, run, run_with};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::produce::Run;
use agui_types::transport::BodyEncoding;
use agui_types::{proto, sse};
use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::Listener;
use jsonrpc_core::wire;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;

/// An agent that echoes its input in the accepted encoding.
async fn echo(headers: HeaderMap, body: String) -> Response {
    let Ok(input) = wire::decode::<RunAgentInput>(&body) else {
        return (StatusCode::BAD_REQUEST, "no run input").into_response();
    };
    let mut run = Run::begin(&input, Vec::new());
    let id = run.new_message_id();
    run.text(&id, &format!("{} messages", input.messages.len())).expect("a message");
    run.finish().expect("an end");
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    answer(run.sink(), BodyEncoding::negotiate(accept))
}

/// An agent that does not open its message.
async fn hasty(_: String) -> Response {
    let events = [
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hi"}"#,
    ];
    let events: Vec<Event> =
        events.iter().map(|text| wire::decode(text).expect("an event")).collect();
    answer(&events, BodyEncoding::Sse)
}

fn answer(events: &[Event], encoding: BodyEncoding) -> Response {
    let mut body = Vec::new();
    for event in events {
        match encoding {
            BodyEncoding::Protobuf => proto::write_event(&mut body, event).expect("bytes"),
            _ => sse::write_event(&mut body, event).expect("JSON"),
        }
    }
    ([(header::CONTENT_TYPE, encoding.content_type())], body).into_response()
}

/// Runs the program with these agents.
fn against(path: &str, args: &[&str]) -> ProgramOutput {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}{path}", listener.local_addr().expect("an address"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    listener.set_nonblocking(true).expect("a listener");
    runtime.spawn(async move {
        let router = Router::new()
            .route("/echo", post(echo))
            .route("/hasty", post(hasty))
            .route("/closed", post(|| async { (StatusCode::SERVICE_UNAVAILABLE, "later") }));
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        axum::serve(listener, router).await
    });
    let args: Vec<_> = ["--url", url.as_str()].into_iter().chain(args.iter().copied()).collect();
    let said = run(&args, b"");
    runtime.shutdown_background();
    said
}

#[test]
fn agent_is_requested_in_either_encoding() {
    for args in [&["--prompt", "Hi"][..], &["--form", "protobuf"], &["--header", "X-Key: 1"]] {
        let said = against("/echo", args);
        assert_eq!(said.out, "ok: 5 events, 1 runs, no problems (strict)\n", "{}", said.err);
        assert_eq!(said.status, Some(0));
    }
}

#[test]
fn problem_of_an_agent_is_explained() {
    let said = against("/hasty", &["--profile", "tolerant"]);
    assert_eq!(said.status, Some(1), "{}", said.err);
    assert!(said.out.starts_with("wrong: event 1\n  rule   text_message_not_open"), "{}", said.out);
    // The strict profile uses the request.
    let said = against("/hasty", &[]);
    assert!(said.out.starts_with("wrong: event 0\n  rule   thread_changed"), "{}", said.out);
}

#[test]
fn unreachable_agent_is_an_error() {
    let said = against("/closed", &[]);
    assert_eq!(said.err, "agui-verify: the agent responded with HTTP 503: later\n");
    assert_eq!(said.status, Some(3));
    let said = run(&["--url", "http://127.0.0.1:1/"], b"");
    assert_eq!(said.status, Some(3));
    assert!(said.err.starts_with("agui-verify: cannot reach the agent: "), "{}", said.err);
    let said = against("/echo", &["--header", "nothing"]);
    assert_eq!(said.err, "agui-verify: invalid header \"nothing\": expected NAME: VALUE\n");
}

/// Accepts connections over TLS; failed handshakes are skipped.
struct TlsListener {
    tcp: tokio::net::TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for TlsListener {
    type Io = TlsStream<tokio::net::TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.tcp).await;
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

fn acceptor(made: &CertifiedKey<rcgen::KeyPair>) -> TlsAcceptor {
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a certificate");
    TlsAcceptor::from(Arc::new(config))
}

#[test]
fn https_agent_must_be_trusted() {
    let made = generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), made.cert.pem()).expect("a file");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let tcp = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
    let port = tcp.local_addr().expect("an address").port();
    let listener = TlsListener { tcp, acceptor: acceptor(&made) };
    let router = Router::new().route("/echo", post(echo));
    runtime.spawn(async move { axum::serve(listener, router).await });

    let url = format!("https://localhost:{port}/echo");
    let refused = run(&["--url", &url], b"");
    assert_eq!(refused.status, Some(3), "{}", refused.out);
    let trusted = run_with(&["--url", &url], b"", Some(file.path()));
    assert_eq!(trusted.out, "ok: 5 events, 1 runs, no problems (strict)\n", "{}", trusted.err);
    runtime.shutdown_background();
}
