//! A fast path for text chunks: from the agent's line to the page's bytes.
use crate::outbox::Voice;
use crate::translator::Translator;
use agui_types::id::MessageId;
use agui_types::sse::{DeltaWriter, JsonString};
use alloc::vec::Vec;
use core::str;
use jsonrpc_core::{JsonStr, Kind, find_member, peek};

/// Writes chunks of the open message or thought as server-sent events. Chunks are the bulk of agent traffic. The line
/// is scanned but not decoded, its text is copied as it is, and no memory is allocated.
///
/// The output equals that of the translator, except for the notation of escapes. A line with any effect besides its
/// text is refused; decode it and pass it to the translator.
///
/// ```
/// use agui_bridge::{FastText, Options, Translator};
/// use agui_types::sse;
/// use jsonrpc_core::{Message, wire};
///
/// let mut translator = Translator::new(Options::new());
/// let input = wire::decode(r#"{"threadId":"t","runId":"r","protocolVersion":"1.0","messages":[]}"#)?;
/// let _ = translator.begin_run(&input, &[])?;
/// let (mut fast, mut body) = (FastText::new(), Vec::new());
/// for word in ["Once", " upon", " a \\\"time\\\""] {
///     let line = format!(
///         r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{word}"}}}}}}}}"#
///     );
///     if !fast.write(&mut translator, line.as_bytes(), &mut body) {
///         let Message::Notification(notification) = Message::decode(&line)? else { panic!() };
///         let params = notification.params.ok_or("no params")?;
///         translator.handle_notification(wire::decode(params.get())?);
///         while let Some(event) = translator.poll_event() {
///             sse::write_event(&mut body, &event)?;
///         }
///     }
/// }
/// assert!(body.ends_with(br#"data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-1","delta":" a \"time\""}
///
/// "#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FastText {
    shape: Option<Shape>,
}

/// The last accepted line without its text, and its output.
#[derive(Clone, Debug)]
struct Shape {
    message: MessageId,
    writer: DeltaWriter,
    /// The line before its text, with the quote.
    head: Vec<u8>,
    /// The line after its text, with the quote.
    tail: Vec<u8>,
}

impl FastText {
    /// Largest size of a remembered line without its text, in bytes.
    pub const MAX_SHAPE: usize = 4096;

    /// Creates a writer that remembers no line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the event for a line, if the line continues the open text and all earlier events were taken. Returns
    /// `false` without any effect otherwise.
    ///
    /// A line that differs from the last one only in its text is compared, not scanned.
    pub fn write(&mut self, translator: &mut Translator, line: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(open) = OpenText::of(translator) else { return false };
        let shape = self.shape.as_ref().filter(|shape| shape.message == *open.id);
        let known = shape.and_then(|shape| shape.text(line));
        let Some(text) = known.or_else(|| open.text(line)) else { return false };
        if text.len() <= 2 || text.len() > translator.delta_limit() {
            return false;
        }
        // A lone surrogate, which JSON can express, is rejected here.
        let Ok(delta) = JsonString::from_text(text) else { return false };
        if known.is_none() {
            self.learn(&open, line, text);
        }
        let Some(shape) = &self.shape else { return false };
        shape.writer.write_escaped(out, delta);
        translator.note_activity();
        true
    }

    /// Remembers a line without its text, in the buffers of the line before.
    fn learn(&mut self, open: &OpenText<'_>, line: &[u8], text: &str) {
        let shape = match self.shape.take() {
            Some(shape) if shape.message == *open.id => shape,
            _ => Shape {
                message: open.id.clone(),
                writer: (open.writer)(open.id),
                head: Vec::new(),
                tail: Vec::new(),
            },
        };
        let shape = self.shape.insert(shape);
        shape.head.clear();
        shape.tail.clear();
        let at = text.as_ptr().addr().wrapping_sub(line.as_ptr().addr());
        let (head, tail) = (line.get(..=at), line.get(at + text.len() - 1..));
        if let (Some(head), Some(tail)) = (head, tail)
            && head.len() + tail.len() <= Self::MAX_SHAPE
        {
            shape.head.extend_from_slice(head);
            shape.tail.extend_from_slice(tail);
        }
    }
}

impl Shape {
    /// Returns the text of a line with this shape, in its quotes.
    fn text<'a>(&self, line: &'a [u8]) -> Option<&'a str> {
        let text = line.strip_prefix(&*self.head)?.strip_suffix(&*self.tail)?;
        let start = self.head.len().checked_sub(1)?;
        str::from_utf8(line.get(start..start + text.len() + 2)?).ok()
    }
}

/// The open text, and the form of a line that continues it.
struct OpenText<'a> {
    key: Option<&'a str>,
    id: &'a MessageId,
    /// The update's tag, in its quotes.
    kind: &'static str,
    writer: fn(&MessageId) -> DeltaWriter,
}

impl<'a> OpenText<'a> {
    /// Returns the open message or thought, if a chunk has no other effect.
    fn of(translator: &'a Translator) -> Option<Self> {
        let (voice, key, id) = translator.plain_text()?;
        let (kind, writer): (_, fn(&MessageId) -> DeltaWriter) = match voice {
            Voice::Agent => ("\"agent_message_chunk\"", DeltaWriter::text_message),
            Voice::Thought => ("\"agent_thought_chunk\"", DeltaWriter::reasoning_message),
            Voice::User => return None,
        };
        Some(Self { key, id, kind, writer })
    }

    /// Returns the text of a line, in its quotes, if the line only continues the open text.
    fn text<'b>(&self, line: &'b [u8]) -> Option<&'b str> {
        let peek = peek(line).ok()?;
        if peek.kind() != Kind::Notification
            || !peek.method().is_some_and(|method| method == "session/update")
        {
            return None;
        }
        let (session, update) = (peek.param(&["sessionId"])?, peek.param(&["update"])?);
        let (kind, id) =
            (find_member(update, &["sessionUpdate"])?, find_member(update, &["messageId"]));
        let content = find_member(update, &["content"])?;
        let (tag, text) = (find_member(content, &["type"])?, find_member(content, &["text"])?);
        let has_more = find_member(update, &["_meta"]).is_some()
            || ["annotations", "_meta"].iter().any(|name| find_member(content, &[name]).is_some());
        if tag != "\"text\"" || has_more {
            return None;
        }
        let same = id.is_none_or(|id| {
            JsonStr::new(id).is_some_and(|id| self.key.is_some_and(|key| id == key))
        });
        let fits = kind == self.kind && session.starts_with('"') && text.starts_with('"');
        Some(text).filter(|_| same && fits)
    }
}
