//! Instructions that were cancelled before they were sent to the agent.
use super::compared_text::compared_text;
use crate::json::Print;
use agui_types::id::MessageId;
use agui_types::input::RunAgentInput;
use agui_types::message::{Message, ReasoningMessage, UserMessage};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Largest number of cancelled messages of a thread; the latest count. With that many, a prompt has
/// one message.
const MAX_CANCELLED: usize = 1024;

/// Messages of the user with an instruction that was cancelled before it was sent.
///
/// They stay in the user's conversation, and are left out of prompts and of histories for the
/// agent, until the user sends them again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct CancelledMessages(Vec<InstructionMessage>);

/// The user messages of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Instruction(Vec<InstructionMessage>);

/// Fingerprints of a user message of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct InstructionMessage {
    id: Print,
    /// Identifier of the last message of the prompt.
    prompt: Print,
    text: Print,
    /// Index among the messages of its input.
    index: usize,
}

impl Instruction {
    /// Creates the instruction of the user messages of an input from this index on.
    pub(super) fn new(messages: &[Message], start: usize) -> Self {
        let users = messages.iter().enumerate().skip(start).filter_map(|(index, message)| {
            let Message::User(user) = message else { return None };
            Some((index, user))
        });
        let last = users.clone().next_back();
        let prompt = last.map_or_else(Print::default, |(_, user)| print_of(&user.id));
        let new = |(index, user): (usize, &UserMessage)| InstructionMessage {
            id: print_of(&user.id),
            prompt,
            text: text_of(user),
            index,
        };
        Self(users.map(new).collect())
    }

    /// Creates the instruction of the last user message of an input.
    pub(crate) fn of_last(messages: &[Message]) -> Self {
        let last = messages.iter().rposition(|message| matches!(message, Message::User(_)));
        last.map_or_else(Self::default, |last| Self::new(messages, last))
    }

    /// Returns whether another instruction has all of its messages.
    pub(crate) fn is_part_of(&self, other: &Self) -> bool {
        self.0.iter().all(|message| other.0.iter().any(|it| it.id == message.id))
    }

    /// Returns whether a message of this id belongs to it.
    pub(crate) fn has(&self, id: &MessageId) -> bool {
        let id = print_of(id);
        self.0.iter().any(|message| message.id == id)
    }
}

impl InstructionMessage {
    /// Returns whether both are one message: by id, or by text and place, since some clients renew
    /// ids.
    fn is(&self, other: &Self) -> bool {
        self.id == other.id || self.index == other.index && self.text == other.text
    }
}

impl CancelledMessages {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether earlier messages may be forgotten.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MAX_CANCELLED
    }

    /// Returns whether a message of this id is cancelled.
    pub(super) fn has(&self, id: &MessageId) -> bool {
        let id = print_of(id);
        self.0.iter().any(|message| message.id == id)
    }

    /// Adds an instruction that was not sent.
    pub(super) fn insert(&mut self, instruction: &Instruction) {
        self.remove(instruction);
        self.push(instruction.0.iter().copied());
    }

    /// Removes those that are not among these messages.
    pub(super) fn keep_those_of(&mut self, messages: &[Message]) {
        let ids: Vec<_> = messages.iter().filter_map(Message::id).map(|id| print_of(&id)).collect();
        self.0.retain(|cancelled| ids.contains(&cancelled.id));
    }

    /// Adds the messages of another thread.
    pub(super) fn extend(&mut self, other: &Self) {
        let is_new = |message: &InstructionMessage| !self.0.contains(message);
        let new: Vec<_> = other.0.iter().copied().filter(is_new).collect();
        self.push(new);
    }

    fn push(&mut self, messages: impl IntoIterator<Item = InstructionMessage>) {
        self.0.extend(messages);
        let surplus = self.0.len().saturating_sub(MAX_CANCELLED);
        self.0.drain(..surplus);
    }

    /// Removes an instruction that is sent after all.
    pub(super) fn remove(&mut self, instruction: &Instruction) {
        self.0.retain(|cancelled| !instruction.0.iter().any(|sent| sent.is(cancelled)));
    }

    /// Returns the messages of an input without the cancelled ones. An empty message is in place of
    /// each, which has no part in comparisons, prompts and histories, so that indices remain those
    /// of the input.
    ///
    /// | user message | left out |
    /// |---|---|
    /// | the last of the conversation, and cancelled ones of the same prompt: it is sent again | no |
    /// | … in an input with answers to questions, which continues another prompt | as below |
    /// | with the id of a cancelled one | yes, with any text |
    /// | with another id, and the text and index of a cancelled one: some clients renew ids | yes |
    /// | any other | no |
    pub(super) fn without<'a>(&self, input: &'a RunAgentInput) -> Cow<'a, [Message]> {
        let messages = &input.messages;
        if self.is_empty() {
            return Cow::Borrowed(messages);
        }
        let is_left_out = self.left_out(input);
        let rest = messages.iter().enumerate().map(|(index, message)| match message.id() {
            Some(id) if is_left_out(index, message) => ReasoningMessage::new(id, "").into(),
            _ => message.clone(),
        });
        Cow::Owned(rest.collect())
    }

    /// Returns the index after the last message of an input that [`without`](Self::without) leaves
    /// out.
    pub(super) fn end_of_left_out(&self, input: &RunAgentInput) -> usize {
        let is_left_out = self.left_out(input);
        let mut messages = input.messages.iter().enumerate().rev();
        let last = messages.find(|(index, message)| is_left_out(*index, message));
        last.map_or(0, |(index, _)| index + 1)
    }

    /// Returns whether a message of an input is left out.
    fn left_out<'a>(&'a self, input: &'a RunAgentInput) -> impl Fn(usize, &Message) -> bool + 'a {
        let messages = &input.messages;
        let is_answer = input.resume.as_ref().is_some_and(|answers| !answers.is_empty());
        let last = messages.iter().rposition(is_of_conversation).filter(|_| !is_answer);
        let again = last.and_then(|last| self.find(last, messages.get(last)?));
        move |index, message| {
            let cancelled = self.find(index, message).filter(|_| last != Some(index));
            cancelled.is_some_and(|cancelled| again.is_none_or(|it| it.prompt != cancelled.prompt))
        }
    }

    fn find(&self, index: usize, message: &Message) -> Option<&InstructionMessage> {
        let Message::User(user) = message else { return None };
        let id = print_of(&user.id);
        let is_same = |cancelled: &&InstructionMessage| {
            cancelled.index == index && cancelled.text == text_of(user)
        };
        let found = self.0.iter().find(|cancelled| cancelled.id == id);
        found.or_else(|| self.0.iter().find(is_same))
    }
}

/// Returns whether a message is of the user, the agent or a tool.
fn is_of_conversation(message: &Message) -> bool {
    matches!(message, Message::User(_) | Message::Assistant(_) | Message::Tool(_))
}

fn print_of(id: &MessageId) -> Print {
    Print::default().and(id.as_str())
}

fn text_of(user: &UserMessage) -> Print {
    let text: String = compared_text(&user.content);
    Print::default().and(&text)
}
