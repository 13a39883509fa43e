//! The agent on standard input and output, with the clock.

use crate::agent::Agent;
use jsonrpc_core::framing::Lines;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Instant;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// How many chunks may wait to be handled; then the client has to wait.
const WAITING_CHUNKS: usize = 16;

/// Runs the agent until the client closes its input, or the script says otherwise.
pub(crate) fn run(mut agent: Agent) -> ExitCode {
    let input = match read_on_a_thread() {
        Ok(input) => input,
        Err(error) => {
            eprintln!("demo-agent: cannot read standard input: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (mut lines, start) = (Lines::default(), Instant::now());
    loop {
        let exit = agent.poll(start.elapsed());
        // If nobody reads any more, the end of the input follows.
        let _ = io::stdout().write_all(&agent.client.out).and_then(|()| io::stdout().flush());
        agent.client.out.clear();
        if let Some(status) = exit {
            return ExitCode::from(status);
        }
        let chunk = match agent.poll_timeout() {
            Some(at) => input.recv_timeout(at.saturating_sub(start.elapsed())),
            None => input.recv().map_err(RecvTimeoutError::from),
        };
        match chunk {
            Ok(chunk) => lines.push(&chunk),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return ExitCode::SUCCESS,
        }
        while let Some(line) = lines.next() {
            agent.handle_line(line, start.elapsed());
        }
    }
}

fn read_on_a_thread() -> io::Result<Receiver<Vec<u8>>> {
    let (read, chunks) = sync_channel(WAITING_CHUNKS);
    thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            match io::stdin().read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => {
                    if read.send(buffer.get(..length).unwrap_or_default().to_vec()).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    })?;
    Ok(chunks)
}
