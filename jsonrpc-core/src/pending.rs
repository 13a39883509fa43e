//! Own requests that wait for a response.
use crate::RequestId;
use crate::id_map::IdMap;
use alloc::collections::BTreeSet;
use core::time::Duration;

/// Own requests that wait for a response.
#[derive(Debug)]
pub(crate) struct PendingRequests<T> {
    next_id: i64,
    waiting: IdMap<PendingRequest<T>>,
    deadlines: Deadlines,
}

/// The deadlines of requests, earliest first. A tree that is used in functions of
/// [`PendingRequests`] would be compiled for each type of token.
#[derive(Debug, Default)]
struct Deadlines(BTreeSet<(Duration, RequestId)>);

impl Deadlines {
    fn insert(&mut self, deadline: Duration, id: RequestId) {
        self.0.insert((deadline, id));
    }

    fn remove(&mut self, deadline: Duration, id: &RequestId) {
        self.0.remove(&(deadline, id.clone()));
    }

    fn pop_expired(&mut self, now: Duration) -> Option<RequestId> {
        self.first().filter(|deadline| *deadline <= now)?;
        self.0.pop_first().map(|(_, id)| id)
    }

    fn first(&self) -> Option<Duration> {
        self.0.first().map(|(deadline, _)| *deadline)
    }
}

#[derive(Debug)]
struct PendingRequest<T> {
    token: T,
    deadline: Option<Duration>,
    is_cancelled: bool,
}

impl<T> PendingRequests<T> {
    pub(crate) fn new() -> Self {
        Self { next_id: 1, waiting: IdMap::new(), deadlines: Deadlines::default() }
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
        if let Some(deadline) = deadline {
            self.deadlines.insert(deadline, id.clone());
        }
        self.waiting.insert(id, PendingRequest { token, deadline, is_cancelled: false });
    }

    /// Removes a request; returns the id as it was inserted, and the token.
    pub(crate) fn remove(&mut self, id: &RequestId) -> Option<(RequestId, T)> {
        let (id, waiting) = self.waiting.remove(id)?;
        if let Some(deadline) = waiting.deadline {
            self.deadlines.remove(deadline, &id);
        }
        Some((id, waiting.token))
    }

    /// Marks a request as cancelled, and returns whether that is new.
    pub(crate) fn cancel(&mut self, id: &RequestId) -> bool {
        let waiting = self.waiting.get_mut(id).filter(|waiting| !waiting.is_cancelled);
        waiting.map(|waiting| waiting.is_cancelled = true).is_some()
    }

    pub(crate) fn remove_expired(&mut self, now: Duration) -> Option<(RequestId, T)> {
        let id = self.deadlines.pop_expired(now)?;
        let (_, waiting) = self.waiting.remove(&id)?;
        Some((id, waiting.token))
    }

    pub(crate) fn remove_first(&mut self) -> Option<(RequestId, T)> {
        let (id, waiting) = self.waiting.pop_first()?;
        if let Some(deadline) = waiting.deadline {
            self.deadlines.remove(deadline, &id);
        }
        Some((id, waiting.token))
    }

    pub(crate) fn first_deadline(&self) -> Option<Duration> {
        self.deadlines.first()
    }
}
