//! Installation of the programs of a registry, with the consent of the user.
use crate::catalog::archive::{self, ArchiveError, ArchiveLimits};
use crate::catalog::{Agent, Binary, DownloadError, download};
use core::fmt::{self, Display, Formatter};
use reqwest::Url;
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// An agent cannot be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The agent has no archive for this system.
    #[error("{title} has no archive for this system; install it: {hint}")]
    NoArchive {
        /// The name of the agent.
        title: String,
        /// Another way to install it.
        hint: String,
    },
    /// The system has no folder for data of the user.
    #[error("no folder for data of the user: expected the variable HOME or LOCALAPPDATA")]
    NoFolder,
    /// The download failed.
    #[error("{archive}: {error}")]
    Download {
        /// The address.
        archive: String,
        /// The reason.
        error: DownloadError,
    },
    /// The file is another one than that of the registry.
    #[error("{archive}: expected the SHA-256 {expected}, got {got}; nothing was installed")]
    Checksum {
        /// The address.
        archive: String,
        /// The checksum of the registry.
        expected: String,
        /// The checksum of the file.
        got: String,
    },
    /// The file cannot be unpacked.
    #[error("{archive}: {error}; nothing was installed")]
    Archive {
        /// The address.
        archive: String,
        /// The reason.
        error: ArchiveError,
    },
    /// A folder cannot be written.
    #[error("{path}: {error}", path = .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

/// An agent that can be installed: what is downloaded, and where it is put.
#[derive(Clone, Debug)]
pub struct Installation {
    title: String,
    binary: Binary,
    url: Url,
    /// Size of the download, if the server tells it.
    size: Option<u64>,
    folder: PathBuf,
}

impl Installation {
    /// Prepares the installation of an agent below `folder`. The size is that which the server
    /// announces.
    ///
    /// # Errors
    /// The agent has no archive for this system, or the address is not available.
    pub fn new(agent: &Agent, folder: &Path) -> Result<Self, InstallError> {
        let title = agent.title.clone();
        let Some(binary) = agent.binary.clone() else {
            return Err(InstallError::NoArchive { title, hint: agent.install_hint() });
        };
        let wrong = |error| InstallError::Download { archive: binary.archive.clone(), error };
        let url = download::permitted(&binary.archive).map_err(wrong)?;
        let size = download::size(url.clone()).map_err(wrong)?;
        Ok(Self { title, url, size, folder: folder.join(&agent.id), binary })
    }

    /// Downloads, checks and unpacks the file. An older installation is replaced at the end.
    /// Returns the program.
    ///
    /// # Errors
    /// A step fails. An older installation stays.
    pub fn run(&self, limits: &ArchiveLimits) -> Result<PathBuf, InstallError> {
        let archive = || self.binary.archive.clone();
        let above = self.folder.parent().unwrap_or(&self.folder);
        let wrong = |error| InstallError::Folder { path: above.to_owned(), error };
        fs::create_dir_all(above).map_err(wrong)?;
        let work = tempfile::Builder::new().prefix(".part-").tempdir_in(above).map_err(wrong)?;
        let path = work.path().join("download");
        let file = File::options().read(true).write(true).create_new(true).open(path);
        let mut file = file.map_err(wrong)?;
        let got = download::fetch(self.url.clone(), &mut file, limits.archive_bytes)
            .map_err(|error| InstallError::Download { archive: archive(), error })?;
        if let Some(expected) = self.binary.sha256.clone().filter(|expected| *expected != got) {
            return Err(InstallError::Checksum { archive: archive(), expected, got });
        }
        let root = work.path().join("files");
        fs::create_dir(&root).map_err(wrong)?;
        archive::unpack(file, &self.binary.program, &root, limits)
            .map_err(|error| InstallError::Archive { archive: archive(), error })?;
        let old = work.path().join("old");
        let had_older = fs::rename(&self.folder, &old).is_ok();
        fs::rename(&root, &self.folder).map_err(|error| {
            if had_older {
                // The error that is reported is that of the new folder.
                let _ = fs::rename(&old, &self.folder);
            }
            wrong(error)
        })?;
        Ok(self.folder.join(&self.binary.program))
    }
}

impl Display for Installation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { title, binary, size, folder, .. } = self;
        let size = size
            .map_or("of unknown size".to_owned(), |size| format!("{} KiB", size.div_ceil(1024)));
        let sha256 =
            binary.sha256.as_deref().unwrap_or("not in the registry, so it is not checked");
        writeln!(f, "{title} {}", binary.version)?;
        writeln!(f, "  archive  {} ({size})", binary.archive)?;
        writeln!(f, "  SHA-256  {sha256}")?;
        writeln!(f, "  folder   {}", folder.display())?;
        writeln!(f, "  program  {}", binary.program.display())
    }
}

/// Returns the folder of installed agents, in the data folder of the user.
pub(crate) fn agents_folder() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        env::home_dir().map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| Some(env::home_dir()?.join(".local/share")))
    };
    Some(base?.join("spanwire").join("agents"))
}
