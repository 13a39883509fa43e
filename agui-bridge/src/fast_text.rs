//! Text chunks without detours: from the agent's line to the page's bytes.
use crate::outbox::Voice;
use crate::translator::Translator;
use agui_types::id::MessageId;
use agui_types::sse::{DeltaWriter, JsonString};
use alloc::vec::Vec;
use core::str;
use jsonrpc_core::{JsonStr, Kind, find_member, peek};

/// Writes the chunks of a message or a thought that is open, the bulk of what agents send, as server-sent events: the line is looked at
/// and not decoded, the text goes out as it came in, and nothing is allocated.
///
/// What it writes is what the translator would have made of the line, but for the spelling of escapes. It takes no line
/// that anything hangs on but the text; those go the long way.
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

/// The last line that was taken, but for its text, and what is written for it.
#[derive(Clone, Debug)]
struct Shape {
    message: MessageId,
    writer: DeltaWriter,
    /// The line up to its text, with the quote.
    head: Vec<u8>,
    /// The line from behind its text, with the quote.
    tail: Vec<u8>,
}

impl FastText {
    /// Up to how many bytes of a line, its text left out, are kept to compare the next one with.
    pub const MAX_SHAPE: usize = 4096;

    /// Knows no line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the event for a line, if the line is one more piece of the text that is open and all events before it were
    /// taken. When it says no, nothing has happened.
    ///
    /// A line that differs from the last one in its text alone is not looked at again beside that.
    pub fn write(&mut self, translator: &mut Translator, line: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(open) = Open::of(translator) else { return false };
        let shape = self.shape.as_ref().filter(|shape| shape.message == *open.id);
        let known = shape.and_then(|shape| shape.text(line));
        let Some(text) = known.or_else(|| open.text(line)) else { return false };
        if text.len() <= 2 || text.len() > translator.delta_limit() {
            return false;
        }
        // Half of a character, which JSON can spell, is found here.
        let Ok(delta) = JsonString::from_text(text) else { return false };
        if known.is_none() {
            self.learn(&open, line, text);
        }
        let Some(shape) = &self.shape else { return false };
        shape.writer.write_escaped(out, delta);
        translator.note_activity();
        true
    }

    /// Keeps what a line is beside its text, in the room of the line before.
    fn learn(&mut self, open: &Open<'_>, line: &[u8], text: &str) {
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
    /// The text of a line of this shape, in its quotes, if what it has there is text.
    fn text<'a>(&self, line: &'a [u8]) -> Option<&'a str> {
        let text = line.strip_prefix(&*self.head)?.strip_suffix(&*self.tail)?;
        let start = self.head.len().checked_sub(1)?;
        str::from_utf8(line.get(start..start + text.len() + 2)?).ok()
    }
}

/// What is open, and what one more piece of it looks like.
struct Open<'a> {
    key: Option<&'a str>,
    id: &'a MessageId,
    /// The update's tag, in its quotes.
    kind: &'static str,
    writer: fn(&MessageId) -> DeltaWriter,
}

impl<'a> Open<'a> {
    /// The message or thought that is open, if one more piece of it changes nothing else.
    fn of(translator: &'a Translator) -> Option<Self> {
        let (voice, key, id) = translator.plain_text()?;
        let (kind, writer): (_, fn(&MessageId) -> DeltaWriter) = match voice {
            Voice::Agent => ("\"agent_message_chunk\"", DeltaWriter::text_message),
            Voice::Thought => ("\"agent_thought_chunk\"", DeltaWriter::reasoning_message),
            Voice::User => return None,
        };
        Some(Self { key, id, kind, writer })
    }

    /// The text of a line, in its quotes, if the line is one more piece of what is open, and nothing else.
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
