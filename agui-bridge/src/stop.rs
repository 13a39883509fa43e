//! How runs end.
use crate::json::{self, Members};
use crate::translator::Translator;
use crate::usage::token_usage;
use acp_types::v1::prompt_turn::{PromptResponse, StopReason};
use agui_types::event::{
    RunErrorEvent, RunFinishedCancelledOutcome, RunFinishedEvent, RunFinishedOutcome,
    RunFinishedSuccessOutcome,
};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::{Deserialize, Serialize};

/// The code of a run that cannot resume because nobody is there to be answered.
const AGENT_LOST: &str = "AGENT_LOST";

/// How a turn ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum TurnEnd {
    Response(Box<PromptResponse>),
    Error(ErrorObject),
    Failed { code: String, message: String },
    Stopped,
}

/// The code of a run that a legacy client has to take for failed because it cannot be told that it was cancelled.
const CANCELLED: &str = "CANCELLED";

/// What ends a run that the agent does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Failure {
    /// The agent cannot be started or reached.
    AgentUnavailable,
    /// The agent took too long to start or to greet.
    AgentTimeout,
    /// The agent speaks no version of ACP that we speak.
    AcpVersion,
    /// The agent ended, or its connection did.
    AgentExited,
    /// The turn took too long.
    TurnTimeout,
    /// Nothing came from the agent for too long.
    IdleTimeout,
    /// Too much is going on.
    Overloaded,
    /// The agent went beyond a limit.
    LimitExceeded,
    /// Whoever runs the bridge is ending.
    GatewayShutdown,
}

impl Failure {
    /// The `code` of the `RUN_ERROR`.
    ///
    /// ```
    /// assert_eq!(agui_bridge::Failure::AgentExited.code(), "AGENT_EXITED");
    /// ```
    pub fn code(self) -> &'static str {
        match self {
            Self::AgentUnavailable => "AGENT_UNAVAILABLE",
            Self::AgentTimeout => "AGENT_TIMEOUT",
            Self::AcpVersion => "ACP_VERSION",
            Self::AgentExited => "AGENT_EXITED",
            Self::TurnTimeout => "TURN_TIMEOUT",
            Self::IdleTimeout => "IDLE_TIMEOUT",
            Self::Overloaded => "OVERLOADED",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::GatewayShutdown => "GATEWAY_SHUTDOWN",
        }
    }
}

/// The `code` of the `RUN_ERROR` for an error that the agent answered a prompt with.
///
/// | JSON-RPC | code |
/// |---|---|
/// | -32700 | `ACP_PARSE_ERROR` |
/// | -32600 | `ACP_INVALID_REQUEST` |
/// | -32601 | `ACP_METHOD_NOT_FOUND` |
/// | -32602 | `ACP_INVALID_PARAMS` |
/// | -32603 | `ACP_INTERNAL_ERROR` |
/// | -32800 | `ACP_REQUEST_CANCELLED` |
/// | -32000 | `ACP_AUTH_REQUIRED` |
/// | -32002 | `ACP_SESSION_NOT_FOUND` when `data` names a session, else `ACP_RESOURCE_NOT_FOUND` |
/// | any other | `ACP_ERROR` |
fn error_code(error: &ErrorObject) -> &'static str {
    match error.code {
        ErrorCode::PARSE_ERROR => "ACP_PARSE_ERROR",
        ErrorCode::INVALID_REQUEST => "ACP_INVALID_REQUEST",
        ErrorCode::METHOD_NOT_FOUND => "ACP_METHOD_NOT_FOUND",
        ErrorCode::INVALID_PARAMS => "ACP_INVALID_PARAMS",
        ErrorCode::INTERNAL_ERROR => "ACP_INTERNAL_ERROR",
        ErrorCode::REQUEST_CANCELLED => "ACP_REQUEST_CANCELLED",
        AUTH_REQUIRED => "ACP_AUTH_REQUIRED",
        RESOURCE_NOT_FOUND if names_session(error) => "ACP_SESSION_NOT_FOUND",
        RESOURCE_NOT_FOUND => "ACP_RESOURCE_NOT_FOUND",
        _ => "ACP_ERROR",
    }
}

/// Spec: [`ErrorCode`](https://agentclientprotocol.com/protocol/v1/schema#errorcode) (ACP v1)
const AUTH_REQUIRED: ErrorCode = ErrorCode(-32000);
const RESOURCE_NOT_FOUND: ErrorCode = ErrorCode(-32002);

