use super::cut::{BYTE_ORDER_MARK, Buffer, Cut, Cutter, is_blank};
use super::skim::TooLong;
use super::{FrameError, HeaderProblem, TextPolicy};
use crate::{Message, encode};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use memchr::{memchr, memchr2};

/// Cuts a stream of bytes into messages that each have a header with their length, as the language server protocol
/// has them.
///
/// Spec: [Base Protocol](https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#baseProtocol)
/// (LSP 3.17)
///
/// It is used as [`Lines`](super::Lines) is, and makes the same promises: any pieces give the same messages, no byte is
/// searched twice, and a length is believed only as far as bytes have come.
///
/// | in the stream | what comes of it |
/// |---|---|
/// | `\r\n`, `\n` | end a line of the header; an empty line ends the header |
/// | `content-length`, in any case, with spaces around the value | taken |
/// | `Content-Length` twice with one value | taken |
/// | `Content-Type`, with any charset, and other names | taken, and not looked at: the text is UTF-8, or an error |
/// | blank lines before a header, a byte order mark at the start of the stream | nothing |
/// | a body that is empty or blank | nothing |
/// | a body longer than the limit | [`FrameError::TooLong`], once, as soon as its id has come, or never will, or at its end; it is dropped as it comes |
/// | a body that is not UTF-8 | [`FrameError::Utf8`], unless the [policy](TextPolicy) is another |
/// | `Content-Length` missing, not a number, beyond 64 bits, or twice with two values | [`FrameError::Header`] |
/// | a line that is no `name: value`; a header longer than [`MAX_HEADER`](Self::MAX_HEADER) | [`FrameError::Header`] |
/// | what stands behind a bad line of a header | dropped, up to the next `Content-Length` with a number and a line end |
/// | the end, inside a header or a body | [`FrameError::Truncated`] |
///
/// ```
/// use jsonrpc_core::framing::ContentLength;
/// use jsonrpc_core::{Message, Notification};
///
/// let mut out = Vec::new();
/// ContentLength::write(&Notification::new("exit", None).into(), &mut out);
/// assert_eq!(out, b"Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
///
/// let mut messages = ContentLength::default();
/// messages.push(&out);
/// assert_eq!(messages.next(), Some(Ok(r#"{"jsonrpc":"2.0","method":"exit"}"#)));
/// assert_eq!(messages.next(), None);
/// ```
#[derive(Debug)]
pub struct ContentLength {
    pub(crate) buffer: Buffer<HeaderCutter>,
}

impl ContentLength {
    /// How long a message may be unless told otherwise, in bytes: 16 MiB.
    pub const DEFAULT_LIMIT: usize = super::DEFAULT_LIMIT;

    /// How long a header may be, in bytes.
    pub const MAX_HEADER: usize = 8 * 1024;

    /// Messages of up to `limit` bytes, not counting the header.
    pub fn new(limit: usize) -> Self {
        Self { buffer: Buffer::new(HeaderCutter::new(limit)) }
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

    /// Tells that the stream has ended.
    pub fn finish(&mut self) {
        self.buffer.finish();
    }

    /// The next whole message, without its header.
    ///
    /// # Errors
    /// The message is too long or not UTF-8, or its header does not tell its length. What follows it is not lost.
    #[expect(
        clippy::should_implement_trait,
        reason = "the message borrows from here, so this is no iterator"
    )]
    pub fn next(&mut self) -> Option<Result<&str, FrameError>> {
        self.buffer.next_text()
    }

    /// The same as bytes, for a policy that lets pass what is not UTF-8.
    ///
    /// # Errors
    /// As those of [`next`](Self::next).
    pub fn next_bytes(&mut self) -> Option<Result<&[u8], FrameError>> {
        self.buffer.next_bytes()
    }

    /// Appends a message behind its header.
    pub fn write(message: &Message<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        encode::message(message, out);
        let header = header_for(out.len() - start);
        out.splice(start..start, header.into_bytes());
    }
}

