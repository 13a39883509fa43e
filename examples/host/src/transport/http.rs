//! Messages to and from an agent over HTTP: lines are posted; the agent's messages come in event
//! streams, one for the connection and one for each session.
//!
//! Spec: [Streamable
//! HTTP](https://agentclientprotocol.com/rfds/streamable-http-websocket-transport)
use super::refusal::Refusal;
use super::remote::{DIAL_TIME, MAX_FRAME, Remote};
use super::{LineReceiver, Transport, Writer, queue};
use agui_types::sse::{CONTENT_TYPE as EVENT_STREAM, Decoder};
use bytes::Bytes;
use futures::{StreamExt, stream};
use jsonrpc_core::{ErrorObject, Kind, Message, RequestId, Response, peek, peek_member};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode, Version};
use rustls::crypto::ring::default_provider;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

const CONNECTION_ID: &str = "Acp-Connection-Id";
const SESSION_ID: &str = "Acp-Session-Id";

/// Maximum number of the agent's messages that wait; then its streams are not read.
const MAX_WAITING: usize = 64;

/// Maximum number of sessions with open streams; an idle one is closed for another.
const MAX_STREAMS: usize = 1024;

/// The same where they share one connection: peers are asked to allow 100 streams at least on each,
/// of which the connection's own, a message, and a stream that is just being closed need some.
///
/// Spec: [RFC 9113, section 6.5.2](https://www.rfc-editor.org/rfc/rfc9113#section-6.5.2)
const MAX_SHARED_STREAMS: usize = 96;

/// How long the agent may take to accept a message.
const POST_TIME: Duration = Duration::from_secs(60);

/// How long the `DELETE` at the end may take.
const LEAVE_TIME: Duration = Duration::from_millis(500);

/// Interval of TCP keep-alive probes.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Maximum number of characters of a refusal that are passed on.
const MAX_REFUSAL: usize = 200;

/// State of a session's stream.
#[derive(Clone, Debug)]
enum Stage {
    Opening,
    Open,
    Refused(Refusal),
}

/// A session's stream.
struct Stream {
    stage: watch::Receiver<Stage>,
    close: CancellationToken,
}

/// Sessions of streams and of open requests, by the ids as they are written.
#[derive(Default)]
struct Sessions {
    streams: HashMap<String, Stream>,
    /// Maximum number of them.
    most: usize,
    /// Requests to the agent.
    ours: HashMap<String, String>,
    /// Requests of the agent.
    theirs: HashMap<String, String>,
}

struct Http {
    client: Client,
    remote: Remote,
    connection: OnceLock<HeaderValue>,
    incoming: mpsc::Sender<io::Result<Bytes>>,
    sessions: Mutex<Sessions>,
    ended: CancellationToken,
}

/// Creates a connection that the first message opens, which has to be `initialize`.
pub(super) fn dial(remote: &Remote) -> reqwest::Result<Transport> {
    // The client panics without a default provider. A default of the program stays in place.
    let _ = default_provider().install_default();
    let authorization = remote.authorization.iter().map(|value| (AUTHORIZATION, value.clone()));
    let mut client = Client::builder()
        .connect_timeout(DIAL_TIME)
        .tcp_keepalive(KEEPALIVE)
        // A load balancer finds the connection's replica by its cookie.
        .cookie_store(true)
        .default_headers(authorization.collect::<HeaderMap>())
        // The token is not for the target of a redirect.
        .redirect(Policy::none())
        .user_agent(remote.user_agent);
    if remote.h2c {
        client = client.http2_prior_knowledge();
    }
    let (incoming, received) = mpsc::channel(MAX_WAITING);
    let (outgoing, queue) = queue();
    let http = Arc::new(Http {
        client: client.build()?,
        remote: remote.clone(),
        connection: OnceLock::new(),
        incoming,
        sessions: Mutex::new(Sessions { most: MAX_STREAMS, ..Sessions::default() }),
        ended: CancellationToken::new(),
    });
    let writer = Writer::new(tokio::spawn(http.write(queue)));
    let received =
        stream::unfold(received, async |mut received| Some((received.recv().await?, received)));
    Ok(Transport { incoming: received.boxed(), outgoing, writer, process: None })
}

impl Http {
    async fn write(self: Arc<Self>, mut queue: LineReceiver) {
        while let Some(line) = queue.next().await {
            if let Err(refusal) = self.send(line).await {
                self.fail(&refusal).await;
                break;
            }
        }
        self.ended.cancel();
        let Some(connection) = self.connection.get() else { return };
        let leave = self.client.delete(&self.remote.url).header(CONNECTION_ID, connection.clone());
        if let Ok(Err(error)) = timeout(LEAVE_TIME, leave.send()).await {
            tracing::debug!(error = %error.without_url(), "the agent is not informed of the end");
        }
    }

