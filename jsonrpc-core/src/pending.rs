use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

/// Requests of ours that the peer has not answered yet.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    next_id: i64,
    waiting: BTreeMap<i64, Waiting<T>>,
    deadlines: BTreeSet<(Duration, i64)>,
}

#[derive(Debug)]
struct Waiting<T> {
    token: T,
    deadline: Option<Duration>,
    is_cancelled: bool,
}

impl<T> Pending<T> {
    pub(crate) fn new() -> Self {
        Self { next_id: 1, waiting: BTreeMap::new(), deadlines: BTreeSet::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn insert(&mut self, token: T, deadline: Option<Duration>) -> i64 {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        self.waiting.insert(id, Waiting { token, deadline, is_cancelled: false });
        self.deadlines.extend(deadline.map(|deadline| (deadline, id)));
        id
    }

    pub(crate) fn remove(&mut self, id: i64) -> Option<T> {
        let waiting = self.waiting.remove(&id)?;
        if let Some(deadline) = waiting.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        Some(waiting.token)
    }

    /// Marks a request as cancelled; whether that is new.
    pub(crate) fn cancel(&mut self, id: i64) -> bool {
        let waiting = self.waiting.get_mut(&id).filter(|waiting| !waiting.is_cancelled);
        waiting.map(|waiting| waiting.is_cancelled = true).is_some()
    }

    pub(crate) fn remove_expired(&mut self, now: Duration) -> Option<(i64, T)> {
        let &(_, id) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now)?;
        self.remove(id).map(|token| (id, token))
    }

    pub(crate) fn remove_first(&mut self) -> Option<(i64, T)> {
        let (&id, _) = self.waiting.first_key_value()?;
        self.remove(id).map(|token| (id, token))
    }

    pub(crate) fn first_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }
}
