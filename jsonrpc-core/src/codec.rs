//! A decoder and an encoder of lines for `tokio-util`, for any tokio reader and writer.
//!
//! With a child process, its standard input and output:
//!
//! ```
//! use futures::{SinkExt, StreamExt};
//! use jsonrpc_core::codec::Codec;
//! use jsonrpc_core::framing::Lines;
//! use jsonrpc_core::{Message, Request};
//! use std::process::Stdio;
//! use tokio_util::codec::{FramedRead, FramedWrite};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `cat` stands for a server that repeats its input.
//! let mut child = tokio::process::Command::new("cat")
//!     .stdin(Stdio::piped())
//!     .stdout(Stdio::piped())
//!     .spawn()?;
//! let stdin = child.stdin.take().ok_or("no stdin")?;
//! let stdout = child.stdout.take().ok_or("no stdout")?;
//! let mut out = FramedWrite::new(stdin, Codec::new(Lines::default()));
//! let mut read = FramedRead::with_capacity(stdout, Codec::new(Lines::default()), 64 * 1024);
//!
//! out.send(Message::from(Request::new(1, "ping", None))).await?;
//! // An I/O error ends the stream. An invalid line is one error item, and the next line is intact.
//! let frame = read.next().await.ok_or("closed")???;
//! assert!(matches!(Message::decode(frame.text()?)?, Message::Request(ping) if ping.method == "ping"));
//!
//! drop(out);
//! assert!(read.next().await.is_none());
//! child.wait().await?;
//! # Ok(())
//! # }
//! ```
use crate::framing::{
    BEHIND, Cut, Frame, FrameError, InvalidTextAction, LineCutter, Lines, TextPolicy,
};
use crate::{Message, encode, json_text};
use alloc::vec::Vec;
use bytes::{Buf, Bytes, BytesMut};
use core::mem;
use std::io;
use tokio_util::codec::{Decoder, Encoder};

/// A [`Decoder`] and an [`Encoder`] for [`Lines`].
///
/// It decodes [`Frame`]s: slices of the read buffer, copied only if text has to be repaired. An
/// invalid message is an item as well, so that it does not end the stream.
///
/// It encodes [`Message`]s and forwarded frames. Each becomes one contiguous piece with its line
/// end, and is written in one call.
#[derive(Debug)]
pub struct Codec {
    cutter: LineCutter,
    text: TextPolicy,
    /// An outgoing message.
    scratch: Vec<u8>,
}

/// Size of one read, in bytes.
const READ: usize = 16 * 1024;

/// Buffer capacity that is kept after an oversized message, in bytes.
const IDLE_BUFFER: usize = 256 * 1024;

/// Scratch capacity that is kept between messages, in bytes.
const IDLE_SCRATCH: usize = 256 * 1024;

impl Codec {
    /// Creates a codec with the limit and the text policy of `lines`.
    pub fn new(lines: Lines) -> Self {
        let (cutter, text) = lines.into_parts();
        Self { cutter, text, scratch: Vec::new() }
    }

    /// Converts a received message as the policy requires.
    fn frame(&self, mut message: BytesMut) -> Result<Frame, FrameError> {
        // Of two defects, invalid UTF-8 is reported first.
        let is_checked_below = self.text.surrogates == InvalidTextAction::Pass;
        let policy = if is_checked_below { self.text.before_text() } else { self.text };
        if let Some(repaired) = policy.apply(&mut message)? {
            return Frame::of_text(repaired.into());
        }
        match self.text.utf8 {
            InvalidTextAction::Reject | InvalidTextAction::Repair => {
                Frame::of_text(message.freeze())
            }
            InvalidTextAction::Pass => Ok(message.freeze().into()),
        }
    }

    fn next(
        &mut self,
        buffer: &mut BytesMut,
        is_finished: bool,
    ) -> Option<Result<Frame, FrameError>> {
        if buffer.is_empty() && !is_finished {
            self.make_room(buffer);
            return None;
        }
        buffer.advance(self.cutter.drop_some(buffer));
        loop {
            match self.cutter.cut(buffer, is_finished) {
                Cut::Line { length, taken } => {
                    let mut message = buffer.split_to(taken);
                    message.truncate(length);
                    return Some(self.frame(message));
                }
                Cut::Space { taken } => {
                    buffer.advance(taken);
                    if buffer.is_empty() && taken > IDLE_BUFFER {
                        // The buffer has grown for a message that was dropped.
                        *buffer = BytesMut::new();
                    }
                }
                Cut::Error(error) => return Some(Err(error)),
                Cut::Unfinished => {
                    self.make_room(buffer);
                    return None;
                }
            }
        }
    }

    /// Makes room for a read. The buffer doubles in size, but not beyond the longest message.
    fn make_room(&self, buffer: &mut BytesMut) {
        let enough = self.cutter.limit().saturating_add(BEHIND);
        let length = buffer.len();
        let capacity = buffer.capacity();
        let is_last = capacity < enough && enough < capacity.saturating_mul(2);
        if capacity - length >= READ || !is_last {
            return buffer.reserve(READ);
        }
        let mut bytes = Vec::from(mem::take(buffer));
        bytes.reserve_exact(enough.saturating_sub(length));
        *buffer = Bytes::from(bytes).try_into_mut().unwrap_or_else(|bytes| (&*bytes).into());
    }
}

impl Decoder for Codec {
    type Item = Result<Frame, FrameError>;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        Ok(self.next(buffer, false))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        let next = self.next(buffer, true);
        if next.is_none() {
            buffer.clear();
        }
        Ok(next)
    }
}

impl Encoder<Message<'_>> for Codec {
    type Error = io::Error;

    fn encode(&mut self, message: Message<'_>, out: &mut BytesMut) -> io::Result<()> {
        self.scratch.clear();
        self.scratch.shrink_to(IDLE_SCRATCH);
        encode::message(&message, &mut self.scratch);
        put_line(&self.scratch, out);
        Ok(())
    }
}

impl Encoder<Frame> for Codec {
    type Error = io::Error;

    fn encode(&mut self, frame: Frame, out: &mut BytesMut) -> io::Result<()> {
        let start = out.len();
        put_line(frame.as_bytes(), out);
        let end = out.len() - 1;
        json_text::keep_on_one_line(out.get_mut(..end).unwrap_or_default(), start);
        Ok(())
    }
}

/// Appends a message and its line end.
fn put_line(message: &[u8], out: &mut BytesMut) {
    out.reserve(message.len() + 1);
    out.extend_from_slice(message);
    out.extend_from_slice(b"\n");
}
