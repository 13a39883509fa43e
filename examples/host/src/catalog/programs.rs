//! The programs of a search path.
use crate::catalog::install::agents_folder;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The programs of a search path, and the installed ones of registries.
#[derive(Clone, Debug)]
pub struct Programs {
    path: Option<OsString>,
    pub(super) agents: Option<PathBuf>,
}

impl Programs {
    /// Returns the programs on the search path of this process, and those in the data folder of the
    /// user.
    pub fn of_environment() -> Self {
        Self { path: std::env::var_os("PATH"), agents: agents_folder() }
    }

    /// Returns the programs on `path`, which has the form of the variable `PATH`.
    pub fn in_path(path: impl Into<OsString>) -> Self {
        Self { path: Some(path.into()), agents: None }
    }

    /// Adds the agents that are installed below a folder.
    #[must_use]
    pub fn with_agents(mut self, folder: impl Into<PathBuf>) -> Self {
        self.agents = Some(folder.into());
        self
    }

    /// Returns whether the system finds a program.
    pub fn has(&self, program: impl AsRef<OsStr>) -> bool {
        let folder = std::env::current_dir().unwrap_or_default();
        which::which_in(program, self.path.as_ref(), folder).is_ok()
    }
}