impl Default for ContentLength {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

/// The header of a message.
pub(crate) fn header_for(length: usize) -> String {
    format!("Content-Length: {length}\r\n\r\n")
}

const NAME: &[u8] = b"content-length";

/// How long a line with a `Content-Length` may be to be found behind a bad header, in bytes.
const MAX_LENGTH_LINE: usize = 64;

/// Reads headers, and counts bytes.
#[derive(Debug)]
pub(crate) struct HeaderCutter {
    pub(crate) limit: usize,
    place: Place,
    /// A message that is too long, and has not been told of.
    too_long: Option<TooLong>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// At the start of the stream, where a byte order mark may stand.
    Start,
    Header(Header),
    /// In a message of so many bytes.
    Body(usize),
    /// In a message that is too long, with so many bytes to come.
    Rest(u64),
    /// Behind a bad header.
    Lost,
}

/// A header that has not ended.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    /// Where the line starts that has not been read.
    line: usize,
    /// Up to where that has no end.
    searched: usize,
    length: Option<u64>,
}

impl Header {
    fn take(&mut self, line: &[u8]) -> Result<(), HeaderProblem> {
        let colon = memchr(b':', line).ok_or(HeaderProblem::Field)?;
        let (name, value) = line.split_at(colon);
        if name.is_empty() || !name.iter().all(is_token) {
            return Err(HeaderProblem::Field);
        }
        if !name.eq_ignore_ascii_case(NAME) {
            return Ok(());
        }
        let length = number(value.get(1..).unwrap_or_default()).ok_or(HeaderProblem::Length)?;
        match self.length.replace(length) {
            Some(other) if other != length => Err(HeaderProblem::Duplicate),
            _ => Ok(()),
        }
    }
}

/// Whether a byte may stand in the name of a field.
fn is_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte)
}

fn number(value: &[u8]) -> Option<u64> {
    let digits = core::str::from_utf8(value.trim_ascii()).ok()?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then_some(digits)?.parse().ok()
}

impl HeaderCutter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, place: Place::Start, too_long: None }
    }

    fn fail(&mut self, problem: HeaderProblem, taken: usize) -> Cut {
        self.place = Place::Lost;
        Cut::Error { error: FrameError::Header(problem), taken }
    }

    fn cut_header(&mut self, mut header: Header, buffer: &[u8], is_finished: bool) -> Cut {
        loop {
            let unsearched = buffer.get(header.searched..).unwrap_or_default();
            let end = memchr(b'\n', unsearched).map(|end| header.searched + end);
            if end.unwrap_or(buffer.len()) >= ContentLength::MAX_HEADER {
                return self.fail(HeaderProblem::TooLong, header.line);
            }
            let Some(end) = end else {
                if is_finished && !is_blank(buffer) {
                    self.place = Place::Lost;
                    return Cut::Error { error: FrameError::truncated(&[]), taken: buffer.len() };
                }
                self.place = Place::Header(Header { searched: buffer.len(), ..header });
                return Cut::Unfinished;
            };
            let line = buffer.get(header.line..end).unwrap_or_default();
            let (is_first, taken) = (header.line == 0, end + 1);
            (header.line, header.searched) = (taken, taken);
            if is_blank(line) {
                return self.end_header(header, is_first, taken);
            }
            if let Err(problem) = header.take(line) {
                return self.fail(problem, taken);
            }
        }
    }

    fn end_header(&mut self, header: Header, is_blank: bool, taken: usize) -> Cut {
        self.place = match header.length {
            None if is_blank => Place::Header(Header::default()),
            None => return self.fail(HeaderProblem::Missing, taken),
            Some(length) => match usize::try_from(length) {
                Ok(length) if length <= self.limit => Place::Body(length),
                _ => {
                    self.too_long = Some(TooLong::new(self.limit));
                    Place::Rest(length)
                }
            },
        };
        Cut::Space { taken }
    }

    fn cut_body(&mut self, length: usize, buffer: &[u8], is_finished: bool) -> Cut {
        let Some(body) = buffer.get(..length) else {
            if !is_finished {
                return Cut::Unfinished;
            }
            self.place = Place::Lost;
            return Cut::Error { error: FrameError::truncated(buffer), taken: buffer.len() };
        };
        self.place = Place::Header(Header::default());
        if is_blank(body) {
            return Cut::Space { taken: length };
        }
        Cut::Message { range: 0..length, taken: length }
    }

    /// Counts what is there of a message that is dropped, and looks for its id.
    fn drop_rest(&mut self, length: u64, bytes: &[u8]) -> usize {
        let (dropped, place) = match usize::try_from(length) {
            Ok(length) if length <= bytes.len() => (length, Place::Header(Header::default())),
            _ => {
                let there = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                (bytes.len(), Place::Rest(length.saturating_sub(there)))
            }
        };
        self.place = place;
        let passed = bytes.get(..dropped).unwrap_or(bytes);
        self.too_long.iter_mut().for_each(|too_long| too_long.pass(passed));
        dropped
    }
}

