//! Processes that end with this program: agents, and the commands that agents run.
//!
//! Each leads a process group of its own, or a job on Windows, so that its children end with it. On
//! Linux it runs below a [`Guard`], which ends the group when this program is killed. The guard of
//! a [`transport`](crate::transport) or a terminal ends all that the command has started, also
//! daemons in sessions of their own.
pub use crate::system::termination;
#[cfg(any(feature = "pty", feature = "transport", feature = "workspace"))]
pub(crate) use child::Process;
pub use guard::Guard;
use std::io;
use std::path::PathBuf;

#[cfg(any(feature = "pty", feature = "transport", feature = "workspace"))]
mod child;
#[cfg(target_os = "linux")]
mod descendants;
#[cfg(target_os = "linux")]
mod errors;
mod guard;
pub(crate) mod guard_arguments;
pub(crate) mod launch;

/// Returns the path under which this program starts itself: the running image, even if the file was
/// replaced.
///
/// # Errors
/// The system does not provide the path.
pub fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe()
    }
}

/// Hides the memory and the environment of this process from other processes of its user, which
/// could read secrets there. Processes that it starts are not affected.
///
/// Only Linux has such a switch. Elsewhere nothing is changed.
///
/// Spec: [`PR_SET_DUMPABLE`](https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html)
///
/// # Errors
/// The system refuses.
pub fn hide_memory() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_dumpable(false)?;
    Ok(())
}

/// Returns the path under which other processes start this program, which may not see this process.
///
/// # Errors
/// As those of [`own_program`].
pub fn own_program_for_others() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    if cfg!(target_os = "linux") && !path.exists() {
        Ok(PathBuf::from(format!("/proc/{}/exe", std::process::id())))
    } else {
        Ok(path)
    }
}
