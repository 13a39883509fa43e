//! Where sessions are kept.
use super::session::SessionRecord;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use async_trait::async_trait;
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It has as many sessions as it may have.
    #[error("the store is full")]
    Full,
    /// A session of this name is there.
    #[error("there is a session of this name")]
    Exists,
    /// It cannot be reached, or has something else than sessions in it.
    #[error("the store failed: {0}")]
    Failed(String),
}

/// Where sessions are kept: each a record that has a JSON form.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Keeps a session that is new.
    ///
    /// # Errors
    /// There is one of its name, there is no room, or the store failed.
    async fn create(&self, record: &SessionRecord) -> Result<(), StoreError>;

    /// Reads a session.
    ///
    /// # Errors
    /// The store failed.
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError>;

    /// Keeps a session in place of what there is, if that is of the [`revision`](SessionRecord::revision) before this one's;
    /// whether it was. Comparing and keeping is one operation, whoever else is at it.
    ///
    /// # Errors
    /// The store failed.
    async fn save(&self, record: &SessionRecord) -> Result<bool, StoreError>;

    /// Forgets a session.
    ///
    /// # Errors
    /// The store failed.
    async fn remove(&self, id: &str) -> Result<(), StoreError>;

    /// All sessions, by name.
    ///
    /// # Errors
    /// The store failed.
    async fn list(&self) -> Result<Vec<SessionRecord>, StoreError>;

    /// Uses a name up; whether it was unused. It may be forgotten from `until` on, counted as the sessions' times are.
    ///
    /// # Errors
    /// The store failed, or has no room.
    async fn use_once(
        &self,
        name: &str,
        until: Duration,
        now: Duration,
    ) -> Result<bool, StoreError>;
}

/// Sessions in memory.
#[derive(Debug)]
pub struct MemoryStore {
    limit: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    sessions: BTreeMap<String, SessionRecord>,
    used: BTreeMap<String, Duration>,
}

impl MemoryStore {
    /// How many sessions there may be unless told otherwise.
    pub const DEFAULT_LIMIT: usize = 10_000;

    /// Nothing yet, and never more than `limit` sessions, nor more than `limit` names that are used up.
    pub fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create(&self, record: &SessionRecord) -> Result<(), StoreError> {
        let mut kept = self.kept();
        if kept.sessions.contains_key(&record.id) {
            return Err(StoreError::Exists);
        }
        if kept.sessions.len() >= self.limit {
            return Err(StoreError::Full);
        }
        kept.sessions.insert(record.id.clone(), record.clone());
        Ok(())
    }

    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        Ok(self.kept().sessions.get(id).cloned())
    }

    async fn save(&self, record: &SessionRecord) -> Result<bool, StoreError> {
        let mut kept = self.kept();
        let Some(known) = kept.sessions.get_mut(&record.id) else { return Ok(false) };
        if known.revision.checked_add(1) != Some(record.revision) {
            return Ok(false);
        }
        known.clone_from(record);
        Ok(true)
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.kept().sessions.remove(id);
        Ok(())
    }

    async fn list(&self) -> Result<Vec<SessionRecord>, StoreError> {
        Ok(self.kept().sessions.values().cloned().collect())
    }

    async fn use_once(
        &self,
        name: &str,
        until: Duration,
        now: Duration,
    ) -> Result<bool, StoreError> {
        let mut kept = self.kept();
        if kept.used.contains_key(name) {
            return Ok(false);
        }
        if kept.used.len() >= self.limit {
            kept.used.retain(|_, until| *until > now);
        }
        if kept.used.len() >= self.limit {
            return Err(StoreError::Full);
        }
        kept.used.insert(name.into(), until);
        Ok(true)
    }
}
