//! Cursors of the agent's session, and the fork at one.
use super::Conversation;
use super::active::{PlannedTurn, Stage};
use super::output::ConversationDiagnostic;
use super::session::AgentState;
use crate::input::{Circumstances, TimelineUpdate};
use crate::reason::reason;
use acp_types::client::{CallError, ReceivedValue, Update};
use acp_types::v1::prompt_turn::{MessageId, SessionUpdate};
use acp_types::v1::session_cursors::CursorUpdate;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Conversation {
    /// Records the entries and the cursors of the session's timeline, for an agent that forks
    /// sessions. Returns whether the update is a cursor, which pages do not receive.
    pub(super) fn note_timeline(&mut self, update: &Update) -> bool {
        let Some(session) = self.session.as_ref().filter(|_| self.can_fork()) else {
            return false;
        };
        let part = part_of(update).filter(|(of, _)| *of == session.id.as_str());
        let Some((_, part)) = part else { return false };
        let is_echo = match update {
            Update::V1(update) => match &update.update {
                SessionUpdate::UserMessageChunk(chunk) => self.translator.is_echo(&chunk.content),
                _ => false,
            },
            // The response to the prompt has the id of its message.
            _ => false,
        };
        let is_in_turn = session.has_turn;
        let circumstances = Circumstances { is_in_turn, is_echo };
        let is_cursor = self.memory.handle_timeline(session.id.as_str(), part, circumstances);
        if is_cursor && !is_in_turn {
            self.remember();
        }
        is_cursor
    }

    /// Records the id of the message that the agent made of the prompt, in version 2.
    pub(super) fn note_prompt_accepted(&mut self, id: &MessageId) {
        if self.can_fork() {
            self.memory.handle_prompt_accepted(id);
        }
    }

    /// Takes the cursors out of the replay of a session, for an agent that forks sessions.
    pub(super) fn take_cursors(
        &self,
        replay: &mut Vec<ReceivedValue<Update>>,
    ) -> Vec<CursorUpdate> {
        if !self.can_fork() {
            return Vec::new();
        }
        let mut cursors = Vec::new();
        replay.retain(|update| match part_of(&update.value) {
            Some((_, TimelineUpdate::Cursor(cursor))) => {
                cursors.push(cursor.clone());
                false
            }
            _ => true,
        });
        cursors
    }

    /// Opens a new session in place of a fork that the agent refused. Returns `false` if none was
    /// refused.
    pub(super) fn open_without_fork(&mut self, error: &CallError) -> bool {
        let why: String = match error {
            CallError::Answered(error) => reason(error),
            CallError::Invalid(_) | CallError::InUse(_) => error.to_string(),
            _ => return false,
        };
        let stage = self.active.as_ref().map(|active| &active.stage);
        let Some(Stage::Opening { turn, .. }) = stage else { return false };
        let mut turn = turn.clone();
        if !self.replace_fork(&mut turn) {
            return false;
        }
        self.diagnose(ConversationDiagnostic::ForkRefused(why));
        self.attached = None;
        self.attempt = None;
        self.end_session();
        self.begin_turn(turn);
        true
    }

    /// Replaces a fork by a new session. Returns `false` without a fork that can be replaced.
    pub(super) fn replace_fork(&mut self, turn: &mut PlannedTurn) -> bool {
        let Some(fallback) = turn.fallback.take() else { return false };
        turn.source = None;
        turn.step = fallback.session;
        turn.first_said = fallback.first_said;
        turn.prompt = fallback.prompt;
        self.memory.handle_fork_refused(&turn.instruction);
        true
    }

    /// Returns whether an input that goes back may fork the session at a cursor.
    fn can_fork(&self) -> bool {
        let has_feature = matches!(&self.agent, AgentState::Connected(it) if it.fork);
        has_feature && self.options.rules.use_cursors()
    }
}

/// Returns the session of an update, and the part of the update that concerns the timeline.
fn part_of(update: &Update) -> Option<(&str, TimelineUpdate<'_>)> {
    match update {
        Update::V1(update) => {
            Some((update.session_id.as_str(), TimelineUpdate::of(&update.update)?))
        }
        Update::V2(update) => {
            Some((update.session_id.as_str(), TimelineUpdate::of_v2(&update.update)?))
        }
        _ => None,
    }
}
