//! Keys of a server for states that it seals: from an option, from a file, or random.
use crate::hexadecimal::hexadecimal;
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Length of a key in bytes.
const LENGTH: usize = 32;

/// Minimum number of different bytes. Fewer than one in 10^15 random keys has less.
const MIN_DIFFERENT: usize = 16;

/// Maximum size of a key file in bytes.
const MAX_FILE: u64 = 4096;

/// Permissions that a key file must not grant: all for other users, and for the group.
#[cfg(unix)]
const FORBIDDEN: u32 = 0o077;

/// The same for a file of root, such as a mounted secret, which the group may read.
#[cfg(unix)]
const FORBIDDEN_OF_ROOT: u32 = 0o037;

/// An error parsing a key.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text has the wrong length.
    #[error(
        "expected a key of 64 hexadecimal digits (32 bytes), for example from `openssl rand -hex 32`, got {0} characters"
    )]
    Length(usize),
    /// The text contains another character.
    #[error("expected a key of 64 hexadecimal digits (32 bytes), got the character {0:?}")]
    Digit(char),
    /// The key is not random.
    #[error(
        "expected a random key, for example from `openssl rand -hex 32`, got one with {0} different bytes"
    )]
    NotRandom(usize),
}

/// An error reading a key file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The file cannot be read.
    #[error("key file {}: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// Other users have access to the file.
    #[error("key file {0}: other users have access (mode {mode:04o}). Run `chmod 600 {0}`.", path.display())]
    Exposed {
        /// Path of the file.
        path: PathBuf,
        /// Permissions of the file.
        mode: u32,
    },
    /// The file does not contain a key.
    #[error("key file {}: {source}", path.display())]
    Key {
        /// Path of the file.
        path: PathBuf,
        /// The reason.
        #[source]
        source: KeyError,
    },
}

/// A key. Its debug output is redacted.
#[derive(Clone)]
pub struct Key(
    /// The bytes.
    pub [u8; LENGTH],
);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl std::str::FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let digits = text.chars().map(|it| it.to_digit(16).ok_or(KeyError::Digit(it)));
        let digits = digits.collect::<Result<Vec<_>, _>>()?;
        if digits.len() != 2 * LENGTH {
            return Err(KeyError::Length(digits.len()));
        }
        let mut key = [0; LENGTH];
        for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
            *byte = pair
                .iter()
                .fold(0, |byte, digit| byte << 4 | u8::try_from(*digit).unwrap_or_default());
        }
        match key.iter().collect::<BTreeSet<_>>().len() {
            different if different < MIN_DIFFERENT => Err(KeyError::NotRandom(different)),
            _ => Ok(Self(key)),
        }
    }
}

impl Key {
    /// Reads a key from a file that other users cannot access.
    ///
    /// # Errors
    /// The file cannot be read, other users have access, or it does not contain a key.
    pub fn read(path: &Path) -> Result<Self, KeyFileError> {
        let unreadable = |source| KeyFileError::Read { path: path.into(), source };
        let file = File::open(path).map_err(unreadable)?;
        if let Some(mode) = exposed(&file.metadata().map_err(unreadable)?) {
            return Err(KeyFileError::Exposed { path: path.into(), mode });
        }
        let mut text = String::new();
        file.take(MAX_FILE).read_to_string(&mut text).map_err(unreadable)?;
        let key = text.trim().parse();
        key.map_err(|source| KeyFileError::Key { path: path.into(), source })
    }

    /// Reads a key from a file. A missing file is created with a random key, readable by its owner
    /// only.
    ///
    /// # Errors
    /// As for [`read`](Self::read), or the file cannot be created.
    pub fn read_or_create(path: &Path) -> Result<Self, KeyFileError> {
        let failed = |source| KeyFileError::Read { path: path.into(), source };
        if path.try_exists().map_err(failed)? {
            return Self::read(path);
        }
        // The name exists only with the whole key, also if the program is killed or another one
        // does the same.
        let key = Self::random().map_err(failed)?;
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}", hexadecimal(&random_bytes::<8>().map_err(failed)?)));
        let new = PathBuf::from(name);
        let linked = key.write(&new).and_then(|()| fs::hard_link(&new, path));
        // The file may not exist. The outcome of the link decides.
        let _ = fs::remove_file(&new);
        match linked {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::read(path),
            Err(error) => Err(failed(error)),
        }
    }

    /// Writes the key to a new file, readable by its owner only.
    fn write(&self, path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        options.mode(0o600);
        let mut file = options.open(path)?;
        file.write_all(hexadecimal(&self.0).as_bytes()).and_then(|()| file.sync_all())
    }

    /// Generates a key for the lifetime of the program.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn random() -> io::Result<Self> {
        Ok(Self(random_bytes()?))
    }
}

fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// Returns the mode of a file that other users can access.
#[cfg(not(unix))]
fn exposed(_: &Metadata) -> Option<u32> {
    None
}

/// Returns the mode of a file that other users can access.
#[cfg(unix)]
fn exposed(file: &Metadata) -> Option<u32> {
    let forbidden = if file.uid() == 0 { FORBIDDEN_OF_ROOT } else { FORBIDDEN };
    (file.mode() & forbidden != 0).then(|| file.mode() & 0o7777)
}
