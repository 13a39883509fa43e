//! Suspended calls of tools that ask the user, in the file of the conversations.
use crate::history::place::{OpenStore, PlaceError, StorePlace};
use crate::store::FileStore;
use async_trait::async_trait;
use mcp_bridge::plugin::{
    Clock, MemoryStore, SessionRecord, SessionStore, StoreError, StoreLimits, StoreMemory,
};
use mcp_bridge_http::since_1970;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Kind of the notes with suspended calls.
const CALL: &str = "call";

/// Kind of the notes with used names; the value is the end of the mark in milliseconds.
const USED_NAME: &str = "used-name";

/// Part of the common memory that calls may take, as a divisor. Calls cannot be dropped while they
/// wait, and other contents can.
const PART_OF_CALLS: usize = 2;

/// Limits of suspended calls.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// Memory in bytes that the calls share with other contents. Calls take at most half of it.
    pub memory: usize,
    /// Number of shares of each limit, of which one principal has at most one.
    pub shares: usize,
}

impl From<CallLimits> for StoreLimits {
    fn from(CallLimits { memory, shares }: CallLimits) -> Self {
        let mut limits = Self::new(Self::DEFAULT_SESSIONS, memory / PART_OF_CALLS);
        limits.principal_divisor = shares;
        limits
    }
}

/// Returns the store of suspended calls beside an open store, and the clock of their expiry.
/// Programs with a shared store, on a server with keys of this prefix, use the time of day. A
/// single program uses a monotonic clock.
///
/// # Errors
/// The store cannot be opened.
pub async fn open_calls(
    store: &OpenStore,
    place: Option<&StorePlace>,
    prefix: &str,
    limits: CallLimits,
) -> Result<(Arc<dyn SessionStore>, Clock), PlaceError> {
    let (Some(file), start, began) = (store.file.clone(), since_1970(), Instant::now()) else {
        let url = match place {
            Some(StorePlace::Redis(url)) => url.reveal(),
            _ => "",
        };
        return Ok((shared(url, &format!("{prefix}:tools")).await?, Arc::new(since_1970)));
    };
    let calls = ParkedCalls::open(file, start, limits).await?;
    Ok((Arc::new(calls), Arc::new(move || start + began.elapsed())))
}

#[cfg(feature = "redis")]
async fn shared(url: &str, prefix: &str) -> Result<Arc<dyn SessionStore>, PlaceError> {
    let store = mcp_bridge_http::RedisStore::connect(url, prefix).await;
    Ok(Arc::new(store.map_err(|error| crate::store::StoreError(error.to_string()))?))
}

#[cfg(not(feature = "redis"))]
async fn shared(_: &str, _: &str) -> Result<Arc<dyn SessionStore>, PlaceError> {
    Err(PlaceError::NotBuilt)
}

/// Suspended calls in memory, which are written to a file and read from it at the next start.
#[derive(Debug)]
pub struct ParkedCalls {
    memory: MemoryStore,
    file: Arc<FileStore>,
}

impl ParkedCalls {
    /// Reads the calls that an earlier program has left. `now` is an offset from the epoch of the
    /// calls.
    ///
    /// # Errors
    /// The file cannot be read.
    pub async fn open(
        file: Arc<FileStore>,
        now: Duration,
        limits: CallLimits,
    ) -> Result<Self, crate::store::StoreError> {
        let memory = MemoryStore::new(limits.into());
        for (id, text) in file.notes(CALL).await? {
            let record = serde_json::from_str::<SessionRecord>(&text);
            let kept = match record {
                Ok(record) => memory.create(&record).await.is_ok(),
                Err(_) => false,
            };
            if !kept {
                tracing::warn!(id, "a suspended call of an earlier start is dropped");
                file.note(CALL, &id, None).await?;
            }
        }
        for (key, end) in file.notes(USED_NAME).await? {
            let end = Duration::from_millis(end.parse().unwrap_or_default());
            let names = serde_json::from_str::<[String; 2]>(&key).ok().filter(|_| end > now);
            match names {
                Some([principal, name]) => {
                    let _known = memory.use_once(&principal, &name, end, now).await;
                }
                None => file.note(USED_NAME, &key, None).await?,
            }
        }
        Ok(Self { memory, file })
    }

    async fn write<T: Serialize>(&self, id: &str, record: &T) -> Result<(), StoreError> {
        let text = serde_json::to_string(record).map_err(failed)?;
        self.file.note(CALL, id, Some(text)).await.map_err(failed)
    }
}

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(error.to_string())
}

#[async_trait]
impl SessionStore for ParkedCalls {
    async fn create(&self, record: &SessionRecord) -> Result<(), StoreError> {
        self.memory.create(record).await?;
        self.write(&record.id, record).await
    }

    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        self.memory.load(id).await
    }

    async fn save(&self, record: &SessionRecord) -> Result<bool, StoreError> {
        let is_saved = self.memory.save(record).await?;
        if is_saved {
            self.write(&record.id, record).await?;
        }
        Ok(is_saved)
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.memory.remove(id).await?;
        self.file.note(CALL, id, None).await.map_err(failed)
    }

    async fn list(&self) -> Result<Vec<SessionRecord>, StoreError> {
        self.memory.list().await
    }

    fn memory(&self, principal: &str) -> StoreMemory {
        self.memory.memory(principal)
    }

    async fn use_once(
        &self,
        principal: &str,
        name: &str,
        until: Duration,
        now: Duration,
    ) -> Result<bool, StoreError> {
        let is_unused = self.memory.use_once(principal, name, until, now).await?;
        if is_unused {
            let key = serde_json::to_string(&[principal, name]).map_err(failed)?;
            let end = until.as_millis().to_string();
            self.file.note(USED_NAME, &key, Some(end)).await.map_err(failed)?;
        }
        Ok(is_unused)
    }
}
