//! Why the keys of a provider cannot be read.
use super::keys::KeysError;
use std::path::PathBuf;

/// Maximum size of a document of the provider, in bytes.
pub(super) const MAX_DOCUMENT: usize = 256 * 1024;

/// The keys of a provider cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The file cannot be read.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// A document is too large.
    #[error("{0}: expected at most {MAX_DOCUMENT} bytes, got more")]
    Size(String),
    /// Not the keys of a provider.
    #[error("{0}: {1}")]
    Keys(String, KeysError),
    /// The provider cannot be reached, or not in time.
    #[error("{0}: {1}")]
    Request(String, String),
    /// The provider has no such document.
    #[error("{0}: expected status 200, got {1}")]
    Status(String, u16),
    /// Not the metadata of a provider.
    #[error("{0}: expected metadata of an OpenID provider: {1}")]
    Metadata(String, serde_json::Error),
    /// The metadata belongs to another provider.
    #[error("{0}: expected the issuer `{1}`, as in auth.oidc.issuer, got `{2}`")]
    Issuer(String, String, String),
    /// A URL that is not fetched.
    #[error(
        "expected https://…, or http://… of this machine, without a user and a password, got `{0}`"
    )]
    Url(String),
}
