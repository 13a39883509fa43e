//! Storage of sessions: the trait [`SessionStore`], and an implementation in memory.
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
    /// The limit of the principal or of the store is reached, and no session can be evicted.
    #[error("the session store is full; try again later")]
    Full,
    /// A session with this id exists.
    #[error("a session with this id exists")]
    Exists,
    /// The store is unreachable or contains invalid data.
    #[error("the session store failed: {0}")]
    Failed(String),
}

/// Storage of sessions, each a serializable record.
///
/// A store at its limit evicts sessions: first those that [have
/// ended](super::SessionStatus::is_over), oldest first, then those past their deadline.
/// [`SessionRecord::since`] of the record to store is the current time.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Stores a new session.
    ///
    /// # Errors
    /// Returns an error if the id exists, there is no room, or the store failed.
    async fn create(&self, record: &SessionRecord) -> Result<(), StoreError>;

    /// Reads a session.
    ///
    /// # Errors
    /// Returns an error if the store failed.
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError>;

    /// Replaces a session atomically if the stored [`revision`](SessionRecord::revision) is the
    /// predecessor of the record's. Returns whether it was replaced.
    ///
    /// # Errors
    /// Returns an error if there is no room or the store failed.
    async fn save(&self, record: &SessionRecord) -> Result<bool, StoreError>;

    /// Removes a session.
    ///
    /// # Errors
    /// Returns an error if the store failed.
    async fn remove(&self, id: &str) -> Result<(), StoreError>;

    /// Returns all sessions.
    ///
    /// # Errors
    /// Returns an error if the store failed.
    async fn list(&self) -> Result<Vec<SessionRecord>, StoreError>;

    /// Returns the memory that the sessions take in this program. A store elsewhere takes none,
    /// which is the default.
    fn memory(&self, _principal: &str) -> StoreMemory {
        StoreMemory::default()
    }

    /// Marks a name of a principal as used. Returns whether it was unused. The mark may be removed
    /// after `until`.
    ///
    /// # Errors
    /// Returns an error if there is no room or the store failed.
    async fn use_once(
        &self,
        principal: &str,
        name: &str,
        until: Duration,
        now: Duration,
    ) -> Result<bool, StoreError>;
}

/// The [size](SessionRecord::size) of sessions in memory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreMemory {
    /// Size of the sessions of one principal.
    pub principal: usize,
    /// Size of all sessions.
    pub total: usize,
}

/// Limits of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreLimits {
    /// Maximum number of sessions.
    pub sessions: usize,
    /// Maximum total [size](SessionRecord::size) of all sessions, in bytes.
    pub bytes: usize,
    /// Maximum number of marks of used names.
    pub used_names: usize,
    /// Divides each limit to give the share of one principal.
    pub principal_divisor: usize,
}

impl StoreLimits {
    /// Default of [`sessions`](Self::sessions).
    pub const DEFAULT_SESSIONS: usize = 10_000;
    /// Default of [`bytes`](Self::bytes): 256 MiB.
    pub const DEFAULT_BYTES: usize = 256 << 20;
    /// Default of [`used_names`](Self::used_names).
    pub const DEFAULT_USED_NAMES: usize = 400_000;
    /// Default of [`principal_divisor`](Self::principal_divisor): one principal may use a quarter
    /// of the store.
    pub const DEFAULT_PRINCIPAL_DIVISOR: usize = 4;

    /// Creates limits with the default number of used names and the default share of a principal.
    pub fn new(sessions: usize, bytes: usize) -> Self {
        Self {
            sessions,
            bytes,
            used_names: Self::DEFAULT_USED_NAMES,
            principal_divisor: Self::DEFAULT_PRINCIPAL_DIVISOR,
        }
    }

    /// Returns the share of one principal in a limit.
    pub fn share(&self, limit: usize) -> usize {
        (limit / self.principal_divisor.max(1)).max(1)
    }
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self::new(Self::DEFAULT_SESSIONS, Self::DEFAULT_BYTES)
    }
}

/// A [`SessionStore`] in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    limits: StoreLimits,
    contents: Mutex<StoreContents>,
}

#[derive(Debug, Default)]
struct StoreContents {
    sessions: BTreeMap<String, SessionRecord>,
    total: Shelf,
    principals: BTreeMap<String, Shelf>,
    used: BTreeMap<String, BTreeSet<String>>,
    /// The entries of `used` by expiry: end, principal, name.
    used_ends: BTreeSet<(Duration, String, String)>,
}

/// Sessions in the order of eviction: class, time, id.
#[derive(Debug, Default)]
struct Shelf {
    bytes: usize,
    order: BTreeSet<(Class, Duration, String)>,
}

/// Eviction class of a session. Earlier classes are evicted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// Ended. The time is the end of the call.
    Over,
    /// An ended task. The client has yet to fetch its result. The time is the end of the call.
    OverTask,
    /// Not ended. The time is the deadline.
    Open,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new(limits: StoreLimits) -> Self {
        Self { limits, contents: Mutex::default() }
    }

    fn contents(&self) -> MutexGuard<'_, StoreContents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn exceeds(&self, sessions: usize, bytes: usize, size: usize) -> bool {
        self.order.len() >= sessions || self.bytes.saturating_add(size) > bytes
    }

    /// Returns the session to evict first, if one can be evicted.
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

impl StoreContents {
    /// Stores a record, evicting other sessions if necessary.
    fn insert(&mut self, record: &SessionRecord, limits: &StoreLimits) -> Result<(), StoreError> {
        let size = record.size();
        let now = record.since;
        let own_sessions = limits.share(limits.sessions);
        let own_bytes = limits.share(limits.bytes);
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
        let size = record.size();
        let place = place(&record);
        let own = self.principals.entry(record.principal.clone()).or_default();
        for shelf in [own, &mut self.total] {
            shelf.bytes += size;
            shelf.order.insert(place.clone());
        }
        self.sessions.insert(record.id.clone(), record);
    }

    fn take(&mut self, id: &str) -> Option<SessionRecord> {
        let record = self.sessions.remove(id)?;
        let size = record.size();
        let place = place(&record);
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

    fn memory(&self, principal: &str) -> StoreMemory {
        let contents = self.contents();
        let own = contents.principals.get(principal).map_or(0, |own| own.bytes);
        StoreMemory { principal: own, total: contents.total.bytes }
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
