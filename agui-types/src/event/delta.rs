//! Borrowed deltas, for streams in which most events are plain deltas.
use super::{Event, ReasoningMessageContentEvent, TextMessageContentEvent, ToolCallArgsEvent};
use alloc::borrow::Cow;
use jsonrpc_core::{JsonStr, MemberReader};

/// A delta that borrows from its text, without members beyond the required ones.
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
/// Spec: [Open, content, close,
/// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#open-content-close)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeltaRef<'a> {
    /// The kind of target.
    pub kind: DeltaKind,
    /// Identifier of the message or tool call.
    pub id: Cow<'a, str>,
    /// The appended text.
    pub delta: Cow<'a, str>,
}

/// The target of a delta.
///
/// Spec: [Streaming Messages, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeltaKind {
    /// A text message: `TEXT_MESSAGE_CONTENT`.
    TextMessage,
    /// A reasoning message: `REASONING_MESSAGE_CONTENT`.
    ReasoningMessage,
    /// The arguments of a tool call: `TOOL_CALL_ARGS`.
    ToolCallArgs,
}

impl<'a> DeltaRef<'a> {
    /// Reads an event that is a delta without optional members. Returns `None` for any other text;
    /// decode that as an [`Event`].
    pub fn read(text: &'a str) -> Option<Self> {
        let mut kind = None;
        let mut message = None;
        let mut call = None;
        let mut delta = None;
        let mut members = MemberReader::new(text.as_bytes()).ok()?;
        while let Some(name) = members.next_name().ok()? {
            let slot = match &*name {
                b"type" => &mut kind,
                b"messageId" => &mut message,
                b"toolCallId" => &mut call,
                b"delta" => &mut delta,
                _ => return None,
            };
            let value = JsonStr::new(members.value().ok()?)?.decode()?;
            if slot.replace(value).is_some() {
                return None;
            }
        }
        members.end().ok()?;
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
