//! Storage of sessions: the trait of stores, and one in memory.
use super::session::SessionRecord;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use async_trait::async_trait;
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An error of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The principal, or the store as a whole, has reached a limit, and no session can give way.
    #[error("the store of sessions is full; try again later")]
    Full,
    /// A session with this id exists.
    #[error("a session with this id exists")]
    Exists,
    /// The store is unreachable, or contains something other than sessions.
    #[error("the store failed: {0}")]
    Failed(String),
}

/// Storage of sessions, each a record with a JSON form.
///
/// A store that reaches a limit makes room: it removes sessions that [are over](super::SessionStatus::is_over), the oldest
/// first, then those whose deadline has passed. [`SessionRecord::since`] of the record to store is the current time.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Stores a new session.
    ///
    /// # Errors
    /// The id exists, there is no room, or the store failed.
    async fn create(&self, record: &SessionRecord) -> Result<(), StoreError>;

    /// Reads a session.
    ///
    /// # Errors
    /// The store failed.
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError>;

    /// Replaces a session atomically if the stored [`revision`](SessionRecord::revision) is the one before the record's.
    /// Returns whether it was replaced.
    ///
    /// # Errors
    /// There is no room, or the store failed.
    async fn save(&self, record: &SessionRecord) -> Result<bool, StoreError>;

    /// Removes a session.
    ///
    /// # Errors
    /// The store failed.
    async fn remove(&self, id: &str) -> Result<(), StoreError>;

    /// Returns all sessions.
    ///
    /// # Errors
    /// The store failed.
    async fn list(&self) -> Result<Vec<SessionRecord>, StoreError>;

    /// Marks a name of a principal as used. Returns whether it was unused. The mark may be dropped from `until` on.
    ///
    /// # Errors
    /// There is no room, or the store failed.
    async fn use_once(
        &self,
        principal: &str,
        name: &str,
        until: Duration,
        now: Duration,
    ) -> Result<bool, StoreError>;
}

/// Limits of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreLimits {
    /// Maximum number of sessions.
    pub sessions: usize,
    /// Maximum [size](SessionRecord::size) of all sessions together, in bytes.
    pub bytes: usize,
    /// Maximum number of names that were used once.
    pub used_names: usize,
    /// The share of one principal: each of the limits divided by this number.
    pub principal_divisor: usize,
}

impl StoreLimits {
    /// Default of [`sessions`](Self::sessions).
    pub const DEFAULT_SESSIONS: usize = 10_000;
    /// Default of [`bytes`](Self::bytes): 256 MiB.
    pub const DEFAULT_BYTES: usize = 256 << 20;
    /// Default of [`used_names`](Self::used_names).
    pub const DEFAULT_USED_NAMES: usize = 400_000;
    /// Default of [`principal_divisor`](Self::principal_divisor): a quarter for each principal.
    pub const DEFAULT_PRINCIPAL_DIVISOR: usize = 4;

    /// Limits with the default number of used names and the default share of a principal.
    pub fn new(sessions: usize, bytes: usize) -> Self {
        Self {
            sessions,
            bytes,
            used_names: Self::DEFAULT_USED_NAMES,
            principal_divisor: Self::DEFAULT_PRINCIPAL_DIVISOR,
        }
    }

    /// The limit of one principal out of one for all.
    pub fn share(&self, limit: usize) -> usize {
        (limit / self.principal_divisor.max(1)).max(1)
    }
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self::new(Self::DEFAULT_SESSIONS, Self::DEFAULT_BYTES)
    }
}

/// Sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    limits: StoreLimits,
    contents: Mutex<Contents>,
}

#[derive(Debug, Default)]
struct Contents {
    sessions: BTreeMap<String, SessionRecord>,
    total: Shelf,
    principals: BTreeMap<String, Shelf>,
    used: BTreeMap<String, BTreeSet<String>>,
    /// The names in `used`, by the end of their marks: end, principal, name.
    used_ends: BTreeSet<(Duration, String, String)>,
}

/// Sessions in the order in which they give way: class, time, id.
#[derive(Debug, Default)]
struct Shelf {
    bytes: usize,
    order: BTreeSet<(Class, Duration, String)>,
}

/// Classes of sessions, those that give way first before the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// Over. The time is the end of the call.
    Over,
    /// Over, and a task, whose result its client still fetches. The time is the end of the call.
    OverTask,
    /// Not over. The time is the deadline.
    Open,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(limits: StoreLimits) -> Self {
        Self { limits, contents: Mutex::default() }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn exceeds(&self, sessions: usize, bytes: usize, size: usize) -> bool {
        self.order.len() >= sessions || self.bytes.saturating_add(size) > bytes
    }

    /// The session that gives way first, if one can.
    fn first_to_go(&self, now: Duration) -> Option<String> {
        let (class, time, id) = self.order.first()?;
        (*class != Class::Open || *time <= now).then(|| id.clone())
    }
}

