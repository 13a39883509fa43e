//! The runs of a thread, and the agent's turns.
//!
//! A run is open until its last event. A turn may outlive it: an interrupted run leaves the turn
//! *parked*, and the next run continues it or waits for its end.
use crate::CancelReason;
use crate::frame::Frame;
use crate::json::{self, Members};
use crate::options::Times;
use crate::outbox::{Outbox, metadata};
use crate::questions::TurnState;
use crate::sign_in::AUTH_METHODS;
use crate::turn_end::{Failure, TurnEnd};
use crate::usage::token_usage;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::PromptResponse;
use agui_types::event::{
    RunErrorEvent, RunFinishedCancelledOutcome, RunFinishedEvent, RunFinishedOutcome,
    RunFinishedSuccessOutcome,
};
use agui_types::id::{RunId, ThreadId, ToolCallId};
use agui_types::input::RunAgentInput;
use agui_types::usage::TokenUsage;
use alloc::borrow::ToOwned;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::ErrorCode;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

mod own;

pub(crate) use own::OwnTurn;

/// The open run and the agent's turn.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Runs {
    open: Option<Run>,
    /// The turn of the last run, if that was interrupted.
    parked: Option<ParkedTurn>,
    /// The turn that the agent has begun without a prompt.
    #[serde(default)]
    own: Option<OwnTurn>,
    /// Whether the agent works on the turn; reported in v2 only.
    is_busy: bool,
    is_prompt_due: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    thread_id: ThreadId,
    run_id: RunId,
    /// Why it is being cancelled; `None` unless it is.
    #[serde(default)]
    cancel: Option<CancelReason>,
    /// Whether its session is being opened, so that the agent has no prompt.
    #[serde(default)]
    is_opening: bool,
    /// Whether its input answers interrupts.
    answers: bool,
    /// The calls of page tools that it showed.
    pending: Vec<ToolCallId>,
    /// A turn that has to end before the run's own turn begins.
    before: Option<Before>,
    /// Time that the run was open, not counting waits for the user.
    working: Duration,
    /// Time of the agent's silence within that time.
    quiet: Duration,
}

/// A turn that has to end before the run's own, and the waiting prompt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Before {
    pub(crate) prompt: Vec<ContentBlock>,
    pub(crate) is_cancelled: bool,
}

/// A turn with an interrupted run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ParkedTurn {
    /// The reason for which it is being cancelled, if it is.
    #[serde(default)]
    pub(crate) cancel: Option<CancelReason>,
    /// The end of the turn, if no run has shown it.
    pub(crate) end: Option<TurnEnd>,
}

/// The code that reports a cancelled run to clients before 1.0.
pub(crate) const CANCELLED: &str = "CANCELLED";

impl Runs {
    /// Opens the run of an input.
    pub(crate) fn begin(&mut self, input: &RunAgentInput) {
        self.is_prompt_due = false;
        self.open = Some(Run {
            thread_id: input.thread_id.clone(),
            run_id: input.run_id.clone(),
            cancel: None,
            is_opening: false,
            answers: input.resume.as_ref().is_some_and(|answers| !answers.is_empty()),
            pending: Vec::new(),
            before: None,
            working: Duration::ZERO,
            quiet: Duration::ZERO,
        });
    }

