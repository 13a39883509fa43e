//! What waits to be written.
use crate::encode;
use crate::framing::Frame;
use crate::message::Message;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use bytes::{Bytes, BytesMut};

/// How much memory is kept for the next message to write, in bytes.
const IDLE_SCRATCH: usize = 256 * 1024;

/// How much memory messages share, in bytes. One that is kept keeps those beside it.
const SHARED: usize = 8 * 1024;

/// The longest message that shares memory with others, in bytes.
const MAX_SHARING: usize = 1024;

/// Who a message on its way out is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// From a client, which waits for room.
    Client,
    /// From the driver: an answer.
    Reply,
}

#[derive(Debug, Default)]
pub(super) struct Outgoing {
    frames: VecDeque<(Frame, Source)>,
    /// How many of them are answers.
    replies: usize,
    /// The message that is added, in memory that stays.
    scratch: Vec<u8>,
    /// Memory for the next frames.
    memory: BytesMut,
}

impl Outgoing {
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// How many are answers.
    pub(super) fn replies(&self) -> usize {
        self.replies
    }

    /// How many are of clients.
    pub(super) fn of_clients(&self) -> usize {
        self.frames.len() - self.replies
    }

    pub(super) fn push(&mut self, message: &Message<'_>, source: Source) {
        self.write(source, |scratch| encode::message(message, scratch));
    }

    /// Adds the message that is written into the given memory.
    pub(super) fn write(&mut self, source: Source, write: impl FnOnce(&mut Vec<u8>)) {
        self.scratch.clear();
        self.scratch.shrink_to(IDLE_SCRATCH);
        write(&mut self.scratch);
        let frame = if self.scratch.len() > MAX_SHARING {
            Bytes::copy_from_slice(&self.scratch)
        } else {
            if self.memory.capacity() < self.scratch.len() {
                self.memory.reserve(SHARED);
            }
            self.memory.extend_from_slice(&self.scratch);
            self.memory.split().freeze()
        };
        self.push_frame(Frame::one_line(frame), source);
    }

    pub(super) fn push_frame(&mut self, frame: Frame, source: Source) {
        if source == Source::Reply {
            self.replies += 1;
        }
        self.frames.push_back((frame, source));
    }

    pub(super) fn pop(&mut self) -> Option<Frame> {
        let (frame, source) = self.frames.pop_front()?;
        if source == Source::Reply {
            self.replies -= 1;
        }
        Some(frame)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
