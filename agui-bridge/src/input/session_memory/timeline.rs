//! The turns of a conversation in the timeline of the agent's session, and its cursors.
use super::{Known, SessionMemory};
use crate::input::cancelled::Instruction;
use crate::input::cursors::{Entry, TimelineUpdate, TurnPlace};
use crate::input::session_step::SessionStep;
use acp_types::v1::prompt_turn::MessageId;
use acp_types::v1::session_cursors::{CursorId, CursorUpdate};
use agui_types::message::Message;

/// The circumstances of an update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    /// Whether the agent works on a prompt.
    pub(crate) is_in_turn: bool,
    /// Whether a message of the user repeats the prompt.
    pub(crate) is_echo: bool,
}

impl SessionMemory {
    /// Handles that the prompt of the open turn was sent in a session.
    pub(crate) fn handle_prompt_sent(&mut self, session: &str) {
        self.is_unsent_elsewhere = false;
        let is_other = self.timeline.begin_session(session);
        let last = self.timeline.handle_prompt();
        let Some(place) = self.open_place() else { return };
        if is_other {
            place.message = None;
            place.is_repeated = false;
        } else if place.is_sent {
            // The session has the prompt of the first attempt, too.
            place.is_repeated = true;
        } else {
            place.after = last;
        }
        place.is_sent = true;
    }

    /// Handles an update of the session: its entries and its cursors. Returns whether it is a
    /// cursor.
    pub(crate) fn handle_timeline(
        &mut self,
        session: &str,
        update: TimelineUpdate<'_>,
        circumstances: Circumstances,
    ) -> bool {
        self.timeline.begin_session(session);
        let Circumstances { is_in_turn, is_echo } = circumstances;
        match update {
            TimelineUpdate::Cursor(cursor) => {
                self.timeline.handle_cursor(cursor);
                return true;
            }
            TimelineUpdate::User(entry) if is_in_turn && is_echo && self.timeline.is_quiet() => {
                if let Some(entry) = entry {
                    self.handle_prompt_message(entry);
                }
            }
            TimelineUpdate::User(entry) | TimelineUpdate::Agent(entry) => {
                if self.timeline.handle_agent(entry, is_in_turn)
                    && let Some(entry) = entry
                {
                    self.forget_places_at(entry);
                }
            }
        }
        false
    }

    /// Handles the id that the agent gave to the prompt of the open turn.
    pub(crate) fn handle_prompt_accepted(&mut self, id: &MessageId) {
        self.handle_prompt_message(Entry::user_message(id));
    }

    /// Handles the cursors in the replay of a session.
    pub(crate) fn handle_replayed_cursors(&mut self, session: &str, cursors: &[CursorUpdate]) {
        if !cursors.is_empty() {
            self.timeline.begin_session(session);
        }
        cursors.iter().for_each(|cursor| self.timeline.handle_cursor(cursor));
    }

    /// Returns the last entry of the session, if it is known.
    pub(in crate::input) fn last_entry(&self) -> Option<Entry> {
        self.timeline.last()
    }

    /// Handles that updates of the session are missing.
    pub(crate) fn handle_lost_updates(&mut self) {
        self.timeline.handle_loss();
    }

    fn handle_prompt_message(&mut self, entry: Entry) {
        if self.timeline.handle_user(Some(entry)) {
            self.forget_places_at(entry);
        }
        if let Some(place) = self.open_place()
            && place.is_sent
            && !place.is_repeated
        {
            place.message.get_or_insert(entry);
        }
    }

    /// Records the places of the messages that were known before, as far as both begin alike.
    pub(super) fn keep_places(&mut self, earlier: &[Known], forgotten: usize) {
        let first = forgotten.max(self.forgotten);
        let earlier = earlier.iter().skip(first - forgotten);
        let known = self.known.iter_mut().skip(first - self.forgotten);
        for (known, earlier) in known.zip(earlier).take_while(|(ours, earlier)| ours.is(earlier)) {
            known.place = earlier.place;
        }
    }

    /// Records how much of the conversation a session has that was begun, or goes on, by a step.
    pub(in crate::input) fn handle_step(&mut self, step: &SessionStep, is_diverged: bool) {
        let has_removed = is_diverged && matches!(step, SessionStep::Fork { cursor: None });
        let is_forked = matches!(step, SessionStep::Fork { .. }) && !has_removed;
        self.timeline.set_forked(is_forked);
        self.is_unsent_elsewhere = !matches!(step, SessionStep::Keep);
        match step {
            SessionStep::Keep => self.has_more |= is_diverged,
            SessionStep::Fork { .. } => self.has_more = has_removed,
            SessionStep::New { .. } | SessionStep::Attach => self.has_more = false,
        }
    }

    /// Handles that the agent refused to fork the session. The open turn begins a new session.
    pub(crate) fn handle_fork_refused(&mut self, instruction: &Instruction) {
        self.timeline.set_forked(false);
        let place = TurnPlace::default();
        self.begin_turn(instruction, &SessionStep::New { system_prompt: None }, place);
    }

    /// Forgets places at an entry of an earlier session with the same id as a new one.
    fn forget_places_at(&mut self, entry: Entry) {
        for place in self.known.iter_mut().filter_map(|known| known.place.as_mut()) {
            place.after.take_if(|after| *after == entry);
            place.message.take_if(|message| *message == entry);
        }
    }

    /// Returns the place of the open turn.
    fn open_place(&mut self) -> Option<&mut TurnPlace> {
        let turn = self.turn.as_ref()?;
        let mut users = self.known.iter_mut().filter(|known| !known.by_agent);
        users.find(|known| turn.instruction.has(&known.id))?.place.as_mut()
    }

    /// Returns the cursor where the conversation goes on after these messages, which the agent has,
    /// and the place of the turn that was there. The agent has at least one of them.
    pub(in crate::input) fn cursor_after(
        &self,
        messages: &[Message],
    ) -> Option<(&CursorId, TurnPlace)> {
        if self.has_more {
            return None;
        }
        let kept = messages.iter().filter_map(Known::of).skip(self.forgotten);
        let mut known = self.known.iter();
        let mut is_begun = false;
        for theirs in kept {
            known.next().filter(|ours| ours.is(&theirs))?;
            is_begun = true;
        }
        let place = known.next().filter(|next| !next.by_agent && is_begun)?.place?;
        Some((self.timeline.cursor_at(&place)?, place))
    }
}
