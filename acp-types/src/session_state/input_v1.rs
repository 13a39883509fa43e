//! Inputs of version 1.
use super::patch::Patch;
use super::sealed::Input;
use super::{Change, MessageKind, ProducedContent, SessionState};
use crate::alike::{
    alike, all_alike, announced, call_to_v2, command_to_v2, content_to_v2, idle, option_to_v2,
    reason_to_v2,
};
use crate::v1::prompt_turn::{
    CancelNotification, ContentChunk, PromptRequest, PromptResponse, SessionUpdate,
};
use crate::v1::session_config_options::{SessionConfigOption, SetSessionConfigOptionResponse};
use crate::v1::session_modes::{SessionModeId, SessionModeState, SetSessionModeRequest};
use crate::v1::session_setup::{LoadSessionResponse, NewSessionResponse, ResumeSessionResponse};
use crate::v1::terminals::{
    CreateTerminalRequest, CreateTerminalResponse, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use crate::v1::tool_calls::{RequestPermissionRequest, ToolCallContent, ToolCallUpdate};
use crate::v2;
use crate::v2::prompt_lifecycle::MessageId;
use crate::v2::session_states::{ErrorStopReason, StateUpdate, StopReason};
use crate::v2::terminals::{TerminalExitStatus, TerminalUpdate};
use crate::v2::tool_calls::ToolCallStatus;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Extra, Presence};

impl Input for &SessionUpdate {
    fn apply(self, state: &mut SessionState) {
        match self {
            SessionUpdate::UserMessageChunk(it) => user_chunk(it, state),
            SessionUpdate::AgentMessageChunk(it) => chunk(MessageKind::Agent, it, state),
            SessionUpdate::AgentThoughtChunk(it) => chunk(MessageKind::Thought, it, state),
            SessionUpdate::ToolCall(it) => announce(&announced(it), state),
            SessionUpdate::ToolCallUpdate(it) => change_call(it, state),
            SessionUpdate::Plan(it) => {
                let (entries, lost) = all_alike(&it.entries);
                report_lost(state, lost, "/plans");
                let plan: Vec<v2::agent_plan::PlanEntry> = entries;
                let items = v2::agent_plan::PlanItems::new("", plan);
                state.plan(None, v2::agent_plan::PlanUpdateContent::Items(items));
            }
            SessionUpdate::PlanUpdate(it) => {
                let plan = alike::<_, v2::agent_plan::PlanUpdateContent>(&it.plan);
                match plan.and_then(|plan| Some((plan.plan_id()?, plan))) {
                    Some((id, plan)) => state.plan(Some(id), plan),
                    None => state.lost("/plans", "a plan without an equivalent in version 2"),
                }
            }
            SessionUpdate::PlanRemoved(it) => state.remove_plan(&it.plan_id.as_str().into()),
            SessionUpdate::AvailableCommandsUpdate(it) => {
                let commands = it.available_commands.iter().map(command_to_v2).collect();
                state.commands = state.list(commands, "commands", Change::Commands);
            }
            SessionUpdate::CurrentModeUpdate(it) => set_mode(&it.current_mode_id, state),
            SessionUpdate::ConfigOptionUpdate(it) => set_options(&it.config_options, state),
            SessionUpdate::SessionInfoUpdate(it) => {
                let mut info = v2::session_list::SessionInfoUpdate::new();
                info.title = it.title.clone();
                info.updated_at = it.updated_at.clone();
                info.meta = it.meta.clone();
                info.extra = it.extra.clone();
                state.info.patch(&info);
                state.change(Change::Info);
            }
            SessionUpdate::Unknown(it) => {
                state.lost("/update", format!("unknown update `{}`", it.tag()));
            }
            // Other updates are equal in version 2.
            other => match alike::<_, v2::prompt_lifecycle::SessionUpdate>(other) {
                Some(update) => (&update).apply(state),
                None => {
                    let problem = format!("`{}` without an equivalent in version 2", other.tag());
                    state.lost("/update", problem);
                }
            },
        }
    }
}

