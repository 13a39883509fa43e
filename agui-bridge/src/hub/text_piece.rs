//! The members of a line with a piece of text, read without decoding.
use jsonrpc_core::{JsonStr, Kind, MemberReader, Peeked};

/// A piece of a message or thought with exactly these members, in either version of the protocol.
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
    /// Reads a line. Returns `None` if it has other members, or one of these twice.
    pub(super) fn read(line: &Peeked<'a>) -> Option<Self> {
        let is_update = line.method().is_some_and(|method| method == "session/update");
        if line.kind() != Kind::Notification || !is_update {
            return None;
        }
        let mut params = MemberReader::new(line.params()?.as_bytes()).ok()?;
        let (mut session, mut update) = (None, None);
        while let Some(name) = params.next_name().ok()? {
            match &*name {
                b"sessionId" if session.is_none() => session = Some(string(&mut params)?),
                b"update" if update.is_none() && params.enter() => {
                    update = Some(Update::read(&mut params)?);
                }
                _ => return None,
            }
        }
        let Update { tag, message_id, text } = update?;
        Some(Self { session: session?, tag, message_id, text })
    }
}

impl<'a> Update<'a> {
    fn read(update: &mut MemberReader<'a>) -> Option<Self> {
        let (mut tag, mut message_id, mut text) = (None, None, None);
        while let Some(name) = update.next_name().ok()? {
            match &*name {
                b"sessionUpdate" if tag.is_none() => tag = Some(string(update)?),
                b"messageId" if message_id.is_none() => {
                    message_id = Some(JsonStr::new(string(update)?)?);
                }
                b"content" if text.is_none() && update.enter() => text = Some(text_of(update)?),
                _ => return None,
            }
        }
        Some(Self { tag: tag?, message_id, text: text? })
    }
}

/// Reads the text of a block without other members.
fn text_of<'a>(block: &mut MemberReader<'a>) -> Option<&'a str> {
    let (mut tag, mut text) = (None, None);
    while let Some(name) = block.next_name().ok()? {
        match &*name {
            b"type" if tag.is_none() => tag = Some(string(block)?),
            b"text" if text.is_none() => text = Some(string(block)?),
            _ => return None,
        }
    }
    text.filter(|_| tag == Some("\"text\""))
}

/// Reads a string, in quotes.
fn string<'a>(members: &mut MemberReader<'a>) -> Option<&'a str> {
    members.value().ok().filter(|value| value.starts_with('"'))
}