    /// Returns whether a run is open.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns whether the open run was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.open.as_ref().is_some_and(|run| run.cancel.is_some())
    }

    pub(crate) fn turn_state(&self) -> TurnState {
        let is_cancelled_before =
            |run: &Run| run.before.as_ref().is_some_and(|before| before.is_cancelled);
        let open = self.open.as_ref();
        let is_cancelling = open
            .is_some_and(|run| run.cancel.is_some() || is_cancelled_before(run))
            || self.parked.as_ref().is_some_and(|parked| parked.cancel.is_some());
        let is_parked = self.parked.as_ref().is_some_and(|parked| parked.end.is_none());
        TurnState {
            has_run: open.is_some(),
            goes_on: open.is_some() || is_parked || self.own.is_some(),
            can_interrupt: open.is_none_or(|run| !run.is_opening),
            is_cancelling,
        }
    }

    /// Records whether the session of the open run is being opened.
    pub(crate) fn set_opening(&mut self, is_opening: bool) {
        if let Some(run) = &mut self.open {
            run.is_opening = is_opening;
        }
    }

    /// Records that the turn is being cancelled, and returns whether there is one.
    pub(crate) fn cancel(&mut self, reason: CancelReason) -> bool {
        if let Some(run) = &mut self.open {
            run.cancel.get_or_insert(reason);
        } else if let Some(parked) = &mut self.parked {
            parked.cancel.get_or_insert(reason);
        } else {
            return false;
        }
        true
    }

    /// Records that the open run continues a turn that is being cancelled.
    pub(crate) fn join_cancelled(&mut self, reason: CancelReason) {
        if let Some(run) = &mut self.open {
            run.cancel.get_or_insert(reason);
        }
    }

    /// Records a message from the agent.
    pub(crate) fn note_activity(&mut self) {
        if let Some(run) = &mut self.open {
            run.quiet = Duration::ZERO;
        }
    }

    /// Adds time in which no answer of the user was awaited.
    pub(crate) fn advance(&mut self, time: Duration) {
        if let Some(run) = &mut self.open {
            run.working = run.working.saturating_add(time);
            run.quiet = run.quiet.saturating_add(time);
        }
    }

    /// Returns the failure of a run that exceeds its time.
    pub(crate) fn overdue(&self, times: &Times) -> Option<(Failure, &'static str)> {
        let run = self.open.as_ref()?;
        let is_over =
            |limit: Option<Duration>, time: Duration| limit.is_some_and(|limit| time >= limit);
        if is_over(times.turn, run.working) {
            Some((Failure::TurnTimeout, "The turn takes too long."))
        } else if is_over(times.idle, run.quiet) {
            Some((Failure::IdleTimeout, "Nothing came from the agent for too long."))
        } else {
            None
        }
    }

    /// Returns the time at which the run exceeds its limits without further events.
    pub(crate) fn timeout(&self, times: &Times, now: Duration) -> Option<Duration> {
        let run = self.open.as_ref()?;
        let left = |limit: Option<Duration>, time: Duration| {
            limit.map(|limit| now.saturating_add(limit.saturating_sub(time)))
        };
        let limits = [left(times.turn, run.working), left(times.idle, run.quiet)];
        limits.into_iter().flatten().min()
    }

    /// Adds a page tool's call to the open run.
    pub(crate) fn add_pending(&mut self, call: ToolCallId) {
        if let Some(run) = &mut self.open {
            run.pending.push(call);
        }
    }

    /// Records whether the agent works on the turn.
    pub(crate) fn set_busy(&mut self, is_busy: bool) {
        self.is_busy = is_busy;
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Makes the run wait for the end of another turn.
    pub(crate) fn wait_for(&mut self, before: Before) {
        if let Some(run) = &mut self.open {
            run.before = Some(before);
        }
    }

    /// Returns whether the open run waits for the end of a turn.
    pub(crate) fn has_before(&self) -> bool {
        self.open.as_ref().is_some_and(|run| run.before.is_some())
    }

    /// Takes the turn that the open run waits for.
    pub(crate) fn take_before(&mut self) -> Option<Before> {
        self.open.as_mut()?.before.take()
    }

    /// Parks the turn of the open run, which has to be finished next.
    pub(crate) fn park(&mut self, parked: ParkedTurn) {
        self.parked = Some(parked);
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.parked.is_some()
    }

    /// Returns whether no run has shown the end of the parked turn.
    pub(crate) fn has_ended_parked(&self) -> bool {
        self.parked.as_ref().is_some_and(|parked| parked.end.is_some())
    }

    pub(crate) fn take_parked(&mut self) -> Option<ParkedTurn> {
        self.parked.take()
    }

    /// Records the end of the parked turn, and returns whether there is one.
    pub(crate) fn end_parked(&mut self, end: TurnEnd) -> bool {
        match &mut self.parked {
            Some(parked) => {
                parked.end.get_or_insert(end);
                true
            }
            None => false,
        }
    }

    /// Schedules the prompt of the open run.
    pub(crate) fn send_prompt(&mut self) {
        self.is_prompt_due = true;
    }

    /// Returns whether the prompt of the open run has to be sent now; `true` once.
    pub(crate) fn poll_prompt(&mut self) -> bool {
        core::mem::take(&mut self.is_prompt_due)
    }

    /// Ends the open run as a success: every call has its result, except those of page tools.
    pub(crate) fn succeed(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        response: Option<&PromptResponse>,
    ) {
        let mut success = RunFinishedSuccessOutcome::new();
        success.pending_tool_call_ids = self.open.as_ref().map(|run| run.pending.clone());
        let outcome = RunFinishedOutcome::Success(success);
        self.finish(frame, out, outcome, response);
    }

    /// Ends the open run as cancelled.
    pub(crate) fn finish_cancelled(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        response: Option<&PromptResponse>,
    ) {
        let stated = self.open.as_ref().and_then(|run| run.cancel);
        let reason = stated.unwrap_or(CancelReason::Agent);
        // A client removes the interrupts that it has answered only with `RUN_FINISHED`.
        if frame.is_modern || self.open.as_ref().is_some_and(|run| run.answers) {
            let outcome = RunFinishedOutcome::Cancelled(RunFinishedCancelledOutcome::new());
            let result = response.map_or_else(Members::new, |it| stop_reason(frame, it));
            self.end(frame, out, outcome, Some(reason.of_result(result)), response);
        } else {
            self.fail(frame, out, Problem::new(CANCELLED, &reason.message()), false);
        }
    }

    /// Ends the open run with an outcome.
    pub(crate) fn finish(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        outcome: RunFinishedOutcome,
        response: Option<&PromptResponse>,
    ) {
        let result = response.map(|response| stop_reason(frame, response).into_raw());
        self.end(frame, out, outcome, result, response);
    }

    /// Ends the open run as failed.
    ///
    /// `is_settled` states that no interrupt is open. A client removes the interrupts that it has
    /// answered only with `RUN_FINISHED`, and refuses another run until then. A run that answers
    /// interrupts, none of which is open any more, therefore finishes as cancelled, with the
    /// failure in a notice and in its result.
    pub(crate) fn fail(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        problem: Problem<'_>,
        is_settled: bool,
    ) {
        let message = json::cut(problem.message.to_owned(), frame.limits.message);
        if is_settled && self.open.as_ref().is_some_and(|run| run.answers) {
            let notice = Members::new().with("severity", "error").with("title", &message);
            let notice = notice.with("code", problem.code);
            out.custom(frame, "acp.notice", notice.into_raw());
            let error = Members::new().with("code", problem.code).with("message", &message);
            let result = problem.response.map_or_else(Members::new, |it| stop_reason(frame, it));
            let result = result.with("error", &error.into_raw());
            let result = CancelReason::Failure.of_result(result);
            let outcome = RunFinishedOutcome::Cancelled(RunFinishedCancelledOutcome::new());
            return self.end(frame, out, outcome, Some(result), problem.response);
        }
        self.open = None;
        let mut error = RunErrorEvent::new(message);
        error.code = Some(problem.code.to_owned());
        error.usage = usage(frame, problem.response);
        let acp = Members::new().with_some("code", problem.number.as_ref());
        let acp = acp.with_some(AUTH_METHODS, problem.methods);
        error.metadata = metadata(frame, acp);
        out.emit(frame, error);
    }

    fn end(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        outcome: RunFinishedOutcome,
        result: Option<Raw>,
        response: Option<&PromptResponse>,
    ) {
        let Some(run) = self.open.take() else { return };
        let mut finished = RunFinishedEvent::new(run.thread_id, run.run_id);
        finished.result = result;
        if frame.is_modern || matches!(outcome, RunFinishedOutcome::Interrupt(_)) {
            finished.outcome = Some(outcome);
        }
        finished.usage = usage(frame, response);
        out.emit(frame, finished);
    }
}

