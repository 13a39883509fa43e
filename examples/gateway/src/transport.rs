//! Bytes to and from an agent: a child process, or a WebSocket.
use crate::process::Process;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{SinkExt, StreamExt, TryStreamExt};
use std::io;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_util::io::ReaderStream;

/// The most messages that may wait to be written; an agent that far behind does not read any more.
const MAX_UNWRITTEN: usize = 1024;

/// The most bytes of one WebSocket message, as of one line.
const MAX_FRAME: usize = jsonrpc_core::framing::Lines::DEFAULT_LIMIT;

/// How to reach the agent.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    /// A command to run.
    Command(Vec<String>),
    /// A WebSocket to open.
    Url(String),
}

/// An open connection.
pub(crate) struct Transport {
    /// Bytes as they come; framing is up to the reader.
    pub(crate) incoming: BoxStream<'static, io::Result<Bytes>>,
    /// Lines to send, each with its line feed.
    pub(crate) outgoing: mpsc::Sender<Vec<u8>>,
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
    Dial { url: String, error: Box<tokio_tungstenite::tungstenite::Error> },
}

impl Address {
    pub(crate) async fn connect(&self) -> Result<Transport, ConnectError> {
        match self {
            Self::Command(command) => spawn(command)
                .map_err(|error| ConnectError::Spawn { command: command.join(" "), error }),
            Self::Url(url) => dial(url)
                .await
                .map_err(|error| ConnectError::Dial { url: url.clone(), error: Box::new(error) }),
        }
    }
}

fn spawn(command: &[String]) -> io::Result<Transport> {
    let (process, mut stdin, stdout) = Process::spawn(command)?;
    let (outgoing, mut lines) = mpsc::channel::<Vec<u8>>(MAX_UNWRITTEN);
    tokio::spawn(async move {
        while let Some(mut batch) = lines.recv().await {
            while let Ok(line) = lines.try_recv() {
                batch.extend(line);
            }
            if let Err(error) = stdin.write_all(&batch).await {
                tracing::debug!(%error, "the agent does not read");
                return;
            }
        }
    });
    let incoming = ReaderStream::with_capacity(stdout, 64 * 1024).boxed();
    Ok(Transport { incoming, outgoing, process: Some(process) })
}

async fn dial(url: &str) -> Result<Transport, tokio_tungstenite::tungstenite::Error> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_FRAME))
        .max_frame_size(Some(MAX_FRAME));
    let (socket, _) = tokio_tungstenite::connect_async_with_config(url, Some(config), true).await?;
    let (mut sink, stream) = socket.split();
    let (outgoing, mut lines) = mpsc::channel::<Vec<u8>>(MAX_UNWRITTEN);
    tokio::spawn(async move {
        while let Some(line) = lines.recv().await {
            let text = match String::from_utf8(line) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            };
            if let Err(error) = sink.send(Message::text(text)).await {
                tracing::debug!(%error, "the agent's socket does not take messages");
                return;
            }
        }
        if let Err(error) = sink.close().await {
            tracing::debug!(%error, "the agent's socket did not close");
        }
    });
    let incoming = stream
        .map_err(io::Error::other)
        .try_filter_map(|message| async move {
            Ok(match message {
                Message::Text(text) => Some(line(text.into())),
                Message::Binary(bytes) => Some(line(bytes)),
                _ => None,
            })
        })
        .boxed();
    Ok(Transport { incoming, outgoing, process: None })
}

/// A message without its line feed gets one: each is a line of its own, or several.
fn line(message: Bytes) -> Bytes {
    if message.ends_with(b"\n") { message } else { [&message[..], b"\n"].concat().into() }
}
