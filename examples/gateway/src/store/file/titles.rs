//! Titles of conversations, and their text for searches.
use crate::store::messages::event;
use agui_types::event::Event;
use agui_types::message::Message;
use bytes::Bytes;
use memchr::memmem;
use serde::Deserialize;
use std::borrow::Cow;

/// Longest title of a conversation, in characters.
pub(super) const MAX_TITLE: usize = 80;

/// Largest text of a conversation that can be searched, in bytes. The end is kept.
const MAX_TEXT: usize = 64 * 1024;

/// The `CUSTOM` event with the agent's title of a session.
const SESSION_INFO: &str = "acp.session_info";

/// The value of that event.
#[derive(Deserialize)]
struct SessionInfo {
    title: Option<String>,
}

/// Returns the title of a conversation by its first prompt.
pub(super) fn title(messages: &[Message]) -> String {
    let prompt = messages.iter().find_map(|message| match message {
        Message::User(user) => Some(user.content.text()),
        _ => None,
    });
    shortened(&prompt.unwrap_or_default())
}

/// Returns a title in one line, of at most [`MAX_TITLE`] characters.
pub(super) fn shortened(title: &str) -> String {
    let words: Vec<_> = title.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= MAX_TITLE {
        return line;
    }
    line.chars().take(MAX_TITLE - 1).chain(['…']).collect()
}

/// Returns the text that can be searched.
pub(super) fn text(messages: &[Message]) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut bytes = 0_usize;
    for message in messages.iter().rev() {
        if bytes >= MAX_TEXT {
            break;
        }
        let text = match message {
            Message::User(user) => Cow::Owned(user.content.text()),
            Message::Assistant(assistant) => {
                Cow::Borrowed(assistant.content.as_deref().unwrap_or_default())
            }
            _ => continue,
        };
        let mut from = (bytes + text.len()).saturating_sub(MAX_TEXT);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        bytes += text.len() - from;
        texts.push(text.get(from..).unwrap_or_default().to_lowercase());
    }
    texts.reverse();
    texts.join("\n")
}

/// Returns the agent's last title of the session in these frames, if they have one.
pub(super) fn agent_title<'a>(frames: impl Iterator<Item = &'a Bytes>) -> Option<String> {
    let named = frames.filter(|frame| has_agent_title(frame));
    named.filter_map(title_of_session).last()
}

/// Returns whether one of these events may have a title. A search of many events together costs
/// little more than one of each.
pub(super) fn has_agent_title(events: &[u8]) -> bool {
    memmem::find(events, SESSION_INFO.as_bytes()).is_some()
}

fn title_of_session(frame: &Bytes) -> Option<String> {
    let Some(Event::Custom(custom)) = event(frame) else { return None };
    if custom.name != SESSION_INFO {
        return None;
    }
    let info: SessionInfo = serde_json::from_str(custom.value.as_str()).ok()?;
    info.title.map(|title| shortened(&title)).filter(|title| !title.is_empty())
}
