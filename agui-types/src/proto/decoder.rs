use super::envelope;
use super::field::Malformed;
use crate::event::Event;
use alloc::vec::Vec;

/// Takes a body of frames apart, in pieces of any size.
///
/// It holds one unfinished frame of up to its limit, and what was pushed last: take the frames of that before the next
/// push. After an error nothing more comes: there is no telling where the next frame begins.
///
/// Spec: [HTTP + Protobuf, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-protobuf)
#[derive(Clone, Debug)]
pub struct Decoder {
    limit: usize,
    held: Vec<u8>,
    /// How many bytes of what is held have been given out.
    taken: usize,
    failed: bool,
}

/// What a frame holds.
///
/// Spec: [HTTP + Protobuf, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-protobuf)
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// An event.
    Event(Event),
    /// An event that this version does not know; it is dropped.
    Unknown {
        /// Its number in the envelope.
        field: u32,
    },
}

/// A body is not frames of events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame says that it is longer than the decoder's limit.
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
    Malformed(#[from] Malformed),
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }
}

impl Decoder {
    /// The bytes that a frame may have, unless another limit is set: 10 MiB, as the first-party client has it.
    pub const DEFAULT_LIMIT: usize = 10 * 1024 * 1024;

    /// A decoder for frames of up to `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self { limit, held: Vec::new(), taken: 0, failed: false }
    }

    /// Takes the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed {
            return;
        }
        self.held.drain(..self.taken);
        self.taken = 0;
        self.held.extend_from_slice(bytes);
    }

    /// The next frame of what was pushed; nothing until more is pushed.
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

    /// Ends the body.
    ///
    /// # Errors
    /// There is a frame of which a part is missing.
    pub fn finish(&self) -> Result<(), FrameError> {
        if self.held.len() > self.taken { Err(FrameError::BrokenOff) } else { Ok(()) }
    }

    fn fail(&mut self) {
        self.failed = true;
        self.taken = 0;
        self.held = Vec::new();
    }
}
