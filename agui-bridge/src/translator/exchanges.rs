//! The conversation of a thread, for comparison with the one that an agent repeats.
use agui_types::id::ToolCallId;
use agui_types::message::Message;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Shortest text that is recognized within a longer one, in bytes without white space.
const MIN_CONTAINED: usize = 12;

/// A message of the user, with everything until the next one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Exchange {
    user: String,
    /// The agent's texts without white space: agents divide an answer into messages in different
    /// ways.
    text: String,
    calls: BTreeSet<ToolCallId>,
    /// Whether the turn ended regularly, so that the agent has the whole answer.
    is_whole: bool,
}

/// The exchanges of a thread, and how far the agent has repeated them.
///
/// An agent repeats a conversation in order. It may leave out parts and add others, such as the
/// context of its prompts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Exchanges {
    /// The first one has no message of the user.
    all: Vec<Exchange>,
    current: usize,
    /// Length of the repeated text of the current exchange.
    repeated: usize,
    /// The repeated calls of the current exchange.
    #[serde(default)]
    repeated_calls: BTreeSet<ToolCallId>,
    /// Whether the agent has repeated anything else in the current exchange.
    is_different: bool,
    /// Whether an earlier exchange, which was left out, has the message of the current one.
    is_doubtful: bool,
}

impl Exchanges {
    /// Creates the exchanges of messages that the agent has, each with whether it is a prompt with
    /// the agent's whole answer.
    pub(super) fn of<'a>(messages: impl Iterator<Item = (&'a Message, bool)>) -> Self {
        let mut all = vec![Exchange { is_whole: true, ..Exchange::default() }];
        for (message, is_whole) in messages {
            match message {
                Message::User(user) => {
                    let user = user.content.text();
                    all.push(Exchange { user, is_whole, ..Exchange::default() });
                }
                Message::Assistant(assistant) => {
                    let Some(exchange) = all.last_mut() else { continue };
                    exchange.text.extend(printed(assistant.content.as_deref().unwrap_or_default()));
                    let calls = assistant.tool_calls.iter().flatten();
                    exchange.calls.extend(calls.map(|call| call.id.clone()));
                }
                _ => {}
            }
        }
        Self {
            all,
            current: 0,
            repeated: 0,
            repeated_calls: BTreeSet::new(),
            is_different: false,
            is_doubtful: false,
        }
    }

    /// Returns whether the agent repeats a message of the user, or several that were one prompt.
    pub(super) fn repeat_user(&mut self, text: &str) -> bool {
        let is_unsaid = self.has_whole_answer() && !self.rest().is_empty();
        if is_unsaid && self.repeats_current_user(text) {
            // The whole answer precedes the next message.
            self.restart_answer();
            return true;
        }
        let Some(first) = self.find_user(text) else { return false };
        if self.passes_whole(first) && self.repeats_current_user(text) {
            self.restart_answer();
            return true;
        }
        let exchange = self.whole_of(first, text);
        self.go_to(exchange);
        self.is_doubtful = exchange != first;
        true
    }

    /// Returns whether the agent repeats the message of the current exchange, which it has more
    /// often than the thread if the user has sent it again after a failure.
    pub(super) fn repeats_current_user(&self, text: &str) -> bool {
        let compact: String = printed(text).collect();
        self.has_begun() && self.current().is_some_and(|it| has_message(text, &compact, &it.user))
    }

    /// Begins the answer of the current exchange again.
    pub(super) fn restart_answer(&mut self) {
        self.go_to(self.current);
    }

    /// Returns the next exchange with a whole answer if it has the same message, or the exchange
    /// itself. The agent may lack an exchange without a whole answer, but none with one.
    fn whole_of(&self, exchange: usize, text: &str) -> usize {
        let compact: String = printed(text).collect();
        let mut later = self.all.iter().enumerate().skip(exchange);
        let whole = later.find(|(_, exchange)| exchange.is_whole);
        let same = whole.filter(|(_, whole)| has_message(text, &compact, &whole.user));
        same.map_or(exchange, |(place, _)| place)
    }

    /// Returns whether an exchange with a whole answer, which the agent has, is between the current
    /// one and a later one.
    fn passes_whole(&self, exchange: usize) -> bool {
        let between = self.all.get(self.current + 1..exchange).unwrap_or_default();
        between.iter().any(|exchange| exchange.is_whole)
    }

    /// Returns the first later exchange with these messages of the user; the last one of several
    /// that were one prompt.
    fn find_user(&self, text: &str) -> Option<usize> {
        let start = self.current + 1;
        let compact: String = printed(text).collect();
        let later = self.all.get(start..).unwrap_or_default();
        for (place, exchange) in (start..).zip(later) {
            if has_message(text, &compact, &exchange.user) {
                return Some(place);
            }
            if let Some(more) = joined(&compact, self.all.get(place..).unwrap_or_default()) {
                return Some(place + more);
            }
        }
        None
    }

    /// Returns whether the agent repeats a piece of the answer in the current exchange.
    pub(super) fn repeat_text(&mut self, text: &str) -> bool {
        let text: String = printed(text).collect();
        let repeats = !self.is_different && self.rest().starts_with(&text);
        self.repeated += if repeats { text.len() } else { 0 };
        repeats
    }

    /// Returns whether the agent repeats a call of the current exchange, for the first time.
    pub(super) fn repeat_call(&mut self, id: &ToolCallId) -> bool {
        if self.is_different {
            return false;
        }
        let own = agents_id(id);
        let call = self.open_calls().find(|call| agents_id(call) == own).cloned();
        call.is_some_and(|call| self.repeated_calls.insert(call))
    }

    /// Returns the calls of the current exchange that the agent has not repeated.
    fn open_calls(&self) -> impl Iterator<Item = &ToolCallId> {
        let calls = self.current().into_iter().flat_map(|exchange| &exchange.calls);
        calls.filter(|call| !self.repeated_calls.contains(*call))
    }

    /// Returns whether no message of the user is to be repeated.
    pub(super) fn is_last(&self) -> bool {
        self.current + 1 == self.all.len()
    }

    /// Returns whether the text of the current exchange was repeated.
    pub(super) fn is_said(&self) -> bool {
        let is_doubtful = self.is_doubtful && self.repeated == 0;
        self.rest().is_empty() && !is_doubtful
    }

    /// Returns whether the text or a call of the current exchange was repeated, with nothing left
    /// of the text. It may be that of an earlier exchange with the same message.
    pub(super) fn may_be_said(&self) -> bool {
        self.rest().is_empty() && !self.is_doubtful()
    }

    /// Returns whether a message of the user was repeated.
    pub(super) fn has_begun(&self) -> bool {
        self.current > 0
    }

    /// Returns whether the agent has repeated its whole answer in the current exchange, and nothing
    /// else.
    pub(super) fn has_whole_text(&self) -> bool {
        self.has_whole_answer() && self.is_said() && !self.is_different
    }

    /// Returns whether the agent may have repeated an earlier exchange with the message of the
    /// current one. A part of the answer decides.
    pub(super) fn is_doubtful(&self) -> bool {
        self.is_doubtful && self.repeated == 0 && self.repeated_calls.is_empty()
    }

    /// Returns whether everything was repeated.
    pub(super) fn is_complete(&self) -> bool {
        let has_calls = self.open_calls().next().is_some();
        self.is_last() && self.has_whole_answer() && !has_calls && !self.expects_more()
    }

    /// Returns whether the agent has begun to repeat the thread, and has more of it.
    pub(super) fn expects_more(&self) -> bool {
        let later = self.all.get(self.current + 1..).unwrap_or_default();
        let is_unsaid = self.has_whole_answer() && !self.is_said();
        self.has_begun() && (is_unsaid || later.iter().any(|exchange| exchange.is_whole))
    }

    /// Returns whether the agent has the whole answer of the current exchange.
    pub(super) fn has_whole_answer(&self) -> bool {
        self.current().is_some_and(|exchange| exchange.is_whole)
    }

    /// Records that the agent has repeated something else in the current exchange.
    pub(super) fn set_different(&mut self) {
        self.is_different = true;
    }

    fn current(&self) -> Option<&Exchange> {
        self.all.get(self.current)
    }

    fn rest(&self) -> &str {
        self.current().and_then(|exchange| exchange.text.get(self.repeated..)).unwrap_or_default()
    }

    fn go_to(&mut self, exchange: usize) {
        self.current = exchange;
        self.repeated = 0;
        self.repeated_calls.clear();
        self.is_different = false;
        self.is_doubtful = false;
    }
}

