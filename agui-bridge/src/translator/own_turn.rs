//! Turns that the agent begins without a prompt.
//!
//! The agent reports its own turn by `state_update` in ACP v2. Otherwise, as in v1, a part of the
//! conversation that arrives outside of a turn begins one, and silence ends it.
use super::{Translator, TurnStart};
use crate::runs::{OwnTurn, ParkedTurn};
use crate::turn_end::TurnEnd;
use crate::update::Update;
use acp_types::v1::content::ContentBlock;
use core::time::Duration;

impl Translator {
    /// Returns whether the agent's own turn has parts of the conversation or questions that no run
    /// has shown. A run without a prompt shows them, and is open until the turn ends.
    pub fn has_activity(&self) -> bool {
        if self.runs.is_open() || !self.questions.interrupted().is_empty() {
            return false;
        }
        let is_prompted = self.runs.is_parked() && self.runs.own().is_none();
        let has_news = self.waiting.has_conversation() || self.questions.has_later();
        self.runs.has_ended_parked() || has_news && !is_prompted
    }

    /// Returns whether the agent works on a turn of its own, with an end that it reports.
    pub(crate) fn has_own_turn(&self) -> bool {
        self.runs.own() == Some(OwnTurn::Reported)
    }

    /// Forgets the agent's own turn with its session, if no run has begun to show it.
    pub(crate) fn forget_own_turn(&mut self) {
        if !self.runs.is_open() && !self.runs.is_parked() {
            self.runs.end_own();
        }
    }

    /// Ends the own turn of the open run if that ends by silence, and no question is open.
    pub(crate) fn end_quiet_turn(&mut self) {
        let is_quiet = matches!(self.runs.own(), Some(OwnTurn::Quiet(_)));
        if !is_quiet || !self.runs.is_open() || self.questions.is_waiting() {
            return;
        }
        self.runs.end_own();
        if self.runs.has_before() {
            self.end_turn(TurnEnd::Stopped);
        } else {
            self.handle_no_work();
        }
    }

    /// Ends the open run of an own turn after its silence.
    pub(super) fn end_if_quiet(&mut self, now: Duration) {
        if matches!(self.runs.own(), Some(OwnTurn::Quiet(until)) if until.is_none_or(|it| it <= now))
        {
            self.end_quiet_turn();
        }
    }

    /// Returns the end of the silence that ends the open run.
    pub(super) fn quiet_until(&self) -> Option<Duration> {
        match self.runs.own() {
            Some(OwnTurn::Quiet(until)) if self.runs.is_open() => until,
            _ => None,
        }
    }

    /// Records an update outside of a prompt's turn.
    pub(super) fn note_update(&mut self, update: &Update) {
        let is_prompted = self.runs.is_open() && self.runs.own().is_none();
        if !is_prompted && update.is_conversation() {
            self.note_work();
        }
    }

    /// Records that the agent continues its own turn, if it has one.
    pub(super) fn prolong_own_turn(&mut self) {
        if self.runs.own().is_some() {
            self.note_work();
        }
    }

    /// Records work of the agent outside of a prompt's turn, such as a question.
    pub(crate) fn note_work(&mut self) {
        let now = self.basis.now;
        let until = now.map(|now| now.saturating_add(self.basis.options.times.quiet));
        self.runs.note_own(false, until);
    }

    /// Ends the agent's own turn, since the agent reports that it is idle.
    pub(super) fn end_own_turn(&mut self, end: TurnEnd) {
        if self.runs.is_open() || self.runs.is_parked() {
            return self.handle_turn_end(end);
        }
        self.cancel_questions();
        if matches!(end, TurnEnd::Error(_)) {
            // The next run shows the failure.
            self.runs.park(ParkedTurn { cancel: None, end: Some(end) });
        }
    }

    /// Continues the agent's own turn in the run that has just begun. Returns `None` if the run is
    /// to begin a turn.
    pub(super) fn join_own_turn(&mut self, prompt: &[ContentBlock]) -> Option<TurnStart> {
        let is_over = match self.runs.own()? {
            OwnTurn::Reported => false,
            OwnTurn::Quiet(until) => {
                until.zip(self.basis.now).is_none_or(|(until, now)| until <= now)
                    && !self.questions.is_waiting()
            }
        };
        if is_over || !prompt.is_empty() {
            self.leave_questions();
            self.runs.end_own();
            return None;
        }
        self.basis.turns += 1;
        let (questions, mut desk) = self.questions();
        questions.put_waiting(&mut desk);
        self.suspend_if_due();
        Some(if self.runs.is_open() { TurnStart::Resumed } else { TurnStart::Ended })
    }
}
