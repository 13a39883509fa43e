//! Inputs that continue a conversation of which their client has missed a part.
use agui_types::id::{MessageId, ToolCallId};
use agui_types::message::{AssistantMessage, Message};
use std::collections::{HashMap, HashSet};

/// An input that goes on after the last message of the user, with each one before it unchanged.
pub(super) struct Continuation {
    /// The indices in the input of the messages that it shares, by their indices in the
    /// conversation.
    shared: HashMap<usize, usize>,
    /// Whether a new message of the user follows.
    pub(super) has_new: bool,
}

impl Continuation {
    /// Compares an input with the conversation. `asked` is the last message before the answer, if
    /// that is known.
    ///
    /// Messages of user and agent are compared by role and content: some clients make new ids for
    /// each input. Those of the agent may be missing.
    pub(super) fn of(
        messages: &[Message],
        before: &[Message],
        asked: Option<&Message>,
    ) -> Option<Self> {
        let answer = asked.and_then(|asked| before.iter().rposition(|message| message == asked));
        let is_prompt = |(index, message): &(usize, &Message)| {
            matches!(message, Message::User(_)) && answer.is_none_or(|asked| *index <= asked)
        };
        let known: HashSet<MessageId> = before.iter().filter_map(Message::id).collect();
        let is_new = |message: &Message| message.id().is_none_or(|id| !known.contains(&id));
        let ours: Vec<_> = said(before).collect();
        let places = ours.iter().enumerate().filter(|(_, message)| is_prompt(message));
        let mut prompts = places.map(|(place, _)| place).peekable();
        let (_, first) = ours.get(*prompts.peek()?)?;
        // The conversation may lack its beginning.
        let start = said(messages).position(|(_, their)| is_same(first, their)).unwrap_or_default();
        let mut continuation = Self { shared: HashMap::new(), has_new: false };
        let mut next = 0;
        for (index, their) in said(messages).skip(start) {
            let is_user = matches!(their, Message::User(_));
            while prompts.next_if(|prompt| *prompt < next).is_some() {}
            let prompt = prompts.peek().copied();
            let reach = prompt.map_or(ours.len(), |prompt| prompt + usize::from(is_user));
            let is_like = |(_, our): &&(usize, &Message)| {
                let may_be = is_new(their) || our.id() == their.id();
                may_be && (is_same(our, their) || is_cut(our, their))
            };
            let within = ours.get(next..reach).unwrap_or_default();
            match within.iter().enumerate().find(|(_, our)| is_like(our)) {
                Some((skipped, (our_index, _))) if is_user || !continuation.has_new => {
                    next += skipped + 1;
                    continuation.shared.insert(*our_index, index);
                }
                None if is_user && is_new(their) && prompt.is_none() => continuation.has_new = true,
                _ => return None,
            }
        }
        let has_all = prompts.all(|prompt| prompt < next);
        has_all.then_some(continuation)
    }

    /// Returns the conversation with the new messages. A message with its own id is ours, since the
    /// client may have missed a part of it. One to which the client has given another id stays,
    /// unless it is the beginning of ours.
    pub(super) fn merge(self, messages: &mut Vec<Message>, before: Vec<Message>) -> Vec<Message> {
        let messages = core::mem::take(messages);
        let places = Places::of(&messages);
        let mut rest = messages.into_iter().enumerate().peekable();
        let mut merged = Vec::new();
        for (our_index, ours) in before.into_iter().enumerate() {
            let shared = self.shared.get(&our_index).copied();
            let Some(place) = shared.or_else(|| places.find(&ours)) else {
                if !is_instruction(&ours) {
                    merged.push(ours);
                }
                continue;
            };
            while let Some((_, theirs)) = rest.next_if(|(index, _)| *index < place) {
                merged.push(theirs);
            }
            if let Some((_, theirs)) = rest.next_if(|(index, _)| *index == place) {
                let is_ours = ours.id() == theirs.id() || is_cut(&ours, &theirs);
                merged.push(if is_ours { ours } else { theirs });
            }
        }
        merged.extend(rest.map(|(_, theirs)| theirs));
        merged
    }
}

/// The indices of messages in an input, by their ids, and by the ids of calls in them and of their
/// results.
struct Places {
    messages: HashMap<MessageId, usize>,
    calls: HashMap<ToolCallId, usize>,
    results: HashMap<ToolCallId, usize>,
}

impl Places {
    fn of(messages: &[Message]) -> Self {
        let mut places =
            Self { messages: HashMap::new(), calls: HashMap::new(), results: HashMap::new() };
        for (index, message) in messages.iter().enumerate() {
            places.messages.extend(message.id().map(|id| (id, index)));
            match message {
                Message::Assistant(assistant) => {
                    let calls = assistant.tool_calls.iter().flatten();
                    places.calls.extend(calls.map(|call| (call.id.clone(), index)));
                }
                Message::Tool(tool) => {
                    places.results.insert(tool.tool_call_id.clone(), index);
                }
                _ => {}
            }
        }
        places
    }

    /// Returns the index of a message, perhaps with another id.
    fn find(&self, message: &Message) -> Option<usize> {
        let known = message.id().and_then(|id| self.messages.get(&id));
        let found = known.or_else(|| match message {
            Message::Assistant(assistant) => {
                let mut calls = assistant.tool_calls.iter().flatten();
                calls.find_map(|call| self.calls.get(&call.id))
            }
            Message::Tool(tool) => self.results.get(&tool.tool_call_id),
            _ => None,
        });
        found.copied()
    }
}

/// Returns the messages of user and agent that have a text, each with its index.
fn said(messages: &[Message]) -> impl Iterator<Item = (usize, &Message)> + Clone {
    messages.iter().enumerate().filter(|(_, message)| match message {
        Message::User(_) => true,
        Message::Assistant(assistant) => {
            assistant.content.as_ref().is_some_and(|text| !text.is_empty())
        }
        _ => false,
    })
}

fn is_same(ours: &Message, theirs: &Message) -> bool {
    match (ours, theirs) {
        (Message::User(ours), Message::User(theirs)) => ours.content == theirs.content,
        (Message::Assistant(ours), Message::Assistant(theirs)) => {
            let has_calls = ours.id != theirs.id || count_calls(theirs) >= count_calls(ours);
            ours.content == theirs.content && has_calls
        }
        _ => false,
    }
}

/// Returns whether a text of an input is the beginning of one of the conversation.
fn is_cut(ours: &Message, theirs: &Message) -> bool {
    let (Message::Assistant(ours), Message::Assistant(theirs)) = (ours, theirs) else {
        return false;
    };
    let beginning = theirs.content.as_deref().unwrap_or_default();
    let whole = ours.content.as_deref().unwrap_or_default();
    !beginning.is_empty()
        && whole.starts_with(beginning)
        && (ours.id == theirs.id || whole != beginning)
}

fn count_calls(message: &AssistantMessage) -> usize {
    message.tool_calls.as_ref().map_or(0, Vec::len)
}

/// Returns whether a message is an instruction of the application, which each input has.
pub(super) fn is_instruction(message: &Message) -> bool {
    matches!(message, Message::System(_) | Message::Developer(_))
}