impl Cutter for HeaderCutter {
    fn cut(&mut self, buffer: &[u8], is_finished: bool) -> Cut {
        if let Place::Rest(length) = self.place
            && !buffer.is_empty()
        {
            return Cut::Space { taken: self.drop_rest(length, buffer) };
        }
        if let Some(too_long) = &self.too_long {
            let is_end = !matches!(self.place, Place::Rest(_)) || is_finished;
            let Some(error) = too_long.tell(is_end) else { return Cut::Unfinished };
            self.too_long = None;
            return Cut::Error { error, taken: 0 };
        }
        match self.place {
            Place::Start => {
                if BYTE_ORDER_MARK.starts_with(buffer) && buffer != BYTE_ORDER_MARK && !is_finished
                {
                    return Cut::Unfinished;
                }
                self.place = Place::Header(Header::default());
                let has_mark = buffer.starts_with(BYTE_ORDER_MARK);
                Cut::Space { taken: if has_mark { BYTE_ORDER_MARK.len() } else { 0 } }
            }
            Place::Header(header) => self.cut_header(header, buffer, is_finished),
            Place::Body(length) => self.cut_body(length, buffer, is_finished),
            Place::Rest(_) => Cut::Unfinished,
            Place::Lost => match find_length_line(buffer) {
                Ok(at) => {
                    self.place = Place::Header(Header::default());
                    Cut::Space { taken: at }
                }
                Err(0) => Cut::Unfinished,
                Err(taken) => Cut::Space { taken },
            },
        }
    }

    fn drop_some(&mut self, bytes: &[u8]) -> usize {
        match self.place {
            Place::Rest(length) => self.drop_rest(length, bytes),
            _ => 0,
        }
    }

    fn limit(&self) -> usize {
        self.limit.saturating_add(ContentLength::MAX_HEADER)
    }
}

/// Where a line starts that tells a length; or how many bytes are certainly no part of one.
///
/// It may stand behind other text, as behind a body whose length nobody told, but not inside JSON: no string has a line
/// end behind the number.
fn find_length_line(buffer: &[u8]) -> Result<usize, usize> {
    let mut at = 0;
    while let Some(found) = memchr2(b'c', b'C', buffer.get(at..).unwrap_or_default()) {
        at += found;
        let rest = buffer.get(at..).unwrap_or_default();
        let (start, behind) = rest.split_at(rest.len().min(NAME.len()));
        if NAME.get(..start.len()).is_some_and(|name| name.eq_ignore_ascii_case(start)) {
            match memchr(b'\n', behind.get(..MAX_LENGTH_LINE).unwrap_or(behind)) {
                Some(end) => {
                    let value = behind.get(..end).and_then(|value| value.strip_prefix(b":"));
                    if value.and_then(number).is_some() {
                        return Ok(at);
                    }
                }
                None if behind.len() < MAX_LENGTH_LINE => return Err(at),
                None => {}
            }
        }
        at += 1;
    }
    Err(buffer.len())
}
