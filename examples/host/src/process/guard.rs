//! Runs a command so that it cannot outlive this program.
//!
//! Only Linux notifies a process of the end of its parent; there the guard stays, and ends the
//! whole group after any end of the parent. With [`Scope::All`] it is the parent of all orphans
//! below it, and ends with the last of them. Elsewhere a guard serves only to merge a command's
//! standard error into its output.
use super::guard_arguments::{ErrorOutput, GUARD, Scope};
use super::launch::cannot_run;
use std::env::ArgsOs;
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode, Stdio};
#[cfg(target_os = "linux")]
use tokio::signal::unix::Signal as UnixSignals;

/// Base of the exit status of a command that a signal ended; the signal's number is added.
#[cfg(target_os = "linux")]
const SIGNALLED: i32 = 128;

/// Time for what the command has started to end after it.
#[cfg(target_os = "linux")]
const LINGER: std::time::Duration = std::time::Duration::from_millis(500);

/// This program, started to guard a command.
#[derive(Debug)]
pub struct Guard {
    parent: u32,
    errors: ErrorOutput,
    scope: Scope,
    program: OsString,
    arguments: ArgsOs,
}

impl Guard {
    /// Returns the guard that these arguments of `main` request, if they do; call it before
    /// anything else in `main`.
    pub fn requested(mut arguments: ArgsOs) -> Option<Self> {
        if arguments.nth(1)? != GUARD {
            return None;
        }
        let parent = arguments.next()?.to_str()?.parse().ok()?;
        let errors = ErrorOutput::of(&arguments.next()?);
        let is_all = arguments.next()? == Scope::All.as_str();
        let scope = if is_all { Scope::All } else { Scope::Group };
        Some(Self { parent, errors, scope, program: arguments.next()?, arguments })
    }

    /// Runs the command to its end; the exit status is the command's, as shells have it. `name` is
    /// the program's own, for its messages.
    pub fn run(self, name: &str) -> ExitCode {
        let mut command = Command::new(&self.program);
        command.args(self.arguments);
        let merged = match self.errors {
            ErrorOutput::Merged => merge(&mut command),
            ErrorOutput::Inherited => Ok(()),
            ErrorOutput::Bounded => {
                command.stderr(Stdio::piped());
                Ok(())
            }
        };
        match merged.and_then(|()| guard(name, self.parent, self.scope, command)) {
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
async fn guard(name: &str, parent: u32, scope: Scope, command: Command) -> io::Result<u8> {
    use super::descendants::{adopt, kill_each, reap_except};
    use super::errors::ErrorRelay;
    use nix::sys::signal::{Signal, kill, killpg};
    use nix::unistd::{Pid, dup2_stdin, dup2_stdout};
    use std::fs::File;
    use std::os::unix::process::{ExitStatusExt, parent_id};
    use tokio::signal::unix::{SignalKind, signal};

    // SIGUSR1 comes when the parent has ended, or requests the end of all. The others are for the
    // command, which has them as a member of the group.
    let mut ending = signal(SignalKind::user_defined1())?;
    let mut changed = signal(SignalKind::child())?;
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
    let adopts = scope == Scope::All;
    if adopts && let Err(error) = adopt() {
        eprintln!("{name}: processes in sessions of their own may outlive {name}: {error}");
    }
    let mut child = tokio::process::Command::from(command).spawn()?;
    let errors = child.stderr.take().map(|errors| ErrorRelay::begin(errors, name)).transpose()?;
    let id = child.id().and_then(|id| i32::try_from(id).ok()).map_or(Pid::this(), Pid::from_raw);
    // The command's pipes must be held by the command alone.
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    let own_group = Pid::from_raw(0);
    let mut is_killed = false;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            Some(()) = ending.recv() => {
                is_killed = true;
                if adopts { kill_each() } else { killpg(own_group, Signal::SIGKILL)? }
            }
            Some(()) = changed.recv(), if adopts => reap_except(id),
        }
    };
    if adopts {
        end_rest(is_killed, &mut ending, &mut changed).await;
    }
    if let Some(errors) = errors {
        errors.end(LINGER).await;
    }
    if is_killed {
        // The status of the command.
        kill(Pid::this(), Signal::SIGKILL)?;
    }
    let code = status.code().or(status.signal().map(|signal| SIGNALLED + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Ends what the command has started. Processes that end by themselves may still write; the others
/// are killed.
#[cfg(target_os = "linux")]
async fn end_rest(is_killed: bool, ending: &mut UnixSignals, changed: &mut UnixSignals) {
    use super::descendants::{kill_all, reap};
    if !is_killed {
        let alone = async { while reap() && changed.recv().await.is_some() {} };
        tokio::select! {
            () = alone => {}
            () = tokio::time::sleep(LINGER) => {}
            _ = ending.recv() => {}
        }
    }
    let changed = async || {
        changed.recv().await;
    };
    kill_all(changed).await;
}

#[cfg(all(unix, not(target_os = "linux")))]
fn guard(_: &str, parent: u32, _: Scope, mut command: Command) -> io::Result<u8> {
    use std::os::unix::process::{CommandExt, parent_id};
    if parent_id() != parent {
        return Err(io::Error::other("its parent has ended"));
    }
    Err(command.exec())
}

#[cfg(windows)]
fn guard(_: &str, _: u32, _: Scope, mut command: Command) -> io::Result<u8> {
    let status = command.status()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
