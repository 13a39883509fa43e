//! Checks a live conversation.

use crate::NAME;
use crate::cli::Options;
use crate::output::{Output, status};
use acp_types::lint::Linter;
use host::relay::{Chunk, Observer, Reassembly, Session, StartError, TapOutput};
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::transcript::Direction;
use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use tokio::runtime::Builder;

/// Runs the agent and checks the conversation until it ends. Without findings, the exit status is
/// that of the agent.
///
/// # Errors
/// Returns an error if the operating system denies a required operation, or findings cannot be
/// written.
pub(crate) fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut output = Output::new(options, Box::new(io::stderr()))?;
    output.begin("session".to_owned());
    let session = match Session::start(
        NAME,
        &options.command,
        &BTreeMap::new(),
        runtime.handle(),
        Observer::Copies,
    ) {
        Ok(session) => session,
        Err(StartError::CannotRun(status)) => return Ok(status),
        Err(StartError::Io(error)) => return Err(error.into()),
    };
    let tap = Arc::clone(session.tap());
    let mut watch = Watch::new(options, output);
    let (agent, is_found) = thread::scope(|threads| {
        let watching = threads.spawn(|| {
            loop {
                match tap.take() {
                    TapOutput::Chunks(chunks) => {
                        chunks.iter().try_for_each(|chunk| watch.look_at(&chunk))?;
                        tap.give_back(chunks);
                    }
                    TapOutput::End => return watch.finish(),
                }
            }
        });
        let agent = session.supervise(options.grace).status;
        session.tap().close();
        (agent, watching.join())
    });
    let dropped = session.tap().dropped();
    if dropped.chunks > 0 {
        let bytes = dropped.bytes;
        eprintln!("{NAME}: {bytes} bytes were not checked because they arrived too fast");
    }
    runtime.shutdown_background();
    let is_found = is_found.map_err(|_| "the checking thread failed")??;
    if is_found { Ok(status(true)) } else { std::process::exit(agent) }
}

/// Converts chunks into findings.
struct Watch<'a> {
    linter: Linter,
    output: Option<Output<'a>>,
    to_agent: Reassembly,
    to_editor: Reassembly,
}

impl<'a> Watch<'a> {
    fn new(options: &'a Options, output: Output<'a>) -> Self {
        Self {
            linter: options.linter(),
            output: Some(output),
            to_agent: Reassembly::default(),
            to_editor: Reassembly::default(),
        }
    }

    fn look_at(&mut self, chunk: &Chunk<'_>) -> io::Result<()> {
        let direction = chunk.direction;
        let (lines, linter) = self.parts(direction);
        lines.push(chunk, |line: Line<'_>| lint(linter, direction, line));
        self.write_findings()
    }

    fn parts(&mut self, direction: Direction) -> (&mut Reassembly, &mut Linter) {
        let lines = match direction {
            Direction::Sent => &mut self.to_agent,
            Direction::Received => &mut self.to_editor,
        };
        (lines, &mut self.linter)
    }

    fn write_findings(&mut self) -> io::Result<()> {
        match &mut self.output {
            Some(output) => output.take(&mut self.linter, None),
            None => Ok(()),
        }
    }

    /// Checks the remaining data. Returns whether a finding affects the exit status.
    fn finish(&mut self) -> io::Result<bool> {
        for direction in [Direction::Sent, Direction::Received] {
            let (lines, linter) = self.parts(direction);
            lines.finish(|line: Line<'_>| lint(linter, direction, line));
        }
        self.linter.finish();
        self.write_findings()?;
        match self.output.take() {
            Some(mut output) => {
                output.end(&self.linter);
                output.finish()
            }
            None => Ok(false),
        }
    }
}

type Line<'a> = Result<&'a [u8], FrameError>;

/// A line that exceeds the limit was passed through unchanged.
fn lint(linter: &mut Linter, direction: Direction, line: Line<'_>) {
    match line {
        Ok(line) => linter.handle_line(direction, line),
        Err(_) => linter.skip_line(),
    }
}
