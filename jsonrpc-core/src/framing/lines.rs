use crate::decode_error::reply;
use crate::message::{Kind, Response};
use crate::peek::{Recovered, recover};
use crate::{ErrorCode, RequestId};
use alloc::string::ToString;
use alloc::vec::Vec;
use memchr::memchr;

/// Cuts a stream of bytes into lines: one JSON-RPC message each.
///
/// Give it what was read with [`push`](Self::push), in pieces of any size, then take lines with [`next`](Self::next)
/// until there are none; how the bytes were cut makes no difference to the lines. No byte is searched twice, so a line
/// costs as much as it is long. It holds one unfinished line up to the limit, and what was pushed and not taken yet.
///
/// | in the stream | what comes of it |
/// |---|---|
/// | `\n`, `\r\n` | end a line, and are not part of it |
/// | a line of spaces, tabs and nothing else | nothing |
/// | a byte order mark at the start of the stream | nothing |
/// | bytes behind the last line end, when the stream [ends](Self::finish) | a line |
/// | a line longer than the limit | [`FrameError::TooLong`], once, as soon as it is; the next line is whole |
/// | a line that is not UTF-8 | [`FrameError::Utf8`]; the next line is whole |
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
    buffer: Vec<u8>,
    /// Where the next line starts.
    start: usize,
    /// Up to where there is no line end behind `start`.
    searched: usize,
    limit: usize,
    place: Place,
    is_finished: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the start of the stream, where a byte order mark may stand.
    Start,
    InLines,
    /// In what is left of a line that was too long.
    TooLong,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What the buffer may keep hold of while it is empty, in bytes.
const IDLE_CAPACITY: usize = 256 * 1024;

impl Lines {
    /// How long a line may be unless told otherwise, in bytes: 16 MiB.
    pub const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

    /// Lines of up to `limit` bytes, not counting the line end.
    pub fn new(limit: usize) -> Self {
        let buffer = Vec::new();
        Self { buffer, start: 0, searched: 0, limit, place: Place::Start, is_finished: false }
    }

