//! Replay of a conversation by the agent, as after `session/load`.
use super::Translator;
use crate::outbox::History;
use crate::update::Update;
use crate::waiting::Waiting;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::message::{AssistantMessage, Message};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

impl Translator {
    /// Begins a replay: following updates repeat the conversation. It becomes one `MESSAGES_SNAPSHOT` at the beginning
    /// of the next run, with the state if [`Options::state`](crate::Options::state) is set.
    ///
    /// The updates are those that the agent sent before its response to `session/load`, such as
    /// [`Opened::replay`](acp_types::client::Opened::replay). If the agent refuses to load the session, they are not
    /// passed on.
    ///
    /// The snapshot has all messages of the run's input, and those of the replay that follow the last one that both have. It
    /// is left out if the replay adds no message, or if one of the input's before its new messages is missing in the replay.
    /// Does nothing while a run is open or interrupted.
    pub fn begin_replay(&mut self) {
        if self.runs.is_open() || self.runs.is_parked() || self.replay.is_some() {
            return;
        }
        let mut options = self.basis.options.clone();
        options.history = true;
        options.state = false;
        let mut reader = Self::new(options);
        *reader.outbox.ids() = self.outbox.ids().clone();
        reader.basis.profile = self.basis.profile;
        let input = RunAgentInput::new("replay", "replay", []);
        // A new translator has no open run.
        let _ = reader.begin_run(&input, &[]);
        self.replay = Some(Box::new(reader));
    }

    /// Ends the replay. The beginning of a run ends it as well.
    pub fn end_replay(&mut self) {
        let Some(mut reader) = self.replay.take() else { return };
        reader.close_run(false);
        let is_legacy = !self.basis.is_modern();
        let is_kept = |message: &&Message| {
            !(is_legacy && matches!(message, Message::Activity(_) | Message::Reasoning(_)))
        };
        let history = reader.outbox.history().map(History::messages).unwrap_or_default();
        self.repeated = Some(history.iter().filter(is_kept).cloned().collect());
        let reader = *reader;
        *self.outbox.ids() = reader.outbox.into_ids();
        self.calls = reader.calls;
        self.basis.turns = self.basis.turns.saturating_add(reader.basis.turns);
        self.terminals = reader.terminals;
    }

    /// Returns whether a replay is active.
    pub fn is_replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// Takes an update of a replay; returns any other.
    pub(super) fn take_repeated(&mut self, update: Update) -> Option<Update> {
        let Some(reader) = self.replay.as_mut().filter(|_| update.is_conversation()) else {
            return Some(update);
        };
        self.repeated_updates.push(update.clone(), &self.basis.options.limits);
        if !update.is_tool_call() {
            let frame = reader.basis.root();
            reader.calls.conclude(&frame, &mut reader.outbox, &reader.terminals, None);
        }
        reader.take(update);
        while reader.poll_event().is_some() {}
        None
    }

    /// Leaves out what the agent has repeated before its response, unless the snapshot for an input fulfils a condition.
    pub(crate) fn show_replay_if(
        &mut self,
        input: &RunAgentInput,
        is_shown: impl FnOnce(&[Message]) -> bool,
    ) {
        let Some(repeated) = self.repeated.clone() else { return };
        let snapshot = with_added(&input.messages, repeated);
        if !snapshot.is_some_and(|messages| is_shown(&messages)) {
            self.repeated = None;
        }
    }

    /// Restates the conversation of the input with what the replay adds, and returns whether it adds anything.
    pub(super) fn restate_repeated(&mut self, input: &RunAgentInput) -> bool {
        self.repeated_updates = Waiting::default();
        let Some(repeated) = self.repeated.take() else { return false };
        let Some(messages) = with_added(&input.messages, repeated) else { return false };
        self.outbox.restate_as(&self.basis.root(), messages);
        true
    }
}

/// Returns messages of a thread with those of a replay that follow the last one that both have; `None` if no message follows,
/// or one of the thread is missing in the replay. The prompt and other new messages at the end of the thread may be missing.
fn with_added(thread: &[Message], mut replay: Vec<Message>) -> Option<Vec<Message>> {
    let earlier = thread.len() - new_messages(thread);
    let mut common = 0;
    let mut place = earlier;
    for (index, message) in thread.iter().enumerate() {
        // The prompt may repeat an earlier message.
        if index >= earlier && index + 1 == thread.len() {
            break;
        }
        let later = replay.iter().skip(common);
        match later.clone().position(|other| is_same(message, other)) {
            Some(skipped) => {
                common += skipped + 1;
                place = index + 1;
            }
            None if index < earlier => return None,
            None => {}
        }
    }
    // A part of the replay without any message of the thread is the agent's own, such as the context of its prompts.
    let is_other = common == 0 && thread.len() > 1;
    let added = replay.split_off(common);
    if is_other || added.is_empty() {
        return None;
    }
    let known: BTreeSet<_> = thread.iter().filter_map(Message::id).collect();
    let is_new = |message: &Message| message.id().is_none_or(|id| !known.contains(&id));
    let mut messages = thread.to_vec();
    messages.splice(place..place, added.into_iter().filter(is_new));
    Some(messages)
}

/// Returns the number of messages at the end that the agent has not received.
fn new_messages(messages: &[Message]) -> usize {
    let is_new = |message: &&Message| {
        matches!(message, Message::User(_) | Message::System(_) | Message::Developer(_))
    };
    messages.iter().rev().take_while(is_new).count()
}

/// Returns whether a replayed message is one of the thread: by text, by tool call, or by id.
fn is_same(message: &Message, replayed: &Message) -> bool {
    match (message, replayed) {
        (Message::User(ours), Message::User(theirs)) => {
            ours.content.text() == theirs.content.text()
        }
        (Message::Assistant(ours), Message::Assistant(theirs)) => {
            let is_same_text = ours.content.as_deref().unwrap_or_default()
                == theirs.content.as_deref().unwrap_or_default();
            let ids = |message: &AssistantMessage| -> Vec<ToolCallId> {
                message.tool_calls.iter().flatten().map(|call| call.id.clone()).collect()
            };
            is_same_text && ids(ours) == ids(theirs)
        }
        (Message::Tool(ours), Message::Tool(theirs)) => ours.tool_call_id == theirs.tool_call_id,
        _ => message.id().is_some() && message.id() == replayed.id(),
    }
}
