//! A session that is told again, as `session/load` has it told.
use crate::state::Update;
use crate::translator::Translator;
use agui_types::event::MessagesSnapshotEvent;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use alloc::boxed::Box;
use alloc::vec::Vec;

impl Translator {
    /// Begins to take what the agent tells for what it has told before: send `session/load` now. The conversation that
    /// comes out becomes one `MESSAGES_SNAPSHOT` at the head of the next run, with the state where
    /// [`Options::state`](crate::Options::state) has one; nothing of it is told as new.
    ///
    /// The snapshot takes the place of the conversation that the client has, except for the user's messages at the end of
    /// the run's input: those are new. While a run is open or interrupted it does nothing.
    pub fn begin_replay(&mut self) {
        if self.run.is_some() || self.parked.is_some() || self.replay.is_some() {
            return;
        }
        let mut options = self.options.clone();
        options.history = true;
        options.state = false;
        let mut teller = Self::new(options);
        teller.ids = self.ids.clone();
        teller.profile = self.profile;
        let input = RunAgentInput::new("replay", "replay", []);
        // Nothing is open in a translator that is new.
        let _ = teller.begin_run(&input, &[]);
        self.replay = Some(Box::new(teller));
    }

    /// Ends what [`begin_replay`](Self::begin_replay) began: the agent has answered `session/load`. So does a run that
    /// begins.
    pub fn end_replay(&mut self) {
        let Some(mut teller) = self.replay.take() else { return };
        teller.close_run(false);
        let Some(history) = &teller.history else { return };
        let legacy = !self.is_modern();
        let takes = |message: &&Message| {
            !(legacy && matches!(message, Message::Activity(_) | Message::Reasoning(_)))
        };
        self.told_again = Some(history.messages().iter().filter(takes).cloned().collect());
        self.ids = teller.ids;
        self.calls = teller.calls;
        self.turns = self.turns.saturating_add(teller.turns);
        self.arriving_in = self.turns;
        self.terminals = teller.terminals;
    }

    /// Drops what [`begin_replay`](Self::begin_replay) began: the agent has refused `session/load`, or nobody wants it any
    /// more. There is no snapshot: the client keeps the conversation that it has. The run that was to follow ends as the
    /// refusal says: begin it, and hand the error to [`handle_prompt_response`](Self::handle_prompt_response).
    pub fn drop_replay(&mut self) {
        self.replay = None;
    }

    /// Whether a session is being told again.
    pub fn is_replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// Takes in an update while a session is told again; gives back what is not part of the conversation.
    pub(crate) fn tell_again(&mut self, update: Update) -> Option<Update> {
        let Some(teller) = self.replay.as_mut().filter(|_| update.is_conversation()) else {
            return Some(update);
        };
        if !update.is_tool_call() {
            teller.conclude_calls(None);
        }
        teller.take(update);
        while teller.poll_event().is_some() {}
        None
    }

    /// Says what was told again.
    pub(crate) fn say_again(&mut self, input: &RunAgentInput) {
        let Some(mut messages) = self.told_again.take() else { return };
        let is_new = |message: &&Message| {
            matches!(message, Message::User(_) | Message::System(_) | Message::Developer(_))
        };
        let new = input.messages.iter().rev().take_while(is_new).count();
        let known: Vec<_> = messages.iter().filter_map(Message::id).collect();
        let new = input.messages.iter().skip(input.messages.len() - new);
        messages.extend(
            new.filter(|message| !message.id().is_some_and(|id| known.contains(&id))).cloned(),
        );
        self.emit(MessagesSnapshotEvent::new(messages));
    }
}
