//! Unix: process groups, signals, and pipes with a chosen capacity on Linux.
use super::{Ready, Signal};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{self, killpg};
use nix::sys::wait::WaitStatus;
use nix::unistd::{Pid, dup2_stdout};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};

/// An end of a pipe.
pub(crate) trait End: AsFd {}

impl<T: AsFd> End for T {}

/// Returns another end of a pipe.
pub(crate) fn second_end(end: &impl AsFd) -> io::Result<File> {
    end.as_fd().try_clone_to_owned().map(File::from)
}

/// Waits until a non-blocking pipe is readable or writable.
pub(crate) fn wait_ready(end: &impl End, ready: Ready) -> io::Result<()> {
    let until = match ready {
        Ready::Read => PollFlags::POLLIN,
        Ready::Write => PollFlags::POLLOUT,
    };
    match poll(&mut [PollFd::new(end.as_fd(), until)], PollTimeout::NONE) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Capacity of a busy pipe: the default maximum of Linux for unprivileged users.
#[cfg(target_os = "linux")]
const WIDE: i32 = 1 << 20;

/// Enlarges a pipe, as far as the system allows; ignores other files.
///
/// Spec: [pipe](https://man7.org/linux/man-pages/man7/pipe.7.html), "Pipe capacity"
#[cfg(target_os = "linux")]
pub(crate) fn widen(end: &impl End) {
    use nix::fcntl::{FcntlArg, fcntl};
    let Ok(held) = fcntl(end.as_fd(), FcntlArg::F_GETPIPE_SZ) else { return };
    let wider = core::iter::successors(Some(WIDE), |size| Some(size / 2));
    let _ = wider
        .take_while(|size| *size > held)
        .find(|size| fcntl(end.as_fd(), FcntlArg::F_SETPIPE_SZ(*size)).is_ok());
}

/// Pipes of other systems have a fixed capacity.
#[cfg(not(target_os = "linux"))]
pub(crate) fn widen(_: &impl End) {}

/// The system searches for the command.
pub(crate) fn find(program: &OsStr) -> &OsStr {
    program
}

/// Makes the process the leader of a group of its own.
pub(crate) fn lead_group(command: &mut Command) {
    command.process_group(0);
}

/// Takes over standard input and output.
pub(crate) fn editor_ends() -> io::Result<(File, File)> {
    let stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    // The only descriptor from now on: the editor sees its end when the agent ends it, and nothing
    // else can write to it.
    dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok((stdin, stdout))
}

/// The agent and its children.
#[derive(Clone, Debug)]
pub(crate) struct ProcessGroup(Pid);

impl ProcessGroup {
    /// Returns the group of a child that std has started.
    pub(crate) fn of_std(child: &mut Child) -> io::Result<Self> {
        Ok(Self(Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?)))
    }

    /// Returns the group of a child that tokio has started.
    #[cfg(any(feature = "pty", feature = "transport", feature = "workspace"))]
    pub(crate) fn of(child: &tokio::process::Child) -> io::Result<Self> {
        let id = child.id().ok_or(io::ErrorKind::NotFound)?;
        Ok(Self(Pid::from_raw(i32::try_from(id).map_err(io::Error::other)?)))
    }

    /// Signals each process of the group. An empty group is no error.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        let signal = match signal {
            Signal::Hangup => signal::Signal::SIGHUP,
            Signal::Interrupt => signal::Signal::SIGINT,
            Signal::Kill => signal::Signal::SIGKILL,
            Signal::Terminate => signal::Signal::SIGTERM,
        };
        match killpg(self.0, signal) {
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Requests of the guard that leads the group that it ends all that it has started.
    #[cfg(any(feature = "transport", feature = "workspace"))]
    pub(crate) fn signal_guard(&self) -> io::Result<()> {
        match signal::kill(self.0, signal::Signal::SIGUSR1) {
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the agent's exit; returns its status in the form of shells.
    pub(crate) fn wait(&self, _: &mut Child) -> io::Result<i32> {
        loop {
            match wait(self.0) {
                Ok(WaitStatus::Exited(_, code)) => return Ok(code & 0xff),
                Ok(WaitStatus::Signaled(_, signal, _)) => return Ok(128 + signal as i32),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Waits for the agent's exit and does not reap it, so that its process group keeps its number.
#[cfg(target_os = "linux")]
fn wait(agent: Pid) -> nix::Result<WaitStatus> {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    waitid(Id::Pid(agent), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)
}

/// Waits for the agent's exit and reaps it: its group keeps its number only while it has another
/// member.
#[cfg(not(target_os = "linux"))]
fn wait(agent: Pid) -> nix::Result<WaitStatus> {
    nix::sys::wait::waitpid(agent, None)
}

/// Makes a write beyond the limit of file sizes (`ulimit -f`) return an error. By default SIGXFSZ
/// ends this program, and with it the session of an editor.
fn report_full_files() -> io::Result<()> {
    // The handler stays in place without its receiver.
    signal(SignalKind::from_raw(signal::Signal::SIGXFSZ as i32)).map(drop)
}

/// Returns a future that waits for SIGTERM or SIGINT, or for an event of the console on Windows.
/// From now on these signals do not end the program.
///
/// # Errors
/// The system does not let this program handle signals.
pub fn termination() -> io::Result<impl Future<Output = ()>> {
    report_full_files()?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
    })
}

/// Reports each signal that asks this program to end.
pub(crate) fn forward_signals(
    runtime: &Handle,
    tell: impl Fn(Signal) -> bool + Clone + Send + 'static,
) -> io::Result<()> {
    let _context = runtime.enter();
    report_full_files()?;
    for (kind, number) in [
        (SignalKind::terminate(), Signal::Terminate),
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::hangup(), Signal::Hangup),
    ] {
        let mut arrived = signal(kind)?;
        let tell = tell.clone();
        runtime.spawn(async move { while arrived.recv().await.is_some() && tell(number) {} });
    }
    Ok(())
}
