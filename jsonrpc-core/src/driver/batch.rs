use crate::encode;
use crate::message::Message;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Answers to batches, until each is whole.
#[derive(Debug, Default)]
pub(super) struct Batches {
    open: BTreeMap<u64, Open>,
    next: u64,
    /// How many answers wait for others.
    held: usize,
}

/// A batch that is not answered yet.
#[derive(Debug, Default)]
struct Open {
    /// The answers that are there, as the start of an array.
    answers: Vec<u8>,
    count: usize,
    /// How many are to come.
    missing: usize,
}

impl Batches {
    /// Begins a batch. It is answered once this many are [finished](Self::finish): one for itself, when all of its
    /// messages are read, and one for each open request.
    pub(super) fn begin(&mut self) -> u64 {
        self.next += 1;
        self.open.insert(self.next, Open { missing: 1, ..Open::default() });
        self.next
    }

    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Takes note of a request that is open now.
    pub(super) fn open(&mut self, batch: u64) {
        if let Some(open) = self.open.get_mut(&batch) {
            open.missing += 1;
        }
    }

    /// Keeps an answer.
    pub(super) fn answer(&mut self, batch: u64, answer: &Message<'_>) {
        if let Some(open) = self.open.get_mut(&batch) {
            open.answers.push(if open.count == 0 { b'[' } else { b',' });
            encode::message(answer, &mut open.answers);
            open.count += 1;
            self.held += 1;
        }
    }

    /// Ends one of those that a batch waits for, and gives its answer if that was the last; nothing if there is nothing
    /// to answer.
    pub(super) fn finish(&mut self, batch: u64) -> Option<Vec<u8>> {
        let open = self.open.get_mut(&batch)?;
        open.missing = open.missing.saturating_sub(1);
        if open.missing > 0 {
            return None;
        }
        let Open { mut answers, count, .. } = self.open.remove(&batch)?;
        self.held -= count;
        answers.push(b']');
        (count > 0).then_some(answers)
    }

    pub(super) fn clear(&mut self) {
        *self = Self { next: self.next, ..Self::default() };
    }
}
