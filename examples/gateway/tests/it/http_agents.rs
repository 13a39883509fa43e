//! Agents behind Streamable HTTP: a correct server, and faulty ones.
use crate::gateway::{Gateway, input, soon};
use crate::run::Run;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request, StatusCode, Version};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

/// The agent's behaviour for a prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Does {
    /// Requests permission, sends text, ends the turn.
    Works,
    /// Refuses the prompt.
    Refuses(StatusCode),
    /// Ends the session's stream.
    EndsSession,
    /// Ends the connection's stream.
    EndsConnection,
    /// Refuses `initialize` with 403.
    Forbids,
    /// Refuses `initialize` with 401 and repeats its credentials.
    Echoes,
}

/// A received request.
#[derive(Debug)]
pub(crate) struct Had {
    method: Method,
    pub(crate) version: Version,
    /// The number of the request's connection.
    pub(crate) connection: usize,
    pub(crate) headers: HeaderMap,
    body: Value,
}

/// The number of concurrent streams that every peer should allow.
const STREAMS: u32 = 100;

#[derive(Clone)]
pub(crate) struct Agent {
    does: Does,
    connection: usize,
    /// Number of opened sessions.
    opened: Arc<AtomicUsize>,
    /// The streams by session; the connection's stream has an empty name.
    streams: Arc<Mutex<HashMap<String, mpsc::UnboundedSender<String>>>>,
    /// The open prompt.
    prompt: Arc<Mutex<Value>>,
    had: mpsc::UnboundedSender<Had>,
}

impl Agent {
    pub(crate) async fn serve(does: Does) -> (String, mpsc::UnboundedReceiver<Had>) {
        Self::serve_over(does, None).await
    }

    /// Starts an agent, over TLS if there is an acceptor.
    pub(crate) async fn serve_over(
        does: Does,
        tls: Option<TlsAcceptor>,
    ) -> (String, mpsc::UnboundedReceiver<Had>) {
        let (had, heard) = mpsc::unbounded_channel();
        let opened = Arc::default();
        let streams = Arc::default();
        let prompt = Arc::default();
        let agent = Self { does, connection: 0, opened, streams, prompt, had };
        let of_connection = move |connection| {
            Router::new().fallback(handle).with_state(Self { connection, ..agent.clone() })
        };
        (serve(of_connection, tls).await + "/acp", heard)
    }

    /// Sends a message in a stream, split over two lines.
    fn say(&self, session: &str, message: &Value) {
        let text = message.to_string();
        let (first, rest) = text.split_once(',').unwrap();
        let event = format!(": a comment\n\ndata: {first},\ndata: {rest}\n\n");
        self.streams.lock().unwrap()[session].send(event).unwrap();
    }

    fn answer(&self, session: &str, id: &Value, result: &Value) {
        self.say(session, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn prompt(&self, id: &Value, session: &str) -> Response {
        match self.does {
            Does::Refuses(status) => return (status, "no room").into_response(),
            Does::EndsSession => drop(self.streams.lock().unwrap().remove(session)),
            Does::EndsConnection => drop(self.streams.lock().unwrap().remove("")),
            Does::Works | Does::Forbids | Does::Echoes => {
                *self.prompt.lock().unwrap() = id.clone();
                let options = json!([{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }]);
                let call = json!({ "toolCallId": "t", "title": "Work" });
                let params = json!({ "sessionId": session, "toolCall": call, "options": options });
                let ask = json!({
                    "jsonrpc": "2.0", "id": "ask", "method": "session/request_permission", "params": params,
                });
                self.say(session, &ask);
            }
        }
        StatusCode::ACCEPTED.into_response()
    }
}

/// Serves each connection, by its number, over HTTP/1.1 and HTTP/2, and over TLS if there is an
/// acceptor. Returns the base of its URLs.
pub(crate) async fn serve(
    of_connection: impl Fn(usize) -> Router + Send + 'static,
    tls: Option<TlsAcceptor>,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let scheme = if tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for connection in 0.. {
            let stream = listener.accept().await.unwrap().0;
            tokio::spawn(talk(of_connection(connection), stream, tls.clone()));
        }
    });
    url
}

/// Ends as the other side does.
async fn talk(router: Router, stream: TcpStream, tls: Option<TlsAcceptor>) {
    let service = TowerToHyperService::new(router);
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http2().max_concurrent_streams(STREAMS);
    let _ended = match tls {
        None => server.serve_connection(TokioIo::new(stream), service).await,
        Some(tls) => {
            let Ok(stream) = tls.accept(stream).await else { return };
            server.serve_connection(TokioIo::new(stream), service).await
        }
    };
}

