//! Runs a command so that it cannot outlive the gateway.
use std::process::ExitCode;

/// The exit status of a command that was not found, as shells have it.
const NOT_FOUND: u8 = 127;

/// Becomes `command`, which the kernel then ends when the gateway ends, however that happens.
///
/// Only Linux has the signal for it. Elsewhere the command has only the end of its stdin to go by when the gateway is
/// killed; an orderly end is the same everywhere.
pub(crate) fn exec(parent: u32, command: &[String]) -> ExitCode {
    let [program, args @ ..] = command else { return ExitCode::FAILURE };
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL) {
        eprintln!("cannot tie the agent to the gateway: {error}");
        return ExitCode::FAILURE;
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::{CommandExt, parent_id};
        if parent_id() != parent {
            return ExitCode::FAILURE;
        }
        let error = std::process::Command::new(program).args(args).exec();
        eprintln!("cannot run {program}: {error}");
        ExitCode::from(NOT_FOUND)
    }
    #[cfg(not(unix))]
    {
        let _ = parent;
        match std::process::Command::new(program).args(args).status() {
            Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
            Err(error) => {
                eprintln!("cannot run {program}: {error}");
                ExitCode::from(NOT_FOUND)
            }
        }
    }
}
