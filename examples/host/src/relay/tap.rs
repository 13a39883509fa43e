//! The queue of forwarded bytes between the relay and its observer.

use super::batch_queue::{BatchItems, BatchQueue};
use jsonrpc_core::transcript::Direction;
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of waiting bytes. More are dropped and counted: the session has priority.
pub const MAX_WAITING_BYTES: usize = 32 << 20;

/// Maximum number of waiting chunks.
pub const MAX_WAITING_CHUNKS: usize = 1 << 18;

/// Number of copied bytes in a batch: small enough for the processor's cache, together with the
/// bytes that arrive meanwhile.
const MANY_COPIED: usize = 128 << 10;

/// Number of lent bytes in a batch: a message of a megabyte is forwarded as a whole before it is
/// observed.
const MANY_LENT: usize = 1 << 20;

/// Number of chunks in a batch.
const MANY_CHUNKS: usize = 512;

/// Memory that is kept for the next batch.
const KEPT_BYTES: usize = 1 << 20;

/// Reads of this size are not copied: their buffer is lent.
pub(crate) const LENT_FROM: usize = 16 << 10;

/// A chunk of forwarded bytes.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// The direction.
    pub direction: Direction,
    /// When the chunk was read.
    pub at: Instant,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Bytes of the same direction were dropped between the chunk before and this one.
    pub after_gap: bool,
}

/// Chunks in order of forwarding.
#[derive(Debug, Default)]
pub struct Chunks {
    /// The bytes of small chunks, concatenated.
    copied: Vec<u8>,
    pieces: Vec<Piece>,
    /// Number of lent bytes.
    lent_bytes: usize,
    /// Memory of the lent buffers.
    lent_memory: usize,
}

#[derive(Debug)]
struct Piece {
    direction: Direction,
    at: Instant,
    length: usize,
    after_gap: bool,
    /// The lent buffer, which starts with the bytes, unless they were copied.
    lent: Option<Arc<[u8]>>,
}

impl Chunks {
    /// Iterates over the chunks.
    pub fn iter(&self) -> impl Iterator<Item = Chunk<'_>> {
        let mut copied = &*self.copied;
        self.pieces.iter().map(move |piece| {
            let Piece { direction, at, length, after_gap, .. } = *piece;
            let bytes = match &piece.lent {
                Some(buffer) => buffer.get(..length).unwrap_or_default(),
                None => copied.split_off(..length).unwrap_or_default(),
            };
            Chunk { direction, at, bytes, after_gap }
        })
    }

    /// Returns the total number of bytes.
    pub fn bytes(&self) -> usize {
        self.copied.len() + self.lent_bytes
    }

    fn memory(&self) -> usize {
        self.copied.len() + self.lent_memory
    }

    fn push(
        &mut self,
        direction: Direction,
        at: Instant,
        bytes: BufferPrefix<'_>,
        after_gap: bool,
    ) {
        let length = bytes.length;
        let lent = bytes.lent().map(Arc::clone);
        match &lent {
            Some(buffer) => {
                self.lent_bytes += length;
                self.lent_memory += buffer.len();
            }
            None => self.copied.extend_from_slice(bytes.bytes()),
        }
        self.pieces.push(Piece { direction, at, length, after_gap, lent });
    }

    fn clear(&mut self) {
        self.copied.clear();
        self.copied.shrink_to(KEPT_BYTES);
        self.pieces.clear();
        self.pieces.shrink_to(KEPT_BYTES / size_of::<Piece>());
        self.lent_bytes = 0;
        self.lent_memory = 0;
    }
}

/// Bytes at the start of their buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferPrefix<'a> {
    pub(crate) buffer: &'a Arc<[u8]>,
    pub(crate) length: usize,
}