fn names_session(error: &ErrorObject) -> bool {
    let data = error.data.as_ref().and_then(|data| data.decode::<Extra>().ok());
    data.is_some_and(|data| data.get("sessionId").is_some())
}

impl Translator {
    /// Takes in the agent's answer to the prompt, and ends the run.
    ///
    /// | answer | AG-UI 1.0 | legacy |
    /// |---|---|---|
    /// | `end_turn`, and reasons that this version does not know | `RUN_FINISHED`, outcome success | without outcome |
    /// | `max_tokens`, `max_turn_requests` | the same, after a `CUSTOM` `acp.notice` | without outcome |
    /// | `refusal` | `RUN_ERROR` `ACP_REFUSAL` | the same |
    /// | `cancelled`, or any reason after [`handle_cancel`](Self::handle_cancel) | outcome cancelled | `RUN_ERROR` `CANCELLED` |
    /// | error -32800 after `handle_cancel` | outcome cancelled | `RUN_ERROR` `CANCELLED` |
    /// | any other error | `RUN_ERROR`, the code by the table of JSON-RPC codes, `ACP_ERROR` for unknown ones | the same |
    ///
    /// `RUN_FINISHED.result` is `{"stopReason":…}`, the agent's own word. While there is no turn it does nothing; while
    /// the run is interrupted, the next one tells.
    pub fn handle_prompt_response(&mut self, response: Result<PromptResponse, ErrorObject>) {
        self.heard();
        self.handle_turn_end(match response {
            Ok(response) => TurnEnd::Response(Box::new(response)),
            Err(error) => TurnEnd::Error(error),
        });
    }

    /// Notes that the turn is to stop: whatever is asked is answered `cancelled`, now and until the agent answers the
    /// prompt. Sending `session/cancel` is the caller's part.
    ///
    /// While the run is interrupted this is about its turn, of which the next run tells the end.
    pub fn handle_cancel(&mut self) {
        if let Some(run) = &mut self.run {
            run.cancelled = true;
        } else if let Some(parked) = &mut self.parked {
            parked.cancelled = true;
        } else {
            return;
        }
        self.cancel_questions();
    }

    /// Ends the turn as cancelled without waiting for the agent: it was not asked yet, or it does not stop. Does nothing
    /// while there is no turn.
    pub fn handle_stopped(&mut self) {
        if let Some(run) = &mut self.run {
            run.before = None;
            self.close_run(true);
            self.finish_cancelled(None);
        } else {
            self.handle_turn_end(TurnEnd::Stopped);
        }
    }

    /// Ends the run as a success for which the agent was not needed: the input had
    /// [nothing](crate::input::Work::Nothing) for it. Does nothing while no run is open.
    pub fn handle_no_work(&mut self) {
        if self.run.is_some() {
            self.close_run(false);
            let outcome = self.success();
            self.finish_run(outcome, None);
        }
    }

    /// Ends the turn as failed, and its run: closes what is open. Does nothing while there is no turn.
    ///
    /// While the run is interrupted, the next run tells: with `AGENT_LOST` if a question was open, for nobody is there
    /// to be answered.
    pub fn handle_failure(&mut self, failure: Failure, message: &str) {
        if let Some(run) = &mut self.run {
            let stopped = run.cancelled;
            run.before = None;
            self.close_run(stopped);
            self.fail_run(failure.code(), message, None, None);
        } else {
            let lost = self.questions.waits_for_person();
            let code = if lost { AGENT_LOST } else { failure.code() };
            let message = json::cut(message.to_owned(), self.options.limits.message);
            self.handle_turn_end(TurnEnd::Failed { code: code.to_owned(), message });
        }
    }

    /// Ends the turn of the open run, or notes that of an interrupted one.
    pub(crate) fn handle_turn_end(&mut self, end: TurnEnd) {
        if self.run.is_some() {
            self.end_turn(end);
        } else if let Some(parked) = &mut self.parked {
            parked.end.get_or_insert(end);
            self.cancel_questions();
        }
    }

    /// Ends the turn that the open run is in; the run ends too, unless its own turn is still to begin.
    pub(crate) fn end_turn(&mut self, end: TurnEnd) {
        let Some(run) = &mut self.run else { return };
        let stopped = run.cancelled;
        let Some(before) = run.before.take() else { return self.end_run(stopped, end) };
        self.cancel_questions();
        self.close_texts();
        self.close_calls(stopped || before.cancelled);
        if stopped {
            self.suspend_subagents();
            self.tell_last();
            return self.finish_cancelled(None);
        }
        let failed = match end {
            TurnEnd::Error(error) if error.code == ErrorCode::REQUEST_CANCELLED => None,
            TurnEnd::Error(error) => Some(error.message),
            TurnEnd::Failed { message, .. } => Some(message),
            TurnEnd::Response(_) | TurnEnd::Stopped => None,
        };
        if let Some(message) = failed {
            let message = json::cut(message, self.options.limits.message);
            self.warn(&format!("The turn before failed: {message}"));
        }
        self.begin_turn(&before.prompt);
        self.prompt_due = true;
    }

