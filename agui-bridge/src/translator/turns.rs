//! The end of a turn and its run.
use super::Translator;
use crate::CancelReason;
use crate::json;
use crate::reason::reason;
use crate::runs::Problem;
use crate::sign_in::methods_of;
use crate::turn_end::{AGENT_LOST, Failure, TurnEnd, error_code};
use acp_types::v1::prompt_turn::{PromptResponse, StopReason};
use acp_types::v2::prompt_lifecycle::PromptResponse as PromptAccepted;
use acp_types::v2::session_states::{IdleStateUpdate, StateUpdate, StopReason as IdleReason};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use jsonrpc_core::{ErrorCode, ErrorObject};

impl Translator {
    /// Handles the agent's response to the prompt, and ends the run.
    ///
    /// | response | AG-UI 1.0 | legacy |
    /// |---|---|---|
    /// | `end_turn`, and unknown reasons | `RUN_FINISHED`, outcome success | without outcome |
    /// | `max_tokens`, `max_turn_requests` | the same, after a `CUSTOM` `acp.notice` | without outcome |
    /// | `refusal` | `RUN_ERROR` `ACP_REFUSAL` | the same |
    /// | `cancelled`, or any reason after [`handle_cancel`](Self::handle_cancel) | outcome cancelled | `RUN_ERROR` `CANCELLED` |
    /// | any error after `handle_cancel` | outcome cancelled | `RUN_ERROR` `CANCELLED` |
    /// | any other error | `RUN_ERROR`, the code by the table of JSON-RPC codes, `ACP_ERROR` for unknown ones | the same |
    ///
    /// `RUN_FINISHED.result` is `{"stopReason":…}` with the agent's own value. Without a turn the
    /// response is dropped. After an interrupted run the next one shows it.
    pub fn handle_prompt_response(&mut self, response: Result<PromptResponse, ErrorObject>) {
        self.runs.note_activity();
        self.handle_turn_end(match response {
            Ok(response) => TurnEnd::Response(Box::new(response)),
            Err(error) => TurnEnd::Error(error),
        });
    }

    /// Handles the response to a `session/prompt` of ACP v2: the agent has accepted the prompt, and
    /// works on it until it is idle. The message that it has made of the prompt is not shown again.
    pub fn handle_prompt_accepted(&mut self, response: &PromptAccepted) {
        self.echo.set_message(response.message_id.clone());
        self.runs.note_activity();
        self.runs.set_busy(true);
    }

    /// Handles the cancellation of the turn: all questions are answered `cancelled`, now and until
    /// the agent responds to the prompt. The caller sends `session/cancel`.
    ///
    /// After an interrupted run this concerns the run's turn; the next run shows its end. Of
    /// several reasons the first counts.
    pub fn handle_cancel(&mut self, reason: CancelReason) {
        if self.runs.cancel(reason) {
            self.cancel_questions();
        }
    }

    /// Ends the turn as cancelled without waiting for the agent, which has no prompt yet or does
    /// not stop. Does nothing without a turn.
    pub fn handle_stopped(&mut self) {
        self.end_late_replay();
        self.runs.end_own();
        if self.runs.is_open() {
            let _dropped = self.runs.take_before();
            self.close_run(true);
            self.finish_cancelled(None);
        } else {
            self.handle_turn_end(TurnEnd::Stopped);
        }
    }

    /// Ends the run as a success without the agent, since the input has [nothing
    /// new](crate::input::Work::Nothing). Does nothing while no run is open.
    pub fn handle_no_work(&mut self) {
        if self.runs.is_open() {
            self.close_run(false);
            self.succeed(None);
        }
    }

