//! The view of version 2.
use super::view::Losses;
use super::{Entry, Message, MessageKind, Produced, SessionState, ToolCallState, ViewV2};
use crate::base64;
use crate::texts::diff_of_texts;
use crate::v2::agent_plan::{PlanUpdate, PlanUpdateContent};
use crate::v2::prompt_lifecycle::{
    AgentMessage, AgentThought, MessageId, SessionUpdate, UserMessage,
};
use crate::v2::session_config_options::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelect,
    SessionConfigSelectOption, SessionConfigSelectOptions,
};
use crate::v2::session_setup::ResumeSessionResponse;
use crate::v2::terminals::TerminalOutput;
use crate::v2::tool_calls::{ToolCallContent, ToolCallUpdate};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use jsonrpc_core::wire::Presence;

impl SessionState {
    /// Returns the session as an agent of version 2 would send it.
    pub fn view_v2(&self) -> ViewV2 {
        let mut losses = Losses(Vec::new());
        let mut updates = Vec::new();
        for (id, terminal) in &self.terminals {
            let mut update = terminal.update.clone();
            if !terminal.output.is_empty() {
                update.output = TerminalOutput::new(base64::encode(&terminal.output)).into();
            }
            if terminal.is_truncated {
                losses.add(format!("/terminals/{id}/output"), "its beginning is missing");
            }
            updates.push(SessionUpdate::TerminalUpdate(Box::new(update)));
        }
        for (number, entry) in self.entries() {
            match entry {
                Entry::Message(message) => updates.push(said(number, message, &mut losses)),
                Entry::ToolCall(id) => {
                    if let Some(call) = self.tool_calls.get(id) {
                        updates.push(SessionUpdate::ToolCallUpdate(Box::new(called(call))));
                    }
                }
                Entry::Compaction(id) => {
                    let compaction = self.compactions.get(id).cloned().map(Box::new);
                    updates.extend(compaction.map(SessionUpdate::CompactionUpdate));
                }
                Entry::SessionMessage(message) => {
                    updates.push(SessionUpdate::SessionMessage(Box::new(message.clone())));
                }
            }
        }
        for (id, plan) in self.plans() {
            let mut plan = plan.clone();
            if let (None, PlanUpdateContent::Items(items)) = (id, &mut plan) {
                losses.add("/plans", "its id `plan` is invented");
                items.plan_id = "plan".into();
            }
            updates.push(SessionUpdate::PlanUpdate(Box::new(PlanUpdate::new(plan))));
        }
        let subagents = self.subagents.values().cloned().map(Box::new);
        updates.extend(subagents.map(SessionUpdate::SubagentUpdate));
        updates.push(SessionUpdate::SessionInfoUpdate(Box::new(self.info.clone())));
        updates.extend(self.usage.clone().map(SessionUpdate::UsageUpdate));
        updates.extend(self.state.clone().map(SessionUpdate::StateUpdate));
        let mut response = ResumeSessionResponse::new();
        let mut options = self.config_options.clone();
        options.extend(self.mode_as_option(&mut losses));
        response.config_options = Some(options);
        response.available_commands = Some(self.commands.clone());
        ViewV2 { updates, response, losses: losses.0 }
    }

    /// Returns the modes, which version 2 does not define, as an option, unless the session has one for them.
    fn mode_as_option(&self, losses: &mut Losses) -> Option<SessionConfigOption> {
        let modes = self.modes.as_ref()?;
        let mode = Some(SessionConfigOptionCategory::Mode);
        if self.config_options.iter().any(|option| option.category == mode) {
            return None;
        }
        losses.add("/modes", "version 2 has an option `mode` instead");
        let options = modes.available_modes.iter().map(|mode| {
            let mut option = SessionConfigSelectOption::new(mode.id.as_str(), &*mode.name);
            option.description = mode.description.clone();
            option
        });
        let options = SessionConfigSelectOptions::Ungrouped(options.collect());
        let select = SessionConfigSelect::new(modes.current_mode_id.as_str(), options);
        let mut option =
            SessionConfigOption::new("mode", "Mode", SessionConfigKind::Select(select));
        option.category = mode;
        Some(option)
    }
}

fn said(number: u64, message: &Message, losses: &mut Losses) -> SessionUpdate {
    let id = message.message_id.clone().unwrap_or_else(|| {
        losses.add(format!("/entries/{number}/messageId"), "it is invented");
        MessageId::from(format!("message-{number}"))
    });
    let content = Presence::Value(message.content.clone());
    let meta = message.meta.clone().map_or(Presence::Absent, Presence::Value);
    match message.kind {
        MessageKind::User => {
            let mut update = UserMessage::new(id);
            (update.content, update.meta) = (content, meta);
            SessionUpdate::UserMessage(Box::new(update))
        }
        MessageKind::Agent => {
            let mut update = AgentMessage::new(id);
            (update.content, update.meta) = (content, meta);
            SessionUpdate::AgentMessage(Box::new(update))
        }
        MessageKind::Thought => {
            let mut update = AgentThought::new(id);
            (update.content, update.meta) = (content, meta);
            SessionUpdate::AgentThought(Box::new(update))
        }
    }
}

fn called(call: &ToolCallState) -> ToolCallUpdate {
    let mut update = call.update.clone();
    update.content = Presence::Absent;
    if !call.content.is_empty() {
        let content = call.content.iter().map(|produced| match produced {
            Produced::Content(content) => content.clone(),
            Produced::Texts(diff) => ToolCallContent::Diff(Box::new(diff_of_texts(diff))),
        });
        update.content = Presence::Value(content.collect());
    }
    update
}
