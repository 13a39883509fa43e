//! Joins deltas without decoding: the frames of one message differ only in their text.
use alloc::vec::Vec;
use bytes::Bytes;

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
    let end = line_end(frame).unwrap_or_default();
    frame.get(end + 1..).unwrap_or_default()
}

/// Returns the position of the first line feed. Ids have many bytes, so that eight are compared at a time.
fn line_end(bytes: &[u8]) -> Option<usize> {
    const LOWEST: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHEST: u64 = u64::from_ne_bytes([0x80; 8]);
    const LINE_FEEDS: u64 = u64::from_ne_bytes([b'\n'; 8]);
    let (words, rest) = bytes.as_chunks();
    for (place, word) in words.iter().enumerate() {
        // A zero byte marks a line feed. The subtraction borrows from zero bytes first.
        let differences = u64::from_le_bytes(*word) ^ LINE_FEEDS;
        let found = differences.wrapping_sub(LOWEST) & !differences & HIGHEST;
        if found != 0 {
            return Some(place * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    Some(words.len() * 8 + end)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The end of a line is the first line feed.
        #[test]
        fn line_end_is_the_first_line_feed(
            bytes in prop::collection::vec(prop_oneof![8 => any::<u8>(), 1 => 9..12_u8], 0..40),
        ) {
            let expected = bytes.iter().position(|byte| *byte == b'\n');
            prop_assert_eq!(line_end(&bytes), expected);
        }
    }
}
