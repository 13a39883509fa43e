//! A process and its group, awaited with tokio.
use super::guard_arguments::{ErrorOutput, Scope};
use super::launch::command;
use crate::system::{ProcessGroup, Signal};
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;
#[cfg(feature = "transport")]
use tokio::process::ChildStderr;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

/// Time for a process to end after a request to terminate.
const TERMINATE_GRACE: Duration = Duration::from_secs(2);

/// A process with its group. Dropping it kills both.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: ProcessGroup,
    /// Whether a guard ends all that the process has started.
    is_guarded: bool,
    /// Time to end after the end of its input.
    grace: Duration,
}

impl Process {
    /// Starts an agent. Its standard error is passed on within a limit. `set` sets its environment.
    ///
    /// The kernel counts the calling thread as the parent: it must live as long as this program, as
    /// the runtime's workers do.
    #[cfg(feature = "transport")]
    pub(crate) fn spawn(
        words: &[String],
        set: impl FnOnce(&mut Command),
        grace: Duration,
    ) -> io::Result<(Self, ChildStdin, ChildStdout, ChildStderr)> {
        let (mut command, is_guarded) = guarded(words, ErrorOutput::Bounded)?;
        set(&mut command);
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let (mut process, stdin, stdout) = Self::start(command, is_guarded, grace)?;
        let stdin = stdin.ok_or_else(|| io::Error::other("the process has no stdin"))?;
        let stderr = process.child.stderr.take();
        let stderr = stderr.ok_or_else(|| io::Error::other("the process has no stderr"))?;
        Ok((process, stdin, stdout, stderr))
    }

    /// Starts a command without input, with its standard error merged into its output. `set` sets
    /// its directory and environment.
    #[cfg(feature = "workspace")]
    pub(crate) fn spawn_merged(
        words: &[String],
        set: impl FnOnce(&mut Command),
    ) -> io::Result<(Self, ChildStdout)> {
        let (mut command, is_guarded) = guarded(words, ErrorOutput::Merged)?;
        set(&mut command);
        command.stdin(Stdio::null());
        let (process, _, stdout) = Self::start(command, is_guarded, Duration::ZERO)?;
        Ok((process, stdout))
    }

    fn start(
        command: Command,
        is_guarded: bool,
        grace: Duration,
    ) -> io::Result<(Self, Option<ChildStdin>, ChildStdout)> {
        let mut command = tokio::process::Command::from(command);
        // A guard that is killed could not end the rest.
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(!is_guarded).spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let stdout = stdout.ok_or_else(|| io::Error::other("the process has no stdout"))?;
        Ok((Self::of(child, is_guarded, grace)?, stdin, stdout))
    }

    /// Takes over a child that leads its group.
    pub(crate) fn of(child: Child, is_guarded: bool, grace: Duration) -> io::Result<Self> {
        let group = ProcessGroup::of(&child)?;
        Ok(Self { child, group, is_guarded, grace })
    }

    /// Waits until the process has ended, or cannot be waited for.
    pub(crate) async fn exited(&mut self) {
        if let Err(error) = self.child.wait().await {
            tracing::warn!(%error, "cannot wait for a process");
        }
    }

    /// Waits for the end of a process after the end of its input; terminates it after the grace.
    #[cfg(feature = "transport")]
    pub(crate) async fn end(mut self) -> io::Result<ExitStatus> {
        match timeout(self.grace, self.child.wait()).await {
            Ok(ended) => {
                self.signal(Signal::Kill);
                ended
            }
            Err(_) => {
                tracing::warn!("the agent still runs after the end of its input; terminating it");
                self.stop().await
            }
        }
    }

    /// Terminates the process, then kills the rest of its group.
    pub(crate) async fn stop(mut self) -> io::Result<ExitStatus> {
        // Windows has no signal that asks a process to end.
        self.signal(if cfg!(unix) { Signal::Terminate } else { Signal::Kill });
        let ended = match timeout(TERMINATE_GRACE, self.child.wait()).await {
            Ok(ended) => ended,
            Err(_) => {
                self.end_all();
                match timeout(TERMINATE_GRACE, self.child.wait()).await {
                    Ok(ended) => ended,
                    Err(_) => {
                        self.signal(Signal::Kill);
                        self.child.wait().await
                    }
                }
            }
        };
        self.signal(Signal::Kill);
        ended
    }

    /// Ends the process with all that it has started, at once.
    fn end_all(&self) {
        // The number of a process that was waited for may be another's.
        if !self.is_guarded {
            self.signal(Signal::Kill);
        } else if self.child.id().is_some()
            && let Err(error) = self.group.signal_guard()
        {
            tracing::warn!(%error, "cannot signal a process");
        }
    }

    fn signal(&self, signal: Signal) {
        if let Err(error) = self.group.signal(signal) {
            tracing::warn!(%error, "cannot signal a process");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end_all();
    }
}

fn guarded(words: &[String], errors: ErrorOutput) -> io::Result<(Command, bool)> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
    command(program.as_ref(), &arguments, errors, Scope::All)
}