/// Returns the id of a call without the number of its repetition.
fn agents_id(id: &ToolCallId) -> &str {
    let is_number = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
    match id.as_str().rsplit_once('~') {
        Some((id, number)) if is_number(number) => id,
        _ => id.as_str(),
    }
}

/// Returns the characters of a text that are not white space.
fn printed(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|c| !c.is_whitespace())
}

/// Returns whether a prompt has a message of the user, beside the context of its input. `compact`
/// is the prompt without white space.
fn has_message(prompt: &str, compact: &str, user: &str) -> bool {
    let lines = user.trim();
    let is_line_end = |c: Option<char>| c.is_none_or(|c| c == '\n' || c == '\r');
    let is_block = |(at, _): (usize, &str)| {
        let before = prompt.get(..at).unwrap_or_default();
        let after = prompt.get(at + lines.len()..).unwrap_or_default();
        is_line_end(before.chars().next_back()) && is_line_end(after.chars().next())
    };
    if !lines.is_empty() && prompt.match_indices(lines).any(is_block) {
        return true;
    }
    let user: String = printed(user).collect();
    user.len() >= MIN_CONTAINED && compact.contains(&user)
}

/// Returns the number of further exchanges with messages of the user that are one prompt together.
fn joined(prompt: &str, exchanges: &[Exchange]) -> Option<usize> {
    let mut rest = prompt;
    for (index, exchange) in exchanges.iter().enumerate() {
        let user: String = printed(&exchange.user).collect();
        rest = rest.strip_prefix(&*user).filter(|_| !user.is_empty())?;
        if rest.is_empty() {
            return Some(index);
        }
    }
    None
}
