//! The open threads, by name and by the names in the ids of their questions.
use super::session_note::SessionNote;
use crate::model_thread::ModelRunStart;
use crate::store::{Lease, ThreadName};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::mpsc;

/// An open thread.
#[derive(Debug)]
pub(super) struct ThreadEntry {
    /// Begins the ids of its questions.
    pub(super) name: String,
    pub(super) lease: Lease,
    /// Sends runs to the task of a model's thread.
    pub(super) model: Option<mpsc::Sender<ModelRunStart>>,
    /// The record of an agent's session.
    pub(super) note: Option<Arc<SessionNote>>,
    /// Whether it has had a run.
    pub(super) has_run: bool,
    /// Number of the last use: the lowest is the longest ago.
    pub(super) used: u64,
}

impl ThreadEntry {
    /// Returns whether the thread is open under this lease.
    pub(super) fn is_open(&self, lease: &Lease) -> bool {
        self.lease == *lease && !self.has_ended()
    }

    /// Returns whether the task of a model's thread has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.model.as_ref().is_some_and(mpsc::Sender::is_closed)
    }
}

/// The open threads.
#[derive(Debug, Default)]
pub(super) struct ThreadTable {
    entries: HashMap<ThreadName, ThreadEntry>,
    /// The thread of each [name](ThreadEntry::name).
    by_name: HashMap<String, ThreadName>,
}

impl ThreadTable {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &ThreadEntry> {
        self.entries.values()
    }

    /// Returns the number of threads of a user.
    pub(super) fn of_user(&self, user: &str) -> usize {
        self.entries.keys().filter(|key| key.user == user).count()
    }

    pub(super) fn get(&self, key: &ThreadName) -> Option<&ThreadEntry> {
        self.entries.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &ThreadName) -> Option<&mut ThreadEntry> {
        self.entries.get_mut(key)
    }

    /// Returns the thread with this name in the ids of its questions.
    pub(super) fn find(&self, name: &str) -> Option<&ThreadName> {
        self.by_name.get(name)
    }

    /// Adds a thread. It replaces one with the same key.
    pub(super) fn insert(&mut self, key: ThreadName, entry: ThreadEntry) {
        self.remove(&key);
        self.by_name.insert(entry.name.clone(), key.clone());
        self.entries.insert(key, entry);
    }

    pub(super) fn remove(&mut self, key: &ThreadName) -> Option<ThreadEntry> {
        let entry = self.entries.remove(key)?;
        self.by_name.remove(&entry.name);
        Some(entry)
    }

    /// Removes the threads of models with ended tasks.
    pub(super) fn remove_ended(&mut self) {
        for (_, entry) in self.entries.extract_if(|_, entry| entry.has_ended()) {
            self.by_name.remove(&entry.name);
        }
    }

    /// Removes the least recently used of the threads that may be removed, those without a run
    /// first.
    pub(super) fn remove_oldest(
        &mut self,
        may_go: impl Fn(&ThreadName) -> bool,
    ) -> Option<(ThreadName, ThreadEntry)> {
        let removable = self.entries.iter().filter(|(key, _)| may_go(key));
        let oldest = removable.min_by_key(|(_, entry)| (entry.has_run, entry.used))?.0.clone();
        let entry = self.remove(&oldest)?;
        Some((oldest, entry))
    }
}
