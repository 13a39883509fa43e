//! The decoder of a body of frames.
use super::envelope::{self, Frame};
use super::field::DecodeError;
use alloc::vec::Vec;

/// Splits a body of frames that arrives in pieces of any size.
///
/// It holds one unfinished frame up to its limit, and the bytes of the last push. Take all frames
/// before the next push. No frame follows an error, since the start of the next frame is unknown.
///
/// Spec: [HTTP + Protobuf, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-protobuf)
#[derive(Clone, Debug)]
pub struct Decoder {
    limit: usize,
    held: Vec<u8>,
    /// Number of buffered bytes that have been returned.
    taken: usize,
    failed: bool,
}

/// An error splitting a body into frames of events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame declares a length beyond the decoder's limit.
    #[error("the frame is longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The body ends within a frame.
    #[error("the body ends within a frame")]
    BrokenOff,
    /// A frame does not hold an event.
    #[error(transparent)]
    Malformed(#[from] DecodeError),
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }
}

impl Decoder {
    /// Default largest size of a frame: 10 MiB, as in the first-party client.
    pub const DEFAULT_LIMIT: usize = 10 * 1024 * 1024;

    /// Creates a decoder for frames of up to `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self { limit, held: Vec::new(), taken: 0, failed: false }
    }

    /// Handles the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed {
            return;
        }
        self.held.drain(..self.taken);
        self.taken = 0;
        self.held.extend_from_slice(bytes);
    }

    /// Returns the next frame, or `None` until more bytes are pushed.
    pub fn next_frame(&mut self) -> Option<Result<Frame, FrameError>> {
        let held = self.held.get(self.taken..)?;
        let (length, rest) = held.split_first_chunk()?;
        let length = u32::from_be_bytes(*length) as usize;
        if length > self.limit {
            self.fail();
            return Some(Err(FrameError::TooLong { limit: self.limit }));
        }
        let frame = rest.get(..length)?;
        self.taken += 4 + length;
        let decoded = envelope::decode(frame);
        if decoded.is_err() {
            self.fail();
        }
        Some(decoded.map_err(FrameError::from))
    }

    /// Handles the end of the body.
    ///
    /// # Errors
    /// The last frame is incomplete.
    pub fn finish(&self) -> Result<(), FrameError> {
        if self.held.len() > self.taken { Err(FrameError::BrokenOff) } else { Ok(()) }
    }

    fn fail(&mut self) {
        self.failed = true;
        self.taken = 0;
        self.held = Vec::new();
    }
}
