//! Text chunks that are returned directly, without an event.
use super::{Connection, SessionKey};
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::{JsonStr, Kind, MemberReader, Peeked, peek_envelope};

/// A text chunk of the agent, borrowed from its line; see [`handle_line_direct`](Connection::handle_line_direct).
///
/// The update has exactly the members below, in either version.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TextChunk<'a> {
    /// Whether the update is an `agent_thought_chunk`, not an `agent_message_chunk`.
    pub is_thought: bool,
    /// The message of the text, if given.
    pub message_id: Option<JsonStr<'a>>,
    /// The text. It may contain a lone surrogate, which no Rust string can hold.
    pub text: JsonStr<'a>,
}

impl Connection {
    /// Handles a line as [`handle_line`](Self::handle_line), but returns a text chunk without earlier events directly,
    /// borrowed from the line and without an event. No memory is allocated for it.
    ///
    /// Other lines are queued, so that the order is kept: poll the session's events first.
    pub fn handle_line_direct<'a>(
        &mut self,
        line: Result<&'a str, FrameError>,
        now: Duration,
    ) -> Option<(SessionKey, TextChunk<'a>)> {
        let direct = line.as_ref().ok().and_then(|text| {
            let is_chunk = self.closed.is_none() && text.contains("_chunk\"");
            self.direct(&peek_envelope(text.as_bytes()).ok().filter(|_| is_chunk)?)
        });
        if direct.is_none() {
            self.handle_line(line, now);
        }
        direct
    }

    fn direct<'a>(&self, line: &Peeked<'a>) -> Option<(SessionKey, TextChunk<'a>)> {
        let (id, chunk) = TextChunk::read(line)?;
        let key = self.sessions.find(&id.decode()?)?;
        let session = self.sessions.get(key)?;
        (session.is_open() && self.sessions.is_drained(key)).then_some((key, chunk))
    }
}

impl<'a> TextChunk<'a> {
    /// Reads the session and the text of a line. Each value of the parameters is read, and thereby validated.
    fn read(line: &Peeked<'a>) -> Option<(JsonStr<'a>, Self)> {
        let is_update = line.method().is_some_and(|method| method == "session/update");
        if line.kind() != Kind::Notification || !is_update {
            return None;
        }
        let mut params = MemberReader::new(line.params()?.as_bytes()).ok()?;
        let (mut session, mut chunk) = (None, None);
        while let Some(name) = params.next_name().ok()? {
            match &*name {
                b"sessionId" if session.is_none() => session = Some(string(&mut params)?),
                b"update" if chunk.is_none() && params.enter() => {
                    chunk = Some(Self::read_update(&mut params)?);
                }
                _ => return None,
            }
        }
        session.zip(chunk)
    }

    fn read_update(update: &mut MemberReader<'a>) -> Option<Self> {
        let (mut tag, mut message_id, mut text) = (None, None, None);
        while let Some(name) = update.next_name().ok()? {
            match &*name {
                b"sessionUpdate" if tag.is_none() => tag = Some(string(update)?),
                b"messageId" if message_id.is_none() => message_id = Some(string(update)?),
                b"content" if text.is_none() && update.enter() => text = Some(read_text(update)?),
                _ => return None,
            }
        }
        let (tag, text) = tag.zip(text)?;
        let is_thought = tag == "agent_thought_chunk";
        let is_text = is_thought || tag == "agent_message_chunk";
        is_text.then_some(Self { is_thought, message_id, text })
    }
}

/// Returns the text of a plain text block.
fn read_text<'a>(block: &mut MemberReader<'a>) -> Option<JsonStr<'a>> {
    let (mut tag, mut text) = (None, None);
    while let Some(name) = block.next_name().ok()? {
        match &*name {
            b"type" if tag.is_none() => tag = Some(string(block)?),
            b"text" if text.is_none() => text = Some(string(block)?),
            _ => return None,
        }
    }
    text.filter(|_| tag.is_some_and(|tag| tag == "text"))
}

fn string<'a>(members: &mut MemberReader<'a>) -> Option<JsonStr<'a>> {
    JsonStr::new(members.value().ok()?)
}