/// Returns the agent's stop reason, as a member of the result.
fn stop_reason(frame: &Frame<'_>, response: &PromptResponse) -> Members {
    let reason = json::head(response.stop_reason.as_str(), frame.limits.message);
    Members::new().with("stopReason", reason)
}

/// Returns the usage of a turn, for clients that support it.
fn usage(frame: &Frame<'_>, response: Option<&PromptResponse>) -> Option<Vec<TokenUsage>> {
    let usage = response.filter(|_| frame.is_modern)?.usage.as_ref()?;
    Some(vec![token_usage(usage)])
}

/// The members of a `RUN_ERROR`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem<'a> {
    code: &'a str,
    message: &'a str,
    response: Option<&'a PromptResponse>,
    number: Option<ErrorCode>,
    methods: Option<&'a Raw>,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(code: &'a str, message: &'a str) -> Self {
        Self { code, message, response: None, number: None, methods: None }
    }

    /// Adds the usage of a response.
    pub(crate) fn with_response(self, response: &'a PromptResponse) -> Self {
        Self { response: Some(response), ..self }
    }

    /// Adds the code of the agent's error.
    pub(crate) fn with_number(self, number: ErrorCode) -> Self {
        Self { number: Some(number), ..self }
    }

    /// Adds the authentication methods of an agent that requires a login.
    pub(crate) fn with_methods(self, methods: Option<&'a Raw>) -> Self {
        Self { methods, ..self }
    }
}
