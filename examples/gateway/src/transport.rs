//! Bytes to and from an agent: a child process, a WebSocket, or HTTP.
use crate::process::Process;
use axum::http::{HeaderValue, StatusCode};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Error as SocketError;
use tokio_util::io::ReaderStream;

mod http;
mod web_socket;

/// The most bytes that may wait to be written; an agent that far behind does not read any more.
const MAX_UNWRITTEN: usize = 64 * 1024 * 1024;

/// The most bytes of one WebSocket message, as of one line.
const MAX_FRAME: usize = jsonrpc_core::framing::Lines::DEFAULT_LIMIT;

/// How long a socket may take to open.
const DIAL_TIME: Duration = Duration::from_secs(10);

/// How long what is unwritten may take to be written when the connection ends.
const FLUSH_TIME: Duration = Duration::from_secs(1);

/// How to reach the agent.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    /// A command to run, without the variables that have secrets in them.
    Command { words: Vec<String>, secrets: Vec<String> },
    /// A WebSocket to open.
    WebSocket(Remote),
    /// An endpoint of Streamable HTTP.
    Http(Remote),
}

/// An agent that runs elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    pub(crate) url: String,
    /// The bearer token that it is sent, as a header that is sensitive.
    pub(crate) authorization: Option<HeaderValue>,
    /// Whether it speaks HTTP/2 without TLS.
    ///
    /// Spec: [RFC 9113, section 3.3](https://www.rfc-editor.org/rfc/rfc9113#section-3.3)
    pub(crate) h2c: bool,
}

/// What stands where an agent has said its token.
const HIDDEN: &str = "(hidden)";

impl Remote {
    /// In words, that it does not let us in, if this status says so.
    fn bars(&self, status: StatusCode, said: &str) -> Option<String> {
        if ![StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status) {
            return None;
        }
        let with = if self.authorization.is_some() { "with this token" } else { "without a token" };
        let why = format!("the agent does not let the gateway in {with}: {status}: {said}");
        Some(why.trim_end_matches(": ").to_owned())
    }

    /// Why the socket did not open.
    fn refusal(&self, error: SocketError) -> ConnectError {
        let barred = match &error {
            SocketError::Http(response) => self.bars(response.status(), ""),
            _ => None,
        };
        barred.map_or_else(
            || ConnectError::Dial { url: shown(&self.url), error: Box::new(error) },
            ConnectError::Barred,
        )
    }

    /// What the agent says, without the token.
    fn quote(&self, said: &str) -> String {
        let token = self.authorization.as_ref().and_then(|header| header.to_str().ok());
        match token.and_then(|header| header.strip_prefix("Bearer ")) {
            Some(token) => said.replace(token, HIDDEN),
            None => said.to_owned(),
        }
    }
}

/// Bytes as they come; framing is up to the reader.
pub(crate) type Incoming = BoxStream<'static, io::Result<Bytes>>;

/// An open connection.
pub(crate) struct Transport {
    pub(crate) incoming: Incoming,
    /// Takes lines to send.
    pub(crate) outgoing: Outgoing,
    /// Sends them.
    pub(crate) writer: Writer,
    /// The process at the other end, when it is ours.
    pub(crate) process: Option<Process>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The command could not be run.
    #[error("cannot run the agent `{command}`: {error}")]
    Spawn { command: String, error: io::Error },
    /// The socket could not be opened.
    #[error("cannot reach the agent at {url}: {error}")]
    Dial { url: String, error: Box<SocketError> },
    /// The agent does not let us in.
    #[error("{0}")]
    Barred(String),
    /// The socket did not open.
    #[error("cannot reach the agent at {url}: no answer within {} seconds", DIAL_TIME.as_secs())]
    Silent { url: String },
    /// There is no HTTP client.
    #[error("cannot reach the agent: {0}")]
    Client(#[from] reqwest::Error),
}

/// A URL without what may be secret in it: who asks, and what stands behind the path.
fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

impl Address {
    /// What is under it, in the words of the conventions.
    ///
    /// Spec: [network.transport](https://opentelemetry.io/docs/specs/semconv/registry/attributes/network/)
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Command { .. } => "pipe",
            Self::WebSocket(_) | Self::Http(_) => "tcp",
        }
    }

    /// `exit_grace`: how long a process may take to end once its input has.
    pub(crate) async fn connect(&self, exit_grace: Duration) -> Result<Transport, ConnectError> {
        match self {
            Self::Command { words, secrets } => {
                spawn(words, secrets, exit_grace).map_err(|error| ConnectError::Spawn {
                    command: words.first().cloned().unwrap_or_default(),
                    error,
                })
            }
            Self::WebSocket(remote) => match timeout(DIAL_TIME, web_socket::dial(remote)).await {
                Ok(dialled) => dialled.map_err(|error| remote.refusal(error)),
                Err(_) => Err(ConnectError::Silent { url: shown(&remote.url) }),
            },
            Self::Http(remote) => Ok(http::dial(remote)?),
        }
    }
}

