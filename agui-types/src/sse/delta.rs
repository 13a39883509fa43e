use super::{BEGIN, END};
use crate::id::{MessageId, ToolCallId};
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::wire::{self, DecodeError, Raw};
use jsonrpc_core::write_str;
use serde_json::value::RawValue;

/// Writes the deltas of one message or tool call: all that stays the same from one to the next is written once.
///
/// Each is what [`write_event`](super::write_event) writes for an event with these members and no others.
///
/// ```
/// use agui_types::event::TextMessageContentEvent;
/// use agui_types::sse::{self, DeltaWriter, JsonString};
///
/// let writer = DeltaWriter::text_message(&"m".into());
/// let (mut fast, mut slow) = (Vec::new(), Vec::new());
/// writer.write(&mut fast, "Say \"hi\".");
/// sse::write_event(&mut slow, &TextMessageContentEvent::new("m", "Say \"hi\".").into())?;
/// assert_eq!(fast, slow);
///
/// // Text that comes out of another JSON document need not be decoded on the way.
/// let escaped = JsonString::from_text(r#""Say \"hi\".""#)?;
/// fast.clear();
/// writer.write_escaped(&mut fast, escaped);
/// assert_eq!(fast, slow);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [Response, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-sse#response)
#[derive(Clone, Debug)]
pub struct DeltaWriter {
    head: Box<[u8]>,
}

impl DeltaWriter {
    /// For `TEXT_MESSAGE_CONTENT` of a message.
    pub fn text_message(id: &MessageId) -> Self {
        Self::new("TEXT_MESSAGE_CONTENT", "messageId", id.as_str())
    }

    /// For `REASONING_MESSAGE_CONTENT` of a message.
    pub fn reasoning_message(id: &MessageId) -> Self {
        Self::new("REASONING_MESSAGE_CONTENT", "messageId", id.as_str())
    }

    /// For `TOOL_CALL_ARGS` of a call.
    pub fn tool_call_args(id: &ToolCallId) -> Self {
        Self::new("TOOL_CALL_ARGS", "toolCallId", id.as_str())
    }

    fn new(event_type: &str, name: &str, id: &str) -> Self {
        let mut head = Vec::from(BEGIN);
        head.extend_from_slice(b"{\"type\":");
        write_str(event_type, &mut head);
        head.push(b',');
        write_str(name, &mut head);
        head.push(b':');
        write_str(id, &mut head);
        head.extend_from_slice(b",\"delta\":");
        Self { head: head.into() }
    }

    /// Appends the event for a delta.
    pub fn write(&self, out: &mut Vec<u8>, delta: &str) {
        out.extend_from_slice(&self.head);
        write_str(delta, out);
        out.push(b'}');
        out.extend_from_slice(END);
    }

    /// Appends the event for a delta that is a JSON string already; its text is not looked at.
    pub fn write_escaped(&self, out: &mut Vec<u8>, delta: JsonString<'_>) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(delta.as_str().as_bytes());
        out.push(b'}');
        out.extend_from_slice(END);
    }
}

/// A string as it stands in a JSON document, with its quotes and escapes. It has no line end.
///
/// Spec: [Strings, RFC 8259](https://www.rfc-editor.org/rfc/rfc8259#section-7)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonString<'a>(&'a str);

impl<'a> JsonString<'a> {
    /// Checks that a text is a JSON string, and nothing else.
    ///
    /// # Errors
    /// It is not JSON, or another value.
    pub fn from_text(text: &'a str) -> Result<Self, DecodeError> {
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        if inner.is_some_and(|inner| is_between_quotes(inner.as_bytes())) {
            return Ok(Self(text));
        }
        // JSON may have white space around the value. Why a text is none, the decoder says.
        wire::decode::<alloc::string::String>(text)?;
        Ok(Self(text.trim_matches([' ', '\t', '\n', '\r'])))
    }

    /// The text, with its quotes and escapes.
    pub fn as_str(self) -> &'a str {
        self.0
    }
}

/// Whether a text is the inside of a JSON string.
fn is_between_quotes(mut rest: &[u8]) -> bool {
    loop {
        let plain = rest.iter().position(|byte| *byte < b' ' || matches!(byte, b'"' | b'\\'));
        let (_, escape) = rest.split_at(plain.unwrap_or(rest.len()));
        rest = match escape {
            [] => return true,
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', behind @ ..] => behind,
            _ => match unit(escape) {
                Some((0xd800..0xdc00, behind)) => match unit(behind) {
                    Some((0xdc00..0xe000, behind)) => behind,
                    _ => return false,
                },
                Some((0xdc00..0xe000, _)) | None => return false,
                Some((_, behind)) => behind,
            },
        }
    }
}

/// A code unit that is spelt in hexadecimal, and what follows.
fn unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, behind) = text.strip_prefix(b"\\u")?.split_first_chunk::<4>()?;
    let digit = |unit, digit: &u8| Some(unit << 4 | char::from(*digit).to_digit(16)?);
    Some((digits.iter().try_fold(0, digit)?, behind))
}

impl<'a> TryFrom<&'a RawValue> for JsonString<'a> {
    type Error = NotAString;

    fn try_from(value: &'a RawValue) -> Result<Self, NotAString> {
        let text = value.get();
        if text.starts_with('"') { Ok(Self(text)) } else { Err(NotAString) }
    }
}

impl<'a> TryFrom<&'a Raw> for JsonString<'a> {
    type Error = NotAString;

    fn try_from(value: &'a Raw) -> Result<Self, NotAString> {
        Self::try_from(value.as_ref())
    }
}

/// A JSON value is not a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the JSON value is not a string")]
pub struct NotAString;
