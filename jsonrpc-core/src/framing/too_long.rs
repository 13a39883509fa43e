//! Detection of the id of a message that is too long to be buffered.
use super::FrameError;
use crate::RequestId;
use crate::envelope::{MessageFragment, recover};
use alloc::boxed::Box;
use alloc::vec::Vec;
use memchr::memchr2;

/// A message that is too long, until it is reported.
#[derive(Debug)]
pub(super) struct OverlongLine {
    limit: usize,
    /// Remaining number of bytes that may be kept. All of these are examined, and of the rest only
    /// what is needed.
    head: usize,
    outline: Box<Outline>,
}

impl OverlongLine {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, head: limit, outline: Box::default() }
    }

    /// Examines the next bytes of the message.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        let (head, behind) = bytes.split_at(bytes.len().min(self.head));
        if self.head > 0 {
            self.head -= head.len();
            self.outline.pass(head, false);
            if self.head == 0 {
                self.outline.decide();
            }
        }
        self.outline.pass(behind, true);
    }

    /// Returns the error as soon as it is final: id and kind are known or cannot become known, or
    /// the message has ended.
    pub(super) fn error(&self, is_end: bool) -> Option<FrameError> {
        let is_decided = self.head == 0 && self.outline.is_decided;
        (is_end || is_decided).then(|| {
            let MessageFragment { kind, id } = recover(&self.outline.kept);
            FrameError::TooLong { limit: self.limit, kind, id }
        })
    }
}

/// A message without the contents of its arrays, objects and long strings, short enough for the
/// envelope reader.
#[derive(Debug, Default)]
struct Outline {
    kept: Vec<u8>,
    place: Place,
    /// Which of the open brackets belong to objects, as bits.
    open: [u64; MAX_DEPTH / 64],
    depth: usize,
    /// Whether further bytes cannot add information.
    is_decided: bool,
}

/// Largest depth of a message.
const MAX_DEPTH: usize = 1024;

/// Number of kept bytes of a string. A longer id is invalid.
const MAX_STRING: usize = RequestId::MAX_LEN + 1;

/// Number of kept bytes of a message.
const MAX_KEPT: usize = 2 * MAX_STRING;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    /// Between strings.
    Between,
    /// In a string with this number of kept bytes.
    String { kept: usize, is_escaped: bool },
    /// After the message, or after an invalid part.
    End,
}

impl Outline {
    /// Examines bytes; if `stops`, only until the result is final.
    fn pass(&mut self, bytes: &[u8], stops: bool) {
        let mut rest = bytes;
        while !(stops && self.is_decided) {
            if let Place::String { kept, is_escaped: false } = self.place {
                let plain = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                let (string, behind) = rest.split_at(plain);
                let room = MAX_STRING.saturating_sub(kept);
                let string = string.get(..room).unwrap_or(string);
                self.keep(string);
                self.place = Place::String { kept: kept + string.len(), is_escaped: false };
                rest = behind;
            }
            let Some((&byte, behind)) = rest.split_first() else { return };
            self.take(byte);
            let is_token = matches!(byte, b'"' | b'{' | b'[' | b'}' | b']' | b',');
            if stops && (self.place == Place::End || self.depth < 2 && is_token) {
                self.decide();
            }
            rest = behind;
        }
    }

    fn take(&mut self, byte: u8) {
        match self.place {
            Place::String { kept, is_escaped } => self.string(byte, kept, is_escaped),
            Place::End => {}
            Place::Start => match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b'{' => self.open(true),
                _ => self.place = Place::End,
            },
            Place::Between => match byte {
                b'{' | b'[' => self.open(byte == b'{'),
                b'}' | b']' => self.close(byte),
                _ => {
                    self.keep(&[byte]);
                    if byte == b'"' {
                        self.place = Place::String { kept: 0, is_escaped: false };
                    }
                }
            },
        }
    }

    /// Handles a byte of a string. A truncated string ends between two escapes.
    fn string(&mut self, byte: u8, kept: usize, is_escaped: bool) {
        let is_end = byte == b'"' && !is_escaped;
        // An escape may have five more bytes.
        let is_kept = is_end || is_escaped || kept + 6 <= MAX_STRING;
        if is_kept {
            self.keep(&[byte]);
        }
        self.place = if is_end {
            Place::Between
        } else {
            let is_escape = byte == b'\\' && !is_escaped;
            Place::String { kept: kept + usize::from(is_kept), is_escaped: is_escape }
        };
    }

    fn open(&mut self, is_object: bool) {
        let bit = 1 << (self.depth % 64);
        match self.open.get_mut(self.depth / 64) {
            Some(open) if is_object => *open |= bit,
            Some(open) => *open &= !bit,
            None => return self.place = Place::End,
        }
        // The brackets of members are kept, but not their contents.
        self.keep(if is_object { b"{" } else { b"[" });
        self.depth += 1;
        self.place = Place::Between;
    }

    fn close(&mut self, bracket: u8) {
        self.depth = self.depth.saturating_sub(1);
        self.keep(&[bracket]);
        let open = self.open.get(self.depth / 64).copied().unwrap_or_default();
        let is_object = open >> (self.depth % 64) & 1 == 1;
        if self.depth == 0 || is_object != (bracket == b'}') {
            self.place = Place::End;
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.depth < 2 {
            self.kept.extend_from_slice(bytes);
            if self.kept.len() > MAX_KEPT {
                self.place = Place::End;
            }
        }
    }

    /// Determines whether the result is final.
    fn decide(&mut self) {
        self.is_decided = self.place == Place::End || recover(&self.kept).id.is_some();
    }
}
