//! A writer for the deltas of one message or tool call.
use super::{BEGIN, END};
use crate::id::{MessageId, ToolCallId};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{self, DecodeError};
use jsonrpc_core::{JsonStr, write_str};

/// Writes the deltas of one message or tool call. The members common to all of them are encoded
/// once.
///
/// Each event equals what [`write_event`](super::write_event) writes for the same members.
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
/// // Text of another JSON document need not be decoded first.
/// let (escaped, text) = JsonString::parse(r#""Say \"hi\".""#)?;
/// assert_eq!(text, "Say \"hi\".");
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
    /// Creates a writer of `TEXT_MESSAGE_CONTENT` for a message.
    pub fn text_message(id: &MessageId) -> Self {
        Self::new("TEXT_MESSAGE_CONTENT", "messageId", id.as_str())
    }

    /// Creates a writer of `REASONING_MESSAGE_CONTENT` for a message.
    pub fn reasoning_message(id: &MessageId) -> Self {
        Self::new("REASONING_MESSAGE_CONTENT", "messageId", id.as_str())
    }

    /// Creates a writer of `TOOL_CALL_ARGS` for a call.
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

    /// Appends the event of a delta.
    pub fn write(&self, out: &mut Vec<u8>, delta: &str) {
        out.extend_from_slice(&self.head);
        write_str(delta, out);
        out.push(b'}');
        out.extend_from_slice(END);
    }

    /// Appends the event of a delta that is a JSON string already. Its text is copied without a
    /// check.
    pub fn write_escaped(&self, out: &mut Vec<u8>, delta: JsonString<'_>) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(delta.as_str().as_bytes());
        out.push(b'}');
        out.extend_from_slice(END);
    }
}

/// A string as written in a JSON document, with its quotes and escapes. It contains no line end.
///
/// Spec: [Strings, RFC 8259](https://www.rfc-editor.org/rfc/rfc8259#section-7)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonString<'a>(&'a str);

impl<'a> JsonString<'a> {
    /// Reads a JSON string, and returns its value as well. Allocates only for escapes.
    ///
    /// # Errors
    /// The text is not JSON, or is another value.
    pub fn parse(text: &'a str) -> Result<(Self, Cow<'a, str>), DecodeError> {
        if let Some((_, value)) = JsonStr::parse(text) {
            return Ok((Self(text), value));
        }
        // JSON allows white space around the value. The decoder reports why a text is invalid.
        let value = wire::decode::<String>(text)?;
        Ok((Self(text.trim_matches([' ', '\t', '\n', '\r'])), Cow::Owned(value)))
    }

    /// Returns the text, with its quotes and escapes.
    pub fn as_str(self) -> &'a str {
        self.0
    }
}