    /// Takes the bytes that come next in the stream.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.place == Place::TooLong {
            let Some(end) = memchr(b'\n', bytes) else { return };
            self.place = Place::InLines;
            bytes = bytes.get(end + 1..).unwrap_or_default();
        }
        self.make_room(bytes.len());
        self.buffer.extend_from_slice(bytes);
    }

    /// Tells that the stream has ended, so that bytes behind the last line end are a line of their own.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// The next whole line, without its line end.
    ///
    /// # Errors
    /// The line is too long or not UTF-8. What follows it is not lost.
    #[expect(
        clippy::should_implement_trait,
        reason = "the line borrows from here, so this is no iterator"
    )]
    pub fn next(&mut self) -> Option<Result<&str, FrameError>> {
        self.skip_byte_order_mark()?;
        let line = loop {
            let end = self.find_end();
            let line = self.buffer.get(self.start..end.unwrap_or(self.buffer.len()))?;
            let is_whole = end.is_some() || self.is_finished && !line.is_empty();
            // Where the line end has not come yet, a carriage return may be a part of it.
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.len() > self.limit {
                return Some(Err(self.too_long(end)));
            }
            if !is_whole {
                return None;
            }
            let range = self.start..self.start + line.len();
            let is_blank = line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
            self.start = end.map_or(self.buffer.len(), |end| end + 1);
            self.searched = self.start;
            if !is_blank {
                break range;
            }
        };
        let line = self.buffer.get(line)?;
        Some(
            core::str::from_utf8(line).map_err(|error| FrameError::utf8(error.valid_up_to(), line)),
        )
    }

    /// Skips the mark, if it is there; nothing while that cannot be told.
    fn skip_byte_order_mark(&mut self) -> Option<()> {
        if self.place == Place::Start {
            if self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.start = BYTE_ORDER_MARK.len();
                self.searched = self.start;
            } else if BYTE_ORDER_MARK.starts_with(&self.buffer) && !self.is_finished {
                return None;
            }
            self.place = Place::InLines;
        }
        Some(())
    }

    fn find_end(&mut self) -> Option<usize> {
        let end = memchr(b'\n', self.buffer.get(self.searched..)?).map(|end| self.searched + end);
        self.searched = end.unwrap_or(self.buffer.len());
        end
    }

    /// Drops a line that is too long, as far as it is there.
    fn too_long(&mut self, end: Option<usize>) -> FrameError {
        let head = self.start..self.start.saturating_add(self.limit);
        let Recovered { kind, id } = recover(self.buffer.get(head).unwrap_or_default());
        match end {
            Some(end) => self.start = end + 1,
            None => {
                self.buffer = Vec::new();
                self.start = 0;
                self.place = Place::TooLong;
            }
        }
        self.searched = self.start;
        FrameError::TooLong { limit: self.limit, kind, id }
    }

    /// Forgets the lines that were taken, when that moves fewer bytes than it frees, and grows, though not far past the
    /// limit.
    fn make_room(&mut self, more: usize) {
        let rest = self.buffer.len() - self.start;
        if rest <= self.start {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        if rest == 0 {
            self.buffer.shrink_to(IDLE_CAPACITY);
        }
        let needed = self.buffer.len() + more;
        if needed > self.buffer.capacity() {
            let doubled = needed.max(2 * self.buffer.capacity());
            let enough = self.limit.saturating_add(IDLE_CAPACITY);
            let target = if needed <= enough { doubled.min(enough) } else { doubled };
            self.buffer.reserve_exact(target - self.buffer.len());
        }
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

/// A line that is no text to read a message from; the lines behind it are whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The line is longer than the limit.
    #[error("line longer than {limit} bytes")]
    TooLong {
        /// How many bytes a line may have.
        limit: usize,
        /// What kind of message it starts as, as far as that can be told.
        kind: Option<Kind>,
        /// Its id, where the line has it before the limit and it is clear whose it is.
        id: Option<RequestId>,
    },
    /// The line is not UTF-8.
    #[error("not valid UTF-8 from byte {at}")]
    Utf8 {
        /// Where in the line the first wrong byte is.
        at: usize,
        /// What kind of message it is, as far as that can be told.
        kind: Option<Kind>,
        /// Its id, where it can be read and it is clear whose it is.
        id: Option<RequestId>,
    },
}

impl FrameError {
    /// The code to answer the peer with.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::TooLong { .. } => ErrorCode::INVALID_REQUEST,
            Self::Utf8 { .. } => ErrorCode::PARSE_ERROR,
        }
    }

    /// What kind of message the line is, as far as that can be told.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::TooLong { kind, .. } | Self::Utf8 { kind, .. } => *kind,
        }
    }

    /// The id of the message in the line, as far as that can be told.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::TooLong { id, .. } | Self::Utf8 { id, .. } => id.as_ref(),
        }
    }

    /// The error response that JSON-RPC asks for; notifications and responses are never answered.
    pub fn reply(&self) -> Option<Response<'static>> {
        reply(self.kind(), self.id(), self.code(), self.to_string())
    }

    fn utf8(at: usize, line: &[u8]) -> Self {
        let Recovered { kind, id } = recover(line);
        Self::Utf8 { at, kind, id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_line_ends_takes_no_more_memory_than_a_line() {
        let (limit, read) = (1024 * 1024, [b'a'; 64 * 1024]);
        let mut lines = Lines::new(limit);
        let mut errors = 0;
        for _ in 0..1024 {
            lines.push(&read);
            errors += usize::from(lines.next().is_some());
            assert!(lines.buffer.capacity() <= limit + IDLE_CAPACITY);
        }
        assert_eq!(errors, 1);
        lines.push(b"\n{}\n");
        assert_eq!(lines.next(), Some(Ok("{}")));
    }
}
