//! Text chunks without detours: from the agent's line to the page's bytes.
use crate::text::Voice;
use crate::translator::Translator;
use agui_types::id::MessageId;
use agui_types::sse::{DeltaWriter, JsonString};
use alloc::vec::Vec;
use jsonrpc_core::{JsonStr, Kind, PeekCache};

/// What a chunk is looked at for, in the params of its notification.
const MEMBERS: [&[&str]; 8] = [
    &["sessionId"],
    &["update", "sessionUpdate"],
    &["update", "messageId"],
    &["update", "_meta"],
    &["update", "content", "type"],
    &["update", "content", "text"],
    &["update", "content", "annotations"],
    &["update", "content", "_meta"],
];

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
#[derive(Clone, Debug)]
pub struct FastText {
    cache: PeekCache<8>,
    /// The message that is written, and its writer.
    writer: Option<(MessageId, DeltaWriter)>,
}

impl Default for FastText {
    fn default() -> Self {
        Self::new()
    }
}

impl FastText {
    /// Knows no line.
    pub fn new() -> Self {
        Self { cache: PeekCache::new(MEMBERS), writer: None }
    }

    /// Appends the event for a line, if the line is one more piece of the text that is open and all events before it were
    /// taken. When it says no, nothing has happened.
    pub fn write(&mut self, translator: &mut Translator, line: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(open) = translator.fast_text() else { return false };
        let Ok((peek, found)) = self.cache.peek(line) else { return false };
        if peek.kind() != Kind::Notification
            || !peek.method().is_some_and(|method| method == "session/update")
        {
            return false;
        }
        let [
            Ok(Some(session)),
            Ok(Some(kind)),
            Ok(id),
            Ok(None),
            Ok(Some("\"text\"")),
            Ok(Some(text)),
            Ok(None),
            Ok(None),
        ] = found
        else {
            return false;
        };
        let same = id.is_none_or(|id| {
            JsonStr::new(id).is_some_and(|id| open.key.is_some_and(|key| id == key))
        });
        let fits = text.len() > 2 && text.len() <= translator.options.limits.delta;
        if kind != open.kind || !same || !fits || !session.starts_with('"') {
            return false;
        }
        // Half of a character, which JSON can spell, is found here.
        let Ok(text) = JsonString::from_text(text) else { return false };
        match &self.writer {
            Some((written, writer)) if written == open.id => writer.write_escaped(out, text),
            _ => {
                let writer = (open.writer)(open.id);
                writer.write_escaped(out, text);
                self.writer = Some((open.id.clone(), writer));
            }
        }
        translator.heard();
        true
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

impl Translator {
    /// The message or thought that is open, if one more piece of it changes nothing else.
    fn fast_text(&self) -> Option<Open<'_>> {
        let alone = self.run.is_some()
            && self.is_flushed()
            && self.subagents.is_empty()
            && self.replay.is_none()
            && self.history.is_none()
            && !self.remembers;
        let (voice, key, id) = alone.then(|| self.text.open())??;
        let (kind, writer): (_, fn(&MessageId) -> DeltaWriter) = match voice {
            Voice::Agent => ("\"agent_message_chunk\"", DeltaWriter::text_message),
            Voice::Thought => ("\"agent_thought_chunk\"", DeltaWriter::reasoning_message),
            Voice::User => return None,
        };
        Some(Open { key, id, kind, writer })
    }
}