    /// Sends a message. The error is fatal for the connection.
    async fn send(self: &Arc<Self>, line: Vec<u8>) -> Result<(), Refusal> {
        let message = peek(&line).map_err(|error| Refusal::Lost(error.to_string()))?;
        let kind = message.kind();
        let id = message.id().map(str::to_owned);
        let Some(connection) = self.connection.get().cloned() else {
            let begun = self.initialize(line).await;
            if let (Some(id), Err(refusal @ Refusal::Denied(_))) = (&id, &begun) {
                self.answer(id, refusal).await;
            }
            return begun;
        };
        let session = match kind {
            Kind::Response => id.as_ref().and_then(|id| self.sessions().theirs.remove(id)),
            _ => session_of(message.params()),
        };
        let key = id.as_deref().filter(|_| kind == Kind::Request);
        if let (Some(id), Some(session)) = (key, &session) {
            self.sessions().ours.insert(id.to_owned(), session.clone());
        }
        let sent = self.post(line, connection, session.as_deref()).await;
        let Err(refusal) = sent else { return Ok(()) };
        let is_denied = matches!(refusal, Refusal::Denied(_));
        if let Some(id) = key.filter(|_| is_denied || !refusal.is_fatal()) {
            self.answer(id, &refusal).await;
        }
        match key {
            Some(_) if !refusal.is_fatal() => {}
            _ if refusal.is_conflict() => tracing::warn!(%refusal, "a message is lost"),
            _ => return Err(refusal),
        }
        Ok(())
    }

    async fn initialize(self: &Arc<Self>, line: Vec<u8>) -> Result<(), Refusal> {
        let request = self.client.post(&self.remote.url).header(CONTENT_TYPE, "application/json");
        let response = self.accepted(request.timeout(POST_TIME).body(line)).await?;
        if response.version() == Version::HTTP_2 {
            self.sessions().most = MAX_SHARED_STREAMS;
        }
        let connection = response.headers().get(CONNECTION_ID).cloned();
        let connection = connection
            .ok_or_else(|| Refusal::Lost(format!("the agent names no {CONNECTION_ID}")))?;
        let mut bytes = response.bytes_stream();
        let mut body = Vec::new();
        while let Some(chunk) = bytes.next().await {
            body.extend_from_slice(&chunk.map_err(Refusal::lost)?);
            if body.len() > MAX_FRAME {
                return Err(Refusal::Lost("the answer to initialize is too long".to_owned()));
            }
        }
        let connection = self.connection.get_or_init(|| connection).clone();
        let opened = self.open(connection, None).await?;
        let http = self.clone();
        tokio::spawn(async move {
            let end = tokio::select! {
                end = http.read(opened, None) => end,
                () = http.ended.cancelled() => return,
            };
            http.fail(&end).await;
        });
        let answer = String::from_utf8_lossy(&body).into_owned();
        self.receive(&answer, None).await;
        Ok(())
    }

    async fn post(
        self: &Arc<Self>,
        line: Vec<u8>,
        connection: HeaderValue,
        session: Option<&str>,
    ) -> Result<(), Refusal> {
        let mut request = self.client.post(&self.remote.url).header(CONNECTION_ID, connection);
        if let Some(session) = session {
            // A response needs an open stream.
            self.follow(session).await?;
            request = request.header(SESSION_ID, header(session)?);
        }
        let request = request.header(CONTENT_TYPE, "application/json").timeout(POST_TIME);
        self.accepted(request.body(line)).await.map(drop)
    }

    /// Waits until the stream of a session is open.
    async fn follow(self: &Arc<Self>, session: &str) -> Result<(), Refusal> {
        let mut stage = self.stage(session);
        let opened = stage.wait_for(|stage| !matches!(stage, Stage::Opening)).await;
        match opened.map(|stage| stage.clone()) {
            Ok(Stage::Refused(refusal)) => Err(refusal),
            Ok(_) => Ok(()),
            Err(_) => Err(Refusal::Lost("the session's stream ended".to_owned())),
        }
    }

    /// Returns the state of a session's stream, and opens one if necessary.
    fn stage(self: &Arc<Self>, session: &str) -> watch::Receiver<Stage> {
        let mut sessions = self.sessions();
        if let Some(stream) = sessions.streams.get(session) {
            return stream.stage.clone();
        }
        sessions.make_room();
        let (tell, stage) = watch::channel(Stage::Opening);
        let close = self.ended.child_token();
        let stream = Stream { stage: stage.clone(), close: close.clone() };
        sessions.streams.insert(session.to_owned(), stream);
        let http = self.clone();
        let session = session.to_owned();
        tokio::spawn(async move {
            tokio::select! {
                () = http.read_session(&session, tell) => {}
                () = close.cancelled() => {}
            }
        });
        stage
    }