fn spawn(command: &[String], secrets: &[String], exit_grace: Duration) -> io::Result<Transport> {
    let (process, mut stdin, stdout) = Process::spawn(command, secrets, exit_grace)?;
    let (outgoing, mut queue) = queue();
    let writer = tokio::spawn(async move {
        while let Some(line) = queue.next().await {
            if let Err(error) = stdin.write_all(&line).await {
                tracing::debug!(%error, "the agent does not read");
                return;
            }
        }
    });
    let incoming = ReaderStream::with_capacity(stdout, 64 * 1024).boxed();
    Ok(Transport { incoming, outgoing, writer: Writer(writer), process: Some(process) })
}

/// The agent does not read what it is sent.
#[derive(Debug, thiserror::Error)]
#[error("the agent does not read what it is sent")]
pub(crate) struct Unread;

/// Takes lines for the writer, each with its line feed; nobody has to wait for it.
#[derive(Debug)]
pub(crate) struct Outgoing {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    unwritten: Arc<AtomicUsize>,
}

impl Outgoing {
    pub(crate) fn send(&self, line: Vec<u8>) -> Result<(), Unread> {
        let length = line.len();
        let unwritten = self.unwritten.fetch_add(length, Ordering::Relaxed).saturating_add(length);
        if unwritten > MAX_UNWRITTEN {
            return Err(Unread);
        }
        self.lines.send(line).map_err(|_| Unread)
    }
}

/// The writer's end.
#[derive(Debug)]
pub(crate) struct Queue {
    lines: mpsc::UnboundedReceiver<Vec<u8>>,
    unwritten: Arc<AtomicUsize>,
    /// Bytes of the line that was taken last.
    taken: usize,
}

pub(crate) fn queue() -> (Outgoing, Queue) {
    let (sender, lines) = mpsc::unbounded_channel();
    let unwritten = Arc::new(AtomicUsize::new(0));
    let outgoing = Outgoing { lines: sender, unwritten: unwritten.clone() };
    (outgoing, Queue { lines, unwritten, taken: 0 })
}

impl Queue {
    /// The next line, once the one before it is written.
    async fn next(&mut self) -> Option<Vec<u8>> {
        self.unwritten.fetch_sub(self.taken, Ordering::Relaxed);
        self.taken = 0;
        let line = self.lines.recv().await?;
        self.taken = line.len();
        Some(line)
    }
}

/// The task that writes.
#[derive(Debug)]
pub(crate) struct Writer(JoinHandle<()>);

impl Writer {
    /// Lets it write what is queued, once nothing more can be, and ends it when the agent does not read that.
    pub(crate) async fn end(mut self) {
        if timeout(FLUSH_TIME, &mut self.0).await.is_err() {
            self.0.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_queue_is_full_by_bytes_and_has_room_again() {
        let (outgoing, mut queue) = queue();
        outgoing.send(vec![b'x'; MAX_UNWRITTEN - 1]).unwrap();
        outgoing.send(vec![b'y']).unwrap();
        assert_eq!(queue.next().await.unwrap().len(), MAX_UNWRITTEN - 1);
        // The first is written now.
        assert_eq!(queue.next().await.unwrap(), b"y");
        outgoing.send(vec![b'z'; MAX_UNWRITTEN - 1]).unwrap();
        outgoing.send(vec![b'!']).unwrap_err();
    }

    #[tokio::test]
    async fn a_queue_without_a_writer_takes_nothing() {
        let (outgoing, queue) = queue();
        drop(queue);
        outgoing.send(vec![b'x']).unwrap_err();
    }
}
