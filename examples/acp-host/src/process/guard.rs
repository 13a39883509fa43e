//! Runs a command so that it cannot outlive this program.
//!
//! Only Linux notifies a process of the end of its parent; there the guard stays, and ends the whole group after any end of
//! the parent. Elsewhere a guard serves only to merge a command's standard error into its output.
use super::launch::{ErrorOutput, cannot_run};
use std::env::ArgsOs;
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode};

/// First argument of this program when it is started as a guard.
pub(super) const GUARD: &str = "--guard-for-parent";

/// Base of the exit status of a command that a signal ended; the signal's number is added.
#[cfg(target_os = "linux")]
const SIGNALLED: i32 = 128;

/// This program, started to guard a command.
#[derive(Debug)]
pub struct Guard {
    parent: u32,
    is_merged: bool,
    program: OsString,
    arguments: ArgsOs,
}

impl Guard {
    /// Returns the guard that these arguments of `main` request, if they do; call it before anything else in `main`.
    pub fn requested(mut arguments: ArgsOs) -> Option<Self> {
        if arguments.nth(1)? != GUARD {
            return None;
        }
        let parent = arguments.next()?.to_str()?.parse().ok()?;
        let is_merged = arguments.next()? == ErrorOutput::Merged.as_str();
        Some(Self { parent, is_merged, program: arguments.next()?, arguments })
    }

    /// Runs the command to its end; the exit status is the command's, as shells have it. `name` is the program's own, for
    /// its messages.
    pub fn run(self, name: &str) -> ExitCode {
        let mut command = Command::new(&self.program);
        command.args(self.arguments);
        let merged = if self.is_merged { merge(&mut command) } else { Ok(()) };
        match merged.and_then(|()| guard(name, self.parent, command)) {
            Ok(status) => ExitCode::from(status),
            Err(error) => cannot_run(name, &self.program, &error),
        }
    }
}

#[cfg(unix)]
fn merge(command: &mut Command) -> io::Result<()> {
    use std::os::fd::AsFd;
    command.stderr(io::stdout().as_fd().try_clone_to_owned()?);
    Ok(())
}

#[cfg(windows)]
fn merge(command: &mut Command) -> io::Result<()> {
    use std::os::windows::io::AsHandle;
    command.stderr(io::stdout().as_handle().try_clone_to_owned()?);
    Ok(())
}

#[cfg(target_os = "linux")]
#[tokio::main(flavor = "current_thread")]
async fn guard(name: &str, parent: u32, command: Command) -> io::Result<u8> {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::{Pid, dup2_stdin, dup2_stdout};
    use std::fs::File;
    use std::os::unix::process::{ExitStatusExt, parent_id};
    use tokio::signal::unix::{SignalKind, signal};

    // SIGUSR1 comes when the parent has ended. The others are for the command, which has them as a member of the group.
    let mut orphaned = signal(SignalKind::user_defined1())?;
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        // Tokio keeps the handler, and with it the guard alive, when the stream is dropped.
        drop(signal(kind)?);
    }
    if let Err(error) = nix::sys::prctl::set_pdeathsig(Signal::SIGUSR1) {
        eprintln!("{name}: the command may outlive a killed {name}: {error}");
    }
    if parent_id() != parent {
        return Err(io::Error::other("its parent has ended"));
    }
    let mut child = tokio::process::Command::from(command).spawn()?;
    // The command's pipes must be held by the command alone.
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    let own_group = Pid::from_raw(0);
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            Some(()) = orphaned.recv() => killpg(own_group, Signal::SIGKILL)?,
        }
    };
    let code = status.code().or(status.signal().map(|signal| SIGNALLED + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn guard(_: &str, parent: u32, mut command: Command) -> io::Result<u8> {
    use std::os::unix::process::{CommandExt, parent_id};
    if parent_id() != parent {
        return Err(io::Error::other("its parent has ended"));
    }
    Err(command.exec())
}

#[cfg(windows)]
fn guard(_: &str, _: u32, mut command: Command) -> io::Result<u8> {
    let status = command.status()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
