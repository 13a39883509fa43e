//! Messages of conversations: those after a run, their titles, and their text.
use crate::RunRecord;
use agui_types::event::Event;
use agui_types::id::MessageId;
use agui_types::message::Message;
use agui_types::reduce::Reducer;
use agui_types::sse::Decoder;
use bytes::Bytes;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashSet;

/// Longest title of a conversation, in characters.
pub(super) const MAX_TITLE: usize = 80;

/// Largest text of a conversation that can be searched, in bytes. The end is kept.
const MAX_TEXT: usize = 64 * 1024;

/// Largest number of earlier messages that are added to an input of new messages. The latest are kept.
const MAX_EARLIER: usize = 10_000;

/// Largest size of these messages as JSON, in bytes.
const MAX_EARLIER_BYTES: usize = 4 << 20;

/// The `CUSTOM` event with the agent's title of a session.
const SESSION_INFO: &str = "acp.session_info";

/// The value of that event.
#[derive(Deserialize)]
struct SessionInfo {
    title: Option<String>,
}

/// The messages after a run, as far as its events can be applied.
pub(super) struct MessagesAfter(Option<Reducer>, Vec<Message>);

impl MessagesAfter {
    pub(super) fn new(record: RunRecord) -> Self {
        let reducer = Reducer::for_input(&record.input).ok();
        let before = if reducer.is_some() { Vec::new() } else { record.input.messages };
        Self(reducer, before)
    }

    /// Applies the event of a frame.
    pub(super) fn apply(&mut self, frame: &[u8]) {
        if let (Some(reducer), Some(event)) = (&mut self.0, event(frame)) {
            let _skipped = reducer.handle(&event);
        }
    }

    pub(super) fn finish(self) -> Vec<Message> {
        self.0.map_or(self.1, |reducer| reducer.into_parts().0)
    }
}

fn event(frame: &[u8]) -> Option<Event> {
    let mut decoder = Decoder::with_limit(usize::MAX);
    decoder.push(frame);
    decoder.next_frame()?.ok()?.decode().ok()
}

/// Adds the earlier messages to an input that leaves them out: all of them if the input has only new messages of the user,
/// otherwise activities and reasoning.
pub(super) fn continue_with(messages: &mut Vec<Message>, before: Vec<Message>) {
    let known: HashSet<MessageId> = before.iter().filter_map(Message::id).collect();
    let is_new = |message: &Message| {
        matches!(message, Message::User(_)) && message.id().is_none_or(|id| !known.contains(&id))
    };
    if messages.iter().all(is_new) {
        messages.splice(..0, latest(before));
    } else {
        carry_over(messages, before);
    }
}

/// Returns the latest of these messages within the limits.
fn latest(messages: Vec<Message>) -> impl Iterator<Item = Message> {
    let mut bytes = 0_usize;
    let length = |message: &Message| serde_json::to_string(message).map_or(0, |text| text.len());
    let fits = |message: &&Message| {
        bytes = bytes.saturating_add(length(message));
        bytes <= MAX_EARLIER_BYTES
    };
    let kept = messages.iter().rev().take(MAX_EARLIER).take_while(fits).count();
    let left_out = messages.len() - kept;
    messages.into_iter().skip(left_out)
}

/// Adds the activities and reasoning of earlier runs to the messages of a new input, which clients leave out. They stay
/// between the same two messages; without one of these they are dropped.
fn carry_over(messages: &mut Vec<Message>, before: Vec<Message>) {
    let known: HashSet<MessageId> = messages.iter().filter_map(Message::id).collect();
    let mut previous: Option<MessageId> = None;
    let mut carried = Vec::new();
    for message in before {
        let id = message.id();
        if id.as_ref().is_some_and(|id| known.contains(id)) {
            insert_after(messages, previous.as_ref(), &mut carried);
            previous = id;
        } else if matches!(message, Message::Activity(_) | Message::Reasoning(_)) {
            carried.push(message);
        } else {
            carried.clear();
            previous = None;
        }
    }
    insert_after(messages, previous.as_ref(), &mut carried);
}

/// Moves messages behind the one with this id. Without one they are removed.
fn insert_after(messages: &mut Vec<Message>, id: Option<&MessageId>, carried: &mut Vec<Message>) {
    let place = messages.iter().position(|it| id.is_some() && it.id().as_ref() == id);
    let carried = carried.drain(..);
    if let Some(place) = place {
        messages.splice(place + 1..place + 1, carried);
    }
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

/// Returns the agent's title of the session in a frame, if the frame has one.
pub(super) fn agent_title(frame: &Bytes) -> Option<String> {
    memchr::memmem::find(frame, SESSION_INFO.as_bytes())?;
    let Some(Event::Custom(custom)) = event(frame) else { return None };
    if custom.name != SESSION_INFO {
        return None;
    }
    let info: SessionInfo = serde_json::from_str(custom.value.as_str()).ok()?;
    info.title.map(|title| shortened(&title)).filter(|title| !title.is_empty())
}
