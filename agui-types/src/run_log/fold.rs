//! Compaction of the older events of a log.
use super::RunLog;
use super::delta::DeltaFrame;
use crate::compact::compact;
use crate::event::{Event, StateSnapshotEvent};
use crate::sse;
use alloc::vec::Vec;
use bytes::Bytes;
use jsonrpc_core::wire::Raw;

impl RunLog {
    pub(super) fn fold_if_over(&mut self) {
        if self.recent.bytes() > self.limits.bytes || self.recent.len() > self.limits.events {
            self.fold();
        }
    }

    /// Moves the older half of the recent events to the compacted ones.
    ///
    /// Deltas of one target that follow each other are joined as text, so that a long message is
    /// not decoded again each time.
    fn fold(&mut self) {
        let is_short = |frame: &Bytes| frame.len() <= MAX_EXTENDED;
        let mut delta =
            self.old.last().filter(|it| is_short(it)).and_then(|it| DeltaFrame::new(it));
        if delta.is_some() {
            self.old.pop();
        }
        let mut is_compacted = true;
        let mut count = 0;
        let mut bytes = self.recent.bytes();
        for frame in self.recent.iter() {
            if bytes <= self.limits.bytes / 2 && self.recent.len() - count <= self.limits.events / 2
            {
                break;
            }
            bytes -= frame.len();
            count += 1;
            if delta.as_mut().is_some_and(|delta| delta.join(frame)) {
                continue;
            }
            self.old.extend(delta.take().map(DeltaFrame::into_bytes));
            delta = DeltaFrame::new(frame);
            let before = self.old.last().filter(|it| !is_short(it));
            is_compacted &=
                delta.as_ref().zip(before).is_some_and(|(it, before)| it.continues(before));
            if delta.is_none() {
                self.old.push(Bytes::copy_from_slice(frame));
            }
        }
        self.recent.remove(count);
        self.folded += count as u64;
        self.old.extend(delta.map(DeltaFrame::into_bytes));
        // Events that cannot be compacted stay as they are.
        if !is_compacted && let Some(compacted) = compacted(&self.old, self.state.as_ref()) {
            self.old = compacted;
        }
        self.old_bytes = self.old.iter().map(Bytes::len).sum();
    }
}

/// Size of a frame, in bytes, up to which deltas are appended to it. Appending copies the frame.
const MAX_EXTENDED: usize = 64 << 10;

/// Returns the same conversation and state in fewer frames; `state` is the one before the run.
fn compacted(frames: &[Bytes], state: Option<&Raw>) -> Option<Vec<Bytes>> {
    let mut events = frames.iter().map(|frame| decode(frame)).collect::<Option<Vec<_>>>()?;
    let first =
        events.iter().position(|it| matches!(it, Event::StateSnapshot(_) | Event::StateDelta(_)));
    // A state delta can be compacted and repeated only after a snapshot.
    if let Some(place) = first
        && let Some(Event::StateDelta(_)) = events.get(place)
    {
        let state = state.cloned().or_else(|| Raw::from_text("{}").ok())?;
        events.insert(place, StateSnapshotEvent::new(state).into());
    }
    compact(events).ok()?.iter().map(encode).collect()
}

/// Encodes an event as a frame without a number.
pub(super) fn encode(event: &Event) -> Option<Bytes> {
    let mut bytes = Vec::new();
    sse::write_event(&mut bytes, event).ok()?;
    // The log counts the length of a frame, and holds its capacity.
    bytes.shrink_to_fit();
    Some(bytes.into())
}

/// Decodes the event of a frame.
pub(super) fn decode(frame: &[u8]) -> Option<Event> {
    let mut decoder = sse::Decoder::with_limit(usize::MAX);
    decoder.push(frame);
    decoder.next_frame()?.ok()?.decode().ok()
}
