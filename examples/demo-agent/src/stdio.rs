//! The agent on standard input and output.

use crate::agent::Agent;
use crate::output::Output;
use acp_types::connection::{ConnectionOptions, connect_local_agent};
use core::future::poll_fn;
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;
use futures::{StreamExt, stream};
use jsonrpc_core::codec::Codec;
use jsonrpc_core::framing::Lines;
use std::io;
use std::process::ExitCode;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::LocalSet;
use tokio_util::codec::FramedRead;

/// Size of a read.
const CHUNK: usize = 64 << 10;

/// Runs the agent until the client closes its input, or the script ends the process. `pause` is the
/// time between two updates.
///
/// # Errors
/// The runtime cannot be created.
pub(crate) fn run(pause: Duration) -> io::Result<ExitCode> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let status = LocalSet::new().block_on(&runtime, serve(pause));
    // The blocking read of standard input is not awaited.
    runtime.shutdown_background();
    Ok(status)
}

async fn serve(pause: Duration) -> ExitCode {
    let (exit, mut status) = mpsc::channel(1);
    let agent = Agent::new(pause, Output, exit);
    let gone = agent.gone.clone();
    let lines = FramedRead::with_capacity(tokio::io::stdin(), Codec::new(Lines::default()), CHUNK);
    let lines = lines.chain(stream::poll_fn(move |_| {
        gone.cancel();
        Poll::Ready(None)
    }));
    let mut options = ConnectionOptions::default();
    // Turns of all sessions run at once, as those of a client that sends as many prompts as are
    // permitted.
    options.handlers = options.requests;
    let (mut connection, _) = connect_local_agent(agent, lines, Output, options);
    let ended = poll_fn(|task| match Pin::new(&mut connection).poll(task) {
        Poll::Ready(end) => Poll::Ready(Ok(end)),
        Poll::Pending => status.poll_recv(task).map(Err),
    });
    match ended.await {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("demo-agent: {error}");
            ExitCode::FAILURE
        }
        Err(status) => status.map_or(ExitCode::FAILURE, ExitCode::from),
    }
}
