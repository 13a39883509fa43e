//! Ends of AG-UI runs as responses to prompts.
use super::{AcpAgent, Output, given_up};
use crate::json::Members;
use crate::usage::{sum, turn_usage};
use acp_types::v1::prompt_turn::{PromptResponse, StopReason};
use agui_types::event::{RunErrorEvent, RunFinishedEvent, RunFinishedOutcome};
use agui_types::id::{MessageId, ToolCallId};
use agui_types::message::{Message, ToolMessage};
use agui_types::usage::TokenUsage;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{ErrorCode, ErrorObject};

/// Result of a call of a tool that the editor does not have.
const NO_SUCH_TOOL: &str = "The editor has no tool of this name.";

/// JSON-RPC error codes of an ACP agent, by the codes of a [`Translator`](crate::Translator).
const CODES: [(&str, ErrorCode); 9] = [
    ("ACP_PARSE_ERROR", ErrorCode::PARSE_ERROR),
    ("ACP_INVALID_REQUEST", ErrorCode::INVALID_REQUEST),
    ("ACP_METHOD_NOT_FOUND", ErrorCode::METHOD_NOT_FOUND),
    ("ACP_INVALID_PARAMS", ErrorCode::INVALID_PARAMS),
    ("ACP_INTERNAL_ERROR", ErrorCode::INTERNAL_ERROR),
    ("ACP_REQUEST_CANCELLED", ErrorCode::REQUEST_CANCELLED),
    ("ACP_AUTH_REQUIRED", ErrorCode(-32000)),
    ("ACP_SESSION_NOT_FOUND", ErrorCode(-32002)),
    ("ACP_RESOURCE_NOT_FOUND", ErrorCode(-32002)),
];

/// The error of a run with a truncated stream.
pub(super) fn truncated() -> RunErrorEvent {
    let mut error = RunErrorEvent::new("The agent's answer ended before its run did.");
    error.code = Some("TRUNCATED".into());
    error
}

impl AcpAgent {
    pub(super) fn finish(&mut self, finished: RunFinishedEvent) {
        self.close_run(finished.usage.as_deref());
        match &finished.outcome {
            Some(RunFinishedOutcome::Interrupt(interrupt)) if !self.is_cancelled() => {
                self.ask(&interrupt.interrupts);
            }
            Some(RunFinishedOutcome::Interrupt(interrupt)) => {
                self.given_up.extend(interrupt.interrupts.iter().map(|it| given_up(&it.id)));
                self.respond_cancelled();
            }
            Some(RunFinishedOutcome::Cancelled(_)) => self.respond_cancelled(),
            _ if self.is_cancelled() => self.respond_cancelled(),
            Some(RunFinishedOutcome::Success(success))
                if success.pending_tool_call_ids.as_ref().is_some_and(|ids| !ids.is_empty()) =>
            {
                let pending = success.pending_tool_call_ids.iter().flatten();
                pending.for_each(|id| self.refuse(id));
                self.begin_run();
            }
            _ => self.respond(stop_reason(&finished)),
        }
    }

    pub(super) fn fail(&mut self, error: RunErrorEvent) {
        self.close_run(error.usage.as_deref());
        let reason = match error.code.as_deref() {
            _ if self.is_cancelled() => Some(StopReason::Cancelled),
            Some("CANCELLED" | "cancelled") => Some(StopReason::Cancelled),
            Some("ACP_REFUSAL") => Some(StopReason::Refusal),
            Some("ACP_MAX_TOKENS") => Some(StopReason::MaxTokens),
            Some("ACP_MAX_TURN_REQUESTS") => Some(StopReason::MaxTurnRequests),
            _ => None,
        };
        match reason {
            Some(reason) => self.respond(reason),
            None => {
                self.fail_open_calls("The run failed.");
                self.turn = None;
                self.outputs.push_back(Output::Respond(Err(error_object(&error))));
            }
        }
    }

    pub(super) fn respond_cancelled(&mut self) {
        if let Some(turn) = &mut self.turn {
            let open = turn.questions.keys().map(given_up);
            self.given_up.extend(turn.answers.drain(..).chain(open));
        }
        self.respond(StopReason::Cancelled);
    }

    /// Ends a turn that has reached the largest number of runs.
    pub(super) fn respond_exhausted(&mut self) {
        if let Some(turn) = &mut self.turn {
            self.given_up.append(&mut turn.answers);
        }
        self.respond(StopReason::MaxTurnRequests);
    }

    fn respond(&mut self, reason: StopReason) {
        let why = if reason == StopReason::Cancelled { "cancelled" } else { "There is no result." };
        self.fail_open_calls(why);
        let Some(turn) = self.turn.take() else { return };
        let mut response = PromptResponse::new(reason);
        response.usage = turn.usage.as_ref().map(turn_usage);
        self.outputs.push_back(Output::Respond(Ok(response)));
    }

    fn close_run(&mut self, usage: Option<&[TokenUsage]>) {
        let Some(turn) = &mut self.turn else { return };
        turn.run_is_open = false;
        for usage in usage.unwrap_or_default() {
            turn.usage = Some(match &turn.usage {
                Some(total) => sum(total, usage),
                None => usage.clone(),
            });
        }
    }

    fn is_cancelled(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.cancelled)
    }

    /// Reports to both sides that a call of an unknown tool failed.
    fn refuse(&mut self, id: &ToolCallId) {
        self.fail_call(id, NO_SUCH_TOOL);
        let message = MessageId::from(format!("refused-{id}"));
        let mut tool = ToolMessage::new(message, NO_SUCH_TOOL, id.clone());
        tool.error = Some(NO_SUCH_TOOL.into());
        self.say(Message::Tool(tool));
    }
}

fn stop_reason(finished: &RunFinishedEvent) -> StopReason {
    let result = finished.result.as_ref().and_then(|result| result.decode::<Extra>().ok());
    let reason = result.as_ref().and_then(|result| result.get("stopReason")?.decode().ok());
    reason.filter(StopReason::is_known).unwrap_or(StopReason::EndTurn)
}

fn error_object(error: &RunErrorEvent) -> ErrorObject {
    let acp = error.metadata.as_ref().and_then(|metadata| metadata.get("acp"));
    let acp = acp.and_then(|acp| acp.decode::<Extra>().ok());
    let number = acp.as_ref().and_then(|acp| acp.get("code")?.decode().ok());
    let by_code = |code: &String| CODES.iter().find(|(known, _)| known == code);
    let by_code = error.code.as_ref().and_then(by_code).map(|(_, number)| *number);
    let number = number.or(by_code).unwrap_or(ErrorCode::INTERNAL_ERROR);
    let mut object = ErrorObject::new(number, String::as_str(&error.message));
    let data = error.code.as_ref().map(|code| Members::new().with("code", code).into_raw());
    object.data = data;
    object
}