fn report_lost(state: &mut SessionState, lost: usize, pointer: &str) {
    if lost > 0 {
        state.lost(pointer, format!("{lost} without an equivalent in version 2"));
    }
}

fn id_of(chunk: &ContentChunk) -> Option<MessageId> {
    chunk.message_id.as_ref().map(|id| id.as_str().into())
}

fn chunk(kind: MessageKind, chunk: &ContentChunk, state: &mut SessionState) {
    match content_to_v2(&chunk.content) {
        Some(block) => state.chunk(kind, id_of(chunk).as_ref(), block),
        None => state.lost("/update/content", "content without an equivalent in version 2"),
    }
}

/// Handles a user message chunk. The first one after a prompt repeats the prompt.
fn user_chunk(it: &ContentChunk, state: &mut SessionState) {
    if let Some(number) = state.prompt_entry.take()
        && state.prompts > 0
        && state.entries().next_back().is_some_and(|(last, _)| last == number)
    {
        state.clear_message(number, id_of(it).as_ref());
    }
    chunk(MessageKind::User, it, state);
}

fn produced(content: &ToolCallContent) -> Option<ProducedContent> {
    match content {
        ToolCallContent::Diff(diff) => Some(ProducedContent::Texts((**diff).clone())),
        ToolCallContent::Content(content) => {
            let mut content_v2 = v2::tool_calls::Content::new(content_to_v2(&content.content)?);
            content_v2.meta = content.meta.clone();
            content_v2.extra = content.extra.clone();
            Some(ProducedContent::Content(v2::tool_calls::ToolCallContent::Content(
                content_v2.into(),
            )))
        }
        other => alike(other).map(ProducedContent::Content),
    }
}

fn change_call(update: &ToolCallUpdate, state: &mut SessionState) {
    let content = match update.content.value() {
        Some(content) => {
            let all: Vec<_> = content.iter().filter_map(produced).collect();
            report_lost(state, content.len() - all.len(), "/update/content");
            Presence::Value(all)
        }
        None => Presence::Absent,
    };
    state.change_call(&call_to_v2(update), content);
}

/// Returns the rank of a status.
fn rank(status: &ToolCallStatus) -> u8 {
    match status {
        ToolCallStatus::Pending => 0,
        ToolCallStatus::Completed | ToolCallStatus::Failed | ToolCallStatus::Cancelled => 2,
        _ => 1,
    }
}

/// Handles an announcement, which may be late.
fn announce(update: &ToolCallUpdate, state: &mut SessionState) {
    let mut update = update.clone();
    if let Some(call) = state.tool_call(update.tool_call_id.as_str())
        && let Some(status) = update.status.value()
        && rank(&status.as_str().into()) < rank(call.status())
    {
        update.status = Presence::Absent;
    }
    change_call(&update, state);
}

impl Input for &RequestPermissionRequest {
    fn apply(self, state: &mut SessionState) {
        announce(&self.tool_call, state);
    }
}

fn set_mode(mode: &SessionModeId, state: &mut SessionState) {
    match &mut state.modes {
        Some(modes) => modes.current_mode_id = mode.clone(),
        None => state.modes = Some(SessionModeState::new(mode.clone(), [])),
    }
    state.change(Change::Modes);
}

fn set_options(options: &[SessionConfigOption], state: &mut SessionState) {
    let options_v2: Vec<_> = options.iter().filter_map(option_to_v2).collect();
    report_lost(state, options.len() - options_v2.len(), "/configOptions");
    state.config_options = state.list(options_v2, "configOptions", Change::ConfigOptions);
}

macro_rules! beginnings {
    ($($Response:ident)*) => { $(
        impl Input for &$Response {
            fn apply(self, state: &mut SessionState) {
                if let Some(modes) = &self.modes {
                    let mut modes = modes.clone();
                    modes.available_modes =
                        state.list(modes.available_modes, "modes", Change::Modes);
                    state.modes = Some(modes);
                }
                if let Some(options) = &self.config_options {
                    set_options(options, state);
                }
            }
        }
    )* };
}

