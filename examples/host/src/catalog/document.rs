//! Documents with agents, and why one cannot be read.
use display_error_chain::ErrorChainExt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum size of a document of a registry, in bytes.
pub const MAX_DOCUMENT_BYTES: u64 = 8 * 1024 * 1024;

/// A catalogue cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// The file cannot be read.
    #[error("{path}: {error}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file is too large.
    #[error("{path}: expected at most {MAX_DOCUMENT_BYTES} bytes", path = .0.display())]
    Size(PathBuf),
    /// The data of this package is invalid.
    #[error("the built-in catalogue: {0}")]
    Known(#[from] toml::de::Error),
    /// The document is no registry.
    #[error("expected a document of the agent registry, {{\"version\":…,\"agents\":[…]}}: {0}")]
    Registry(#[from] serde_json::Error),
    /// An entry cannot be used.
    #[error("agents[{index}]: {why}")]
    Entry {
        /// Position in the document, from 0.
        index: usize,
        /// What was expected and what is there.
        why: String,
    },
    /// The document cannot be downloaded.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// A document of this path cannot be used.
    #[error("{path}: {error}", path = .path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: Box<CatalogError>,
    },
}

/// A document that is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// The address is neither HTTPS nor on this machine.
    #[error("expected an address with https, or with http on this machine")]
    Address,
    /// The request failed.
    #[error("{}", .0.chain())]
    Request(#[from] reqwest::Error),
    /// The document is too large.
    #[error("expected at most {0} bytes")]
    Size(u64),
    /// The document is not UTF-8.
    #[error("expected text in UTF-8")]
    Text,
    /// The request cannot be made.
    #[error("cannot start the request: {0}")]
    Start(io::Error),
    /// A file cannot be written.
    #[error("cannot write the download: {0}")]
    Write(io::Error),
}

/// Reads a document of a limited size.
pub(crate) fn read_file(path: &Path) -> Result<String, CatalogError> {
    let read = |error| CatalogError::Read { path: path.to_owned(), error };
    let mut text = String::new();
    let mut file = File::open(path).map_err(read)?.take(MAX_DOCUMENT_BYTES + 1);
    file.read_to_string(&mut text).map_err(read)?;
    if file.limit() == 0 {
        return Err(CatalogError::Size(path.to_owned()));
    }
    Ok(text)
}
