//! Records for an audit log: events of `tracing` with the target `audit`. The field `content` has texts of users and agents.
//! Runs of models, which this crate does not serve, are recorded by their owner.
//!
//! `thread` is the name of a thread, which contains its user.
use agui_bridge::PermissionAnswer;
use agui_bridge::conversation::{Setting, UserAnswer};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::interrupt::ResumeEntry;
use agui_types::run_log::RunOutcome;
use jsonrpc_core::peek_member;
use std::fmt;

/// Target of the events.
const AUDIT: &str = "audit";

/// Members of the answer to an interrupt that state the decision.
const DECISIONS: [&str; 3] = ["optionId", "approved", "action"];

/// Records the start of a run, and its answers to interrupts.
pub fn run_started(thread: &str, input: &RunAgentInput) {
    for entry in input.resume.iter().flatten() {
        let (question, decision) = (entry.interrupt_id.as_str(), resumed(entry));
        tracing::info!(target: AUDIT, event = "answer", thread, question, decision);
    }
    let (run, content) = (input.run_id.as_str(), LastMessage(input));
    tracing::info!(target: AUDIT, event = "run.start", thread, run, %content);
}

/// Records the calls of tools and the end of a run of a model.
pub fn run_continued(thread: &str, run: &str, event: &Event) {
    if let Event::ToolCallStart(call) = event {
        let tool = &*call.tool_call_name;
        tracing::info!(target: AUDIT, event = "tool.call", thread, run, tool);
    }
    if let Some(outcome) = RunOutcome::of(event) {
        run_ended_as(thread, run, outcome.name());
    }
}

/// Records the end of a run.
pub(crate) fn run_ended(thread: &str, run: &str, outcome: Option<&RunOutcome>) {
    run_ended_as(thread, run, outcome.map_or("lost", RunOutcome::name));
}

/// Records the end of a run that has no outcome.
pub(crate) fn run_ended_as(thread: &str, run: &str, outcome: &str) {
    tracing::info!(target: AUDIT, event = "run.end", thread, run, outcome);
}

/// Records an answer that was accepted during a run.
pub(crate) fn answered(thread: &str, question: &str, decision: &str) {
    tracing::info!(target: AUDIT, event = "answer", thread, question, decision);
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

/// Returns the decision of an answer, without the text of a form.
pub(crate) fn decision(answer: &UserAnswer) -> String {
    match answer {
        UserAnswer::Permission(PermissionAnswer::Selected(option)) => option.to_string(),
        UserAnswer::Elicitation(action) => action.tag().to_owned(),
        _ => "cancelled".to_owned(),
    }
}

fn resumed(entry: &ResumeEntry) -> String {
    let payload = entry.payload.as_ref().map(|payload| payload.as_str()).unwrap_or_default();
    let decision = DECISIONS.iter().find_map(|name| peek_member(payload, name).ok().flatten());
    decision.map_or_else(|| entry.status.to_string(), |value| value.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn decision_is_recorded_without_the_text_of_a_form() {
        for (payload, expected) in [
            (json!({ "optionId": "allow-once" }), "allow-once"),
            (json!({ "approved": false }), "false"),
            (json!({ "action": "accept", "content": { "name": "a secret" } }), "accept"),
            (json!({ "name": "a secret" }), "resolved"),
        ] {
            let entry = json!({ "interruptId": "1", "status": "resolved", "payload": payload });
            let entry: ResumeEntry = serde_json::from_value(entry).unwrap();
            assert_eq!(resumed(&entry), expected, "{payload}");
        }
    }
}