    /// Ends the turn as failed, and its run with all open items. Does nothing without a turn.
    ///
    /// A turn that is being cancelled ends as cancelled, after a `CUSTOM` `acp.notice` with the
    /// failure: agents exit for that reason as well.
    ///
    /// After an interrupted run, the next run shows the failure; with `AGENT_LOST` if a question
    /// was open, since its answer has no receiver.
    pub fn handle_failure(&mut self, failure: Failure, message: &str) {
        self.end_late_replay();
        self.runs.end_own();
        if self.runs.is_open() {
            let is_cancelled = self.runs.is_cancelled();
            let _dropped = self.runs.take_before();
            self.close_run(is_cancelled);
            if is_cancelled {
                self.warn(message);
                self.finish_cancelled(None);
            } else {
                self.fail(Problem::new(failure.code(), message));
            }
        } else {
            let is_lost = self.questions.is_waiting();
            let code = if is_lost { AGENT_LOST } else { failure.code() };
            let message = json::cut(message.to_owned(), self.basis.options.limits.message);
            self.handle_turn_end(TurnEnd::Failed { code: code.to_owned(), message });
        }
    }

    /// Handles the idle state that ends a turn of ACP v2, for a caller that relates it to the
    /// prompt itself.
    pub fn handle_idle(&mut self, idle: IdleStateUpdate) {
        self.runs.note_activity();
        self.runs.set_busy(false);
        self.handle_turn_end(idle_end(idle));
    }

    pub(super) fn update_state(&mut self, state: StateUpdate) {
        match state {
            // An idle state before the agent has begun belongs to the last turn.
            StateUpdate::Idle(idle) if self.runs.is_busy() => {
                self.runs.set_busy(false);
                let end = idle_end(*idle);
                if self.runs.end_own() { self.end_own_turn(end) } else { self.handle_turn_end(end) }
            }
            StateUpdate::Idle(_) | StateUpdate::UnknownState(_) => {}
            _ => {
                self.runs.set_busy(true);
                self.runs.note_own(true, None);
            }
        }
    }

    /// Ends the turn of the open run, or records the end of a parked one.
    pub(super) fn handle_turn_end(&mut self, end: TurnEnd) {
        self.end_late_replay();
        if self.runs.is_open() {
            self.end_turn(end);
        } else if self.runs.end_parked(end) {
            self.cancel_questions();
        }
    }

    /// Ends the turn of the open run. The run ends too, unless its own turn has still to begin.
    pub(super) fn end_turn(&mut self, end: TurnEnd) {
        let has_left = self.questions.take_left();
        let is_cancelled = self.runs.is_cancelled();
        let Some(before) = self.runs.take_before() else {
            if has_left
                && let TurnEnd::Response(response) = &end
                && response.stop_reason == StopReason::Cancelled
            {
                // The agent ends its turn for a question that the user has cancelled.
                self.runs.join_cancelled(CancelReason::User);
            }
            return self.end_run(is_cancelled, end);
        };
        self.cancel_questions();
        self.outbox.close_texts();
        self.close_calls(is_cancelled || before.is_cancelled);
        if is_cancelled {
            let frame = self.basis.root();
            self.subagents.suspend(&frame, &mut self.outbox);
            self.session.flush(&frame, &mut self.outbox);
            return self.finish_cancelled(None);
        }
        let failed = match end {
            TurnEnd::Error(_) if before.is_cancelled => None,
            TurnEnd::Error(error) if error.code == ErrorCode::REQUEST_CANCELLED => None,
            TurnEnd::Error(error) => Some(reason(&error)),
            TurnEnd::Failed { message, .. } => Some(message),
            TurnEnd::Response(_) | TurnEnd::Stopped => None,
        };
        if let Some(message) = failed {
            let frame = self.basis.root();
            let message = json::cut(message, frame.limits.message);
            self.outbox.warn(&frame, &format!("The previous turn failed: {message}"), "");
        }
        self.begin_turn(&before.prompt);
        self.runs.send_prompt();
    }

