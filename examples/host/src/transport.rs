//! Bytes to and from an agent: a child process on stdio, a WebSocket, or Streamable HTTP.
use crate::process::Process;
use bytes::Bytes;
use errors::Errors;
use futures::StreamExt;
use futures::stream::BoxStream;
pub use outgoing::{LineReceiver, LineSendError, LineSender, Writer, queue};
#[cfg(feature = "remote")]
pub use remote::{Remote, RemoteError, redacted};
use std::collections::BTreeMap;
use std::io;
use std::process::{Command, ExitStatus};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio_util::io::ReaderStream;

mod errors;
#[cfg(feature = "remote")]
mod http;
mod outgoing;
#[cfg(feature = "remote")]
mod refusal;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "remote")]
mod web_socket;

/// Size of a read from a process.
const READ_SIZE: usize = 64 * 1024;

/// The way to an agent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Address {
    /// A command to run.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// Variables of the environment that it does not inherit.
        secrets: Vec<String>,
        /// Variables that are set for it.
        variables: BTreeMap<String, String>,
    },
    /// A WebSocket to open.
    #[cfg(feature = "remote")]
    WebSocket(Remote),
    /// An endpoint of Streamable HTTP.
    #[cfg(feature = "remote")]
    Http(Remote),
}

/// Bytes as they are read; framing is up to the reader.
pub type ByteStream = BoxStream<'static, io::Result<Bytes>>;

/// An open connection.
#[expect(missing_debug_implementations, reason = "a stream has none")]
pub struct Transport {
    /// The bytes of the agent.
    pub incoming: ByteStream,
    /// Takes lines for the agent.
    pub outgoing: LineSender,
    /// The task that sends them.
    pub writer: Writer,
    /// The process, if this program has started it.
    pub process: Option<AgentProcess>,
}

/// An agent that this program has started. Dropping it kills the agent with all that it started.
#[derive(Debug)]
pub struct AgentProcess(Process, Errors);

impl AgentProcess {
    /// Waits until the agent has exited.
    pub async fn exited(&mut self) {
        self.0.exited().await;
    }

    /// Waits for the exit of an agent after the end of its input; terminates it after its grace.
    /// Returns the exit status, or why it is unknown, and the last lines of the agent's standard
    /// error.
    pub async fn end(self) -> (io::Result<ExitStatus>, Vec<String>) {
        let Self(process, errors) = self;
        (process.end().await, errors.last().await)
    }
}

/// An error connecting to an agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The command cannot be run.
    #[error("cannot run the agent `{command}`: {error}")]
    Spawn {
        /// The program.
        command: String,
        /// The error of the system.
        error: io::Error,
    },
    /// The socket cannot be opened.
    #[cfg(feature = "remote")]
    #[error("cannot reach the agent at {url}: {error}")]
    Dial {
        /// The URL, without user and query.
        url: String,
        /// The reason.
        error: Box<tokio_tungstenite::tungstenite::Error>,
    },
    /// The agent denies access.
    #[cfg(feature = "remote")]
    #[error("{0}")]
    Denied(String),
    /// The agent does not respond.
    #[cfg(feature = "remote")]
    #[error("cannot reach the agent at {url}: no answer within {seconds} seconds")]
    Silent {
        /// The URL, without user and query.
        url: String,
        /// The time limit of the connection.
        seconds: u64,
    },
    /// The HTTP client cannot be made.
    #[cfg(feature = "remote")]
    #[error("cannot reach the agent: {0}")]
    Client(#[from] reqwest::Error),
}

impl Address {
    /// Returns the `network.transport` of the conventions.
    ///
    /// Spec: [network.transport](https://opentelemetry.io/docs/specs/semconv/registry/attributes/network/)
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Command { .. } => "pipe",
            #[cfg(feature = "remote")]
            Self::WebSocket(_) | Self::Http(_) => "tcp",
        }
    }

    /// Returns whether the agent is an endpoint of Streamable HTTP, where messages may overtake
    /// each other.
    pub fn is_http(&self) -> bool {
        #[cfg(feature = "remote")]
        if let Self::Http(_) = self {
            return true;
        }
        false
    }

    /// Returns whether the agent runs on this machine, as a process of this program.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Command { .. })
    }

    /// Connects to the agent. `exit_grace` is how long a process may take to exit once its input
    /// has ended.
    ///
    /// # Errors
    /// See [`ConnectError`].
    #[cfg_attr(
        not(feature = "remote"),
        expect(clippy::unused_async, reason = "sockets are opened")
    )]
    pub async fn connect(&self, exit_grace: Duration) -> Result<Transport, ConnectError> {
        match self {
            Self::Command { words, secrets, variables } => {
                let set = |command: &mut Command| {
                    for secret in secrets {
                        command.env_remove(secret);
                    }
                    command.envs(variables);
                };
                spawn(words, set, exit_grace).map_err(|error| ConnectError::Spawn {
                    command: words.first().cloned().unwrap_or_default(),
                    error,
                })
            }
            #[cfg(feature = "remote")]
            Self::WebSocket(remote) => remote.dial_web_socket().await,
            #[cfg(feature = "remote")]
            Self::Http(remote) => Ok(http::dial(remote)?),
        }
    }
}

fn spawn(
    words: &[String],
    set: impl FnOnce(&mut Command),
    exit_grace: Duration,
) -> io::Result<Transport> {
    let (process, mut stdin, stdout, stderr) = Process::spawn(words, set, exit_grace)?;
    let (outgoing, mut queue) = queue();
    let writer = tokio::spawn(async move {
        while let Some(line) = queue.next().await {
            if let Err(error) = stdin.write_all(&line).await {
                tracing::debug!(%error, "the agent does not read");
                return;
            }
        }
    });
    let incoming = ReaderStream::with_capacity(stdout, READ_SIZE).boxed();
    let process = Some(AgentProcess(process, Errors::follow(stderr)?));
    Ok(Transport { incoming, outgoing, writer: Writer::new(writer), process })
}
