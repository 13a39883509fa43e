//! Replay of a conversation by the agent, as after `session/load`.
use super::Translator;
use crate::outbox::History;
use crate::update::Update;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use alloc::boxed::Box;
use alloc::vec::Vec;

impl Translator {
    /// Begins a replay: following updates repeat the conversation. It becomes one `MESSAGES_SNAPSHOT` at the beginning
    /// of the next run, with the state if [`Options::state`](crate::Options::state) is set.
    ///
    /// The updates are those that the agent sent before its response to `session/load`, such as
    /// [`Opened::replay`](acp_types::client::Opened::replay). If the agent refuses to load the session, they are not
    /// passed on.
    ///
    /// The snapshot replaces the client's conversation, except for the user messages at the end of the run's input,
    /// which are new. Does nothing while a run is open or interrupted.
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
        if !update.is_tool_call() {
            let frame = reader.basis.root();
            reader.calls.conclude(&frame, &mut reader.outbox, &reader.terminals, None);
        }
        reader.take(update);
        while reader.poll_event().is_some() {}
        None
    }

    /// Restates the replayed conversation, and returns whether there was one.
    pub(super) fn restate_repeated(&mut self, input: &RunAgentInput) -> bool {
        let Some(mut messages) = self.repeated.take() else { return false };
        let is_new = |message: &&Message| {
            matches!(message, Message::User(_) | Message::System(_) | Message::Developer(_))
        };
        let new = input.messages.iter().rev().take_while(is_new).count();
        let new = input.messages.iter().skip(input.messages.len() - new);
        let known: Vec<_> = messages.iter().filter_map(Message::id).collect();
        let is_known = |message: &&Message| message.id().is_some_and(|id| known.contains(&id));
        let new: Vec<_> = new.filter(|message| !is_known(message)).cloned().collect();
        messages.extend(new);
        self.outbox.restate_as(&self.basis.root(), messages);
        true
    }
}
