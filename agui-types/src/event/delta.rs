use super::{Event, ReasoningMessageContentEvent, TextMessageContentEvent, ToolCallArgsEvent};
use alloc::borrow::Cow;
use alloc::string::String;
use jsonrpc_core::wire;

/// A delta that borrows from the text it was read from: most events of most streams are deltas with nothing else in them.
///
/// ```
/// use agui_types::event::{DeltaKind, DeltaRef, Event, TextMessageContentEvent};
///
/// let text = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hi"}"#;
/// let delta = DeltaRef::read(text).ok_or("something else")?;
/// assert_eq!((delta.kind, &*delta.id, &*delta.delta), (DeltaKind::TextMessage, "m", "Hi"));
/// assert_eq!(Event::from(delta), TextMessageContentEvent::new("m", "Hi").into());
/// assert_eq!(DeltaRef::read(r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#), None);
/// # Ok::<(), &str>(())
/// ```
///
/// Spec: [Open, content, close, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#open-content-close)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeltaRef<'a> {
    /// What goes on.
    pub kind: DeltaKind,
    /// The message, or the tool call.
    pub id: Cow<'a, str>,
    /// What is appended.
    pub delta: Cow<'a, str>,
}

/// What a delta goes to.
///
/// Spec: [Streaming Messages, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeltaKind {
    /// A text message: `TEXT_MESSAGE_CONTENT`.
    TextMessage,
    /// A reasoning message: `REASONING_MESSAGE_CONTENT`.
    ReasoningMessage,
    /// The arguments of a tool call: `TOOL_CALL_ARGS`.
    ToolCallArgs,
}

impl<'a> DeltaRef<'a> {
    /// Reads an event that is a delta and has no member beyond what deltas need. Of any other text, be it an event or
    /// not, this says nothing: decode it as an [`Event`].
    pub fn read(text: &'a str) -> Option<Self> {
        let mut text = trim(text.trim_end_matches(SPACE)).strip_prefix('{').map(trim)?;
        let (mut kind, mut message, mut call, mut delta) = (None, None, None, None);
        loop {
            let (name, rest) = string(text)?;
            let rest = trim(trim(rest).strip_prefix(':')?);
            let (value, rest) = string(rest)?;
            let slot = match &*name {
                "type" => &mut kind,
                "messageId" => &mut message,
                "toolCallId" => &mut call,
                "delta" => &mut delta,
                _ => return None,
            };
            if slot.replace(value).is_some() {
                return None;
            }
            let rest = trim(rest);
            match rest.strip_prefix(',') {
                Some(rest) => text = trim(rest),
                None if rest == "}" => break,
                None => return None,
            }
        }
        let (kind, id, other) = match &*kind? {
            "TEXT_MESSAGE_CONTENT" => (DeltaKind::TextMessage, message, call),
            "REASONING_MESSAGE_CONTENT" => (DeltaKind::ReasoningMessage, message, call),
            "TOOL_CALL_ARGS" => (DeltaKind::ToolCallArgs, call, message),
            _ => return None,
        };
        match other {
            None => Some(Self { kind, id: id?, delta: delta? }),
            Some(_) => None,
        }
    }
}

/// What may stand between the tokens of JSON.
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

fn trim(text: &str) -> &str {
    text.trim_start_matches(SPACE)
}

/// A JSON string at the begin of a text, and what is behind it.
fn string(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut end = crate::sse::plain_prefix(inner.as_bytes());
    if inner.as_bytes().get(end) == Some(&b'"') {
        let (plain, rest) = inner.split_at(end);
        return Some((Cow::Borrowed(plain), rest.get(1..)?));
    }
    // It has escapes, or what no string has.
    loop {
        match inner.as_bytes().get(end)? {
            b'"' => break,
            b'\\' => end += 2,
            _ => return None,
        }
        end += crate::sse::plain_prefix(inner.as_bytes().get(end..)?);
    }
    let unescaped: String = wire::decode(text.get(..end + 2)?).ok()?;
    Some((Cow::Owned(unescaped), inner.get(end + 1..)?))
}

impl From<DeltaRef<'_>> for Event {
    fn from(delta: DeltaRef<'_>) -> Self {
        let DeltaRef { kind, id, delta } = delta;
        match kind {
            DeltaKind::TextMessage => TextMessageContentEvent::new(id, delta).into(),
            DeltaKind::ReasoningMessage => ReasoningMessageContentEvent::new(id, delta).into(),
            DeltaKind::ToolCallArgs => ToolCallArgsEvent::new(id, delta).into(),
        }
    }
}
