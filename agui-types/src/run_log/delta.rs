//! Joins deltas without decoding: the frames of one message differ only in their text.
use alloc::vec::Vec;
use bytes::Bytes;
use memchr::memchr;

/// The frame of a delta without members other than its target and its text.
#[derive(Debug)]
pub(super) struct DeltaFrame {
    /// The frame without an id.
    bytes: Vec<u8>,
    /// Length of the frame before the text.
    head: usize,
}

/// Beginnings of such frames, before the id of the target.
const STARTS: [&[u8]; 3] = [
    br#"data: {"type":"TEXT_MESSAGE_CONTENT","messageId":""#,
    br#"data: {"type":"REASONING_MESSAGE_CONTENT","messageId":""#,
    br#"data: {"type":"TOOL_CALL_ARGS","toolCallId":""#,
];

/// The frame between the id of the target and the text.
const MIDDLE: &[u8] = br#"","delta":""#;

/// The frame after the text.
const END: &[u8] = b"\"}\n\n";

impl DeltaFrame {
    /// Returns the frame of a delta, or `None` for another frame.
    pub(super) fn new(frame: &[u8]) -> Option<Self> {
        let frame = without_id(frame);
        let start = STARTS.iter().find(|start| frame.starts_with(start))?.len();
        let id = plain_length(frame.get(start..)?)?;
        let head = start + id + MIDDLE.len();
        if frame.get(start + id..head)? != MIDDLE {
            return None;
        }
        is_text(frame.get(head..)?).then(|| Self { bytes: frame.into(), head })
    }

    /// Appends the text of another delta of the same target. Returns `false` for other frames.
    pub(super) fn join(&mut self, frame: &[u8]) -> bool {
        let head = self.bytes.get(..self.head).unwrap_or_default();
        let Some(text) = without_id(frame).strip_prefix(head).filter(|text| is_text(text)) else {
            return false;
        };
        self.bytes.truncate(self.bytes.len() - END.len());
        self.bytes.extend_from_slice(text);
        true
    }

    /// Returns whether a frame is a delta of the same target.
    pub(super) fn continues(&self, frame: &[u8]) -> bool {
        self.bytes.get(..self.head).is_some_and(|head| frame.starts_with(head))
    }

    /// Returns the size of the frame.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn into_bytes(self) -> Bytes {
        // The log holds no spare capacity.
        self.bytes.into_boxed_slice().into()
    }
}

/// Returns the frame without its `id` line.
fn without_id(frame: &[u8]) -> &[u8] {
    if !frame.starts_with(b"id: ") {
        return frame;
    }
    let end = memchr(b'\n', frame).unwrap_or_default();
    frame.get(end + 1..).unwrap_or_default()
}

/// Returns whether `rest` is the text and the end of a frame.
fn is_text(rest: &[u8]) -> bool {
    plain_length(rest).is_some_and(|length| rest.get(length..) == Some(END))
}

/// Returns the length of a JSON string before its closing quote.
fn plain_length(string: &[u8]) -> Option<usize> {
    let mut length = 0;
    loop {
        let rest = string.get(length..)?;
        length += rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if string.get(length) == Some(&b'"') {
            return Some(length);
        }
        length += 2;
    }
}
