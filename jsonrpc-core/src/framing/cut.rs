//! What the framings share: a buffer, and how messages are cut from it.
use super::{FrameError, TextPolicy};
use alloc::vec::Vec;
use core::ops::Range;

/// What a buffer starts with.
#[derive(Debug)]
pub(crate) enum Cut {
    /// A message, and how many bytes it takes with what is around it.
    Message { range: Range<usize>, taken: usize },
    /// Bytes that belong to no message.
    Space { taken: usize },
    /// A message that cannot be taken.
    Error { error: FrameError, taken: usize },
    /// The start of something.
    Unfinished,
}

/// Cuts a stream into messages. It remembers what it has seen of the buffer that it was given last, so it has to be
/// given the same bytes again, without those that were taken, and with more behind them.
pub(crate) trait Cutter {
    /// Looks at what has not been taken yet.
    fn cut(&mut self, buffer: &[u8], is_finished: bool) -> Cut;

    /// The length of a message that the buffer starts with, and how many bytes it takes with its end, where that is seen
    /// at a glance; [`cut`](Self::cut) sees the others.
    fn glance(&mut self, _buffer: &[u8]) -> Option<(usize, usize)> {
        None
    }

    /// How many of the bytes that come next are dropped unseen; the buffer is empty while any are.
    fn drop_some(&mut self, bytes: &[u8]) -> usize;

    /// How long a message may be, with what is around it.
    fn limit(&self) -> usize;
}

/// At the start of a stream, and of nothing else.
pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

pub(crate) fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// What the buffer may keep hold of while it is empty, in bytes.
const IDLE_CAPACITY: usize = 256 * 1024;

/// How much room there is behind the longest message, in bytes, so that a read that ends it does not make the buffer grow.
pub(crate) const BEHIND: usize = 128 * 1024;

/// Bytes that came, and the messages in them.
#[derive(Debug)]
pub(crate) struct Buffer<C> {
    pub(crate) cutter: C,
    pub(crate) text: TextPolicy,
    bytes: Vec<u8>,
    /// Where the next message starts.
    start: usize,
    is_finished: bool,
    /// A message that differs from its bytes.
    repaired: Vec<u8>,
}

impl<C: Cutter> Buffer<C> {
    pub(crate) fn new(cutter: C) -> Self {
        let (bytes, repaired) = (Vec::new(), Vec::new());
        Self { cutter, text: TextPolicy::default(), bytes, start: 0, is_finished: false, repaired }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let dropped = self.cutter.drop_some(bytes);
        let bytes = bytes.get(dropped..).unwrap_or_default();
        self.make_room(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn finish(&mut self) {
        self.is_finished = true;
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    #[inline]
    pub(crate) fn next_text(&mut self) -> Option<Result<&str, FrameError>> {
        let message = self.next_with(self.text.before_text())?;
        Some(message.and_then(|bytes| {
            core::str::from_utf8(bytes)
                .map_err(|error| FrameError::utf8(error.valid_up_to(), bytes))
        }))
    }

    #[inline]
    pub(crate) fn next_bytes(&mut self) -> Option<Result<&[u8], FrameError>> {
        self.next_with(self.text)
    }

    #[inline(always)]
    fn next_with(&mut self, policy: TextPolicy) -> Option<Result<&[u8], FrameError>> {
        if policy.passes_all()
            && let Some((length, taken)) = self.cutter.glance(self.bytes.get(self.start..)?)
        {
            let start = self.start;
            self.start += taken;
            return self.bytes.get(start..start + length).map(Ok);
        }
        self.next_slowly(policy)
    }

    #[inline(never)]
    fn next_slowly(&mut self, policy: TextPolicy) -> Option<Result<&[u8], FrameError>> {
        let range = loop {
            let rest = self.bytes.get(self.start..).unwrap_or_default();
            match self.cutter.cut(rest, self.is_finished) {
                Cut::Message { range, taken } => {
                    let range = self.start + range.start..self.start + range.end;
                    self.start += taken;
                    break range;
                }
                Cut::Space { taken } => self.start += taken,
                Cut::Error { error, taken } => {
                    self.start += taken;
                    if self.start >= self.bytes.len() {
                        (self.bytes, self.start) = (Vec::new(), 0);
                    }
                    return Some(Err(error));
                }
                Cut::Unfinished => return None,
            }
        };
        let message = self.bytes.get_mut(range).unwrap_or_default();
        Some(match policy.apply(message) {
            Ok(None) => Ok(message),
            Ok(Some(repaired)) => {
                self.repaired = repaired;
                Ok(&self.repaired)
            }
            Err(error) => Err(error),
        })
    }

    /// Forgets what was taken, when that moves fewer bytes than it frees, and grows, though not far past the limit.
    fn make_room(&mut self, more: usize) {
        let rest = self.bytes.len() - self.start;
        if rest <= self.start {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        if rest == 0 {
            self.bytes.shrink_to(IDLE_CAPACITY);
            self.repaired = Vec::new();
        }
        let needed = self.bytes.len() + more;
        if needed > self.bytes.capacity() {
            let doubled = needed.max(2 * self.bytes.capacity());
            let enough = self.cutter.limit().saturating_add(BEHIND);
            let target = if needed <= enough { doubled.min(enough) } else { doubled };
            self.bytes.reserve_exact(target - self.bytes.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::content_length::HeaderCutter;
    use crate::framing::lines::LineCutter;
    use alloc::vec;

    /// The most that a buffer held while so many pieces came, and the errors.
    fn most<C: Cutter>(buffer: &mut Buffer<C>, size: usize, pieces: usize) -> (usize, usize) {
        let (mut most, mut errors, piece) = (0, 0, vec![b'a'; size]);
        for _ in 0..pieces {
            buffer.push(&piece);
            errors += usize::from(buffer.next_text().is_some());
            most = most.max(buffer.bytes.capacity());
        }
        (most, errors)
    }

    #[test]
    fn a_stream_without_line_ends_takes_no_more_memory_than_a_line() {
        let limit = 1024 * 1024;
        let mut lines = Buffer::new(LineCutter::new(limit));
        let (most, errors) = most(&mut lines, 64 * 1024, 1024);
        assert!(most <= limit + BEHIND);
        assert_eq!(errors, 1);
        lines.push(b"\n{}\n");
        assert_eq!(lines.next_text(), Some(Ok("{}")));
    }

    #[test]
    fn a_huge_length_takes_no_memory() {
        let limit = 1024 * 1024;
        let mut messages = Buffer::new(HeaderCutter::new(limit));
        messages.push(b"Content-Length: 1000000000000\r\n\r\n");
        assert_eq!(messages.next_text(), None);
        let (most, errors) = most(&mut messages, 10_000_000, 100_000);
        assert!(most <= 10_000_000 + IDLE_CAPACITY);
        assert_eq!(errors, 1);
        messages.push(b"Content-Length: 2\r\n\r\n{}");
        assert_eq!(messages.next_text(), Some(Ok("{}")));
    }
}
