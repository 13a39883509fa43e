//! Messages of conversations: those after a run, and those that an input leaves out.
use crate::RunRecord;
use agui_types::event::Event;
use agui_types::id::MessageId;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use agui_types::reduce::Reducer;
use agui_types::run_log::FrameJoiner;
use agui_types::sse::Decoder;
use std::collections::HashSet;

/// Largest number of earlier messages that are added to an input of new messages. The latest are kept.
const MAX_EARLIER: usize = 10_000;

/// Largest size of these messages as JSON, in bytes.
const MAX_EARLIER_BYTES: usize = 4 << 20;

/// The messages after a run, as far as its events can be applied.
pub(crate) struct MessagesAfter {
    reducer: Option<Reducer>,
    /// The messages without a reducer.
    before: Vec<Message>,
    /// Most frames are deltas. They are decoded together.
    frames: FrameJoiner,
}

impl MessagesAfter {
    pub(crate) fn new(record: RunRecord) -> Self {
        let reducer = Reducer::for_input(&record.input).ok();
        let before = if reducer.is_some() { Vec::new() } else { record.input.messages };
        Self { reducer, before, frames: FrameJoiner::default() }
    }

    /// Applies the event of a frame. No event removes a message: only a user does, by the input of a later run.
    pub(crate) fn apply(&mut self, frame: &[u8]) {
        if let Some(joined) = self.frames.push(frame) {
            self.reduce(&joined);
        }
    }

    fn reduce(&mut self, frame: &[u8]) {
        if let (Some(reducer), Some(mut event)) = (&mut self.reducer, event(frame)) {
            if let Event::MessagesSnapshot(snapshot) = &mut event {
                add_missing(&mut snapshot.messages, reducer.messages());
            }
            let _skipped = reducer.handle(&event);
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Message> {
        if let Some(last) = self.frames.take() {
            self.reduce(&last);
        }
        self.reducer.map_or(self.before, |reducer| reducer.into_parts().0)
    }
}

/// Returns the event of a frame.
pub(crate) fn event(frame: &[u8]) -> Option<Event> {
    let mut decoder = Decoder::with_limit(usize::MAX);
    decoder.push(frame);
    decoder.next_frame()?.ok()?.decode().ok()
}

/// Adds the messages that a snapshot leaves out. The reducer keeps the order of those that it has.
fn add_missing(snapshot: &mut Vec<Message>, before: &[Message]) {
    let listed: HashSet<MessageId> = snapshot.iter().filter_map(Message::id).collect();
    let is_missing = |message: &&Message| message.id().is_some_and(|id| !listed.contains(&id));
    snapshot.extend(before.iter().filter(is_missing).cloned());
}

/// Adds the earlier messages to an input that leaves them out: all of them if the input has only new messages of the user,
/// those before its first known message if it has only the end of the conversation, otherwise activities and reasoning.
/// Thus an input that continues or edits a conversation replaces its end, and never removes its beginning. One that answers
/// questions is no edit: it keeps everything.
pub(crate) fn continue_with(input: &mut RunAgentInput, before: Vec<Message>) {
    let known: HashSet<MessageId> = before.iter().filter_map(Message::id).collect();
    let is_unknown = |message: &Message| message.id().is_none_or(|id| !known.contains(&id));
    let is_new = |message: &Message| matches!(message, Message::User(_)) && is_unknown(message);
    let is_answer = input.resume.as_ref().is_some_and(|answers| !answers.is_empty());
    let messages = &mut input.messages;
    if messages.iter().all(is_new) {
        messages.splice(..0, latest(before));
        return;
    }
    if is_answer && lacks_prompt(messages, &before) {
        messages.retain(is_unknown);
        messages.splice(..0, latest(before));
        return;
    }
    let beginning = beginning(messages, &before);
    carry_over(messages, before);
    if let Some((place, beginning)) = beginning {
        messages.splice(place..place, latest(beginning));
    }
}

/// Adds the conversation to an input that waited for the end of another run, of which `asked` is the input and `before`
/// are the messages at its end. Its client had a part of the answer at most, so an input that continues `asked` gets the
/// whole answer.
pub(crate) fn continue_after(
    input: &mut RunAgentInput,
    asked: &RunAgentInput,
    before: Vec<Message>,
) {
    let known: HashSet<MessageId> = before.iter().filter_map(Message::id).collect();
    let is_new = |message: &Message| message.id().is_some_and(|id| !known.contains(&id));
    let is_asked = |message: &Message| asked.messages.last() == Some(message);
    let messages = &mut input.messages;
    if let Some(place) = messages.iter().position(is_asked)
        && messages.iter().skip(place).any(|it| matches!(it, Message::User(_)) && is_new(it))
    {
        let answer = before.iter().skip_while(|message| !is_asked(message)).skip(1);
        let listed: HashSet<MessageId> = answer.clone().filter_map(Message::id).collect();
        messages.retain(|message| message.id().is_none_or(|id| !listed.contains(&id)));
        let place = messages.iter().position(is_asked).map_or(messages.len(), |place| place + 1);
        messages.splice(place..place, answer.cloned());
    }
    continue_with(input, before);
}

/// Returns whether a message of the user is missing. Clients may make new ids for each input, so contents are compared as well.
fn lacks_prompt(messages: &[Message], before: &[Message]) -> bool {
    let is_same = |ours: &Message, theirs: &Message| match (ours, theirs) {
        (Message::User(ours), Message::User(theirs)) => {
            ours.id == theirs.id || ours.content == theirs.content
        }
        _ => false,
    };
    let mut prompts = before.iter().filter(|message| matches!(message, Message::User(_)));
    prompts.any(|ours| !messages.iter().any(|theirs| is_same(ours, theirs)))
}

/// Returns the messages before the first one that an input has, and its place in the input.
fn beginning(messages: &[Message], before: &[Message]) -> Option<(usize, Vec<Message>)> {
    let listed: HashSet<MessageId> = messages.iter().filter_map(Message::id).collect();
    let is_listed = |message: &Message| message.id().is_some_and(|id| listed.contains(&id));
    let first = before.iter().position(is_listed)?;
    let id = before.get(first)?.id();
    let place = messages.iter().position(|message| message.id() == id)?;
    // Each input has the instructions of the application.
    let is_instruction =
        |message: &&Message| matches!(message, Message::System(_) | Message::Developer(_));
    let earlier = before.iter().take(first).filter(|message| !is_instruction(message));
    Some((place, earlier.cloned().collect()))
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
