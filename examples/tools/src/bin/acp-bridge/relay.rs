//! The streams of both sides.
//!
//! Neither side delays the other: what a side does not read is kept up to [`MAX_UNREAD`], and then
//! the other side is not read.
use crate::cli::Options;
use crate::report::Report;
use crate::{CANNOT_START, NAME};
use acp_types::convert::{Bridge, Output, Side};
use futures::future::Fuse;
use futures::{FutureExt, StreamExt};
use host::process::termination;
use host::transport::{Address, LineSender};
use jsonrpc_core::framing::Lines;
use memchr::memchr;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};

/// Size of a read from the editor.
const READ_SIZE: usize = 64 * 1024;

/// Silence of an agent of version 1 that ends its work without a prompt.
const QUIET: Duration = Duration::from_secs(2);

/// Number of bytes that the editor has not read, from which the agent is not read.
const MAX_UNREAD: usize = 4 * 1024 * 1024;

/// Connects both sides until one of them ends, and returns the exit status.
///
/// # Errors
/// A stream fails.
pub(crate) async fn run(options: &Options, address: &Address) -> io::Result<i32> {
    let transport = match address.connect(options.grace).await {
        Ok(transport) => transport,
        Err(error) => {
            eprintln!("{NAME}: {error}");
            return Ok(CANNOT_START.into());
        }
    };
    let mut incoming = transport.incoming;
    let writer = transport.writer;
    let mut process = transport.process;
    let mut status = None;
    let ending = Fuse::terminated();
    tokio::pin!(ending);
    let mut relay = Relay::new(options, transport.outgoing);
    let mut stdin = tokio::io::stdin();
    let mut stdout = tokio::io::stdout();
    let mut buffer = vec![0; READ_SIZE];
    let terminated = termination()?;
    tokio::pin!(terminated);
    let mut is_open = true;
    let mut has_output = true;
    let mut quiet_since = Instant::now();
    while has_output {
        tokio::select! {
            () = &mut terminated => break,
            (ended, _) = &mut ending => status = Some(ended?),
            () = sleep_until(quiet_since + QUIET), if relay.bridge.awaits_silence() => {
                relay.bridge.handle_silence();
                relay.take_output();
            }
            written = stdout.write(&relay.to_editor), if !relay.to_editor.is_empty() => {
                match written {
                    Ok(length) => drop(relay.to_editor.drain(..length)),
                    // The editor is gone.
                    Err(_) => break,
                }
                if relay.to_editor.is_empty() {
                    stdout.flush().await?;
                }
            }
            length = stdin.read(&mut buffer), if is_open => {
                let bytes = buffer.get(..length?).unwrap_or_default();
                is_open = !bytes.is_empty();
                quiet_since = Instant::now();
                relay.handle(Side::Editor, bytes);
                if !is_open {
                    // The agent has its grace from now on.
                    relay.outgoing = None;
                    if let Some(process) = process.take() {
                        ending.set(process.end().fuse());
                    }
                }
            }
            bytes = incoming.next(), if relay.to_editor.len() < MAX_UNREAD => {
                let bytes = bytes.transpose()?.unwrap_or_default();
                has_output = !bytes.is_empty();
                quiet_since = Instant::now();
                relay.handle(Side::Agent, &bytes);
            }
        }
        if relay.report.has_failed {
            break;
        }
    }
    relay.outgoing = None;
    // An editor that is gone does not need the rest.
    if stdout.write_all(&relay.to_editor).await.is_ok() {
        let _ = stdout.flush().await;
    }
    writer.end().await;
    if let Some(process) = process.take() {
        ending.set(process.end().fuse());
    }
    let status = match status {
        Some(status) => status,
        None => ending.await.0?,
    };
    Ok(if relay.report.has_failed { 1 } else { status_of(status) })
}

/// Returns the exit status as shells report it.
fn status_of(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + signal;
    }
    status.code().unwrap_or(1)
}

