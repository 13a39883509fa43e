//! A file with mode 600 that only grows to a limit, with one predecessor.
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of bytes of the file. Beyond it, the file gets the suffix `.1`, and an earlier
/// one with that name is removed.
pub(crate) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// An open file.
#[derive(Debug)]
pub(crate) struct RotatingFile {
    path: PathBuf,
    file: File,
    size: u64,
    limit: u64,
}

impl RotatingFile {
    /// Opens a file to append to it. Links are not followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let file = open(&path)?;
        let size = file.metadata()?.len();
        Ok(Self { path, file, size, limit: MAX_BYTES })
    }

    fn rotate(&mut self) -> io::Result<()> {
        let mut earlier = OsString::from(&self.path);
        earlier.push(".1");
        fs::rename(&self.path, earlier)?;
        self.file = open(&self.path)?;
        self.size = 0;
        Ok(())
    }
}

impl Write for RotatingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if self.size > 0 && self.size.saturating_add(length) > self.limit {
            self.rotate()?;
        }
        // A line is written as a whole.
        self.file.write_all(bytes)?;
        self.size += length;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Opens a regular file with one name, which only its owner can read and write.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use nix::fcntl::OFlag;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
    let mut options = OpenOptions::new();
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file =
        options.append(true).create(true).mode(0o600).custom_flags(flags.bits()).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.nlink() > 1 {
        return Err(io::Error::other("expected a regular file without further links"));
    }
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_replaced_at_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut file = RotatingFile { limit: 10, ..RotatingFile::open(&path).unwrap() };
        for line in ["first\n", "2nd\n", "third\n", "a line over the limit\n", "5th\n"] {
            file.write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "5th\n");
        let earlier = fs::read_to_string(folder.path().join("log.1")).unwrap();
        assert_eq!(earlier, "a line over the limit\n");
        let mut again = RotatingFile { limit: 10, ..RotatingFile::open(&path).unwrap() };
        again.write_all(b"6th\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "5th\n6th\n", "it is continued");
    }

    #[cfg(unix)]
    #[test]
    fn file_is_private_and_no_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("open"), "").unwrap();
        fs::set_permissions(path("open"), fs::Permissions::from_mode(0o644)).unwrap();
        for name in ["new", "open"] {
            RotatingFile::open(&path(name)).unwrap();
            let mode = fs::metadata(path(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        symlink(path("open"), path("link")).unwrap();
        fs::hard_link(path("open"), path("second")).unwrap();
        for name in ["link", "second", "."] {
            assert!(RotatingFile::open(&path(name)).is_err(), "{name}");
        }
    }
}
