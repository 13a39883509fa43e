//! The view of version 1.
use super::view::Losses;
use super::{Entry, Message, MessageKind, Produced, SessionState, ToolCallState, ViewV1};
use crate::alike::{alike, command_to_v1, content_to_v1, option_to_v1};
use crate::v1::agent_plan::{Plan, PlanUpdate};
use crate::v1::prompt_turn::{ContentChunk, SessionUpdate};
use crate::v1::session_list::SessionInfoUpdate;
use crate::v1::session_setup::LoadSessionResponse;
use crate::v1::slash_commands::AvailableCommandsUpdate;
use crate::v1::tool_calls::{
    Content, ToolCall as ToolCallV1, ToolCallContent as ToolCallContentV1, ToolCallStatus,
};
use crate::v2::agent_plan::PlanUpdateContent;
use crate::v2::tool_calls::{self as tool_calls2, ToolCallContent};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Wire;
use serde::Serialize;

/// Converts values to version 1, and reports those without an equivalent.
fn same<A: Serialize, B: Wire>(
    value: &A,
    pointer: impl FnOnce() -> String,
    losses: &mut Losses,
) -> Option<B> {
    let same = alike(value);
    if same.is_none() {
        losses.add(pointer(), "version 1 has no equivalent");
    }
    same
}

impl SessionState {
    /// Returns the session as an agent of version 1 would send it.
    pub fn view_v1(&self) -> ViewV1 {
        let mut losses = Losses(Vec::new());
        let mut updates = Vec::new();
        let mut before = None;
        for (number, entry) in self.entries() {
            match entry {
                Entry::Message(message) => {
                    // Without ids, two adjacent messages would be joined.
                    let is_same = before == Some((message.kind, None));
                    let needs_id = is_same && message.message_id.is_none();
                    say(number, message, needs_id, &mut updates, &mut losses);
                }
                Entry::ToolCall(id) => {
                    if let Some(call) = self.tool_calls.get(id) {
                        updates.push(SessionUpdate::ToolCall(Box::new(called(call, &mut losses))));
                    }
                }
                Entry::Compaction(id) => {
                    let compaction = self.compactions.get(id);
                    let pointer = || format!("/compactions/{id}");
                    let compaction = compaction.and_then(|it| same(it, pointer, &mut losses));
                    updates.extend(compaction.map(Box::new).map(SessionUpdate::CompactionUpdate));
                }
                Entry::SessionMessage(message) => {
                    let pointer = || format!("/entries/{number}");
                    let message = same(message, pointer, &mut losses).map(Box::new);
                    updates.extend(message.map(SessionUpdate::SessionMessage));
                }
            }
            before = match entry {
                Entry::Message(message) => Some((message.kind, message.message_id.clone())),
                _ => None,
            };
        }
        self.view_v1_of_the_rest(&mut updates, &mut losses);
        let mut response = LoadSessionResponse::new();
        response.modes = self.modes.clone();
        let options = self.config_options.iter().filter_map(|option| {
            let same = option_to_v1(option);
            if same.is_none() {
                let pointer = format!("/configOptions/{}", option.config_id);
                losses.add(pointer, "version 1 has no equivalent");
            }
            same
        });
        response.config_options = Some(options.collect());
        ViewV1 { updates, response, losses: losses.0 }
    }

    fn view_v1_of_the_rest(&self, updates: &mut Vec<SessionUpdate>, losses: &mut Losses) {
        for (id, plan) in self.plans() {
            match (id, plan) {
                (None, PlanUpdateContent::Items(items)) => {
                    let entries: Vec<_> = items.entries.iter().filter_map(alike).collect();
                    updates.push(SessionUpdate::Plan(Plan::new(entries)));
                }
                (_, plan) => {
                    let plan = same(plan, || "/plans".into(), losses);
                    let plan = plan.map(|plan: crate::v1::agent_plan::PlanUpdateContent| {
                        SessionUpdate::PlanUpdate(Box::new(PlanUpdate::new(plan)))
                    });
                    updates.extend(plan);
                }
            }
        }
        for (id, subagent) in &self.subagents {
            let subagent = same(subagent, || format!("/subagents/{id}"), losses).map(Box::new);
            updates.extend(subagent.map(SessionUpdate::SubagentUpdate));
        }
        let mut info = SessionInfoUpdate::new();
        (info.title, info.updated_at) = (self.info.title.clone(), self.info.updated_at.clone());
        (info.meta, info.extra) = (self.info.meta.clone(), self.info.extra.clone());
        updates.push(SessionUpdate::SessionInfoUpdate(Box::new(info)));
        updates.extend(self.usage.as_ref().and_then(alike).map(SessionUpdate::UsageUpdate));
        let commands: Vec<_> = self.commands.iter().filter_map(command_to_v1).collect();
        if commands.len() < self.commands.len() {
            losses.add("/commands", "version 1 has no equivalent for all of them");
        }
        let commands = AvailableCommandsUpdate::new(commands);
        updates.push(SessionUpdate::AvailableCommandsUpdate(commands));
        for id in self.terminals.keys() {
            losses.add(format!("/terminals/{id}"), "in version 1 terminals belong to the client");
        }
        if self.state.is_some() {
            losses.add("/state", "in version 1 the response to a prompt has the state");
        }
    }
}

