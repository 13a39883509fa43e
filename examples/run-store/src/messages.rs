//! Messages of conversations: those after a run, and those that an input leaves out.
use crate::RunRecord;
use agui_types::event::Event;
use agui_types::id::MessageId;
use agui_types::message::Message;
use agui_types::reduce::Reducer;
use agui_types::sse::Decoder;
use std::collections::HashSet;

/// Largest number of earlier messages that are added to an input of new messages. The latest are kept.
const MAX_EARLIER: usize = 10_000;

/// Largest size of these messages as JSON, in bytes.
const MAX_EARLIER_BYTES: usize = 4 << 20;

/// The messages after a run, as far as its events can be applied.
pub(crate) struct MessagesAfter(Option<Reducer>, Vec<Message>);

impl MessagesAfter {
    pub(crate) fn new(record: RunRecord) -> Self {
        let reducer = Reducer::for_input(&record.input).ok();
        let before = if reducer.is_some() { Vec::new() } else { record.input.messages };
        Self(reducer, before)
    }

    /// Applies the event of a frame.
    pub(crate) fn apply(&mut self, frame: &[u8]) {
        if let (Some(reducer), Some(event)) = (&mut self.0, event(frame)) {
            let _skipped = reducer.handle(&event);
        }
    }

    pub(crate) fn finish(self) -> Vec<Message> {
        self.0.map_or(self.1, |reducer| reducer.into_parts().0)
    }
}

/// Returns the event of a frame.
pub(crate) fn event(frame: &[u8]) -> Option<Event> {
    let mut decoder = Decoder::with_limit(usize::MAX);
    decoder.push(frame);
    decoder.next_frame()?.ok()?.decode().ok()
}

/// Adds the earlier messages to an input that leaves them out: all of them if the input has only new messages of the user,
/// otherwise activities and reasoning.
pub(crate) fn continue_with(messages: &mut Vec<Message>, before: Vec<Message>) {
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
pub(crate) fn latest(messages: Vec<Message>) -> impl Iterator<Item = Message> {
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
