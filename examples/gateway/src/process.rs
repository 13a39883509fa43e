//! The processes that the gateway starts, agents and their commands, and their ends.
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long it may take after it was asked to terminate.
const TERMINATE_GRACE: Duration = Duration::from_secs(2);

/// This program, for this one and its children to start: as it runs, whatever is at its path by now.
pub(crate) fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe()
    }
}

/// The same for others to start, who may not see this process: at its path, unless it is not there any more.
pub(crate) fn own_program_for_others() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    if cfg!(target_os = "linux") && !path.exists() {
        Ok(PathBuf::from(format!("/proc/{}/exe", std::process::id())))
    } else {
        Ok(path)
    }
}

/// A process that we started, with all that it started in its process group.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    #[cfg(unix)]
    group: Option<nix::unistd::Pid>,
    /// How long it may take to end once its stdin has.
    grace: Duration,
}

impl Process {
    /// Starts `command` below a guard that ends it when the gateway ends; its stderr is ours, and so is its environment,
    /// without `secrets`.
    ///
    /// The kernel counts the thread that calls this as the parent: it has to live as long as the gateway, as the
    /// runtime's workers do.
    pub(crate) fn spawn(
        command: &[String],
        secrets: &[String],
        grace: Duration,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut guarded = Command::new(own_program()?);
        guarded.arg("guard").arg(std::process::id().to_string()).arg("--").args(command);
        for secret in secrets {
            guarded.env_remove(secret);
        }
        let (process, stdin, stdout) = Self::start(guarded.stdin(Stdio::piped()), grace)?;
        let stdin = stdin.ok_or_else(|| io::Error::other("the agent has no stdin"))?;
        Ok((process, stdin, stdout))
    }

    /// The same for a command without input, whose stderr is where its stdout is: `set` sets what else it has.
    pub(crate) fn spawn_merged(
        command: &[String],
        set: impl FnOnce(&mut Command),
    ) -> io::Result<(Self, ChildStdout)> {
        let mut guarded = Command::new(own_program()?);
        set(&mut guarded);
        guarded.arg("guard").arg("--merge").arg(std::process::id().to_string());
        guarded.arg("--").args(command);
        let (process, _, stdout) = Self::start(guarded.stdin(Stdio::null()), Duration::ZERO)?;
        Ok((process, stdout))
    }

    fn start(
        guarded: &mut Command,
        grace: Duration,
    ) -> io::Result<(Self, Option<ChildStdin>, ChildStdout)> {
        guarded.stdout(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        guarded.process_group(0);
        let mut child = guarded.spawn()?;
        let stdin = child.stdin.take();
        let stdout =
            child.stdout.take().ok_or_else(|| io::Error::other("the process has no stdout"))?;
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
            tracing::warn!(%error, "cannot wait for a process");
        }
    }

    /// Waits for the end, once the process's stdin is closed; ends it when it does not end by itself.
    pub(crate) async fn end(mut self) -> io::Result<ExitStatus> {
        match timeout(self.grace, self.child.wait()).await {
            Ok(ended) => {
                self.kill();
                ended
            }
            Err(_) => {
                tracing::warn!("the agent goes on after the end of its input; terminating it");
                self.stop().await
            }
        }
    }

    /// Ends it, unless it has ended, and what is left of its group.
    pub(crate) async fn stop(mut self) -> io::Result<ExitStatus> {
        self.terminate();
        let ended = match timeout(TERMINATE_GRACE, self.child.wait()).await {
            Ok(ended) => ended,
            Err(_) => {
                self.kill();
                self.child.wait().await
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
            tracing::warn!(%error, "cannot signal a process");
        }
    }

    #[cfg(not(unix))]
    fn terminate(&mut self) {
        self.kill();
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        if let Err(error) = self.child.start_kill() {
            tracing::debug!(%error, "cannot end a process");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
