//! Starting the agent so that it can be ended, whatever happens.
//!
//! On Unix the agent leads a process group of its own: a signal reaches what it started as well, and a terminal's Ctrl-C
//! does not reach it twice. On Linux it is also killed when this process dies without a word (SIGKILL). Only a process can ask
//! for that, for itself, so this program is first started once more, asks, and becomes the agent ([`Guard`]).
//!
//! On Windows the agent is put into a job, which does both; Ctrl-C reaches it from the console.

use crate::system;
use std::env::ArgsOs;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::process::{Child, Command, ExitCode, Stdio};

/// The first argument of this program when it is to become the agent.
const BECOME: &str = "--become-the-agent-of";

/// Starts the agent with its input and output piped; its standard error is ours.
///
/// # Errors
/// It cannot be run. Under a [`Guard`] that shows as its exit status instead.
pub(crate) fn launch(program: &OsStr, arguments: &[OsString]) -> io::Result<Child> {
    #[cfg(target_os = "linux")]
    if let Ok(child) = start(
        Command::new("/proc/self/exe")
            .arg(BECOME)
            .arg(std::process::id().to_string())
            .arg(program)
            .args(arguments),
    ) {
        return Ok(child);
    }
    start(Command::new(system::find(program)).args(arguments))
}

fn start(command: &mut Command) -> io::Result<Child> {
    system::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))
}

/// Says why `program` cannot be run, and gives the exit status that shells use for it.
pub(crate) fn cannot_run(name: &str, program: &OsStr, error: &io::Error) -> ExitCode {
    eprintln!("{name}: cannot run {program:?}: {error}");
    ExitCode::from(if error.kind() == ErrorKind::NotFound { 127 } else { 126 })
}

/// This program, started to become the agent.
#[derive(Debug)]
pub struct Guard {
    parent: u32,
    program: OsString,
    arguments: ArgsOs,
}

impl Guard {
    /// The request to become the agent, if these arguments are one; ask for it first thing in `main`.
    pub fn requested(mut arguments: ArgsOs) -> Option<Self> {
        if arguments.nth(1)? != BECOME {
            return None;
        }
        let parent = arguments.next()?.to_str()?.parse().ok()?;
        Some(Self { parent, program: arguments.next()?, arguments })
    }

    /// Becomes the agent; comes back only if that fails. `name` is the program's own, for its messages.
    pub fn run(self, name: &str) -> ExitCode {
        let mut command = Command::new(&self.program);
        let error = system::become_agent(name, self.parent, command.args(self.arguments));
        cannot_run(name, &self.program, &error)
    }
}