fn place(record: &SessionRecord) -> (Class, Duration, String) {
    let (class, time) = match (record.status.is_over(), record.is_task) {
        (true, false) => (Class::Over, record.since),
        (true, true) => (Class::OverTask, record.since),
        (false, _) => (Class::Open, record.deadline),
    };
    (class, time, record.id.clone())
}

impl Contents {
    /// Stores a record, after others have given way where there is no room.
    fn insert(&mut self, record: &SessionRecord, limits: &StoreLimits) -> Result<(), StoreError> {
        let (size, now) = (record.size(), record.since);
        let (own_sessions, own_bytes) = (limits.share(limits.sessions), limits.share(limits.bytes));
        if size > own_bytes {
            return Err(StoreError::Full);
        }
        loop {
            let own = self.principals.get(&record.principal);
            let own = own.filter(|own| own.exceeds(own_sessions, own_bytes, size));
            let is_full = self.total.exceeds(limits.sessions, limits.bytes, size);
            let Some(full) = own.or(is_full.then_some(&self.total)) else { break };
            let id = full.first_to_go(now).ok_or(StoreError::Full)?;
            self.take(&id);
        }
        self.put(record.clone());
        Ok(())
    }

    fn put(&mut self, record: SessionRecord) {
        let (size, place) = (record.size(), place(&record));
        let own = self.principals.entry(record.principal.clone()).or_default();
        for shelf in [own, &mut self.total] {
            shelf.bytes += size;
            shelf.order.insert(place.clone());
        }
        self.sessions.insert(record.id.clone(), record);
    }

    fn take(&mut self, id: &str) -> Option<SessionRecord> {
        let record = self.sessions.remove(id)?;
        let (size, place) = (record.size(), place(&record));
        let own = self.principals.get_mut(&record.principal);
        for shelf in own.into_iter().chain([&mut self.total]) {
            shelf.bytes -= size;
            shelf.order.remove(&place);
        }
        if self.principals.get(&record.principal).is_some_and(|own| own.order.is_empty()) {
            self.principals.remove(&record.principal);
        }
        Some(record)
    }

    fn drop_ended_names(&mut self, now: Duration) {
        while self.used_ends.first().is_some_and(|(end, ..)| *end <= now) {
            let Some((_, principal, name)) = self.used_ends.pop_first() else { return };
            let Some(names) = self.used.get_mut(&principal) else { continue };
            names.remove(&name);
            if names.is_empty() {
                self.used.remove(&principal);
            }
        }
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create(&self, record: &SessionRecord) -> Result<(), StoreError> {
        let mut contents = self.contents();
        if contents.sessions.contains_key(&record.id) {
            return Err(StoreError::Exists);
        }
        contents.insert(record, &self.limits)
    }

    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        Ok(self.contents().sessions.get(id).cloned())
    }

    async fn save(&self, record: &SessionRecord) -> Result<bool, StoreError> {
        let mut contents = self.contents();
        let stored = contents.sessions.get(&record.id).map(|stored| stored.revision);
        if stored.and_then(|stored| stored.checked_add(1)) != Some(record.revision) {
            return Ok(false);
        }
        let before = contents.take(&record.id);
        let inserted = contents.insert(record, &self.limits);
        if let (Err(_), Some(before)) = (&inserted, before) {
            contents.put(before);
        }
        inserted.map(|()| true)
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.contents().take(id);
        Ok(())
    }

    async fn list(&self) -> Result<Vec<SessionRecord>, StoreError> {
        Ok(self.contents().sessions.values().cloned().collect())
    }

    async fn use_once(
        &self,
        principal: &str,
        name: &str,
        until: Duration,
        now: Duration,
    ) -> Result<bool, StoreError> {
        let mut contents = self.contents();
        contents.drop_ended_names(now);
        let own = contents.used.get(principal);
        if own.is_some_and(|own| own.contains(name)) {
            return Ok(false);
        }
        let own = own.map_or(0, BTreeSet::len);
        let limit = self.limits.used_names;
        if own >= self.limits.share(limit) || contents.used_ends.len() >= limit {
            return Err(StoreError::Full);
        }
        contents.used.entry(principal.into()).or_default().insert(name.into());
        contents.used_ends.insert((until, principal.into(), name.into()));
        Ok(true)
    }
}
