//! Replay of a conversation by the agent, as after `session/load`.
use super::{Translator, reserve};
use crate::ids::Ids;
use crate::outbox::History;
use crate::update::Update;
use acp_types::client;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::message::{AssistantMessage, Message};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

impl Translator {
    /// Begins a replay: following updates repeat the conversation. It becomes one
    /// `MESSAGES_SNAPSHOT` at the beginning of the next run, with the state if
    /// [`Options::state`](crate::Options::state) is set.
    ///
    /// The updates are those that the agent sent before its response to `session/load`, such as
    /// [`OpenedSession::replay`](acp_types::client::OpenedSession::replay). If the agent refuses to
    /// load the session, they are not passed on.
    ///
    /// The snapshot has all messages of the run's input, and those of the replay that follow the
    /// last one that both have. It is left out if the replay adds no message, or if one of the
    /// input's before its new messages is missing in the replay. Does nothing while a run is open
    /// or interrupted.
    pub fn begin_replay(&mut self) {
        if self.runs.is_open() || self.runs.is_parked() || self.replay.is_some() {
            return;
        }
        let ids = self.outbox.ids().clone();
        self.replay = Some(Box::new(self.reader(ids)));
    }

    /// Creates the translator of a replay.
    fn reader(&self, ids: Ids) -> Self {
        let mut options = self.basis.options.clone();
        options.history = true;
        options.state = false;
        let mut reader = Self::new(options);
        *reader.outbox.ids() = ids;
        reader.basis.profile = self.basis.profile;
        let input = RunAgentInput::new("replay", "replay", []);
        // A new translator has no open run.
        let _ = reader.begin_run(&input, &[]);
        reader
    }

    /// Handles the updates of a replay.
    pub(crate) fn read_replay(&mut self, updates: impl Iterator<Item = client::Update>) {
        for update in updates {
            match update {
                client::Update::V1(update) => self.handle_notification(update),
                client::Update::V2(update) => self.handle_notification_v2(update),
                _ => {}
            }
        }
    }

    /// Sets the messages of a thread that continues a session named by the client, until that is
    /// open.
    pub(crate) fn expect_named(&mut self, messages: Vec<Message>) {
        self.named = Some(messages);
    }

    /// Restates the conversation with what the agent has repeated of a named session before its
    /// response, in the open run. `is_loaded` states that the rest of a replay may follow.
    pub(crate) fn show_named(
        &mut self,
        updates: impl Iterator<Item = client::Update>,
        is_loaded: bool,
    ) {
        let Some(messages) = self.named.take() else { return };
        // The run has reserved the identifiers of the thread's messages, which the replay has as
        // well.
        let ids = Ids::new(self.basis.options.limits.ids);
        self.replay = Some(Box::new(self.reader(ids)));
        self.read_replay(updates);
        if let Some(reader) = self.replay.take() {
            let (repeated, _) = self.end_reader(*reader);
            repeated.iter().for_each(|message| reserve(self.outbox.ids(), message));
            self.repeated = Some(repeated);
        }
        // A snapshot would remove the calls of questions that the run has shown.
        if !self.calls.has_open() {
            self.restate_repeated(&messages);
        }
        self.repeated = None;
        if is_loaded {
            self.handle_loaded();
        }
        let earlier = messages.len() - new_messages(&messages);
        self.expect_replay(messages.iter().take(earlier).map(|message| (message, false)));
    }

    /// Ends the replay. The beginning of a run ends it as well.
    pub fn end_replay(&mut self) {
        let Some(reader) = self.replay.take() else { return };
        let (messages, reader) = self.end_reader(*reader);
        self.repeated = Some(messages);
        *self.outbox.ids() = reader.outbox.into_ids();
        self.calls = reader.calls;
        self.basis.turns = self.basis.turns.saturating_add(reader.basis.turns);
        self.terminals = reader.terminals;
    }

    /// Ends the translator of a replay. Returns it with its messages for the client.
    fn end_reader(&self, mut reader: Self) -> (Vec<Message>, Self) {
        reader.close_run(false);
        let is_legacy = !self.basis.is_modern();
        let is_kept = |message: &&Message| {
            !(is_legacy && matches!(message, Message::Activity(_) | Message::Reasoning(_)))
        };
        let history = reader.outbox.history().map(History::messages).unwrap_or_default();
        let messages = history.iter().filter(is_kept).cloned().collect();
        (messages, reader)
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

    /// Leaves out what the agent has repeated before its response, unless the snapshot for an input
    /// fulfils a condition.
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

    /// Restates the conversation of a thread with what the replay adds, and returns whether it adds
    /// anything.
    pub(super) fn restate_repeated(&mut self, messages: &[Message]) -> bool {
        let Some(repeated) = self.repeated.take() else { return false };
        let Some(messages) = with_added(messages, repeated) else { return false };
        self.outbox.restate_as(&self.basis.root(), messages);
        true
    }
}

/// Returns messages of a thread with those of a replay that follow the last one that both have;
/// `None` if no message follows, or one of the thread is missing in the replay. The prompt and
/// other new messages at the end of the thread may be missing.
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
    // A part of the replay without any message of the thread is the agent's own, such as the
    // context of its prompts.
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
