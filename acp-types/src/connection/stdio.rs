//! Pipes of processes as a connection (feature `tokio`).
use jsonrpc_core::codec::Codec;
use jsonrpc_core::framing::Lines;
use tokio::io::{AsyncRead, AsyncWrite, Stdin, Stdout};
use tokio_util::codec::{FramedRead, FramedWrite};

/// Size of one read, in bytes.
const ROOM: usize = 64 * 1024;

/// Returns a reader and a writer of bytes as those of a connection, with one message on each line.
///
/// A client passes the standard output and input of the agent's process:
///
/// ```no_run
/// # use acp_types::connection::{ConnectionOptions, framed, v1};
/// # use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
/// # use std::process::Stdio;
/// # async fn run(client: impl v1::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let mut agent = tokio::process::Command::new("my-agent")
///     .stdin(Stdio::piped())
///     .stdout(Stdio::piped())
///     .spawn()?;
/// let stdout = agent.stdout.take().ok_or("no standard output")?;
/// let stdin = agent.stdin.take().ok_or("no standard input")?;
/// let (reader, writer) = framed(stdout, stdin);
/// let initialize = InitializeRequest::new(ProtocolVersion::V1);
/// let (connection, _sessions) =
///     v1::connect_client(client, reader, writer, initialize, ConnectionOptions::default());
/// connection.await?;
/// # Ok(())
/// # }
/// ```
pub fn framed<R: AsyncRead, W: AsyncWrite>(
    reader: R,
    writer: W,
) -> (FramedRead<R, Codec>, FramedWrite<W, Codec>) {
    let reader = FramedRead::with_capacity(reader, Codec::new(Lines::default()), ROOM);
    (reader, FramedWrite::new(writer, Codec::new(Lines::default())))
}

/// Returns standard input and output as a connection, for an agent that an editor starts.
///
/// A read from standard input cannot be cancelled. A program that ends before its input has to call
/// [`exit`](std::process::exit), or to shut down its runtime in the background.
///
/// ```no_run
/// # use acp_types::connection::{ConnectionOptions, stdio, v1};
/// # async fn run(agent: impl v1::Agent) -> std::io::Result<()> {
/// let (reader, writer) = stdio();
/// let (connection, _client) = v1::connect_agent(agent, reader, writer, ConnectionOptions::default());
/// connection.await
/// # }
/// ```
pub fn stdio() -> (FramedRead<Stdin, Codec>, FramedWrite<Stdout, Codec>) {
    framed(tokio::io::stdin(), tokio::io::stdout())
}