impl<'a> BufferPrefix<'a> {
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }

    /// Returns the buffer, if there are too many bytes to copy.
    fn lent(self) -> Option<&'a Arc<[u8]>> {
        (self.length >= LENT_FROM).then_some(self.buffer)
    }

    /// Returns the memory that keeping the bytes takes.
    fn memory(self) -> usize {
        self.lent().map_or(self.length, |buffer| buffer.len())
    }
}

/// Output of a [`Tap`].
#[derive(Debug)]
pub enum TapOutput {
    /// Chunks since the last batch.
    Chunks(Chunks),
    /// The end.
    End,
}

/// Total of dropped chunks.
#[derive(Clone, Copy, Debug, Default)]
pub struct DropTotals {
    /// Number of chunks.
    pub chunks: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// A bounded queue of chunks that never blocks its writers.
#[derive(Debug, Default)]
pub struct Tap {
    waiting: BatchQueue<TapState>,
}

#[derive(Debug, Default)]
struct TapState {
    chunks: Chunks,
    /// Memory for the next batch.
    spare: Chunks,
    dropped: DropTotals,
    gap_to_agent: bool,
    gap_to_editor: bool,
    is_closed: bool,
}

impl TapState {
    fn gap(&mut self, direction: Direction) -> &mut bool {
        match direction {
            Direction::Sent => &mut self.gap_to_agent,
            Direction::Received => &mut self.gap_to_editor,
        }
    }

    fn offer(&mut self, direction: Direction, at: Instant, bytes: BufferPrefix<'_>) {
        let full = self.chunks.memory() + bytes.memory() > MAX_WAITING_BYTES
            || self.chunks.pieces.len() >= MAX_WAITING_CHUNKS;
        if full || self.is_closed {
            *self.gap(direction) = true;
            self.dropped.chunks += 1;
            self.dropped.bytes += bytes.length as u64;
            return;
        }
        let after_gap = core::mem::take(self.gap(direction));
        self.chunks.push(direction, at, bytes, after_gap);
    }
}

impl BatchItems for TapState {
    fn is_empty(&self) -> bool {
        self.chunks.pieces.is_empty()
    }

    fn is_much(&self) -> bool {
        let Chunks { copied, pieces, lent_bytes, .. } = &self.chunks;
        copied.len() >= MANY_COPIED || *lent_bytes >= MANY_LENT || pieces.len() >= MANY_CHUNKS
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }
}

impl Tap {
    /// Adds bytes, or counts them as dropped if too many are waiting. A large read is not copied;
    /// the caller must use another buffer next. Returns whether the caller should
    /// [`wake`](Self::wake) the observer, when it has time to.
    pub(crate) fn offer(&self, direction: Direction, at: Instant, bytes: BufferPrefix<'_>) -> bool {
        self.waiting.add(|waiting| waiting.offer(direction, at, bytes))
    }

    /// Wakes the observer.
    pub fn wake(&self) {
        self.waiting.wake();
    }

    /// Closes the queue: the observer ends after the waiting chunks.
    pub fn close(&self) {
        self.waiting.with(|waiting| waiting.is_closed = true);
        self.wake();
    }

    /// Waits for chunks, lets more gather, and takes all.
    pub fn take(&self) -> TapOutput {
        self.waiting.take(|waiting| {
            let spare = core::mem::take(&mut waiting.spare);
            let chunks = core::mem::replace(&mut waiting.chunks, spare);
            if waiting.is_closed && chunks.pieces.is_empty() {
                TapOutput::End
            } else {
                TapOutput::Chunks(chunks)
            }
        })
    }

    /// Takes back the memory of observed chunks.
    pub fn give_back(&self, mut chunks: Chunks) {
        chunks.clear();
        self.waiting.with(|waiting| waiting.spare = chunks);
    }

    /// Returns the number of waiting bytes.
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting.with(|waiting| waiting.chunks.bytes() as u64)
    }

