//! The decoder of a body of server-sent events.
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;
use jsonrpc_core::wire::{self, DecodeError, Wire};

/// Splits a body of server-sent events that arrives in pieces of any size.
///
/// It accepts what browsers accept: line feeds, carriage returns or both as line ends, `data` over
/// several lines, comments, a byte order mark and unknown fields. Frames are returned in order. A
/// frame that is too long or not UTF-8 is one error, and decoding continues after it.
///
/// It holds one unfinished frame up to its limit, and the frames of the last push. Take all frames
/// before the next push.
///
/// ```
/// use agui_types::event::Event;
/// use agui_types::sse::Decoder;
///
/// let mut decoder = Decoder::default();
/// decoder.push(br#"data: {"type":"RUN_ERROR","#);
/// assert!(decoder.next_frame().is_none());
/// decoder.push(b"\"message\":\"stopped\"}\n\n");
/// let frame = decoder.next_frame().ok_or("no frame")??;
/// assert_eq!(frame.decode::<Event>()?.tag(), "RUN_ERROR");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [Server-sent events,
/// HTML](https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream)
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    ready: VecDeque<Result<Frame, FrameError>>,
    line: Vec<u8>,
    data: Option<String>,
    event: Option<String>,
    last_event_id: String,
    retry: Option<Duration>,
    /// No line has ended yet, so a byte order mark may begin the first one.
    first: bool,
    /// The last byte was a carriage return; a following line feed belongs to it.
    after_return: bool,
    /// The frame exceeds the limit; the rest of it is skipped.
    too_long: bool,
    /// A line of the frame is not UTF-8.
    not_utf8: bool,
}

/// One dispatched event of a stream.
///
/// Spec: [Dispatching,
/// HTML](https://html.spec.whatwg.org/multipage/server-sent-events.html#dispatchMessage)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// The `data` lines, joined by line feeds.
    pub data: String,
    /// The `event` field, which AG-UI does not use.
    pub event: Option<String>,
    /// The `id` field of this frame or of the last frame that had one. AG-UI does not use it.
    pub last_event_id: String,
}

impl Frame {
    /// Decodes the data as JSON: an [`Event`](crate::event::Event), or another type.
    ///
    /// # Errors
    /// The data is not JSON, or not a `T`. The error has the position.
    pub fn decode<T: Wire>(&self) -> Result<T, DecodeError> {
        wire::decode(&self.data)
    }
}

/// An error reading a frame. Later frames are not affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The frame exceeds the decoder's limit.
    #[error("the frame is longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The frame is not UTF-8.
    #[error("the frame is not UTF-8")]
    NotUtf8,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }
}

impl Decoder {
    /// Default largest size of a frame's lines: 10 MiB, as in the first-party client.
    pub const DEFAULT_LIMIT: usize = 10 * 1024 * 1024;

    /// Creates a decoder for frames of up to `limit` bytes, line ends and comments not counted.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            ready: VecDeque::new(),
            line: Vec::new(),
            data: None,
            event: None,
            last_event_id: String::new(),
            retry: None,
            first: true,
            after_return: false,
            too_long: false,
            not_utf8: false,
        }
    }

    /// Handles the next bytes of the body.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while let Some(&first) = bytes.first() {
            if mem::take(&mut self.after_return) && first == b'\n' {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (text, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.extend_line(text);
            let Some((&end, rest)) = rest.split_first() else { return };
            self.after_return = end == b'\r';
            self.end_line();
            bytes = rest;
        }
    }

    /// Returns the next frame, or `None` until more bytes are pushed.
    pub fn next_frame(&mut self) -> Option<Result<Frame, FrameError>> {
        self.ready.pop_front()
    }

    /// Handles the end of the body. Lines without a final empty line become a frame.
    ///
    /// Browsers drop such a frame; the first-party client reads it. It may be truncated, so data
    /// that fails to decode is not necessarily an error of the producer.
    pub fn finish(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch();
    }

    /// Returns the reconnection delay, if the stream has set one. AG-UI does not use it.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn extend_line(&mut self, text: &[u8]) {
        let Some(&first) = self.line.first().or(text.first()) else { return };
        self.too_long |= first != b':' && self.held() + text.len() > self.limit;
        if first == b':' || self.too_long {
            // The rest of the line is not needed; one byte marks the line as not empty.
            self.line.clear();
            self.line.push(first);
        } else {
            self.line.extend_from_slice(text);
        }
    }

    fn held(&self) -> usize {
        let fields = [&self.data, &self.event].map(|field| field.as_ref().map_or(0, String::len));
        self.line.len() + fields.iter().sum::<usize>()
    }

    fn end_line(&mut self) {
        let mut line = mem::take(&mut self.line);
        let text = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(text) if self.first => text,
            _ => &line,
        };
        self.first = false;
        match (text.first(), str::from_utf8(text)) {
            (None, _) => self.dispatch(),
            (Some(b':'), _) => {}
            (Some(_), _) if self.too_long => {}
            (Some(_), Ok(text)) => self.set_field(text),
            (Some(_), Err(_)) => self.not_utf8 = true,
        }
        line.clear();
        self.line = line;
    }

    fn set_field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                none => *none = Some(value.into()),
            },
            "event" => self.event = Some(value.into()),
            "id" if !value.contains('\0') => self.last_event_id = value.into(),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().map(Duration::from_millis).ok().or(self.retry);
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        let data = self.data.take();
        let event = self.event.take();
        let too_long = mem::take(&mut self.too_long);
        let not_utf8 = mem::take(&mut self.not_utf8);
        if too_long {
            self.ready.push_back(Err(FrameError::TooLong { limit: self.limit }));
        } else if not_utf8 {
            self.ready.push_back(Err(FrameError::NotUtf8));
        } else if let Some(data) = data {
            let last_event_id = self.last_event_id.clone();
            self.ready.push_back(Ok(Frame { data, event, last_event_id }));
        }
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();
