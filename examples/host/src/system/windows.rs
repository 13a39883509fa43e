//! Windows: jobs, and events of the console.
use super::{Ready, Signal};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, RawHandle};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
use win32job::{ExtendedLimitInfo, Job};

/// An end of a pipe.
pub(crate) trait End {}

impl<T> End for T {}

/// Pipes of Windows never report that they would block, so no wait is needed.
pub(crate) fn wait_ready(_: &impl End, _: Ready) -> io::Result<()> {
    Err(io::ErrorKind::WouldBlock.into())
}

/// Pipes of Windows have a fixed capacity.
pub(crate) fn widen(_: &impl End) {}

/// Returns another end of a pipe.
pub(crate) fn second_end(end: &impl AsHandle) -> io::Result<File> {
    end.as_handle().try_clone_to_owned().map(File::from)
}

/// Finds a command as shells do, also without the extension of a script.
pub(crate) fn find(program: &OsStr) -> PathBuf {
    // The system also searches the folder of this program.
    which::which(program).unwrap_or_else(|_| PathBuf::from(program))
}

/// Leaves the process in the group of the console, so that it gets Ctrl-C as this program does.
pub(crate) fn lead_group(_: &mut Command) {}

/// Takes over standard input and output. Nothing else in this program writes there. The editor sees
/// the end of its input only at the end of the session, because this program's own end of the pipe
/// stays open.
pub(crate) fn editor_ends() -> io::Result<(File, File)> {
    let stdin = File::from(io::stdin().as_handle().try_clone_to_owned()?);
    let stdout = File::from(io::stdout().as_handle().try_clone_to_owned()?);
    Ok((stdin, stdout))
}

/// The agent and its children: a job, which ends with its last handle, at the latest with this
/// program.
///
/// Spec: [Job Objects](https://learn.microsoft.com/windows/win32/procthread/job-objects)
#[derive(Clone, Debug)]
pub(crate) struct ProcessGroup(Arc<Mutex<Option<Job>>>);

impl ProcessGroup {
    /// Children that the agent starts from now on are in the job as well; the agent has just
    /// started.
    pub(crate) fn of_std(child: &mut Child) -> io::Result<Self> {
        let (job, assigned) = Self::assign(child.as_raw_handle())?;
        match assigned {
            Err(error) if child.try_wait()?.is_none() => Err(error),
            _ => Ok(job),
        }
    }

    /// The same for a child that tokio has started.
    #[cfg(any(feature = "transport", feature = "workspace"))]
    pub(crate) fn of(child: &tokio::process::Child) -> io::Result<Self> {
        // A child that has already ended has no handle, and needs no job.
        match child.raw_handle().map(Self::assign) {
            Some(job) => job.map(|(job, _)| job),
            None => Ok(Self(Arc::default())),
        }
    }

    fn assign(process: RawHandle) -> io::Result<(Self, io::Result<()>)> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close().limit_breakaway_ok();
        let job = Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
        let assigned = job.assign_process(process as isize).map_err(io::Error::other);
        Ok((Self(Arc::new(Mutex::new(Some(job)))), assigned))
    }

    /// Kills the job; the console delivers the other signals.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        if signal == Signal::Kill {
            drop(self.job().take());
        }
        Ok(())
    }

    /// No guard leads a job.
    #[cfg(any(feature = "transport", feature = "workspace"))]
    pub(crate) fn signal_guard(&self) -> io::Result<()> {
        self.signal(Signal::Kill)
    }

    /// Waits for the agent's exit; returns its status. A killed process has none of its own.
    pub(crate) fn wait(&self, child: &mut Child) -> io::Result<i32> {
        let status = child.wait()?.code();
        let is_killed = self.job().is_none();
        Ok(status.filter(|_| !is_killed).unwrap_or(128 + Signal::Kill.number()))
    }

    fn job(&self) -> MutexGuard<'_, Option<Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a future that waits for an event of the console that ends programs. From now on Ctrl-C
/// and Ctrl-Break do not end this program.
///
/// # Errors
/// The system does not let this program handle events of the console.
pub fn termination() -> io::Result<impl Future<Output = ()>> {
    let mut interrupted = ctrl_c()?;
    let mut broken = ctrl_break()?;
    let mut closed = ctrl_close()?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = broken.recv() => {}
            _ = closed.recv() => {}
        }
    })
}

/// Reports each event of the console that asks this program to end.
pub(crate) fn forward_signals(
    runtime: &Handle,
    tell: impl Fn(Signal) -> bool + Clone + Send + 'static,
) -> io::Result<()> {
    let _context = runtime.enter();
    macro_rules! forward {
        ($event:expr, $signal:expr) => {
            let mut arrived = $event?;
            let tell = tell.clone();
            runtime.spawn(async move { while arrived.recv().await.is_some() && tell($signal) {} });
        };
    }
    forward!(ctrl_c(), Signal::Interrupt);
    forward!(ctrl_break(), Signal::Terminate);
    forward!(ctrl_close(), Signal::Hangup);
    forward!(ctrl_shutdown(), Signal::Terminate);
    Ok(())
}