    fn end_run(&mut self, is_cancelled: bool, end: TurnEnd) {
        match end {
            TurnEnd::Response(response) => self.end_with_response(is_cancelled, &response),
            // Agents report that their work was aborted, some with an internal error.
            TurnEnd::Error(_) if is_cancelled => {
                self.close_run(true);
                self.finish_cancelled(None);
            }
            TurnEnd::Error(error) => {
                self.close_run(false);
                let message = reason(&error);
                let methods = methods_of(&error);
                let problem = Problem::new(error_code(&error), &message);
                self.fail(problem.with_number(error.code).with_methods(methods.as_ref()));
            }
            TurnEnd::Failed { code, message } => {
                self.close_run(is_cancelled);
                self.fail(Problem::new(&code, &message));
            }
            TurnEnd::Stopped => {
                self.close_run(true);
                self.finish_cancelled(None);
            }
        }
    }

    fn end_with_response(&mut self, is_cancelled: bool, response: &PromptResponse) {
        let is_cancelled = is_cancelled || response.stop_reason == StopReason::Cancelled;
        self.close_run(is_cancelled);
        if is_cancelled {
            return self.finish_cancelled(Some(response));
        }
        let notice = match response.stop_reason {
            StopReason::Refusal => {
                let problem = Problem::new("ACP_REFUSAL", "The agent refuses to go on.");
                return self.fail(problem.with_response(response));
            }
            StopReason::MaxTokens => Some("The agent stopped: it reached its limit of tokens."),
            StopReason::MaxTurnRequests => {
                Some("The agent stopped: it reached its limit of model requests in a turn.")
            }
            _ => None,
        };
        if let Some(notice) = notice {
            self.outbox.warn(&self.basis.root(), notice, "");
        }
        self.succeed(Some(response));
    }

    /// Closes all open items, so that only the end of the run is missing.
    pub(super) fn close_run(&mut self, is_cancelled: bool) {
        self.cancel_questions();
        self.echo.end_turn();
        self.outbox.close_texts();
        self.terminals.show_all(&self.basis.root(), &mut self.outbox);
        self.close_calls(is_cancelled);
        self.close_rest();
    }

    pub(super) fn close_calls(&mut self, is_cancelled: bool) {
        let frame = self.basis.root();
        self.calls.close(&frame, &mut self.outbox, &self.terminals, is_cancelled);
    }

    /// Closes the items that remain open after the calls.
    pub(super) fn close_rest(&mut self) {
        self.restate_if_quiet();
        let frame = self.basis.root();
        self.subagents.suspend(&frame, &mut self.outbox);
        self.session.flush(&frame, &mut self.outbox);
    }

    pub(crate) fn cancel_questions(&mut self) {
        let (questions, mut desk) = self.questions();
        questions.cancel_all(&mut desk);
    }

    /// Cancels the open questions for a message of the user that answers none of them.
    pub(super) fn leave_questions(&mut self) {
        let (questions, mut desk) = self.questions();
        questions.leave_all(&mut desk);
    }

    pub(super) fn succeed(&mut self, response: Option<&PromptResponse>) {
        self.runs.succeed(&self.basis.root(), &mut self.outbox, response);
    }

    fn finish_cancelled(&mut self, response: Option<&PromptResponse>) {
        self.runs.finish_cancelled(&self.basis.root(), &mut self.outbox, response);
    }
}

/// Returns the end of a turn of ACP v2 in the terms of v1.
fn idle_end(idle: IdleStateUpdate) -> TurnEnd {
    let reason = match &idle.stop_reason {
        IdleReason::Error(error) => {
            let error = error.error.as_deref().cloned();
            return TurnEnd::Error(error.unwrap_or_else(|| {
                ErrorObject::new(ErrorCode::INTERNAL_ERROR, "The agent's work failed.")
            }));
        }
        // Without a reason there is no sign of a failure.
        IdleReason::NotReported(_) => StopReason::EndTurn,
        reason => reason.tag().into(),
    };
    let mut response = PromptResponse::new(reason);
    response.usage = idle.usage.map(|usage| *usage);
    TurnEnd::Response(Box::new(response))
}
