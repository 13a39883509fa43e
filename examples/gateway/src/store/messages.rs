//! Messages of conversations: those after a run, and those that an input leaves out.
use crate::store::RunRecord;
use agui_types::event::Event;
use agui_types::id::MessageId;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use agui_types::reduce::Reducer;
use agui_types::run_log::FrameJoiner;
use agui_types::sse::Decoder;
use continuation::{Continuation, is_instruction};
use std::collections::{HashMap, HashSet};

mod continuation;

/// Largest number of earlier messages that are added to an input of new messages. The latest are
/// kept.
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

    /// Applies the event of a frame. No event removes a message: only a user does, by the input of
    /// a later run.
    pub(crate) fn apply(&mut self, frame: &[u8]) {
        if let Some(joined) = self.frames.push(frame) {
            self.reduce(&joined);
        }
    }

    fn reduce(&mut self, frame: &[u8]) {
        if let (Some(reducer), Some(event)) = (&mut self.reducer, event(frame)) {
            if let Event::MessagesSnapshot(snapshot) = event {
                let messages = with_missing(snapshot.messages, reducer.messages());
                *reducer = Reducer::holding(messages, reducer.state().clone());
            } else {
                let _skipped = reducer.handle(&event);
            }
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

/// Returns the messages of a snapshot with those that it leaves out, each behind the one before it.
fn with_missing(snapshot: Vec<Message>, before: &[Message]) -> Vec<Message> {
    let listed: HashSet<MessageId> = snapshot.iter().filter_map(Message::id).collect();
    let mut missing: HashMap<Option<MessageId>, Vec<Message>> = HashMap::new();
    let mut previous = None;
    for message in before {
        match message.id().filter(|id| listed.contains(id)) {
            Some(id) => previous = Some(id),
            None => missing.entry(previous.clone()).or_default().push(message.clone()),
        }
    }
    let mut messages = missing.remove(&None).unwrap_or_default();
    for message in snapshot {
        let behind = missing.remove(&message.id());
        messages.push(message);
        messages.extend(behind.into_iter().flatten());
    }
    messages
}

/// Adds the earlier messages to an input that leaves them out.
///
/// | the input has | added |
/// |---|---|
/// | only new messages of the user | all |
/// | answers to questions, and not each message of the user | all |
/// | the end of the conversation | those before its first known message |
/// | new messages of the user after the last one, or answers | all of the agent's |
/// | otherwise: the user has edited the conversation | activities and reasoning between messages that are left |
pub(crate) fn continue_with(input: &mut RunAgentInput, before: Vec<Message>) {
    continue_after(input, None, before);
}

/// Adds the conversation to an input that waited for the end of another run, of which `asked` is
/// the input and `before` are the messages at its end. What follows `asked` is the answer, even
/// messages of the user that an agent repeats.
pub(crate) fn continue_after(
    input: &mut RunAgentInput,
    asked: Option<&RunAgentInput>,
    before: Vec<Message>,
) {
    let known: HashSet<MessageId> = before.iter().filter_map(Message::id).collect();
    let is_unknown = |message: &Message| message.id().is_none_or(|id| !known.contains(&id));
    let is_new = |message: &Message| matches!(message, Message::User(_)) && is_unknown(message);
    let is_answer = input.resume.as_ref().is_some_and(|answers| !answers.is_empty());
    let messages = &mut input.messages;
    if messages.iter().all(is_new) && !repeats_prompts(messages, &before) {
        messages.splice(..0, latest(before));
        return;
    }
    if is_answer && lacks_prompt(messages, &before) {
        messages.retain(is_unknown);
        messages.splice(..0, latest(before));
        return;
    }
    let asked = asked.and_then(|asked| asked.messages.last());
    let continuation = |messages: &[Message]| {
        Continuation::of(messages, &before, asked).filter(|it| is_answer || it.has_new)
    };
    let mut found = continuation(messages);
    if found.is_none()
        && let Some((place, beginning)) = beginning(messages, &before)
    {
        messages.splice(place..place, latest(beginning));
        found = continuation(messages);
    }
    match found {
        Some(continuation) => *messages = continuation.merge(messages, before),
        None => carry_over(messages, before),
    }
}

/// Returns whether messages of the user begin with those of a conversation without an answer: the
/// client has the whole conversation, and gives new ids to its messages.
fn repeats_prompts(messages: &[Message], before: &[Message]) -> bool {
    let mut prompts = before.iter().filter(|message| !is_instruction(message));
    let count = prompts.clone().count();
    let is_same = |(ours, theirs): (&Message, &Message)| match (ours, theirs) {
        (Message::User(ours), Message::User(theirs)) => ours.content == theirs.content,
        _ => false,
    };
    count > 0 && count < messages.len() && prompts.by_ref().zip(messages).all(is_same)
}

/// Returns whether a message of the user is missing. Clients may make new ids for each input, so
/// contents are compared as well.
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

/// Adds the activities and reasoning of earlier runs to the messages of a new input, which clients
/// leave out. They stay between the same two messages; without one of these they are dropped.
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
