//! Commands in a process group of their own, guarded where the system has no other way to end them
//! with this program.
//!
//! On Linux this program is started once more as a [`Guard`](super::Guard), because only a process
//! itself can request a notification of its parent's end. Elsewhere a command is started directly:
//! on Windows its job ends it, and on other systems it sees the end of its input.
use super::guard_arguments::{ErrorOutput, GUARD, Scope};
use super::own_program;
use crate::system;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::process::{Child, Command, ExitCode, Stdio};

/// Returns the command that runs `program` in a group of its own, and whether a guard runs it.
///
/// # Errors
/// The path of this program is unknown.
pub(crate) fn command(
    program: &OsStr,
    arguments: &[OsString],
    errors: ErrorOutput,
    scope: Scope,
) -> io::Result<(Command, bool)> {
    let (words, is_guarded) = guarded(program, errors, scope)?;
    let (program, guard) = words.split_first().ok_or(ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(guard).args(arguments);
    system::lead_group(&mut command);
    Ok((command, is_guarded))
}

/// Returns the words that run `program`, below a guard if one is needed, and whether a guard runs
/// it. Its arguments follow.
///
/// # Errors
/// The path of this program is unknown.
pub(crate) fn guarded(
    program: &OsStr,
    errors: ErrorOutput,
    scope: Scope,
) -> io::Result<(Vec<OsString>, bool)> {
    let own = own_program()?;
    let is_guarded = cfg!(target_os = "linux") && own.exists();
    if !is_guarded && errors != ErrorOutput::Merged {
        return Ok((vec![OsString::from(system::find(program))], false));
    }
    let parent = std::process::id().to_string();
    let errors = errors.as_str();
    let scope = scope.as_str();
    let guard = [own.into(), GUARD.into(), parent.into(), errors.into(), scope.into()];
    Ok((guard.into_iter().chain([program.to_owned()]).collect(), is_guarded))
}

/// Starts an agent with its input and output piped; its standard error is inherited. `variables`
/// are set for it.
///
/// The kernel counts the calling thread as the parent: it must live as long as this program.
///
/// # Errors
/// It cannot be run. Under a guard that shows as its exit status instead.
pub(crate) fn launch(
    program: &OsStr,
    arguments: &[OsString],
    variables: &BTreeMap<String, String>,
) -> io::Result<Child> {
    let (mut command, _) = command(program, arguments, ErrorOutput::Inherited, Scope::Group)?;
    command.envs(variables).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

/// Prints why `program` cannot be run, and returns the exit status that shells use for it.
pub(crate) fn cannot_run(name: &str, program: &OsStr, error: &io::Error) -> ExitCode {
    eprintln!("{name}: cannot run {program:?}: {error}");
    ExitCode::from(if error.kind() == ErrorKind::NotFound { 127 } else { 126 })
}
