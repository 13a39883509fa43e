//! The members of a line with a piece of text, read without decoding.
use jsonrpc_core::{JsonStr, Kind, MemberReader, PeekedMessage};

/// A piece of a message or thought, in either version of the protocol. Other members of the line do
/// not affect its event.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextPiece<'a> {
    /// Id of the session, as JSON text.
    pub(super) session: &'a str,
    /// Kind of the update, as JSON text.
    pub(super) tag: &'a str,
    pub(super) message_id: Option<JsonStr<'a>>,
    /// The text, in quotes.
    pub(super) text: &'a str,
}

/// The members of an update.
struct Update<'a> {
    tag: &'a str,
    message_id: Option<JsonStr<'a>>,
    text: &'a str,
}

impl<'a> TextPiece<'a> {
    /// Reads a line. Returns `None` if it has a member that affects the event, such as `_meta` of
    /// the update, or a known member twice.
    pub(super) fn read(line: &PeekedMessage<'a>) -> Option<Self> {
        let is_update = line.method().is_some_and(|method| method == "session/update");
        if line.kind() != Kind::Notification || !is_update {
            return None;
        }
        let mut params = MemberReader::new(line.raw_params()?.get().as_bytes()).ok()?;
        let mut session = None;
        let mut update = None;
        let mut has_meta = false;
        while let Some(name) = params.next_name().ok()? {
            match &*name {
                b"sessionId" if session.is_none() => session = Some(string(&mut params)?),
                b"update" if update.is_none() && params.enter() => {
                    update = Some(Update::read(&mut params)?);
                }
                // The event has only the `_meta` of the update.
                b"_meta" if !has_meta => has_meta = true,
                other if is_unknown(other, &["sessionId", "update", "_meta"]) => {}
                _ => return None,
            }
        }
        let Update { tag, message_id, text } = update?;
        Some(Self { session: session?, tag, message_id, text })
    }
}

impl<'a> Update<'a> {
    fn read(update: &mut MemberReader<'a>) -> Option<Self> {
        let mut tag = None;
        let mut message_id = None;
        let mut text = None;
        while let Some(name) = update.next_name().ok()? {
            match &*name {
                b"sessionUpdate" if tag.is_none() => tag = Some(string(update)?),
                b"messageId" if message_id.is_none() => {
                    message_id = Some(JsonStr::new(string(update)?)?);
                }
                b"content" if text.is_none() && update.enter() => text = Some(text_of(update)?),
                other if is_unknown(other, &["sessionUpdate", "messageId", "content", "_meta"]) => {
                }
                _ => return None,
            }
        }
        Some(Self { tag: tag?, message_id, text: text? })
    }
}

/// Reads the text of a block without annotations.
fn text_of<'a>(block: &mut MemberReader<'a>) -> Option<&'a str> {
    let mut tag = None;
    let mut text = None;
    while let Some(name) = block.next_name().ok()? {
        match &*name {
            b"type" if tag.is_none() => tag = Some(string(block)?),
            b"text" if text.is_none() => text = Some(string(block)?),
            other if is_unknown(other, &["type", "text", "annotations", "_meta"]) => {}
            _ => return None,
        }
    }
    text.filter(|_| tag == Some("\"text\""))
}

/// Reads a string, in quotes.
fn string<'a>(members: &mut MemberReader<'a>) -> Option<&'a str> {
    members.value().ok().filter(|value| value.starts_with('"'))
}

/// Returns whether a member is not among the known ones, so that its value has no effect. An escape
/// that is left in a name is invalid.
fn is_unknown(name: &[u8], known: &[&str]) -> bool {
    !name.contains(&b'\\') && known.iter().all(|known| known.as_bytes() != name)
}