    /// Returns the total of dropped chunks so far.
    pub fn dropped(&self) -> DropTotals {
        self.waiting.with(|waiting| waiting.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TO_AGENT: Direction = Direction::Sent;
    const TO_EDITOR: Direction = Direction::Received;

    fn take(tap: &Tap) -> Vec<(Direction, usize, bool)> {
        let TapOutput::Chunks(chunks) = tap.take() else { panic!("closed") };
        chunks.iter().map(|chunk| (chunk.direction, chunk.bytes.len(), chunk.after_gap)).collect()
    }

    fn offer(tap: &Tap, direction: Direction, bytes: &[u8]) -> Arc<[u8]> {
        let buffer = Arc::from(bytes);
        let passing = BufferPrefix { buffer: &buffer, length: bytes.len() };
        tap.offer(direction, Instant::now(), passing);
        buffer
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_the_gap_is_known_in_its_direction() {
        let tap = Tap::default();
        offer(&tap, TO_AGENT, &vec![0; MAX_WAITING_BYTES - 1]);
        offer(&tap, TO_EDITOR, b"ab");
        offer(&tap, TO_EDITOR, b"c");
        let first = [(TO_AGENT, MAX_WAITING_BYTES - 1, false), (TO_EDITOR, 1, true)];
        assert_eq!(take(&tap), first);
        offer(&tap, TO_EDITOR, b"d");
        assert_eq!(take(&tap), [(TO_EDITOR, 1, false)]);
        assert_eq!(tap.dropped().chunks, 1);
        assert_eq!(tap.dropped().bytes, 2);
    }

    #[test]
    fn chunks_are_bounded_in_number() {
        let tap = Tap::default();
        for _ in 0..=MAX_WAITING_CHUNKS {
            offer(&tap, TO_AGENT, b"x");
        }
        assert_eq!(take(&tap).len(), MAX_WAITING_CHUNKS);
        assert_eq!(tap.dropped().chunks, 1);
    }

    /// The whole memory counts, not only its used part.
    #[test]
    fn what_is_not_copied_is_bounded_by_what_it_was_read_into() {
        let tap = Tap::default();
        let buffer = Arc::from(vec![0; MAX_WAITING_BYTES / 4]);
        for _ in 0..5 {
            let passing = BufferPrefix { buffer: &buffer, length: LENT_FROM };
            tap.offer(TO_EDITOR, Instant::now(), passing);
        }
        assert_eq!(take(&tap), [(TO_EDITOR, LENT_FROM, false); 4]);
        assert_eq!(tap.dropped().chunks, 1);
        assert_eq!(tap.dropped().bytes, LENT_FROM as u64);
    }

    #[test]
    fn many_bytes_are_not_copied_and_keep_their_place_among_few() {
        let tap = Tap::default();
        let many: Vec<u8> = (0..LENT_FROM).map(|at| at as u8).collect();
        offer(&tap, TO_AGENT, b"a");
        let left = offer(&tap, TO_EDITOR, &many);
        let not_left = offer(&tap, TO_EDITOR, &many[1..]);
        offer(&tap, TO_AGENT, b"bc");
        assert_eq!(Arc::strong_count(&left), 2);
        assert_eq!(Arc::strong_count(&not_left), 1);
        let TapOutput::Chunks(chunks) = tap.take() else { panic!("closed") };
        assert!(chunks.iter().map(|it| it.bytes).eq([b"a", &*many, &many[1..], b"bc"]));
        assert_eq!(chunks.bytes(), 2 * LENT_FROM + 2);
        tap.give_back(chunks);
        assert_eq!(Arc::strong_count(&left), 1);
    }

    #[test]
    fn what_waits_is_taken_before_the_end() {
        let tap = Tap::default();
        offer(&tap, TO_AGENT, b"x");
        tap.close();
        offer(&tap, TO_AGENT, b"y");
        assert_eq!(take(&tap), [(TO_AGENT, 1, false)]);
        assert!(matches!(tap.take(), TapOutput::End));
        assert_eq!(tap.dropped().chunks, 1);
    }
}
