//! A bounded queue of events.
use alloc::collections::VecDeque;

/// The size of an event.
pub(crate) trait Weigh {
    /// Returns the bytes of an event that may be dropped.
    fn droppable(&self) -> Option<usize>;

    /// Returns the bytes of an event that must not be dropped.
    fn firm(&self) -> usize;
}

/// Limits of an [`Inbox`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
}

/// Events that wait to be polled, in order. Beyond the limits the oldest droppable events are
/// dropped and counted; others stay.
#[derive(Debug)]
pub(crate) struct Inbox<E> {
    pub(crate) waiting: VecDeque<E>,
    /// Number of droppable events.
    pub(crate) droppable: usize,
    /// Bytes of the droppable events.
    pub(crate) bytes: usize,
    /// Bytes of the other events.
    pub(crate) firm: usize,
    pub(crate) dropped: u64,
}

impl<E> Default for Inbox<E> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), droppable: 0, bytes: 0, firm: 0, dropped: 0 }
    }
}

impl<E: Weigh> Inbox<E> {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.dropped == 0
    }

    /// Returns whether an event of this size fits if droppable events are removed.
    pub(crate) fn has_room_for(&self, size: usize, room: Room) -> bool {
        self.firm.saturating_add(size) <= room.bytes
    }

    pub(crate) fn push(&mut self, event: E, room: Room) {
        if let Some(size) = event.droppable() {
            self.droppable += 1;
            self.bytes += size;
        }
        self.firm += event.firm();
        self.waiting.push_back(event);
        while self.droppable > room.count || self.bytes + self.firm > room.bytes {
            if !self.remove(|event| event.droppable().is_some()) {
                return;
            }
            self.dropped += 1;
        }
    }

    /// Returns the next event.
    pub(crate) fn pop(&mut self) -> Option<E> {
        let event = self.waiting.pop_front()?;
        self.forget(&event);
        Some(event)
    }

    /// Returns the number of dropped events, once.
    pub(crate) fn take_dropped(&mut self) -> Option<u64> {
        Some(core::mem::take(&mut self.dropped)).filter(|dropped| *dropped > 0)
    }

    /// Removes the oldest event of a kind, and returns whether there was one.
    pub(crate) fn remove(&mut self, is_it: impl Fn(&E) -> bool) -> bool {
        let at = self.waiting.iter().position(is_it);
        let Some(event) = at.and_then(|at| self.waiting.remove(at)) else { return false };
        self.forget(&event);
        true
    }

    fn forget(&mut self, event: &E) {
        if let Some(size) = event.droppable() {
            self.droppable -= 1;
            self.bytes -= size;
        }
        self.firm -= event.firm();
    }
}