beginnings! { NewSessionResponse LoadSessionResponse ResumeSessionResponse }

impl Input for &SetSessionModeRequest {
    fn apply(self, state: &mut SessionState) {
        set_mode(&self.mode_id, state);
    }
}

impl Input for &SetSessionConfigOptionResponse {
    fn apply(self, state: &mut SessionState) {
        set_options(&self.config_options, state);
    }
}

impl Input for &PromptRequest {
    fn apply(self, state: &mut SessionState) {
        let content: Vec<_> = self.prompt.iter().filter_map(content_to_v2).collect();
        report_lost(state, self.prompt.len() - content.len(), "/prompt");
        let said = Presence::Value(content);
        let number = state.message(MessageKind::User, None, &said, &Presence::Absent);
        state.prompt_entry = Some(number);
        state.prompts += 1;
        state.state = Some(StateUpdate::Running(v2::session_states::RunningStateUpdate::new()));
        state.change(Change::State);
    }
}

fn end(outcome: StateUpdate, state: &mut SessionState) {
    state.prompts = state.prompts.saturating_sub(1);
    if state.prompts == 0 {
        state.prompt_entry = None;
        state.state = Some(outcome);
        state.change(Change::State);
    }
}

impl Input for &PromptResponse {
    fn apply(self, state: &mut SessionState) {
        let reason = reason_to_v2(&self.stop_reason)
            .unwrap_or_else(|| StopReason::NotReported(Extra::new()));
        end(idle(reason, self.usage.as_ref()), state);
    }
}

impl Input for &ErrorObject {
    fn apply(self, state: &mut SessionState) {
        let mut reason = ErrorStopReason::new();
        reason.error = Some(Box::new(self.clone()));
        end(idle(StopReason::Error(reason), None), state);
    }
}

impl Input for &CancelNotification {
    fn apply(self, state: &mut SessionState) {
        let open = state.tool_calls().filter(|call| !call.is_over());
        let open: Vec<_> = open.map(|call| call.update.tool_call_id.clone()).collect();
        for id in open {
            let mut update = v2::tool_calls::ToolCallUpdate::new(id);
            update.status = ToolCallStatus::Cancelled.into();
            state.change_call(&update, Presence::Absent);
        }
    }
}

impl Input for (&CreateTerminalRequest, &CreateTerminalResponse) {
    fn apply(self, state: &mut SessionState) {
        let (request, response) = self;
        let mut update = TerminalUpdate::new(response.terminal_id.as_str());
        let words = core::iter::once(&request.command).chain(request.args.iter().flatten());
        let words: Vec<&str> = words.map(String::as_str).collect();
        update.command = words.join(" ").into();
        update.cwd =
            request.cwd.as_deref().map_or(Presence::Absent, |cwd| Presence::Value(cwd.into()));
        state.change_terminal(&update);
    }
}

impl Input for (&TerminalOutputRequest, &TerminalOutputResponse) {
    fn apply(self, state: &mut SessionState) {
        let (request, response) = self;
        let id = request.terminal_id.as_str().into();
        state.set_output(&id, response.output.clone().into_bytes(), response.truncated);
        if let Some(exit) = &response.exit_status {
            exited(&id, exit.exit_code, exit.signal.clone(), state);
        }
    }
}

impl Input for (&WaitForTerminalExitRequest, &WaitForTerminalExitResponse) {
    fn apply(self, state: &mut SessionState) {
        let (request, response) = self;
        let id = request.terminal_id.as_str().into();
        exited(&id, response.exit_code, response.signal.clone(), state);
    }
}

fn exited(
    id: &v2::terminals::TerminalId,
    code: Option<u32>,
    signal: Option<String>,
    state: &mut SessionState,
) {
    let mut status = TerminalExitStatus::new();
    status.exit_code = code.map(i64::from);
    status.signal = signal;
    let mut update = TerminalUpdate::new(id.clone());
    update.exit_status = status.into();
    state.change_terminal(&update);
}
