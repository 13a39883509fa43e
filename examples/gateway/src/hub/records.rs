//! Records for an audit log: events of `tracing` with the target `audit`. The field `content` has
//! texts of users and agents. Runs of models, which this crate does not serve, are recorded by
//! their owner.
//!
//! `thread` is the name of a thread, which contains its user.
use acp_types::v1::tool_calls::{RequestPermissionOutcome, ToolCallId};
use agui_bridge::conversation::Setting;
use agui_bridge::{Answer, Response};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::run_log::RunOutcome;
use std::fmt;

/// Target of the events.
const AUDIT: &str = "audit";

/// Records the start of a run.
pub fn run_started(thread: &str, input: &RunAgentInput) {
    let run = input.run_id.as_str();
    let content = LastMessage(input);
    tracing::info!(target: AUDIT, event = "run.start", thread, run, %content);
}

/// Records the calls of tools and the end of a run of a model.
pub fn run_continued(thread: &str, run: &str, event: &Event) {
    if let Event::ToolCallStart(call) = event {
        let tool = &*call.tool_call_name;
        tracing::info!(target: AUDIT, event = "tool.call", thread, run, tool);
    }
    if let Some(outcome) = RunOutcome::of(event) {
        run_ended(thread, run, Some(&outcome));
    }
}

/// Records the end of a run.
pub(crate) fn run_ended(thread: &str, run: &str, outcome: Option<&RunOutcome>) {
    let reason = outcome.and_then(RunOutcome::cancel_reason);
    let outcome = outcome.map_or("lost", RunOutcome::name);
    tracing::info!(target: AUDIT, event = "run.end", thread, run, outcome, reason);
}

/// Records the end of a run that has no outcome.
pub(crate) fn run_ended_as(thread: &str, run: &str, outcome: &str) {
    tracing::info!(target: AUDIT, event = "run.end", thread, run, outcome);
}

/// Records the answer to a request of the agent, by the user or without.
pub(crate) fn answered(thread: &str, response: &Response) {
    let question = response.interrupt_id.as_deref();
    let by = response.answered_by.as_str();
    let call = response.call.as_ref().map(ToolCallId::as_str);
    let decision = match &response.result {
        Answer::Permission(answer) => match &answer.outcome {
            RequestPermissionOutcome::Selected(selected) => selected.option_id.as_str(),
            _ => "cancelled",
        },
        Answer::Elicitation(answer) => answer.action.tag(),
        _ => "unknown",
    };
    let content = response.request.as_str();
    tracing::info!(target: AUDIT, event = "answer", thread, question, call, decision, by, content);
}

/// Records the decision of a permission rule about a request of a session.
pub(crate) fn decided(session: &str, rule: usize, decision: &str) {
    tracing::info!(target: AUDIT, event = "decision", session, rule, decision);
}

/// Records a setting that a user changes.
pub(crate) fn set(thread: &str, setting: &Setting) {
    let setting = match setting {
        Setting::Mode(mode) => mode.as_str(),
        Setting::ConfigOption(option, _) => option.as_str(),
        _ => "unknown",
    };
    tracing::info!(target: AUDIT, event = "setting", thread, setting);
}

/// Records a request of an agent for a file or a terminal.
pub(crate) fn requested(thread: Option<&str>, method: &str, content: &str) {
    let thread = thread.unwrap_or_default();
    tracing::info!(target: AUDIT, event = "agent.request", thread, method, content);
}

/// The last message of an input, as JSON. It is encoded only if content is recorded.
struct LastMessage<'a>(&'a RunAgentInput);

impl fmt::Display for LastMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.0.messages.last().and_then(|last| serde_json::to_string(last).ok());
        f.write_str(&last.unwrap_or_default())
    }
}
