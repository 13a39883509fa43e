//! Where the relay leaves a copy of what passed, for the observer to look at later.

use crate::CloseReason;
use core::time::Duration;
use jsonrpc_core::transcript::Direction;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How many bytes may wait to be looked at. What comes on top is dropped and counted: the session goes first.
pub const MAX_WAITING_BYTES: usize = 32 << 20;

/// How many chunks may wait to be looked at.
pub const MAX_WAITING_CHUNKS: usize = 1 << 18;

/// How long chunks gather before they are looked at, unless they are many: waking somebody costs more than looking.
const GATHERING: Duration = Duration::from_millis(10);

/// How many bytes are many.
const MANY_BYTES: usize = 8 << 20;

/// How much memory for bytes is kept for the next time.
const KEPT_BYTES: usize = 1 << 20;

/// A chunk of bytes that passed.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Which way it passed.
    pub direction: Direction,
    /// When the chunk was read.
    pub at: Instant,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Bytes of the same direction were dropped between the chunk before and this one.
    pub after_gap: bool,
}

/// Chunks in the order in which they passed.
#[derive(Debug, Default)]
pub struct Chunks {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    direction: Direction,
    at: Instant,
    end: usize,
    after_gap: bool,
}

impl Chunks {
    /// Each chunk.
    pub fn iter(&self) -> impl Iterator<Item = Chunk<'_>> {
        let mut start = 0;
        self.pieces.iter().map(move |piece| {
            let bytes = self.bytes.get(start..piece.end).unwrap_or_default();
            start = piece.end;
            let Piece { direction, at, after_gap, .. } = *piece;
            Chunk { direction, at, bytes, after_gap }
        })
    }

    /// How many bytes they have together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.pieces.clear();
        self.pieces.shrink_to(KEPT_BYTES / size_of::<Piece>());
    }
}

/// What comes out of a [`Tap`].
#[derive(Debug)]
pub enum Taken {
    /// What passed since the last time.
    Chunks(Chunks),
    /// Nothing more, for this reason.
    End(CloseReason),
}

/// What was dropped, in total.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dropped {
    /// How many chunks.
    pub chunks: u64,
    /// How many bytes they had.
    pub bytes: u64,
}

/// A bounded queue of chunks that never makes the writer wait.
#[derive(Debug, Default)]
pub struct Tap {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    chunks: Chunks,
    /// Memory for the next time.
    spare: Chunks,
    dropped: Dropped,
    gap_to_agent: bool,
    gap_to_editor: bool,
    closed: Option<CloseReason>,
    observer: Observer,
}

/// What the observer is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Observer {
    /// It looks at chunks, or has been woken.
    #[default]
    Busy,
    /// It waits for the first chunk.
    Asleep,
    /// It lets chunks gather.
    Gathering,
}

impl Waiting {
    fn gap(&mut self, direction: Direction) -> &mut bool {
        match direction {
            Direction::Sent => &mut self.gap_to_agent,
            Direction::Received => &mut self.gap_to_editor,
        }
    }

    fn is_much(&self) -> bool {
        self.chunks.bytes() >= MANY_BYTES || self.chunks.pieces.len() >= MAX_WAITING_CHUNKS / 4
    }
}

impl Tap {
    /// Leaves a copy of `bytes`, or counts them as dropped if too much waits. True if it is time to
    /// [`wake`](Self::wake) the observer, when there is time for that.
    pub fn offer(&self, direction: Direction, at: Instant, bytes: &[u8]) -> bool {
        let mut waiting = self.lock();
        let full = waiting.chunks.bytes() + bytes.len() > MAX_WAITING_BYTES
            || waiting.chunks.pieces.len() >= MAX_WAITING_CHUNKS;
        if full || waiting.closed.is_some() {
            *waiting.gap(direction) = true;
            waiting.dropped.chunks += 1;
            waiting.dropped.bytes += bytes.len() as u64;
            return false;
        }
        let after_gap = core::mem::take(waiting.gap(direction));
        waiting.chunks.bytes.extend_from_slice(bytes);
        let end = waiting.chunks.bytes.len();
        waiting.chunks.pieces.push(Piece { direction, at, end, after_gap });
        let is_time = match waiting.observer {
            Observer::Busy => false,
            Observer::Asleep => true,
            Observer::Gathering => waiting.is_much(),
        };
        if is_time {
            waiting.observer = Observer::Busy;
        }
        is_time
    }

