//! Unpacking of archives into a folder, within limits and without links that lead out.
use flate2::read::MultiGzDecoder;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Component, Path, PathBuf};
use tar::EntryType;
use zip::ZipArchive;
use zip::result::ZipError;

/// Bytes of headers in a tar file, for each entry.
const HEADER_BYTES: u64 = 2048;

/// Maximum number of folders above an entry.
const MAX_DEPTH: usize = 64;

/// Maximum length of the target of a link, in bytes.
const MAX_TARGET: u64 = 4096;

/// Limits of a download and of what it is unpacked into.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveLimits {
    /// Size of the download, in bytes.
    pub archive_bytes: u64,
    /// Number of files, folders and links.
    pub entries: usize,
    /// Size of all files, in bytes.
    pub bytes: u64,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self { archive_bytes: 512 << 20, entries: 50_000, bytes: 2 << 30 }
    }
}

/// An archive cannot be unpacked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file is of another kind.
    #[error("expected a tar.gz, a zip or a program, got {0}")]
    Format(&'static str),
    /// An entry is not permitted.
    #[error("the archive has {path:?}: {why}")]
    Entry {
        /// Path in the archive.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// There are too many entries.
    #[error("the archive has more than {0} entries")]
    Entries(usize),
    /// The files are too large.
    #[error("the files of the archive have more than {0} bytes")]
    Bytes(u64),
    /// The archive does not have the program.
    #[error("the archive has no program {0:?}")]
    Program(PathBuf),
    /// The archive is damaged, or the disk is full.
    #[error("cannot unpack the archive: {0}")]
    Io(#[from] io::Error),
    /// The zip file is damaged.
    #[error("cannot unpack the archive: {0}")]
    Zip(#[from] ZipError),
}

/// Unpacks a tar.gz or a zip, or copies a program, into the empty folder `root`, and makes
/// `program` executable.
pub(crate) fn unpack(
    mut archive: File,
    program: &Path,
    root: &Path,
    limits: &ArchiveLimits,
) -> Result<(), ArchiveError> {
    archive.rewind()?;
    let mut magic = Vec::new();
    archive.by_ref().take(4).read_to_end(&mut magic)?;
    archive.rewind()?;
    let mut unpacker = Unpacker { root, limits, entries: 0, bytes: 0, links: Vec::new() };
    match &*magic {
        [0x1f, 0x8b, ..] => unpacker.tar(archive)?,
        b"PK\x03\x04" => unpacker.zip(archive)?,
        [b'#', b'!', ..] | b"\x7fELF" | [b'M', b'Z', ..] => {
            unpacker.file(program, true, &mut archive)?;
        }
        [0xcf, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe] => {
            unpacker.file(program, true, &mut archive)?;
        }
        [b'B', b'Z', b'h', ..] => return Err(ArchiveError::Format("a bzip2 file")),
        [0xfd, b'7', b'z', b'X'] => return Err(ArchiveError::Format("an xz file")),
        _ => return Err(ArchiveError::Format("another file")),
    }
    unpacker.create_links()?;
    let missing = |_| ArchiveError::Program(program.to_owned());
    let found = root.join(program).canonicalize().map_err(missing)?;
    if !found.is_file() || !found.starts_with(root.canonicalize()?) {
        return Err(ArchiveError::Program(program.to_owned()));
    }
    Ok(set_executable(&found)?)
}

/// Returns a relative path without `.`; one that leads out, or is absolute, is `None`.
pub(crate) fn inner_path(path: &Path) -> Option<PathBuf> {
    let mut inner = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => inner.push(name),
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(inner)
}

struct Unpacker<'a> {
    root: &'a Path,
    limits: &'a ArchiveLimits,
    entries: usize,
    bytes: u64,
    /// Paths and targets of links, which are created after all files, so that no file is written
    /// through one.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Unpacker<'_> {
    fn tar(&mut self, archive: File) -> Result<(), ArchiveError> {
        let headers = HEADER_BYTES.saturating_mul(self.limits.entries as u64);
        let plain = MultiGzDecoder::new(BufReader::new(archive));
        let plain = plain.take(self.limits.bytes.saturating_add(headers));
        for entry in tar::Archive::new(plain).entries()? {
            let mut entry = entry?;
            let path = entry.path()?.into_owned();
            match entry.header().entry_type() {
                EntryType::Directory => self.folder(&path)?,
                EntryType::Regular | EntryType::Continuous => {
                    let is_executable = entry.header().mode()? & 0o111 != 0;
                    self.file(&path, is_executable, &mut entry)?;
                }
                EntryType::Symlink => {
                    let target = entry.link_name()?.unwrap_or_default().into_owned();
                    self.link(&path, target)?;
                }
                EntryType::XGlobalHeader => {}
                _ => return Err(refused(&path, "expected a file, a folder or a symbolic link")),
            }
        }
        Ok(())
    }

    fn zip(&mut self, archive: File) -> Result<(), ArchiveError> {
        let mut archive = ZipArchive::new(BufReader::new(archive))?;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index)?;
            let path = PathBuf::from(&*entry.name()?);
            if entry.is_dir() {
                self.folder(&path)?;
            } else if entry.is_symlink() {
                let mut target = String::new();
                entry.by_ref().take(MAX_TARGET).read_to_string(&mut target)?;
                self.link(&path, PathBuf::from(target))?;
            } else {
                let is_executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
                self.file(&path, is_executable, &mut entry)?;
            }
        }
        Ok(())
    }

    /// Counts an entry, and returns its place relative to the folder.
    fn place(&mut self, path: &Path) -> Result<PathBuf, ArchiveError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(ArchiveError::Entries(self.limits.entries));
        }
        let inner = inner_path(path).ok_or_else(|| refused(path, "the path leads out"))?;
        if inner.components().count() > MAX_DEPTH {
            return Err(refused(path, "too many folders"));
        }
        Ok(inner)
    }

    fn folder(&mut self, path: &Path) -> Result<(), ArchiveError> {
        let place = self.place(path)?;
        Ok(fs::create_dir_all(self.root.join(place))?)
    }

    fn file(
        &mut self,
        path: &Path,
        is_executable: bool,
        content: &mut impl Read,
    ) -> Result<(), ArchiveError> {
        let place = self.root.join(self.place(path)?);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file =
            OpenOptions::new().write(true).create_new(true).open(&place).map_err(|error| {
                match error.kind() {
                    io::ErrorKind::AlreadyExists => refused(path, "the path is not the only one"),
                    _ => error.into(),
                }
            })?;
        let left = self.limits.bytes - self.bytes;
        self.bytes += io::copy(&mut content.take(left.saturating_add(1)), &mut file)?;
        if self.bytes > self.limits.bytes {
            return Err(ArchiveError::Bytes(self.limits.bytes));
        }
        if is_executable {
            set_executable(&place)?;
        }
        Ok(())
    }

    /// Takes a link. Its target may go up only at its beginning, and not above the folder, so that
    /// it stays inside whichever links its other parts are.
    fn link(&mut self, path: &Path, target: PathBuf) -> Result<(), ArchiveError> {
        let place = self.place(path)?;
        let depth = place.components().count().saturating_sub(1);
        let ups = target.components().take_while(|it| *it == Component::ParentDir).count();
        let mut rest = target.components().skip(ups);
        let is_plain = rest.all(|it| matches!(it, Component::Normal(_) | Component::CurDir));
        if target.as_os_str().is_empty() || !is_plain || ups > depth {
            return Err(refused(path, "a link that may lead out"));
        }
        self.links.push((place, target));
        Ok(())
    }

    fn create_links(&self) -> Result<(), ArchiveError> {
        for (place, target) in &self.links {
            let parent = place.parent().unwrap_or(Path::new(""));
            let mut above = parent.ancestors().map(|it| self.root.join(it));
            if above.any(|it| it.is_symlink()) {
                return Err(refused(place, "a link below another one"));
            }
            fs::create_dir_all(self.root.join(parent))?;
            symlink(target, &self.root.join(place)).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => refused(place, "the path is not the only one"),
                _ => error.into(),
            })?;
        }
        Ok(())
    }
}

fn refused(path: &Path, why: &'static str) -> ArchiveError {
    ArchiveError::Entry { path: path.to_owned(), why }
}

#[cfg(unix)]
fn symlink(target: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::other("links are not supported on this system"))
}

#[cfg(unix)]
fn set_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn set_executable(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
