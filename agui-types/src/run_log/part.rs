//! Parts of a log, which extend a copy elsewhere.
use super::recent::FrameRange;
use super::{RunLog, RunOutcome, fold};
use alloc::vec::Vec;
use bytes::Bytes;

/// A part of a log. It extends a copy in another process or a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPart {
    /// Compacted events that replace all events up to [`LogBase::last`]; `None` if the copy has
    /// those already.
    pub base: Option<LogBase>,
    /// The number of the event before `frames`.
    pub after: u64,
    /// The events that follow, a frame each.
    pub frames: Vec<Bytes>,
    /// Whether the run has ended with the last of `frames`.
    pub has_ended: bool,
}

/// Compacted events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogBase {
    /// The number of the last event compacted into `frames`.
    pub last: u64,
    /// The compacted events, a frame each.
    pub frames: Vec<Bytes>,
}

impl LogPart {
    /// Returns the number of the last event.
    pub fn last(&self) -> u64 {
        self.after + self.frames.len() as u64
    }

    /// Returns whether the part leaves a copy unchanged.
    pub fn is_empty(&self) -> bool {
        self.base.is_none() && self.frames.is_empty() && !self.has_ended
    }
}

impl RunLog {
    /// Returns the events after number `after`: as many as fit into `max_bytes`, but at least one.
    /// The compacted events are included if `after` is among them.
    pub fn part(&self, after: u64, max_bytes: usize) -> LogPart {
        let base =
            (after < self.folded).then(|| LogBase { last: self.folded, frames: self.old.clone() });
        let after = after.max(self.folded);
        let skipped = usize::try_from(after - self.folded).unwrap_or(usize::MAX);
        let batch = self.recent.batch(skipped, max_bytes);
        let frames: Vec<Bytes> = batch.into_iter().flat_map(FrameRange::copies).collect();
        let has_ended = self.ended && after + frames.len() as u64 >= self.last();
        LogPart { base, after, frames, has_ended }
    }

    /// Extends this copy of a log by a part of the original.
    ///
    /// Events that the copy already has stay unchanged. A part after a gap is ignored; request the
    /// next one from [`last`](Self::last).
    pub fn apply(&mut self, part: LogPart) {
        if self.ended {
            return;
        }
        if let Some(base) = part.base
            && base.last > self.folded
        {
            let replaced = usize::try_from(base.last - self.folded).unwrap_or(usize::MAX);
            self.recent.remove(replaced);
            self.folded = base.last;
            self.old_bytes = base.frames.iter().map(Bytes::len).sum();
            self.old = base.frames;
        }
        if part.after > self.last() {
            return;
        }
        let known = usize::try_from(self.last() - part.after).unwrap_or(usize::MAX);
        part.frames.iter().skip(known).for_each(|frame| self.recent.push(&[frame]));
        if part.has_ended {
            self.end();
            let last = self.recent.last().or(self.old.last().map(|frame| &frame[..]));
            let last = last.and_then(fold::decode);
            self.outcome = last.as_ref().and_then(RunOutcome::of);
        }
        self.fold_if_over();
    }
}
