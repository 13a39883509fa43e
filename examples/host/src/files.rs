//! The files that an agent may read and write: those below one directory.
//!
//! The directory is a capability. A path is followed from it component by component, and one that
//! leads out of it, by `..` or by a link, is not followed, even if links change meanwhile.
use acp_types::v1::error::RESOURCE_NOT_FOUND;
use acp_types::v1::file_system::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, Permissions};
#[cfg(unix)]
use cap_std::fs::{OpenOptionsExt, PermissionsExt};
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde_json::json;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

mod search;
#[cfg(test)]
mod tests;

pub use search::{FoundFiles, MAX_FOUND};

/// Maximum number of bytes of a file that is read or written.
pub const MAX_FILE: u64 = 8 * 1024 * 1024;

/// The bits of a mode that grant access: without those that make a program run as the owner of its
/// file.
#[cfg(unix)]
const ACCESS_BITS: u32 = 0o777;

/// A directory, with the paths that name it.
#[derive(Debug)]
pub struct Root {
    dir: Dir,
    /// As it was set.
    path: PathBuf,
    /// Without links.
    canonical: PathBuf,
}

/// An error reading or writing a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The path is not below the root.
    #[error("{path}: expected an absolute path below {root}", root = .root.display())]
    Outside {
        /// The path of the request.
        path: String,
        /// The directory that it has to be below.
        root: PathBuf,
    },
    /// The system reports an error.
    #[error("{path}: {error}")]
    Io {
        /// The path of the request.
        path: String,
        /// The error of the system.
        error: io::Error,
    },
    /// The path names a directory, a pipe or a device.
    #[error("{0}: it is not a file")]
    NotFile(String),
    /// The file has more than [`MAX_FILE`] bytes.
    #[error("{0}: it has more than {MAX_FILE} bytes")]
    TooLarge(String),
    /// The file is not UTF-8.
    #[error("{0}: it is not UTF-8")]
    NotText(String),
}

impl From<FileError> for ErrorObject {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        match error {
            FileError::Io { path, error } if error.kind() == io::ErrorKind::NotFound => {
                let mut answer = Self::new(RESOURCE_NOT_FOUND, message);
                answer.data = Raw::from_value(&json!({ "uri": path })).ok();
                answer
            }
            FileError::Io { error, .. } if error.kind() != io::ErrorKind::PermissionDenied => {
                Self::new(ErrorCode::INTERNAL_ERROR, message)
            }
            _ => Self::new(ErrorCode::INVALID_PARAMS, message),
        }
    }
}