    /// Wakes the observer.
    pub fn wake(&self) {
        self.changed.notify_one();
    }

    /// Nothing more comes, for this reason: the observer ends when it has looked at what waits.
    pub fn close(&self, reason: CloseReason) {
        self.lock().closed = Some(reason);
        self.wake();
    }

    /// Waits for chunks, lets more of them gather, and takes all of them.
    pub fn take(&self) -> Taken {
        let waiting = self
            .changed
            .wait_while(self.lock(), |waiting| {
                let sleeps = waiting.chunks.pieces.is_empty() && waiting.closed.is_none();
                waiting.observer = if sleeps { Observer::Asleep } else { Observer::Busy };
                sleeps
            })
            .unwrap_or_else(PoisonError::into_inner);
        let (mut waiting, _) = self
            .changed
            .wait_timeout_while(waiting, GATHERING, |waiting| {
                let gathers = waiting.closed.is_none() && !waiting.is_much();
                waiting.observer = if gathers { Observer::Gathering } else { Observer::Busy };
                gathers
            })
            .unwrap_or_else(PoisonError::into_inner);
        waiting.observer = Observer::Busy;
        let spare = core::mem::take(&mut waiting.spare);
        let chunks = core::mem::replace(&mut waiting.chunks, spare);
        match waiting.closed {
            Some(reason) if chunks.pieces.is_empty() => Taken::End(reason),
            _ => Taken::Chunks(chunks),
        }
    }

    /// Takes back the memory of chunks that were looked at.
    pub fn give_back(&self, mut chunks: Chunks) {
        chunks.clear();
        self.lock().spare = chunks;
    }

    /// How many bytes nobody has taken yet.
    pub fn waiting_bytes(&self) -> u64 {
        self.lock().chunks.bytes() as u64
    }

    /// What was dropped so far.
    pub fn dropped(&self) -> Dropped {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TO_AGENT: Direction = Direction::Sent;
    const TO_EDITOR: Direction = Direction::Received;

    fn take(tap: &Tap) -> Vec<(Direction, usize, bool)> {
        let Taken::Chunks(chunks) = tap.take() else { panic!("closed") };
        chunks.iter().map(|chunk| (chunk.direction, chunk.bytes.len(), chunk.after_gap)).collect()
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_the_gap_is_known_in_its_direction() {
        let (tap, now) = (Tap::default(), Instant::now());
        tap.offer(TO_AGENT, now, &vec![0; MAX_WAITING_BYTES - 1]);
        tap.offer(TO_EDITOR, now, b"ab");
        tap.offer(TO_EDITOR, now, b"c");
        let first = [(TO_AGENT, MAX_WAITING_BYTES - 1, false), (TO_EDITOR, 1, true)];
        assert_eq!(take(&tap), first);
        tap.offer(TO_EDITOR, now, b"d");
        assert_eq!(take(&tap), [(TO_EDITOR, 1, false)]);
        assert_eq!((tap.dropped().chunks, tap.dropped().bytes), (1, 2));
    }

    #[test]
    fn chunks_are_bounded_in_number() {
        let (tap, now) = (Tap::default(), Instant::now());
        for _ in 0..=MAX_WAITING_CHUNKS {
            tap.offer(TO_AGENT, now, b"x");
        }
        assert_eq!(take(&tap).len(), MAX_WAITING_CHUNKS);
        assert_eq!(tap.dropped().chunks, 1);
    }

    #[test]
    fn what_waits_is_taken_before_the_end() {
        let (tap, now) = (Tap::default(), Instant::now());
        tap.offer(TO_AGENT, now, b"x");
        tap.close(CloseReason::AgentExited);
        tap.offer(TO_AGENT, now, b"y");
        assert_eq!(take(&tap), [(TO_AGENT, 1, false)]);
        assert!(matches!(tap.take(), Taken::End(CloseReason::AgentExited)));
        assert_eq!(tap.dropped().chunks, 1);
    }
}
