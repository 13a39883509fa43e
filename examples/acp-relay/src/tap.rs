//! Where the relay leaves a copy of what passed, for the observer to look at later.

use crate::CloseReason;
use jsonrpc_core::transcript::Direction;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How many bytes may wait to be looked at. What comes on top is dropped and counted: the session goes first.
pub const MAX_WAITING_BYTES: usize = 32 << 20;

/// How many chunks may wait to be looked at.
pub const MAX_WAITING_CHUNKS: usize = 16_384;

/// A chunk of bytes that passed.
#[derive(Debug)]
pub struct Chunk {
    /// Which way it passed.
    pub direction: Direction,
    /// When the chunk was read.
    pub at: Instant,
    /// The bytes.
    pub bytes: Box<[u8]>,
    /// Bytes of the same direction were dropped between the chunk before and this one.
    pub after_gap: bool,
}

/// What comes out of a [`Tap`].
#[derive(Debug)]
pub enum Taken {
    /// What passed since the last time.
    Chunks(VecDeque<Chunk>),
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
    chunks: VecDeque<Chunk>,
    bytes: usize,
    dropped: Dropped,
    gap_to_agent: bool,
    gap_to_editor: bool,
    closed: Option<CloseReason>,
    /// The observer waits.
    is_asleep: bool,
}

impl Waiting {
    fn gap(&mut self, direction: Direction) -> &mut bool {
        match direction {
            Direction::Sent => &mut self.gap_to_agent,
            Direction::Received => &mut self.gap_to_editor,
        }
    }
}

impl Tap {
    /// Leaves a copy of `bytes`, or counts them as dropped if too much waits. True if the observer sleeps: then
    /// [`wake`](Self::wake) it, when there is time for that.
    pub fn offer(&self, direction: Direction, at: Instant, bytes: &[u8]) -> bool {
        let copy = Box::from(bytes);
        let mut waiting = self.lock();
        let full = waiting.bytes + bytes.len() > MAX_WAITING_BYTES
            || waiting.chunks.len() >= MAX_WAITING_CHUNKS;
        if full || waiting.closed.is_some() {
            *waiting.gap(direction) = true;
            waiting.dropped.chunks += 1;
            waiting.dropped.bytes += bytes.len() as u64;
            return false;
        }
        let after_gap = core::mem::take(waiting.gap(direction));
        waiting.bytes += bytes.len();
        waiting.chunks.push_back(Chunk { direction, at, bytes: copy, after_gap });
        waiting.is_asleep
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

    /// Waits for chunks and takes all of them.
    pub fn take(&self) -> Taken {
        let mut waiting = self
            .changed
            .wait_while(self.lock(), |waiting| {
                waiting.is_asleep = waiting.chunks.is_empty() && waiting.closed.is_none();
                waiting.is_asleep
            })
            .unwrap_or_else(PoisonError::into_inner);
        waiting.bytes = 0;
        let chunks = core::mem::take(&mut waiting.chunks);
        match waiting.closed {
            Some(reason) if chunks.is_empty() => Taken::End(reason),
            _ => Taken::Chunks(chunks),
        }
    }

    /// How many bytes nobody has taken yet.
    pub fn waiting_bytes(&self) -> u64 {
        self.lock().bytes as u64
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
