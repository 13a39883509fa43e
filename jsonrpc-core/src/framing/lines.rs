use super::cut::{BYTE_ORDER_MARK, Buffer, Cut, Cutter, is_blank};
use super::skim::TooLong;
use super::{FrameError, TextPolicy};
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
/// | a line longer than the limit | [`FrameError::TooLong`], once, as soon as its id has come, or never will, or at its end; the next line is whole |
/// | a line that is not UTF-8 | [`FrameError::Utf8`], unless the [policy](TextPolicy) is another; the next line is whole |
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
    pub(crate) buffer: Buffer<LineCutter>,
}

impl Lines {
    /// How long a line may be unless told otherwise, in bytes: 16 MiB.
    pub const DEFAULT_LIMIT: usize = super::DEFAULT_LIMIT;

    /// Lines of up to `limit` bytes, not counting the line end.
    pub fn new(limit: usize) -> Self {
        Self { buffer: Buffer::new(LineCutter::new(limit)) }
    }

    /// With another policy for invalid text.
    #[must_use]
    pub fn with_text(mut self, policy: TextPolicy) -> Self {
        self.buffer.text = policy;
        self
    }

    /// Takes the bytes that come next in the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.push(bytes);
    }

    /// Tells that the stream has ended, so that bytes behind the last line end are a line of their own.
    pub fn finish(&mut self) {
        self.buffer.finish();
    }

    /// The next whole line, without its line end.
    ///
    /// # Errors
    /// The line is too long or not UTF-8. What follows it is not lost.
    #[expect(
        clippy::should_implement_trait,
        reason = "the line borrows from here, so this is no iterator"
    )]
    #[inline]
    pub fn next(&mut self) -> Option<Result<&str, FrameError>> {
        self.buffer.next_text()
    }

    /// The same as bytes, for a policy that lets pass what is not UTF-8.
    ///
    /// # Errors
    /// As those of [`next`](Self::next).
    #[inline]
    pub fn next_bytes(&mut self) -> Option<Result<&[u8], FrameError>> {
        self.buffer.next_bytes()
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

/// Finds line ends.
#[derive(Debug)]
pub(crate) struct LineCutter {
    /// Up to where there is no line end.
    searched: usize,
    limit: usize,
    place: Place,
    /// A line that was too long, and has not been told of.
    too_long: Option<TooLong>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the start of the stream, where a byte order mark may stand.
    Start,
    InLines,
    /// In what is left of a line that was too long.
    TooLong,
}

impl LineCutter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { searched: 0, limit, place: Place::Start, too_long: None }
    }
}

impl Cutter for LineCutter {
    #[inline(always)]
    fn glance(&mut self, buffer: &[u8]) -> Option<(usize, usize)> {
        // A line that starts with anything above a space is not blank, and none that is searched here starts earlier.
        let is_at_line = self.place == Place::InLines && self.searched == 0;
        if !is_at_line || self.too_long.is_some() || *buffer.first()? <= b' ' {
            return None;
        }
        let Some(end) = memchr(b'\n', buffer) else {
            self.searched = buffer.len();
            return None;
        };
        let length = end - usize::from(buffer.get(..end)?.ends_with(b"\r"));
        (length <= self.limit).then_some((length, end + 1))
    }

    fn cut(&mut self, buffer: &[u8], is_finished: bool) -> Cut {
        if let Some(too_long) = &self.too_long {
            let is_end = self.place != Place::TooLong || is_finished;
            let Some(error) = too_long.tell(is_end) else { return Cut::Unfinished };
            self.too_long = None;
            return Cut::Error { error, taken: 0 };
        }
        if self.place == Place::Start {
            if BYTE_ORDER_MARK.starts_with(buffer) && buffer != BYTE_ORDER_MARK && !is_finished {
                return Cut::Unfinished;
            }
            self.place = Place::InLines;
            if buffer.starts_with(BYTE_ORDER_MARK) {
                return Cut::Space { taken: BYTE_ORDER_MARK.len() };
            }
        }
        let unsearched = buffer.get(self.searched..).unwrap_or_default();
        let end = memchr(b'\n', unsearched).map(|end| self.searched + end);
        let bytes = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        let taken = end.map_or(buffer.len(), |end| end + 1);
        let is_whole = end.is_some() || is_finished && !bytes.is_empty();
        // Where the line end has not come yet, a carriage return may be a part of it.
        let line = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        self.searched = 0;
        if line.len() > self.limit {
            if end.is_none() {
                self.place = Place::TooLong;
            }
            self.too_long.insert(TooLong::new(self.limit)).pass(bytes);
            return Cut::Space { taken };
        }
        if !is_whole {
            self.searched = buffer.len();
            return Cut::Unfinished;
        }
        if is_blank(line) {
            Cut::Space { taken }
        } else {
            Cut::Message { range: 0..line.len(), taken }
        }
    }

    fn drop_some(&mut self, bytes: &[u8]) -> usize {
        if self.place != Place::TooLong {
            return 0;
        }
        let end = memchr(b'\n', bytes);
        let (dropped, _) = bytes.split_at(end.unwrap_or(bytes.len()));
        self.too_long.iter_mut().for_each(|too_long| too_long.pass(dropped));
        if end.is_some() {
            self.place = Place::InLines;
        }
        dropped.len() + usize::from(end.is_some())
    }

    fn limit(&self) -> usize {
        self.limit
    }
}