async fn handle(State(agent): State<Agent>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let had = Had {
        method: parts.method.clone(),
        version: parts.version,
        connection: agent.connection,
        headers: parts.headers.clone(),
        body: body.clone(),
    };
    let _ = agent.had.send(had);
    let session = parts.headers.get("acp-session-id");
    let session = session.map(|id| id.to_str().unwrap().to_owned());
    if parts.method == Method::GET {
        let (sender, events) = mpsc::unbounded_channel();
        agent.streams.lock().unwrap().insert(session.unwrap_or_default(), sender);
        let events =
            stream::unfold(events, async |mut events| Some((events.recv().await?, events)));
        let events = events.map(|event| Ok::<_, std::io::Error>(Bytes::from(event)));
        return ([("content-type", "text/event-stream")], Body::from_stream(events))
            .into_response();
    }
    let id = &body["id"];
    match body["method"].as_str() {
        Some("initialize") if agent.does == Does::Forbids => {
            (StatusCode::FORBIDDEN, "who are you?").into_response()
        }
        Some("initialize") if agent.does == Does::Echoes => {
            let told = parts.headers["authorization"].to_str().unwrap();
            (StatusCode::UNAUTHORIZED, format!("there is no {told}")).into_response()
        }
        Some("initialize") => {
            let result =
                json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } });
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            let headers = [
                ("content-type", "application/json"),
                ("acp-connection-id", "c"),
                ("set-cookie", "replica=two; Path=/"),
            ];
            (headers, answer.to_string()).into_response()
        }
        Some("session/new") => {
            let before = agent.opened.fetch_add(1, Ordering::Relaxed);
            let session = if before == 0 { "s".to_owned() } else { format!("s{before}") };
            agent.answer("", id, &json!({ "sessionId": session }));
            StatusCode::ACCEPTED.into_response()
        }
        Some("session/prompt") => agent.prompt(id, session.as_deref().unwrap()),
        Some(_) => StatusCode::ACCEPTED.into_response(),
        None if id == "ask" => {
            let content = json!({ "type": "text", "text": "done" });
            let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
            let session = session.as_deref().unwrap();
            let params = json!({ "sessionId": session, "update": update });
            agent.say(
                session,
                &json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }),
            );
            let prompt = agent.prompt.lock().unwrap().clone();
            agent.answer(session, &prompt, &json!({ "stopReason": "end_turn" }));
            StatusCode::ACCEPTED.into_response()
        }
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// A gateway with an agent of this behaviour.
async fn start(does: Does) -> (Gateway, mpsc::UnboundedReceiver<Had>) {
    let (url, heard) = Agent::serve(does).await;
    (Gateway::demo(&["--agent-url", &url, "--permission", "allow"]).await, heard)
}

/// The next request with this text in its body, or with this method.
pub(crate) async fn next(heard: &mut mpsc::UnboundedReceiver<Had>, what: &str) -> Had {
    loop {
        let had = soon(heard.recv()).await.unwrap();
        if had.method.as_str() == what || had.body.to_string().contains(what) {
            return had;
        }
    }
}

#[tokio::test]
async fn http_agent_completes_turns() {
    let (gateway, mut heard) = start(Does::Works).await;
    for run in ["1", "2"] {
        let told = gateway.ask("t", run, "go").await.rest().await;
        assert_eq!(told.end(), "success");
        assert_eq!(&*told.text(), "done");
    }
    let began = next(&mut heard, "initialize").await;
    assert_eq!(began.headers["content-type"], "application/json");
    assert!(began.headers.get("acp-connection-id").is_none());
    assert!(began.headers.get("authorization").is_none());
    assert_eq!(began.version, Version::HTTP_11);
    let connection = next(&mut heard, "GET").await;
    assert_eq!(connection.headers["accept"], "text/event-stream");
    assert!(connection.headers.get("acp-session-id").is_none());
    let new = next(&mut heard, "session/new").await;
    assert!(new.headers.get("acp-session-id").is_none());
    let session = next(&mut heard, "GET").await;
    assert_eq!(session.headers["acp-session-id"], "s");
    let prompt = next(&mut heard, "session/prompt").await;
    let answer = next(&mut heard, "optionId").await;
    assert_eq!(answer.body["id"], "ask");
    for had in [&prompt, &answer] {
        assert_eq!(had.headers["acp-session-id"], "s");
        assert_eq!(had.headers["acp-connection-id"], "c");
        assert_eq!(had.headers["cookie"], "replica=two");
    }
    let again = next(&mut heard, "session/prompt").await;
    assert_eq!(again.headers["acp-session-id"], "s");
    #[cfg(unix)]
    {
        gateway.signal(nix::sys::signal::Signal::SIGTERM);
        let left = next(&mut heard, "DELETE").await;
        assert_eq!(left.headers["acp-connection-id"], "c");
        assert!(gateway.ended().await.success());
    }
}

