//! The key of tokens: from an option, from a file, or random.
use mcp_bridge_http::random_bytes;
use std::io;
use std::path::{Path, PathBuf};

/// Length of a key in bytes.
const LENGTH: usize = 32;

/// An error parsing a key.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum KeyError {
    /// The text has the wrong length.
    #[error(
        "expected a key of 64 hexadecimal digits (32 bytes), for example from `openssl rand -hex 32`, got {0} characters"
    )]
    Length(usize),
    /// The text contains another character.
    #[error("expected a key of 64 hexadecimal digits (32 bytes), got the character {0:?}")]
    Digit(char),
}

/// An error reading a key file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyFileError {
    /// The file cannot be read.
    #[error("key file {}: {source}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The file does not contain a key.
    #[error("key file {}: {source}", path.display())]
    Key {
        path: PathBuf,
        #[source]
        source: KeyError,
    },
}

/// A key. Its debug output is redacted.
#[derive(Clone)]
pub(crate) struct Key(pub(crate) [u8; LENGTH]);

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
        Ok(Self(key))
    }
}

impl Key {
    /// Reads a key from a file.
    pub(crate) fn read(path: &Path) -> Result<Self, KeyFileError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|source| KeyFileError::Read { path: path.into(), source })?;
        let key = text.trim().parse();
        key.map_err(|source| KeyFileError::Key { path: path.into(), source })
    }

    /// Generates a key for the lifetime of the program.
    pub(crate) fn random() -> io::Result<Self> {
        Ok(Self(random_bytes()?))
    }
}
