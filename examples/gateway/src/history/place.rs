//! Where a server keeps its conversations.
use crate::store::{FileError, FileLimits, FileStore, RunStore, StoreError};
use etcetera::{BaseStrategy, choose_base_strategy};
use host::http::Secret;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Largest size of the conversations in memory, in bytes. Their trash may have as many again.
const MAX_IN_MEMORY: u64 = 8 * 1024 * 1024;

/// The name of the place in memory.
const MEMORY: &str = "none";

/// Where a server keeps its conversations.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(from = "String", into = "String")]
pub enum StorePlace {
    /// `none`: in memory, until the program ends.
    Memory,
    /// In a file of this program.
    File(PathBuf),
    /// `redis://…` or `rediss://…`: on a Redis server that several programs share, without a
    /// history.
    Redis(Secret),
}

impl From<String> for StorePlace {
    fn from(text: String) -> Self {
        match &*text {
            MEMORY => Self::Memory,
            url if url.starts_with("redis://") || url.starts_with("rediss://") => {
                Self::Redis(text.into())
            }
            path => Self::File(path.into()),
        }
    }
}

impl From<StorePlace> for String {
    fn from(place: StorePlace) -> Self {
        match place {
            StorePlace::Memory => MEMORY.to_owned(),
            StorePlace::File(path) => path.to_string_lossy().into_owned(),
            StorePlace::Redis(_) => "(hidden)".to_owned(),
        }
    }
}

/// A store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The server cannot be reached.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no client of Redis.
    #[error("this program was built without its feature `redis`")]
    NotBuilt,
}

/// How stores are opened.
#[derive(Clone, Debug)]
pub struct PlaceOptions {
    /// Limits of a file.
    pub limits: FileLimits,
    /// Prefix of all keys on a server.
    pub prefix: String,
    /// Time that an owner counts as alive after its last beat.
    pub lifetime: Duration,
    /// Name of the file below the folder `spanwire` of the platform's state folder.
    pub default_name: &'static str,
}

/// An open store.
#[derive(Clone, Debug)]
pub struct OpenStore {
    /// The store of runs.
    pub runs: Arc<dyn RunStore>,
    /// The same store, if it has a history.
    pub file: Option<Arc<FileStore>>,
    /// Path of the file, unless the store ends with this program or is on a server.
    pub path: Option<PathBuf>,
}

impl OpenStore {
    /// Returns the file for a key of secrets in the store, beside its own file if it has one.
    pub fn key_file(&self) -> Option<PathBuf> {
        self.path.as_ref().map(|path| path.with_extension("key"))
    }

    fn new(file: FileStore, path: Option<&Path>) -> Self {
        let file = Arc::new(file);
        Self { runs: file.clone(), file: Some(file), path: path.map(Path::to_owned) }
    }
}

/// Opens the store of a place; without a place, the default file. Without a usable folder for that
/// file, or if another program uses it, the conversations are kept in memory and a warning is
/// logged.
///
/// # Errors
/// The store cannot be opened. A default file that is damaged or newer is an error as well.
pub async fn open(
    place: Option<&StorePlace>,
    options: &PlaceOptions,
) -> Result<OpenStore, PlaceError> {
    match place {
        Some(StorePlace::Memory) => in_memory(options),
        Some(StorePlace::File(path)) => Ok(open_file(path, options)?),
        Some(StorePlace::Redis(url)) => shared(url, options).await,
        None => {
            let strategy = choose_base_strategy().ok();
            let folder = strategy.map(|it| it.state_dir().unwrap_or_else(|| it.data_dir()));
            let Some(folder) = folder else {
                tracing::warn!("no home folder; conversations end with this program");
                return in_memory(options);
            };
            let path = folder.join("spanwire").join(options.default_name);
            match open_file(&path, options) {
                Ok(store) => Ok(store),
                Err(error @ (FileError::Open { .. } | FileError::InUse(_))) => {
                    tracing::warn!(%error, "conversations end with this program");
                    in_memory(options)
                }
                Err(error) => Err(error.into()),
            }
        }
    }
}

fn in_memory(options: &PlaceOptions) -> Result<OpenStore, PlaceError> {
    let limits = FileLimits { bytes: options.limits.bytes.min(MAX_IN_MEMORY), ..options.limits };
    Ok(OpenStore::new(FileStore::in_memory(limits)?, None))
}

fn open_file(path: &Path, options: &PlaceOptions) -> Result<OpenStore, FileError> {
    let file = FileStore::open(path, options.limits)?;
    tracing::debug!(path = %path.display(), "conversations are kept");
    Ok(OpenStore::new(file, Some(path)))
}

#[cfg(feature = "redis")]
async fn shared(url: &Secret, options: &PlaceOptions) -> Result<OpenStore, PlaceError> {
    let store = crate::store::RedisStore::connect(url.reveal(), &options.prefix, options.lifetime);
    Ok(OpenStore { runs: Arc::new(store.await?), file: None, path: None })
}

#[cfg(not(feature = "redis"))]
async fn shared(_: &Secret, _: &PlaceOptions) -> Result<OpenStore, PlaceError> {
    Err(PlaceError::NotBuilt)
}
