//! Runs a command so that it cannot outlive the gateway.
//!
//! The gateway starts agents as `gateway guard PARENT -- COMMAND`, each in a process group of its own. Only Linux tells a
//! process that its parent has ended; there the guard stays, and ends the whole group when the gateway is gone, however
//! that happened. Elsewhere the command has only the end of its input to go by when the gateway is killed; an orderly end
//! is the same everywhere.
use crate::log;
use std::io;
use std::process::{Command, ExitCode};

/// The exit status of a command that cannot be run, as shells have it.
const CANNOT_RUN: u8 = 127;

/// The exit status of a command that a signal ended is this and the signal's number.
#[cfg(target_os = "linux")]
const SIGNALLED: i32 = 128;

/// Runs `command`, with its stderr where its stdout is if it `merges` them; the exit status is the command's.
pub(crate) fn run(parent: u32, merges: bool, command: &[String]) -> ExitCode {
    let [program, args @ ..] = command else { return ExitCode::FAILURE };
    let mut command = Command::new(program);
    command.args(args);
    let guarded = if merges { merge(&mut command) } else { Ok(()) };
    let error = match guarded.and_then(|()| guard(parent, command)) {
        Ok(status) => return ExitCode::from(status),
        Err(error) => error,
    };
    log::say(format_args!("cannot run {program}: {error}"));
    ExitCode::from(CANNOT_RUN)
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
async fn guard(parent: u32, command: Command) -> io::Result<u8> {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::{Pid, dup2_stdin, dup2_stdout};
    use std::fs::File;
    use std::os::unix::process::{ExitStatusExt, parent_id};
    use tokio::signal::unix::{SignalKind, signal};

    // SIGUSR1 is to come when the gateway has ended. SIGTERM is for the command, which has it as a member of the group.
    let mut orphaned = signal(SignalKind::user_defined1())?;
    let mut terminated = signal(SignalKind::terminate())?;
    nix::sys::prctl::set_pdeathsig(Signal::SIGUSR1)?;
    if parent_id() != parent {
        return Err(io::Error::other("the gateway has ended"));
    }
    let mut child = tokio::process::Command::from(command).spawn()?;
    // The ends of the command's pipes are its own.
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    let own_group = Pid::from_raw(0);
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            Some(()) = orphaned.recv() => killpg(own_group, Signal::SIGKILL)?,
            Some(()) = terminated.recv() => {}
        }
    };
    let code = status.code().or(status.signal().map(|signal| SIGNALLED + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn guard(parent: u32, mut command: Command) -> io::Result<u8> {
    use std::os::unix::process::{CommandExt, parent_id};
    if parent_id() != parent {
        return Err(io::Error::other("the gateway has ended"));
    }
    Err(command.exec())
}

#[cfg(not(unix))]
fn guard(_parent: u32, mut command: Command) -> io::Result<u8> {
    let status = command.status()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
