//! Standard input and output as a connection (feature `tokio`).
use jsonrpc_core::codec::Codec;
use jsonrpc_core::framing::Lines;
use tokio::io::{Stdin, Stdout};
use tokio_util::codec::{FramedRead, FramedWrite};

/// Size of one read, in bytes.
const ROOM: usize = 64 * 1024;

/// Returns standard input and output for `connect_agent`, for an agent that an editor starts.
///
/// A read from standard input cannot be cancelled. A program that ends before its input does has to call
/// [`exit`](std::process::exit), or shut down its runtime in the background.
///
/// ```no_run
/// # use acp_types::connection::{Options, stdio, v1};
/// # async fn run(agent: impl v1::Agent) -> std::io::Result<()> {
/// let (reads, writes) = stdio();
/// let (connection, _client) = v1::connect_agent(agent, reads, writes, Options::default());
/// connection.await
/// # }
/// ```
pub fn stdio() -> (FramedRead<Stdin, Codec>, FramedWrite<Stdout, Codec>) {
    let reads = FramedRead::with_capacity(tokio::io::stdin(), Codec::new(Lines::default()), ROOM);
    (reads, FramedWrite::new(tokio::io::stdout(), Codec::new(Lines::default())))
}