    fn end_run(&mut self, stopped: bool, end: TurnEnd) {
        match end {
            TurnEnd::Response(response) => {
                let cancelled = stopped || response.stop_reason == StopReason::Cancelled;
                self.close_run(cancelled);
                if cancelled {
                    self.finish_cancelled(Some(*response));
                } else if response.stop_reason == StopReason::Refusal {
                    self.fail_run(
                        "ACP_REFUSAL",
                        "The agent refuses to go on.",
                        Some(&response),
                        None,
                    );
                } else {
                    self.finish(*response);
                }
            }
            TurnEnd::Error(error) if stopped && error.code == ErrorCode::REQUEST_CANCELLED => {
                self.close_run(true);
                self.finish_cancelled(None);
            }
            TurnEnd::Error(error) => {
                self.close_run(stopped);
                let code = error_code(&error);
                self.fail_run(code, &error.message, None, Some(error.code));
            }
            TurnEnd::Failed { code, message } => {
                self.close_run(stopped);
                self.fail_run(&code, &message, None, None);
            }
            TurnEnd::Stopped => {
                self.close_run(true);
                self.finish_cancelled(None);
            }
        }
    }

    /// Closes all that is open, so that only the end is missing.
    pub(crate) fn close_run(&mut self, cancelled: bool) {
        self.cancel_questions();
        self.close_texts();
        self.show_terminals();
        self.close_calls(cancelled);
        self.restate_if_quiet();
        self.suspend_subagents();
        self.tell_last();
    }

    /// Every tool call but the frontend's has its result.
    pub(crate) fn success(&self) -> RunFinishedOutcome {
        let mut success = RunFinishedSuccessOutcome::new();
        success.pending_tool_call_ids = self.run.as_ref().map(|run| run.pending.clone());
        RunFinishedOutcome::Success(success)
    }

    fn finish(&mut self, response: PromptResponse) {
        let title = match response.stop_reason {
            StopReason::MaxTokens => Some("The agent stopped: it reached its limit of tokens."),
            StopReason::MaxTurnRequests => {
                Some("The agent stopped: it reached its limit of model requests in a turn.")
            }
            _ => None,
        };
        if let Some(title) = title {
            self.warn(title);
        }
        let outcome = self.success();
        self.finish_run(outcome, Some(&response));
    }

    fn finish_cancelled(&mut self, response: Option<PromptResponse>) {
        if self.is_modern() {
            let outcome = RunFinishedOutcome::Cancelled(RunFinishedCancelledOutcome::new());
            self.finish_run(outcome, response.as_ref());
        } else {
            self.fail_run(CANCELLED, "The run was cancelled.", None, None);
        }
    }

    pub(crate) fn finish_run(
        &mut self,
        outcome: RunFinishedOutcome,
        response: Option<&PromptResponse>,
    ) {
        let Some(run) = self.run.take() else { return };
        let mut finished = RunFinishedEvent::new(run.thread_id, run.run_id);
        finished.result = response.map(|response| {
            let reason = json::head(response.stop_reason.as_str(), self.options.limits.message);
            Members::new().with("stopReason", reason).into_raw()
        });
        if self.is_modern() || matches!(outcome, RunFinishedOutcome::Interrupt(_)) {
            finished.outcome = Some(outcome);
        }
        if self.is_modern() {
            finished.usage = response
                .and_then(|response| response.usage.as_ref())
                .map(|usage| vec![token_usage(usage)]);
        }
        self.emit(finished);
    }

    pub(crate) fn fail_run(
        &mut self,
        code: &str,
        message: &str,
        response: Option<&PromptResponse>,
        number: Option<ErrorCode>,
    ) {
        self.run = None;
        let message: String = json::cut(message.to_owned(), self.options.limits.message);
        let mut error = RunErrorEvent::new(message);
        error.code = Some(code.to_owned());
        if self.is_modern() {
            error.usage = response
                .and_then(|response| response.usage.as_ref())
                .map(|usage| vec![token_usage(usage)]);
        }
        error.metadata = self.metadata(Members::new().with_some("code", number.as_ref()));
        self.emit(error);
    }
}