impl Root {
    /// Opens a directory as a root.
    ///
    /// # Errors
    /// The path is no directory, or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        let canonical = path.canonicalize()?;
        Ok(Self { dir, path, canonical })
    }

    /// Reads a text file: the requested lines, or all.
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn read(&self, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, FileError> {
        let path = &request.path;
        let file = self.open_file(path, OpenOptions::new().read(true))?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| failed(path, error))?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE {
            return Err(FileError::TooLarge(path.clone()));
        }
        let text = String::from_utf8(bytes).map_err(|_| FileError::NotText(path.clone()))?;
        Ok(ReadTextFileResponse::new(lines(text, request.line, request.limit)))
    }

    /// Writes a text file, and creates the directories above it.
    ///
    /// The text is written to a temporary file beside it, which has its permissions and then takes
    /// its name. The bits for setting the user and the group of a program are removed. If that
    /// fails, for example because the disk is full, the existing file is unchanged. Other hard
    /// links keep the previous text.
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn write(
        &self,
        request: &WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse, FileError> {
        let path = &request.path;
        let content = request.content.as_bytes();
        if u64::try_from(content.len()).unwrap_or(u64::MAX) > MAX_FILE {
            return Err(FileError::TooLarge(path.clone()));
        }
        if let Some(parent) = self.relative(path)?.parent()
            && !parent.as_os_str().is_empty()
        {
            self.dir.create_dir_all(parent).map_err(|error| failed(path, error))?;
        }
        let (target, permissions) = self.target(path)?;
        let temporary = target.with_file_name(temporary_name());
        let written = self.replace(&temporary, &target, permissions, content);
        written.map_err(|error| {
            // The first error is the one to report.
            let _removed = self.dir.remove_file(&temporary);
            failed(path, error)
        })?;
        Ok(WriteTextFileResponse::new())
    }

    /// Returns the file that is to be written, behind links, and its permissions if it exists.
    fn target(&self, path: &str) -> Result<(PathBuf, Option<Permissions>), FileError> {
        let relative = self.relative(path)?;
        match self.open_file(path, OpenOptions::new().write(true)) {
            Ok(file) => {
                let target = self.dir.canonicalize(relative);
                let permissions = file.metadata().map(|metadata| metadata.permissions());
                let found = target.and_then(|target| Ok((target, Some(permissions?))));
                found.map_err(|error| failed(path, error))
            }
            // A link to a missing file is not replaced: its target may be outside.
            Err(FileError::Io { error, .. })
                if error.kind() == io::ErrorKind::NotFound
                    && self.dir.symlink_metadata(relative).is_err() =>
            {
                Ok((relative.to_owned(), None))
            }
            Err(error) => Err(error),
        }
    }

    /// Writes a temporary file, and gives it the name of the target.
    fn replace(
        &self,
        temporary: &Path,
        target: &Path,
        permissions: Option<Permissions>,
        content: &[u8],
    ) -> io::Result<()> {
        #[cfg(unix)]
        let permissions = permissions.map(|mut permissions| {
            // A file with other content does not run as its owner.
            permissions.set_mode(permissions.mode() & ACCESS_BITS);
            permissions
        });
        let mut file = self.create(temporary, permissions.as_ref())?;
        file.write_all(content)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        // Some file systems report a full disk only now.
        file.sync_all()?;
        drop(file);
        self.dir.rename(temporary, &self.dir, target)
    }

    /// Creates a file that is not readable by more users than these permissions let read it, at any
    /// time.
    #[cfg_attr(not(unix), expect(unused_variables, reason = "the mode is one of Unix"))]
    fn create(&self, path: &Path, permissions: Option<&Permissions>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if let Some(permissions) = permissions {
            options.mode(permissions.mode());
        }
        self.dir.open_with(path, &options)
    }

    /// Returns a directory below the root as a path for a process; the root itself for `None`.
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn directory(&self, path: Option<&str>) -> Result<PathBuf, FileError> {
        let Some(path) = path else { return Ok(self.canonical.clone()) };
        let relative = self.relative(path)?;
        if relative.as_os_str().is_empty() {
            return Ok(self.canonical.clone());
        }
        let below = self.dir.open_dir(relative).and_then(|_| self.dir.canonicalize(relative));
        Ok(self.canonical.join(below.map_err(|error| failed(path, error))?))
    }

    /// Returns the path relative to the root, without following it.
    fn relative<'a>(&self, path: &'a str) -> Result<&'a Path, FileError> {
        let below = [&self.path, &self.canonical];
        let below = below.into_iter().find_map(|root| Path::new(path).strip_prefix(root).ok());
        below.ok_or_else(|| FileError::Outside { path: path.to_owned(), root: self.path.clone() })
    }

    /// Opens a file, and nothing else.
    fn open_file(&self, path: &str, options: &mut OpenOptions) -> Result<File, FileError> {
        let relative = self.relative(path)?;
        let file =
            regular_file(&self.dir, relative, options).map_err(|error| failed(path, error))?;
        file.ok_or_else(|| FileError::NotFile(path.to_owned()))
    }
}

/// Opens a regular file; `None` if it is another one. Opening a pipe or a device could block.
fn regular_file(dir: &Dir, path: &Path, options: &mut OpenOptions) -> io::Result<Option<File>> {
    #[cfg(unix)]
    options.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    let file = dir.open_with(path, options)?;
    Ok(file.metadata()?.is_file().then_some(file))
}

/// Returns a name that no other write of this process uses.
fn temporary_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!(".{}-{number}.acp-write", std::process::id())
}

fn failed(path: &str, error: io::Error) -> FileError {
    FileError::Io { path: path.to_owned(), error }
}

/// Returns at most `limit` lines of a text from `line` on, which is counted from 1.
fn lines(text: String, line: Option<u32>, limit: Option<u32>) -> String {
    if line.unwrap_or(1) <= 1 && limit.is_none() {
        return text;
    }
    let count = |lines: u32| usize::try_from(lines).unwrap_or(usize::MAX);
    let before = count(line.unwrap_or(1).saturating_sub(1));
    let most = limit.map_or(usize::MAX, count);
    text.split_inclusive('\n').skip(before).take(most).collect()
}
