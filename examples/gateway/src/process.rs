//! The agent's process, and its end.
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long it may take after it was asked to terminate.
const TERMINATE_GRACE: Duration = Duration::from_secs(2);

/// An agent that we started, with all that it started in its process group.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    #[cfg(unix)]
    group: Option<nix::unistd::Pid>,
    /// How long it may take to end once its stdin has.
    grace: Duration,
}

impl Process {
    /// Starts `command` below a guard that ends it when the gateway ends; its stderr is ours.
    ///
    /// The kernel counts the thread that calls this as the parent: it has to live as long as the gateway, as the
    /// runtime's workers do.
    pub(crate) fn spawn(
        command: &[String],
        grace: Duration,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut guarded = Command::new(std::env::current_exe()?);
        guarded.arg("guard").arg(std::process::id().to_string()).arg("--").args(command);
        guarded.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        guarded.process_group(0);
        let mut child = guarded.spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the agent has no stdin or no stdout"));
        };
        #[cfg(unix)]
        let group =
            child.id().and_then(|id| i32::try_from(id).ok()).map(nix::unistd::Pid::from_raw);
        Ok((
            Self {
                child,
                #[cfg(unix)]
                group,
                grace,
            },
            stdin,
            stdout,
        ))
    }

    /// Waits until it has ended by itself, or cannot be waited for.
    pub(crate) async fn exited(&mut self) {
        if let Err(error) = self.child.wait().await {
            tracing::warn!(%error, "cannot wait for the agent");
        }
    }

    /// Waits for the end, once the agent's stdin is closed; ends it when it does not end by itself.
    pub(crate) async fn end(mut self) -> io::Result<ExitStatus> {
        let ended = match timeout(self.grace, self.child.wait()).await {
            Ok(ended) => ended,
            Err(_) => {
                tracing::warn!("the agent goes on after the end of its input; terminating it");
                self.terminate();
                match timeout(TERMINATE_GRACE, self.child.wait()).await {
                    Ok(ended) => ended,
                    Err(_) => {
                        self.kill();
                        self.child.wait().await
                    }
                }
            }
        };
        self.kill();
        ended
    }

    #[cfg(unix)]
    fn terminate(&mut self) {
        self.signal(nix::sys::signal::Signal::SIGTERM);
    }

    #[cfg(unix)]
    fn kill(&mut self) {
        self.signal(nix::sys::signal::Signal::SIGKILL);
    }

    /// Signals the whole group; that there is none left is as good.
    #[cfg(unix)]
    fn signal(&self, signal: nix::sys::signal::Signal) {
        if let Some(group) = self.group
            && let Err(error) = nix::sys::signal::killpg(group, signal)
            && error != nix::errno::Errno::ESRCH
        {
            tracing::warn!(%error, "cannot signal the agent");
        }
    }

    #[cfg(not(unix))]
    fn terminate(&mut self) {
        self.kill();
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        if let Err(error) = self.child.start_kill() {
            tracing::debug!(%error, "cannot end the agent");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
