//! Secrets in settings.
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// Minimum number of characters of a token, unless the listener is on loopback.
pub const MIN_TOKEN: usize = 16;

/// Minimum number of characters of a token of the settings, also on loopback: more than the values
/// of other settings, such as `true`, which become tokens if they are written below
/// `[auth.tokens]`.
pub const MIN_LOCAL_TOKEN: usize = 8;

/// A value that is hidden where settings are printed.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

/// Stands for a secret in output.
const HIDDEN: &str = "(hidden)";

impl Secret {
    /// Returns the secret itself, for its receiver.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        Self(secret)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HIDDEN)
    }
}
