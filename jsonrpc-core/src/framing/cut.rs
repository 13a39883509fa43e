//! Detection of line ends in bytes that arrive in pieces, and removal of lines that are too long.
use super::FrameError;
use super::too_long::OverlongLine;
use memchr::memchr;

/// The beginning of a buffer.
#[derive(Debug)]
pub(crate) enum Cut {
    /// A line of `length` bytes, which occupies `taken` bytes with its end.
    Line { length: usize, taken: usize },
    /// Bytes outside of lines.
    Space { taken: usize },
    /// A line that is too long. All of its buffered bytes were taken before.
    Error(FrameError),
    /// The start of an incomplete line.
    Unfinished,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Spare room after the longest line, in bytes, so that a read that ends it does not grow the
/// buffer.
pub(crate) const BEHIND: usize = 128 * 1024;

/// Splits a stream into lines. It remembers how far the buffer was searched: pass in the same bytes
/// again, without those that were taken and with new ones appended.
#[derive(Debug)]
pub(crate) struct LineCutter {
    /// Up to this place there is no line end.
    searched: usize,
    limit: usize,
    place: Place,
    /// A line that is too long, until it is reported.
    too_long: Option<OverlongLine>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the start of the stream, where a byte order mark is permitted.
    Start,
    InLines,
    /// In the rest of a line that is too long.
    TooLong,
}

impl LineCutter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { searched: 0, limit, place: Place::Start, too_long: None }
    }

    /// Returns the length of the longest line, in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the length of the line at the beginning of the buffer, and the number of bytes with
    /// its end, in the frequent case; [`cut`](Self::cut) handles the others.
    #[inline(always)]
    pub(crate) fn glance(&mut self, buffer: &[u8]) -> Option<(usize, usize)> {
        // A line that starts with a byte above a space is not blank.
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

    /// Examines the bytes that were not taken.
    pub(crate) fn cut(&mut self, buffer: &[u8], is_finished: bool) -> Cut {
        if let Some(too_long) = &self.too_long {
            let is_end = self.place != Place::TooLong || is_finished;
            let Some(error) = too_long.error(is_end) else { return Cut::Unfinished };
            self.too_long = None;
            return Cut::Error(error);
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
        // If the line end has not arrived, a carriage return may be part of it.
        let line = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        self.searched = 0;
        if line.len() > self.limit {
            if end.is_none() {
                self.place = Place::TooLong;
            }
            self.too_long.insert(OverlongLine::new(self.limit)).pass(bytes);
            return Cut::Space { taken };
        }
        if !is_whole {
            self.searched = buffer.len();
            return Cut::Unfinished;
        }
        if is_blank(line) { Cut::Space { taken } } else { Cut::Line { length: line.len(), taken } }
    }

    /// Returns the number of following bytes that are dropped unread; the buffer is empty
    /// meanwhile.
    pub(crate) fn drop_some(&mut self, bytes: &[u8]) -> usize {
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
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}
