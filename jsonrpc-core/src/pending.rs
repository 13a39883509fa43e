//! Own requests that wait for a response.
use crate::RequestId;
use crate::id_map::IdMap;
use alloc::collections::BTreeSet;
use core::time::Duration;

/// Own requests that wait for a response.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    next_id: i64,
    waiting: IdMap<Waiting<T>>,
    deadlines: BTreeSet<(Duration, RequestId)>,
}

#[derive(Debug)]
struct Waiting<T> {
    token: T,
    deadline: Option<Duration>,
    is_cancelled: bool,
}

impl<T> Pending<T> {
    pub(crate) fn new() -> Self {
        Self { next_id: 1, waiting: IdMap::new(), deadlines: BTreeSet::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_waiting(&self, id: &RequestId) -> bool {
        self.waiting.contains(id)
    }

    /// Returns a number that no waiting request has.
    pub(crate) fn number(&mut self) -> RequestId {
        loop {
            let id = RequestId::from(self.next_id);
            self.next_id = self.next_id.wrapping_add(1);
            if !self.is_waiting(&id) {
                return id;
            }
        }
    }

    pub(crate) fn insert(&mut self, id: RequestId, token: T, deadline: Option<Duration>) {
        self.deadlines.extend(deadline.map(|deadline| (deadline, id.clone())));
        self.waiting.insert(id, Waiting { token, deadline, is_cancelled: false });
    }

    /// Removes a request; returns the id as it was inserted, and the token.
    pub(crate) fn remove(&mut self, id: &RequestId) -> Option<(RequestId, T)> {
        let (id, waiting) = self.waiting.remove(id)?;
        if let Some(deadline) = waiting.deadline {
            self.deadlines.remove(&(deadline, id.clone()));
        }
        Some((id, waiting.token))
    }

    /// Marks a request as cancelled, and returns whether that is new.
    pub(crate) fn cancel(&mut self, id: &RequestId) -> bool {
        let waiting = self.waiting.get_mut(id).filter(|waiting| !waiting.is_cancelled);
        waiting.map(|waiting| waiting.is_cancelled = true).is_some()
    }

    pub(crate) fn remove_expired(&mut self, now: Duration) -> Option<(RequestId, T)> {
        self.deadlines.first().filter(|(deadline, _)| *deadline <= now)?;
        let (_, id) = self.deadlines.pop_first()?;
        let (_, waiting) = self.waiting.remove(&id)?;
        Some((id, waiting.token))
    }

    pub(crate) fn remove_first(&mut self) -> Option<(RequestId, T)> {
        let (id, waiting) = self.waiting.pop_first()?;
        if let Some(deadline) = waiting.deadline {
            self.deadlines.remove(&(deadline, id.clone()));
        }
        Some((id, waiting.token))
    }

    pub(crate) fn first_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }
}
