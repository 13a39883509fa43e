//! A command in a terminal of its own, for programs that read keys and draw a screen.
use crate::process::Process;
use crate::process::guard_arguments::{ErrorOutput, Scope};
use crate::process::launch::guarded;
use pty_process::{OwnedReadPty, OwnedWritePty, Size};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The kind of terminal, as programs look it up.
const TERM: &str = "xterm-256color";

/// A command in a terminal. Dropping `process` kills it with its group.
#[derive(Debug)]
pub struct Pty {
    /// The process.
    pub process: PtyProcess,
    /// The output that the terminal shows.
    pub output: PtyOutput,
    /// The keys.
    pub input: PtyInput,
}

/// The process in a terminal.
#[derive(Debug)]
pub struct PtyProcess(Process);

/// What a terminal shows.
#[derive(Debug)]
pub struct PtyOutput(OwnedReadPty);

/// The keys of a terminal.
#[derive(Debug)]
pub struct PtyInput(OwnedWritePty);

impl Pty {
    /// Runs a command in a terminal of this size. Variables named in `secrets` are not inherited;
    /// `variables` are set.
    ///
    /// # Errors
    /// The system has no terminal left, or cannot run the command.
    pub fn spawn(
        words: &[String],
        secrets: &[String],
        variables: &BTreeMap<String, String>,
        (rows, columns): (u16, u16),
    ) -> io::Result<Self> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        // A terminal shows both outputs, so that nothing is merged.
        let (words, is_guarded) = guarded(OsStr::new(program), ErrorOutput::Inherited, Scope::All)?;
        let (program, guard) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let (pty, pts) = pty_process::open().map_err(io::Error::other)?;
        pty.resize(Size::new(rows, columns)).map_err(io::Error::other)?;
        let command = pty_process::Command::new(program).args(guard).args(arguments);
        let command = secrets.iter().fold(command, pty_process::Command::env_remove);
        let command = command.env("TERM", TERM).envs(variables).kill_on_drop(!is_guarded);
        let child = command.spawn(pts).map_err(io::Error::other)?;
        let (output, input) = pty.into_split();
        Ok(Self {
            process: PtyProcess(Process::of(child, is_guarded, Duration::ZERO)?),
            output: PtyOutput(output),
            input: PtyInput(input),
        })
    }
}

impl PtyProcess {
    /// Waits until the process has ended.
    pub async fn exited(&mut self) {
        self.0.exited().await;
    }

    /// Ends the process, if it has not ended, and what is left of its group.
    ///
    /// # Errors
    /// The system cannot wait for it.
    pub async fn stop(self) -> io::Result<ExitStatus> {
        self.0.stop().await
    }
}

impl PtyOutput {
    /// Reads output; 0 bytes after its end.
    pub async fn read(&mut self, buffer: &mut [u8]) -> usize {
        // Linux reports the end as an error.
        self.0.read(buffer).await.unwrap_or(0)
    }
}

impl PtyInput {
    /// Types the bytes. It waits while the program does not read.
    ///
    /// # Errors
    /// The program has ended.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
    }
}