#[tokio::test]
async fn refused_message_fails_alone() {
    let (gateway, mut heard) = start(Does::Refuses(StatusCode::INSUFFICIENT_STORAGE)).await;
    for run in ["1", "2"] {
        let told = gateway.ask("t", run, "go").await.rest().await;
        assert_eq!(told.end(), "ACP_INTERNAL_ERROR");
        let expected = "the agent answers 507 Insufficient Storage: no room";
        assert_eq!(told.error().message, expected);
    }
    next(&mut heard, "initialize").await;
    next(&mut heard, "session/prompt").await;
    let second = next(&mut heard, "session/prompt").await;
    assert_eq!(second.headers["acp-connection-id"], "c", "the connection is the same");
}

#[tokio::test]
async fn ended_session_stream_fails_its_session_alone() {
    let (gateway, mut heard) = start(Does::EndsSession).await;
    for run in ["1", "2"] {
        let told = gateway.ask("t", run, "go").await.rest().await;
        assert_eq!(told.end(), "ACP_INTERNAL_ERROR");
        assert_eq!(told.error().message, "the agent ended the stream");
        // The stream is opened again for the next message.
        loop {
            if next(&mut heard, "GET").await.headers.get("acp-session-id").is_some() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn lost_http_agent_is_reconnected() {
    for does in [Does::EndsConnection, Does::Refuses(StatusCode::NOT_FOUND)] {
        let (gateway, mut heard) = start(does).await;
        for run in ["1", "2"] {
            let told = gateway.ask("t", run, "go").await.rest().await;
            assert_eq!(told.end(), "AGENT_EXITED", "{does:?}");
            next(&mut heard, "initialize").await;
            let new = next(&mut heard, "session/").await;
            assert_eq!(new.body["method"], "session/new", "what is told again might come late");
        }
    }
}

#[tokio::test]
async fn refused_http_agent_is_auth_required() {
    for (does, token, expected) in [
        (Does::Forbids, "", "without a token: 403 Forbidden: who are you?"),
        (Does::Forbids, "token = 's3cret'", "with this token: 403 Forbidden: who are you?"),
        (
            Does::Echoes,
            "token = 's3cret'",
            "with this token: 401 Unauthorized: there is no Bearer (hidden)",
        ),
        (Does::Refuses(StatusCode::UNAUTHORIZED), "", "without a token: 401 Unauthorized: no room"),
    ] {
        let (url, mut heard) = Agent::serve(does).await;
        let gateway = Gateway::configured(&format!("[agents.a]\nurl = '{url}'\n{token}")).await;
        for run in ["1", "2"] {
            let told = gateway.ask("t", run, "go").await.rest().await;
            let expected = format!("the agent denies access {expected}");
            assert_eq!(told.end(), "ACP_AUTH_REQUIRED");
            assert_eq!(&told.error().message, &expected);
            // Another connection may be accepted.
            next(&mut heard, "initialize").await;
        }
    }
}

#[tokio::test]
async fn unreachable_http_agent_is_unavailable() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let url = format!("http://user:secret@{closed}/acp");
    let gateway = Gateway::demo(&["--agent-url", &url]).await;
    let told = gateway.ask("t", "1", "go").await.rest().await;
    assert_eq!(told.end(), "AGENT_UNAVAILABLE");
    assert!(!told.error().message.contains("secret"), "{:?}", told.error());
}

#[tokio::test]
async fn all_requests_to_http_agent_have_token() {
    let (url, mut heard) = Agent::serve(Does::Works).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "from-a-file\n").unwrap();
    let settings = format!(
        "permission = 'allow'\ndefault-agent = 'a'\n[agents.a]\nurl = '{url}'\ntoken-file = {:?}\n\
         [agents.b]\nurl = '{url}'\ntoken = 'from-settings'",
        file.path(),
    );
    let gateway = Gateway::configured(&settings).await;
    assert_eq!(gateway.ask("t", "1", "go").await.rest().await.end(), "success");
    for what in ["initialize", "GET", "session/new", "GET", "session/prompt", "optionId"] {
        assert_eq!(next(&mut heard, what).await.headers["authorization"], "Bearer from-a-file");
    }
    let asked = input("t", "2", "go");
    let chat = gateway.client.post(gateway.url("/api/ai/agents/b/chat")).json(&asked);
    assert_eq!(Run::new(&asked, soon(chat.send()).await.unwrap()).rest().await.end(), "success");
    let began = next(&mut heard, "initialize").await;
    assert_eq!(began.headers["authorization"], "Bearer from-settings");
    #[cfg(unix)]
    {
        gateway.signal(nix::sys::signal::Signal::SIGTERM);
        let mut told = BTreeSet::new();
        for _ in 0..2 {
            let left = next(&mut heard, "DELETE").await;
            told.insert(left.headers["authorization"].to_str().unwrap().to_owned());
        }
        assert!(told.iter().eq(["Bearer from-a-file", "Bearer from-settings"]), "{told:?}");
    }
}