fn say(
    number: u64,
    message: &Message,
    needs_id: bool,
    updates: &mut Vec<SessionUpdate>,
    losses: &mut Losses,
) {
    let pointer = |name: &str| format!("/entries/{number}/{name}");
    if message.content.is_empty() {
        losses.add(pointer("content"), "version 1 has no empty messages");
    }
    if message.meta.is_some() {
        losses.add(pointer("meta"), "version 1 does not define it for messages");
    }
    if needs_id {
        losses.add(pointer("messageId"), "it is invented");
    }
    for block in &message.content {
        let Some(block) = content_to_v1(block) else {
            losses.add(pointer("content"), "version 1 has no equivalent");
            continue;
        };
        let mut chunk = ContentChunk::new(block);
        chunk.message_id = match &message.message_id {
            Some(id) => Some(id.as_str().into()),
            None => needs_id.then(|| format!("message-{number}").into()),
        };
        updates.push(match message.kind {
            MessageKind::User => SessionUpdate::UserMessageChunk(chunk),
            MessageKind::Agent => SessionUpdate::AgentMessageChunk(chunk),
            MessageKind::Thought => SessionUpdate::AgentThoughtChunk(chunk),
        });
    }
}

fn called(call: &ToolCallState, losses: &mut Losses) -> ToolCallV1 {
    let (update, id) = (&call.update, &call.update.tool_call_id);
    let pointer = |name: &str| format!("/toolCalls/{id}/{name}");
    let title = update.title.value().cloned().unwrap_or_else(|| {
        losses.add(pointer("title"), "version 1 requires it: it is empty");
        String::new()
    });
    let mut same = ToolCallV1::new(id.as_str(), title);
    same.name = update.name.value().cloned();
    same.kind = update.kind.value().map(|kind| kind.as_str().into());
    same.status = update.status.value().map(|status| match status {
        tool_calls2::ToolCallStatus::Paused => {
            losses.add(pointer("status"), "`paused` is `in_progress` in version 1");
            ToolCallStatus::InProgress
        }
        tool_calls2::ToolCallStatus::Cancelled => {
            losses.add(pointer("status"), "`cancelled` is `failed` in version 1");
            ToolCallStatus::Failed
        }
        other => other.as_str().into(),
    });
    same.locations = update.locations.value().and_then(alike);
    same.raw_input = update.raw_input.value().cloned();
    same.raw_output = update.raw_output.value().cloned();
    same.meta = update.meta.value().cloned();
    same.extra = update.extra.clone();
    if update.capabilities.value().is_some() {
        losses.add(pointer("capabilities"), "version 1 does not define them for tool calls");
    }
    let content: Vec<_> =
        call.content.iter().filter_map(|it| produced(it, &pointer, losses)).collect();
    same.content = Some(content).filter(|content| !content.is_empty());
    same
}

fn produced(
    produced: &Produced,
    pointer: &impl Fn(&str) -> String,
    losses: &mut Losses,
) -> Option<ToolCallContentV1> {
    let content = match produced {
        Produced::Texts(diff) => return Some(ToolCallContentV1::Diff(Box::new(diff.clone()))),
        Produced::Content(content) => content,
    };
    let ToolCallContent::Diff(diff) = content else {
        return same(content, || pointer("content"), losses);
    };
    match &diff.patch {
        Some(patch) => {
            losses.add(pointer("content"), "a patch is text in version 1");
            Some(ToolCallContentV1::Content(Content::new(patch.text.as_str())))
        }
        None => {
            losses.add(pointer("content"), "version 1 requires the texts of a changed file");
            None
        }
    }
}