    async fn read_session(self: &Arc<Self>, session: &str, tell: watch::Sender<Stage>) {
        let Some(connection) = self.connection.get().cloned() else { return };
        let end = match self.open(connection, Some(session)).await {
            Ok(opened) => {
                tell.send_replace(Stage::Open);
                self.read(opened, Some(session)).await
            }
            Err(refusal) => {
                tell.send_replace(Stage::Refused(refusal.clone()));
                refusal
            }
        };
        // The next message of the session opens another.
        let failed: Vec<String> = {
            let mut sessions = self.sessions();
            sessions.streams.remove(session);
            sessions.theirs.retain(|_, of| of != session);
            sessions.ours.extract_if(|_, of| of == session).map(|(id, _)| id).collect()
        };
        for id in failed {
            self.answer(&id, &end).await;
        }
    }

    async fn open(
        &self,
        connection: HeaderValue,
        session: Option<&str>,
    ) -> Result<reqwest::Response, Refusal> {
        let request = self.client.get(&self.remote.url).header(ACCEPT, EVENT_STREAM);
        let mut request = request.header(CONNECTION_ID, connection);
        if let Some(session) = session {
            request = request.header(SESSION_ID, header(session)?);
        }
        match timeout(POST_TIME, self.accepted(request)).await {
            Ok(opened) => opened,
            Err(_) => Err(Refusal::Lost("the agent opens no stream".to_owned())),
        }
    }

    /// Reads a stream to its end; returns the reason.
    async fn read(self: &Arc<Self>, response: reqwest::Response, session: Option<&str>) -> Refusal {
        let mut bytes = response.bytes_stream();
        let mut decoder = Decoder::with_limit(MAX_FRAME);
        while let Some(chunk) = bytes.next().await {
            match chunk {
                Ok(chunk) => decoder.push(&chunk),
                Err(error) => return Refusal::lost(error),
            }
            while let Some(frame) = decoder.next_frame() {
                match frame {
                    Ok(frame) => self.receive(&frame.data, session).await,
                    Err(error) => tracing::warn!(%error, "a message of the agent is lost"),
                }
            }
        }
        Refusal::Lost("the agent ended the stream".to_owned())
    }

    /// Forwards a message of the agent.
    async fn receive(self: &Arc<Self>, message: &str, session: Option<&str>) {
        // A line feed in a message of several lines is white space.
        let mut line = message.replace('\n', " ").into_bytes();
        if let Ok(message) = peek(&line) {
            let id = message.id().map(str::to_owned);
            match (message.kind(), id) {
                (Kind::Request, Some(id)) => {
                    let of = session.map(str::to_owned).or_else(|| session_of(message.params()));
                    if let Some(of) = of {
                        self.sessions().theirs.insert(id, of);
                    }
                }
                (Kind::Response, Some(id)) => {
                    self.sessions().ours.remove(&id);
                    if let Some(new) = session_of(message.result()) {
                        // The agent may send updates before the first prompt.
                        let _opening = self.stage(&new);
                    }
                }
                _ => {}
            }
        }
        line.push(b'\n');
        // A dropped receiver means that the connection is ending.
        let _ = self.incoming.send(Ok(line.into())).await;
    }

    /// Answers a request in the agent's place.
    async fn answer(&self, id: &str, refusal: &Refusal) {
        self.sessions().ours.remove(id);
        let Ok(id) = serde_json::from_str::<RequestId>(id) else { return };
        let error = ErrorObject::new(refusal.code(), refusal.to_string());
        let mut line = Vec::new();
        Message::from(Response::new(id, Err(error))).to_line(&mut line);
        let _ = self.incoming.send(Ok(line.into())).await;
    }

    async fn fail(&self, refusal: &Refusal) {
        self.ended.cancel();
        let _ = self.incoming.send(Err(io::Error::other(refusal.to_string()))).await;
    }

    /// Sends a request that must succeed.
    async fn accepted(&self, request: RequestBuilder) -> Result<reqwest::Response, Refusal> {
        let response = request.send().await.map_err(Refusal::lost)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // The first chunk is enough for the reason.
        let text = timeout(DIAL_TIME, response.bytes_stream().next()).await.ok().flatten();
        let text = text.and_then(Result::ok).unwrap_or_default();
        let text = self.remote.quote(String::from_utf8_lossy(&text).trim());
        let text: String = text.chars().take(MAX_REFUSAL).collect();
        Err(match self.remote.denied(status, &text) {
            Some(why) => Refusal::Denied(why),
            None => Refusal::Status(status, text),
        })
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions {
    /// Closes an idle stream if there are too many.
    fn make_room(&mut self) {
        if self.streams.len() < self.most {
            return;
        }
        let is_idle = |session: &&String| !self.ours.values().any(|of| of == *session);
        if let Some(idle) = self.streams.keys().find(is_idle).cloned()
            && let Some(stream) = self.streams.remove(&idle)
        {
            stream.close.cancel();
        }
    }
}

/// Returns the session that params or a result name.
fn session_of(object: Option<&str>) -> Option<String> {
    let session = peek_member(object?, "sessionId").ok().flatten()?;
    serde_json::from_str(session).ok()
}

fn header(session: &str) -> Result<HeaderValue, Refusal> {
    HeaderValue::from_str(session)
        .map_err(|_| Refusal::Status(StatusCode::BAD_REQUEST, "an id that is no header".to_owned()))
}
