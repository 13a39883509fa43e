//! Lines of a stream of bytes.
use super::cut::{BEHIND, Cut, LineCutter};
use super::{FrameError, TextPolicy};
use alloc::vec::Vec;
use core::ops::Range;

/// Splits a stream of bytes into lines, one JSON-RPC message each.
///
/// Pass received bytes to [`push`](Self::push), in pieces of any size, and take lines with
/// [`next`](Self::next) until it returns `None`. The lines do not depend on how the bytes were
/// split. No byte is searched twice, so the cost of a line is proportional to its length. Memory is
/// bounded by one unfinished line up to the limit, and the pushed bytes that were not taken.
///
/// | in the stream | result |
/// |---|---|
/// | `\n`, `\r\n` | end a line, and are not part of it |
/// | a line of spaces and tabs only | ignored |
/// | a byte order mark at the start of the stream | ignored |
/// | bytes after the last line end, when the stream [ends](Self::finish) | a line |
/// | a line longer than the limit | one [`FrameError::TooLong`], as soon as its id has arrived or cannot arrive, or at its end; the next line is intact |
/// | a line that is not UTF-8 | [`FrameError::Utf8`], depending on the [policy](TextPolicy); the next line is intact |
///
/// ```
/// use jsonrpc_core::framing::Lines;
///
/// let mut lines = Lines::default();
/// lines.push(b"{\"id\":1,\"met");
/// assert!(lines.next().is_none());
/// lines.push(b"hod\":\"a\"}\r\n\n{}\n");
/// assert_eq!(lines.next(), Some(Ok(r#"{"id":1,"method":"a"}"#)));
/// assert_eq!(lines.next(), Some(Ok("{}")));
/// assert_eq!(lines.next(), None);
/// ```
#[derive(Debug)]
pub struct Lines {
    cutter: LineCutter,
    text: TextPolicy,
    bytes: Vec<u8>,
    /// Start of the next line.
    start: usize,
    is_finished: bool,
    /// A line that differs from its received bytes.
    repaired: Vec<u8>,
}

/// Largest capacity of an empty buffer, in bytes.
const IDLE_CAPACITY: usize = 256 * 1024;

impl Lines {
    /// Default largest length of a line: 16 MiB.
    pub const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

    /// Creates a splitter for lines of up to `limit` bytes, line ends not counted.
    pub fn new(limit: usize) -> Self {
        Self {
            cutter: LineCutter::new(limit),
            text: TextPolicy::default(),
            bytes: Vec::new(),
            start: 0,
            is_finished: false,
            repaired: Vec::new(),
        }
    }

    /// Sets the policy for invalid text.
    #[must_use]
    pub fn with_text(mut self, policy: TextPolicy) -> Self {
        self.text = policy;
        self
    }

    /// Handles the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        let dropped = self.cutter.drop_some(bytes);
        let bytes = bytes.get(dropped..).unwrap_or_default();
        self.make_room(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// Handles the end of the stream: bytes after the last line end become a line.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Returns the next complete line, without its line end.
    ///
    /// # Errors
    /// The line is too long or not UTF-8. Later lines are not lost.
    #[expect(
        clippy::should_implement_trait,
        reason = "the line borrows from here, so this is no iterator"
    )]
    #[inline]
    pub fn next(&mut self) -> Option<Result<&str, FrameError>> {
        let line = self.next_with(self.text.before_text())?;
        Some(line.and_then(|bytes| {
            core::str::from_utf8(bytes)
                .map_err(|error| FrameError::utf8(error.valid_up_to(), bytes))
        }))
    }

    /// As [`next`](Self::next), in bytes, for a policy that accepts invalid UTF-8.
    ///
    /// # Errors
    /// As for [`next`](Self::next).
    #[inline]
    pub fn next_bytes(&mut self) -> Option<Result<&[u8], FrameError>> {
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
        let place = match self.next_place()? {
            Ok(place) => place,
            Err(error) => return Some(Err(error)),
        };
        let line = self.bytes.get_mut(place).unwrap_or_default();
        Some(match policy.apply(line) {
            Ok(None) => Ok(line),
            Ok(Some(repaired)) => {
                self.repaired = repaired;
                Ok(&self.repaired)
            }
            Err(error) => Err(error),
        })
    }

    /// Returns the place of the next line.
    fn next_place(&mut self) -> Option<Result<Range<usize>, FrameError>> {
        loop {
            let rest = self.bytes.get(self.start..).unwrap_or_default();
            match self.cutter.cut(rest, self.is_finished) {
                Cut::Line { length, taken } => {
                    let start = self.start;
                    self.start += taken;
                    return Some(Ok(start..start + length));
                }
                Cut::Space { taken } => self.start += taken,
                Cut::Error(error) => {
                    if self.start >= self.bytes.len() {
                        self.bytes = Vec::new();
                        self.start = 0;
                    }
                    return Some(Err(error));
                }
                Cut::Unfinished => return None,
            }
        }
    }

    /// Removes taken bytes if that moves fewer bytes than it frees, and grows the buffer, but not
    /// far beyond the limit.
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

impl Default for Lines {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

/// Access of the codec to unused lines.
#[cfg(feature = "codec")]
impl Lines {
    pub(crate) fn into_parts(self) -> (LineCutter, TextPolicy) {
        (LineCutter::new(self.cutter.limit()), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn stream_without_line_ends_takes_no_more_memory_than_a_line() {
        let limit = 1024 * 1024;
        let mut lines = Lines::new(limit);
        let mut most = 0;
        let mut errors = 0;
        let piece = vec![b'a'; 64 * 1024];
        for _ in 0..1024 {
            lines.push(&piece);
            errors += usize::from(lines.next().is_some());
            most = most.max(lines.bytes.capacity());
        }
        assert!(most <= limit + BEHIND);
        assert_eq!(errors, 1);
        lines.push(b"\n{}\n");
        assert_eq!(lines.next(), Some(Ok("{}")));
    }
}