/// The bridge with the bytes around it.
struct Relay {
    bridge: Bridge,
    editor: Input,
    agent: Input,
    to_editor: Vec<u8>,
    /// The way to the agent; `None` once its input has ended.
    outgoing: Option<LineSender>,
    report: Report,
}

impl Relay {
    fn new(options: &Options, outgoing: LineSender) -> Self {
        Self {
            bridge: Bridge::new(options.bridge()),
            editor: Input::default(),
            agent: Input::default(),
            to_editor: Vec::new(),
            outgoing: Some(outgoing),
            report: Report::new(options.verbose),
        }
    }

    /// Handles bytes of a side. No bytes are its end.
    fn handle(&mut self, from: Side, bytes: &[u8]) {
        self.input(from).bytes.extend_from_slice(bytes);
        while !self.bridge.is_passing() {
            let Some(line) = self.input(from).next_line(bytes.is_empty()) else { return };
            match String::from_utf8(line) {
                Ok(line) if line.len() > Lines::DEFAULT_LIMIT => self.skip(from, "is too long"),
                Ok(line) => self.handle_line(from, &line),
                Err(_) => self.skip(from, "is not UTF-8"),
            }
        }
        for side in [Side::Editor, Side::Agent] {
            let rest = core::mem::take(&mut self.input(side).bytes);
            match side {
                Side::Editor => self.send(rest),
                _ => self.to_editor.extend(rest),
            }
        }
    }

    fn handle_line(&mut self, from: Side, line: &str) {
        match from {
            Side::Editor => self.bridge.handle_editor_line(line),
            _ => self.bridge.handle_agent_line(line),
        }
        self.take_output();
    }

    /// Takes the output of the bridge.
    fn take_output(&mut self) {
        while let Some(output) = self.bridge.poll_output() {
            match output {
                Output::ToEditor(line) => {
                    self.to_editor.extend(line.into_bytes());
                    self.to_editor.push(b'\n');
                }
                Output::ToAgent(line) => {
                    let mut line = line.into_bytes();
                    line.push(b'\n');
                    self.send(line);
                }
                Output::Diagnostic(diagnostic) => self.report.write(&diagnostic),
                _ => {}
            }
        }
    }

    fn send(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        if let Some(outgoing) = &self.outgoing
            && let Err(error) = outgoing.send(bytes)
        {
            eprintln!("{NAME}: {error}");
            self.outgoing = None;
        }
    }

    fn skip(&self, from: Side, problem: &str) {
        eprintln!("{NAME}: dropped a line of the {from}, which {problem}");
    }

    fn input(&mut self, side: Side) -> &mut Input {
        match side {
            Side::Editor => &mut self.editor,
            _ => &mut self.agent,
        }
    }
}

/// Bytes of a side that are no complete line yet.
#[derive(Debug, Default)]
struct Input {
    bytes: Vec<u8>,
    /// Number of bytes without a line end.
    searched: usize,
    /// Whether the rest of a line that is too long is dropped.
    is_skipping: bool,
}

impl Input {
    /// Takes a line without its line feed; a carriage return stays. At the end of the stream the
    /// rest is a line. A line that is too long is cut.
    fn next_line(&mut self, is_end: bool) -> Option<Vec<u8>> {
        loop {
            let rest = self.bytes.get(self.searched..).unwrap_or_default();
            let Some(at) = memchr(b'\n', rest).map(|at| self.searched + at) else {
                self.searched = self.bytes.len();
                if self.searched > Lines::DEFAULT_LIMIT {
                    let cut = !core::mem::replace(&mut self.is_skipping, true);
                    self.searched = 0;
                    let line = core::mem::take(&mut self.bytes);
                    return cut.then_some(line);
                }
                let is_rest = is_end && !self.bytes.is_empty();
                return is_rest.then(|| core::mem::take(&mut self.bytes));
            };
            let mut line: Vec<u8> = self.bytes.drain(..=at).collect();
            line.pop();
            self.searched = 0;
            if !core::mem::take(&mut self.is_skipping) {
                return Some(line);
            }
        }
    }
}
