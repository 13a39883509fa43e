//! Interrupted runs, the runs that resume them, and time limits.
use super::{Translator, TurnStart};
use crate::CancelReason;
use crate::options::UnansweredPolicy;
use crate::runs::{Before, ParkedTurn, Problem};
use crate::turn_end::Failure;
use acp_types::v1::content::ContentBlock;
use agui_types::event::{RunFinishedInterruptOutcome, RunFinishedOutcome};
use agui_types::id::RunId;
use agui_types::input::RunAgentInput;
use agui_types::interrupt::ResumeEntry;
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;

impl Translator {
    /// Sets the time, an offset from an epoch of the caller's choice. An earlier time than the last
    /// one is ignored.
    ///
    /// Call it before each `handle_*` and `begin_run`, and at the time of
    /// [`poll_timeout`](Self::poll_timeout). Returns the failure that ended the run if it exceeded
    /// a time limit. The agent still works on the turn then: cancel it, or leave its session.
    #[must_use = "the agent still works on the turn of the failed run"]
    pub fn handle_timeout(&mut self, now: Duration) -> Option<Failure> {
        let before = self.basis.now.unwrap_or(now);
        let now = now.max(before);
        self.basis.now = Some(now);
        let was_waiting = self.questions.is_waiting();
        let (questions, mut desk) = self.questions();
        questions.expire(&mut desk, now);
        if !self.runs.is_open() {
            return None;
        }
        let frame = self.basis.root();
        let out = &mut self.outbox;
        self.calls.settle(&frame, out, &self.terminals, now);
        self.terminals.show_due(&frame, out, now);
        if !was_waiting {
            self.runs.advance(now.saturating_sub(before));
        }
        let Some((failure, message)) = self.runs.overdue(&self.basis.options.times) else {
            self.end_silent_replay(now);
            self.suspend_if_due();
            self.end_if_quiet(now);
            return None;
        };
        self.handle_failure(failure, message);
        Some(failure)
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) has to be called next.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let now = self.basis.now?;
        let is_working = self.runs.is_open() && !self.questions.is_waiting();
        let times = &self.basis.options.times;
        let timeouts = [
            self.questions.timeout(),
            is_working.then(|| self.runs.timeout(times, now)).flatten(),
            is_working.then(|| self.calls.settling()).flatten(),
            self.runs.is_open().then(|| self.terminals.due()).flatten(),
            is_working.then(|| self.quiet_until()).flatten(),
            is_working.then(|| self.late_until()).flatten(),
        ];
        timeouts.into_iter().flatten().min()
    }

    /// Returns whether the run has ended while the agent's turn continues: with an interrupt, or
    /// with pending calls of [page tools](crate::frontend_tool).
    pub fn is_interrupted(&self) -> bool {
        self.runs.is_parked()
    }

    /// Returns whether the prompt of a run with [`TurnStart::Wait`] has to be sent now; `true` once.
    pub fn poll_prompt(&mut self) -> bool {
        self.runs.poll_prompt()
    }

    /// Returns the run that was last resumed, if exactly these were its answers. A repeated request
    /// receives the events of that run instead of another run.
    pub fn resumed_by(&self, answers: &[ResumeEntry]) -> Option<&RunId> {
        self.questions.resumed_by(answers)
    }

    /// Interrupts the open run when it is due.
    pub(super) fn suspend_if_due(&mut self) {
        let numbers = self.questions.due(self.basis.now);
        if numbers.is_empty() || !self.runs.is_open() {
            return;
        }
        let frame = self.basis.root();
        let out = &mut self.outbox;
        out.close_texts();
        self.terminals.show_all(&frame, out);
        self.calls.end_all(&frame, out, &self.terminals);
        self.close_rest();
        self.questions.put_off();
        self.runs.park(ParkedTurn::default());
        self.interrupt_run(&numbers);
    }

    /// Ends the open run as a success while its turn continues.
    pub(super) fn park(&mut self) {
        if !self.runs.is_open() {
            return;
        }
        self.show_held();
        self.questions.put_off();
        let frame = self.basis.root();
        let out = &mut self.outbox;
        out.close_texts();
        self.terminals.show_all(&frame, out);
        self.close_calls(false);
        self.close_rest();
        self.runs.park(ParkedTurn::default());
        self.succeed(None);
    }

    fn interrupt_run(&mut self, numbers: &[u64]) {
        let frame = self.basis.root();
        let interrupts = self.questions.interrupts(&frame, &self.calls, numbers);
        let outcome = RunFinishedOutcome::Interrupt(RunFinishedInterruptOutcome::new(interrupts));
        self.runs.finish(&frame, &mut self.outbox, outcome, None);
    }

    /// Continues the turn of the last run, in the run that has just begun.
    pub(super) fn resume(
        &mut self,
        parked: ParkedTurn,
        input: &RunAgentInput,
        answers: &[ResumeEntry],
        prompt: &[ContentBlock],
    ) -> TurnStart {
        let open = self.questions.interrupted();
        let abandons =
            !prompt.is_empty() && self.basis.options.unanswered == UnansweredPolicy::Abandon;
        if answers.is_empty() && !open.is_empty() && !abandons {
            self.runs.park(parked);
            self.refuse_unanswered(&open, prompt);
            return TurnStart::Ended;
        }
        let mut reason = parked.cancel;
        if answers.is_empty() {
            // The user leaves the questions.
            reason = reason.or((!open.is_empty()).then_some(CancelReason::User));
        } else {
            let (questions, mut desk) = self.questions();
            let resumed = questions.resume(&mut desk, &input.run_id, answers, prompt.is_empty());
            if let Err(error) = resumed {
                self.runs.park(parked);
                let code = error.code();
                self.fail(Problem::new(code, &error.message()));
                return TurnStart::Ended;
            }
        }
        self.questions.forget_settled();
        self.catch_up();
        if answers.is_empty() && !prompt.is_empty() {
            self.leave_questions();
        }
        let has_ended = parked.end.is_some();
        if prompt.is_empty() {
            if let Some(reason) = reason {
                self.runs.join_cancelled(reason);
            }
            self.continue_turn(parked);
            return if self.runs.is_open() { TurnStart::Resumed } else { TurnStart::Ended };
        }
        let is_cancelled = reason.is_some();
        let cancel = is_cancelled && parked.cancel.is_none();
        self.runs.wait_for(Before { prompt: prompt.to_vec(), is_cancelled });
        self.continue_turn(parked);
        match has_ended {
            true if self.poll_prompt() => TurnStart::Prompt,
            true => TurnStart::Ended,
            false => TurnStart::Wait { cancel },
        }
    }

    /// Ends the open run, since its input answers none of the open questions.
    fn refuse_unanswered(&mut self, open: &[u64], prompt: &[ContentBlock]) {
        if prompt.is_empty() {
            return self.interrupt_run(open);
        }
        let ids: Vec<_> = open.iter().map(|it| self.questions.interrupt_id(*it)).collect();
        let message = format!("These questions have no answer: {}.", ids.join(", "));
        self.fail(Problem::new("INTERRUPTS_OPEN", &message));
    }

    /// Shows the end of a parked turn, or sends its questions since then.
    fn continue_turn(&mut self, parked: ParkedTurn) {
        if let Some(end) = parked.end {
            return self.end_turn(end);
        }
        let (questions, mut desk) = self.questions();
        questions.put_waiting(&mut desk);
        self.suspend_if_due();
    }
}
