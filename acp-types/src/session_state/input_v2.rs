//! Inputs of version 2.
use super::sealed::Input;
use super::{Change, MessageKind, ProducedContent, SessionState};
use crate::v2::permissions::{RequestPermissionRequest, RequestPermissionSubject};
use crate::v2::prompt_lifecycle::SessionUpdate;
use crate::v2::session_config_options::SetSessionConfigOptionResponse;
use crate::v2::session_setup::{NewSessionResponse, ResumeSessionResponse};
use crate::v2::tool_calls::ToolCallUpdate;
use alloc::format;
use alloc::vec::Vec;
use jsonrpc_core::wire::Presence;

impl Input for &SessionUpdate {
    fn apply(self, state: &mut SessionState) {
        use MessageKind::{Agent, Thought, User};
        match self {
            SessionUpdate::UserMessageChunk(it) => {
                state.chunk(User, Some(&it.message_id), it.content.clone());
            }
            SessionUpdate::AgentMessageChunk(it) => {
                state.chunk(Agent, Some(&it.message_id), it.content.clone());
            }
            SessionUpdate::AgentThoughtChunk(it) => {
                state.chunk(Thought, Some(&it.message_id), it.content.clone());
            }
            SessionUpdate::UserMessage(it) => {
                state.message(User, Some(&it.message_id), &it.content, &it.meta);
            }
            SessionUpdate::AgentMessage(it) => {
                state.message(Agent, Some(&it.message_id), &it.content, &it.meta);
            }
            SessionUpdate::AgentThought(it) => {
                state.message(Thought, Some(&it.message_id), &it.content, &it.meta);
            }
            SessionUpdate::StateUpdate(it) => {
                state.state = Some(it.clone());
                state.change(Change::State);
            }
            SessionUpdate::ToolCallContentChunk(it) => {
                state.produce(&it.tool_call_id, ProducedContent::Content(it.content.clone()));
            }
            SessionUpdate::ToolCallUpdate(it) => tool_call(it, state),
            SessionUpdate::TerminalUpdate(it) => state.change_terminal(it),
            SessionUpdate::TerminalOutputChunk(it) => state.output_chunk(&it.terminal_id, &it.data),
            SessionUpdate::PlanUpdate(it) => match it.plan.plan_id() {
                Some(id) => state.plan(Some(id), it.plan.clone()),
                None => state.lost("/plans", "a plan of an unknown kind without an id"),
            },
            SessionUpdate::PlanRemoved(it) => state.remove_plan(&it.plan_id),
            SessionUpdate::CompactionUpdate(it) => state.change_compaction(it),
            SessionUpdate::CompactionSummaryChunk(it) => {
                state.summarize(&it.compaction_id, it.content.clone());
            }
            SessionUpdate::SubagentUpdate(it) => state.subagent(it),
            SessionUpdate::SessionMessage(it) => state.change_session_message(it),
            SessionUpdate::SessionMessageChunk(it) => {
                state.session_message_chunk(&it.message_id, it.content.clone());
            }
            other => beside(other, state),
        }
    }
}

/// Handles updates outside of the conversation.
fn beside(update: &SessionUpdate, state: &mut SessionState) {
    match update {
        SessionUpdate::AvailableCommandsUpdate(it) => {
            let commands = it.available_commands.clone();
            state.commands = state.list(commands, "commands", Change::Commands);
        }
        SessionUpdate::ConfigOptionUpdate(it) => {
            let options = it.config_options.clone();
            state.config_options = state.list(options, "configOptions", Change::ConfigOptions);
        }
        SessionUpdate::SessionInfoUpdate(it) => {
            super::patch::Patch::patch(&mut state.info, it);
            state.change(Change::Info);
        }
        SessionUpdate::UsageUpdate(it) => {
            state.set_usage(it);
        }
        SessionUpdate::Notice(it) => state.notice((**it).clone()),
        SessionUpdate::CursorUpdate(it) => state.change_cursor(it),
        SessionUpdate::PromptSuggestionsUpdate(it) => {
            let suggestions = it.suggestions.clone();
            state.suggestions = state.list(suggestions, "suggestions", Change::Suggestions);
        }
        // The end of a replay changes nothing.
        SessionUpdate::ReplayComplete(_) => {}
        other => state.lost("/update", format!("unknown update `{}`", other.tag())),
    }
}

fn tool_call(update: &ToolCallUpdate, state: &mut SessionState) {
    let content = match &update.content {
        Presence::Absent => Presence::Absent,
        Presence::Null => Presence::Null,
        Presence::Value(content) => {
            Presence::Value(content.iter().cloned().map(ProducedContent::Content).collect())
        }
    };
    state.change_call(update, content);
}

impl Input for &RequestPermissionRequest {
    fn apply(self, state: &mut SessionState) {
        if let Some(RequestPermissionSubject::ToolCall(subject)) = self.subject.as_deref() {
            tool_call(&subject.tool_call, state);
        }
    }
}

macro_rules! beginnings {
    ($($Response:ident)*) => { $(
        impl Input for &$Response {
            fn apply(self, state: &mut SessionState) {
                if let Some(options) = &self.config_options {
                    let options: Vec<_> = options.clone();
                    state.config_options =
                        state.list(options, "configOptions", Change::ConfigOptions);
                }
                if let Some(commands) = &self.available_commands {
                    let commands: Vec<_> = commands.clone();
                    state.commands = state.list(commands, "commands", Change::Commands);
                }
            }
        }
    )* };
}

beginnings! { NewSessionResponse ResumeSessionResponse }

impl Input for &SetSessionConfigOptionResponse {
    fn apply(self, state: &mut SessionState) {
        let options = self.config_options.clone();
        state.config_options = state.list(options, "configOptions", Change::ConfigOptions);
    }
}
