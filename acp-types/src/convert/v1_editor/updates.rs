//! Updates of a session.
//!
//! Spec: [`SessionUpdate`](https://agentclientprotocol.com/protocol/v2/schema#sessionupdate)
use super::send;
use super::session::Session;
use super::subagents::{drop_references, shows_subagents};
use crate::capabilities::v1::Capabilities;
use crate::convert::BridgeLoss;
use crate::convert::content::{block_to_v1, blocks_to_v1};
use crate::convert::outbox::Outbox;
use crate::convert::setup::{commands_to_v1, options_to_v1};
use crate::convert::side::Side;
use crate::v1;
use crate::v1::prompt_turn::{ContentChunk as Chunk, SessionUpdate as Update};
use crate::v1::session_setup::SessionId;
use crate::v2::agent_plan::{PlanEntry, PlanEntryStatus, PlanId, PlanUpdate, PlanUpdateContent};
use crate::v2::compaction::{CompactionStatus, CompactionUpdate};
use crate::v2::content::ContentBlock;
use crate::v2::prompt_lifecycle::{
    ContentChunk, MessageId, SessionUpdate, UpdateSessionNotification, UsageUpdate,
};
use crate::v2::prompt_suggestions::{PromptSuggestion, PromptSuggestionsUpdate};
use crate::v2::session_cursors::{CursorAnchor, CursorId};
use crate::v2::tool_calls::ToolCallContent;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Presence};

/// The kind of a message. Ids are unique within a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageKind {
    User,
    Agent,
    Thought,
}

impl MessageKind {
    fn chunk(self, chunk: Chunk) -> Update {
        match self {
            Self::User => Update::UserMessageChunk(chunk),
            Self::Agent => Update::AgentMessageChunk(chunk),
            Self::Thought => Update::AgentThoughtChunk(chunk),
        }
    }

    fn key(self, id: &MessageId) -> String {
        format!("{self:?}/{id}")
    }
}

impl Session {
    pub(super) fn update(
        &mut self,
        line: &str,
        it: UpdateSessionNotification,
        capabilities: &Capabilities,
        out: &mut Outbox,
    ) {
        use MessageKind::{Agent, Thought, User};
        let id = &it.session_id;
        let meta = it.meta.as_ref();
        match it.update {
            SessionUpdate::UserMessageChunk(it) => self.chunk(line, id, User, it, meta, out),
            SessionUpdate::AgentMessageChunk(it) => self.chunk(line, id, Agent, it, meta, out),
            SessionUpdate::AgentThoughtChunk(it) => self.chunk(line, id, Thought, it, meta, out),
            SessionUpdate::UserMessage(it) => {
                self.message(id, User, &it.message_id, (&it.content, &it.meta, meta), out);
            }
            SessionUpdate::AgentMessage(it) => {
                self.message(id, Agent, &it.message_id, (&it.content, &it.meta, meta), out);
            }
            SessionUpdate::AgentThought(it) => {
                self.message(id, Thought, &it.message_id, (&it.content, &it.meta, meta), out);
            }
            SessionUpdate::StateUpdate(it) => self.state(id, &it, meta, out),
            SessionUpdate::ToolCallContentChunk(it)
                if matches!(it.content, ToolCallContent::Session(_))
                    && !shows_subagents(capabilities) =>
            {
                let call = it.tool_call_id.as_str();
                out.lose_of(BridgeLoss::NotAnnounced, call, it.content.tag());
            }
            SessionUpdate::ToolCallContentChunk(it) => self.calls.content_chunk(id, *it, meta, out),
            SessionUpdate::ToolCallUpdate(mut it) => {
                if !shows_subagents(capabilities) {
                    drop_references(&mut it, out);
                }
                self.calls.tool_call(id, *it, meta, out);
            }
            SessionUpdate::TerminalUpdate(it) => {
                self.calls.terminals.update(&it);
                self.calls.terminal_changed(id, it.terminal_id.as_str(), out);
            }
            SessionUpdate::TerminalOutputChunk(it) => {
                self.calls.terminals.append(&it);
                self.calls.terminal_changed(id, it.terminal_id.as_str(), out);
            }
            SessionUpdate::PlanUpdate(it) => self.plan(id, *it, meta, capabilities, out),
            SessionUpdate::PlanRemoved(it) => {
                let update = Update::PlanRemoved(it.clone());
                if capabilities.allows(&update).is_ok() {
                    out.forward(Side::Editor, line);
                } else if self.plan.take_if(|plan| *plan == it.plan_id).is_some() {
                    out.lose(BridgeLoss::PlanId, it.plan_id.as_str());
                    send(id, Update::Plan(v1::agent_plan::Plan::new([])), meta, out);
                } else {
                    out.lose(BridgeLoss::PlanKind, it.plan_id.as_str());
                }
            }
            SessionUpdate::AvailableCommandsUpdate(it) => {
                let commands = commands_to_v1(&it.available_commands, out);
                let mut update_v1 = v1::slash_commands::AvailableCommandsUpdate::new(commands);
                update_v1.meta = it.meta;
                send(id, Update::AvailableCommandsUpdate(update_v1), meta, out);
            }
            SessionUpdate::ConfigOptionUpdate(it) => {
                self.change_mode(id, &it.config_options, out);
                let options = options_to_v1(&it.config_options, capabilities, out);
                let mut update_v1 = v1::session_config_options::ConfigOptionUpdate::new(options);
                update_v1.meta = it.meta;
                send(id, Update::ConfigOptionUpdate(update_v1), meta, out);
            }
            SessionUpdate::SessionInfoUpdate(_) => out.forward(Side::Editor, line),
            SessionUpdate::UsageUpdate(it) => self.usage(line, id, it, meta, out),
            SessionUpdate::CompactionUpdate(mut it) => {
                it.status = self.status(&it).into();
                other(id, SessionUpdate::CompactionUpdate(it), meta, capabilities, out);
            }
            // The response to `session/load` is the end of the replay.
            SessionUpdate::ReplayComplete(_) if self.is_replayed => self.is_replayed = false,
            SessionUpdate::CursorUpdate(mut it) => {
                if let Some(anchor) = &mut it.anchor {
                    self.anchor(&it.cursor_id, anchor, out);
                }
                other(id, SessionUpdate::CursorUpdate(it), meta, capabilities, out);
            }
            update => other(id, update, meta, capabilities, out),
        }
    }

    fn chunk(
        &mut self,
        line: &str,
        id: &SessionId,
        kind: MessageKind,
        it: ContentChunk,
        meta: Option<&Meta>,
        out: &mut Outbox,
    ) {
        if kind == MessageKind::User
            && self.is_prompt(&it.message_id, core::slice::from_ref(&it.content))
        {
            return out.lose(BridgeLoss::PromptMessage, it.message_id.as_str());
        }
        let fingerprint =
            self.messages.entry(&kind.key(&it.message_id), |_| true, Default::default);
        fingerprint.push(&it.content);
        let revision = fingerprint.revision;
        if revision == 0 && matches!(it.content, ContentBlock::Text(_)) {
            return out.forward(Side::Editor, line);
        }
        let Some(block) = block_to_v1(it.message_id.as_str(), &it.content, out) else { return };
        let mut chunk = Chunk::new(block);
        chunk.message_id = Some(revised(&it.message_id, revision));
        chunk.meta = it.meta;
        chunk.extra = it.extra;
        send(id, kind.chunk(chunk), meta, out);
    }

    /// Handles a whole message. That of a prompt is in the editor.
    fn message(
        &mut self,
        id: &SessionId,
        kind: MessageKind,
        message: &MessageId,
        (content, meta, outer): (&Presence<Vec<ContentBlock>>, &Presence<Meta>, Option<&Meta>),
        out: &mut Outbox,
    ) {
        let whole = content.value().map(Vec::as_slice).unwrap_or_default();
        if kind == MessageKind::User && self.is_prompt(message, whole) {
            return out.lose(BridgeLoss::PromptMessage, message.as_str());
        }
        let is_new = self.messages.get(&kind.key(message)).is_none();
        // `null` clears nothing of a new message.
        let is_meta_lost = match meta {
            Presence::Absent => false,
            Presence::Null => !is_new,
            Presence::Value(_) => true,
        };
        // The metadata of the notification goes with the chunks.
        let mut is_kept = outer.is_none();
        if !content.is_absent() {
            is_kept |= self.complete(id, kind, (message, whole), outer, out);
        }
        if is_meta_lost || !is_kept {
            out.lose(BridgeLoss::MessageMeta, message.as_str());
        }
    }

    /// Sends the part of a whole message that the editor does not have, and returns whether there
    /// is one.
    fn complete(
        &mut self,
        id: &SessionId,
        kind: MessageKind,
        (message, whole): (&MessageId, &[ContentBlock]),
        meta: Option<&Meta>,
        out: &mut Outbox,
    ) -> bool {
        let fingerprint = self.messages.entry(&kind.key(message), |_| true, Default::default);
        let rest = fingerprint.rest(whole).unwrap_or_else(|| {
            out.lose(BridgeLoss::Rewrite, message.as_str());
            *fingerprint = fingerprint.revised();
            whole.to_vec()
        });
        let mut is_sent = false;
        for block in &rest {
            fingerprint.push(block);
            let Some(block) = block_to_v1(message.as_str(), block, out) else { continue };
            let mut chunk = Chunk::new(block);
            chunk.message_id = Some(revised(message, fingerprint.revision));
            send(id, kind.chunk(chunk), meta, out);
            is_sent = true;
        }
        is_sent
    }

    /// Sends the usage with the last cost, which version 2 does not repeat.
    fn usage(
        &mut self,
        line: &str,
        id: &SessionId,
        mut it: UsageUpdate,
        meta: Option<&Meta>,
        out: &mut Outbox,
    ) {
        let has_cost = it.cost.is_some() || it.clears_cost();
        if has_cost || self.cost.is_none() {
            self.cost = it.cost;
            return out.forward(Side::Editor, line);
        }
        it.cost = self.cost.clone();
        send(id, Update::UsageUpdate(it), meta, out);
    }

    /// Returns the status of a compaction after an update.
    fn status(&mut self, it: &CompactionUpdate) -> CompactionStatus {
        let begin = || CompactionStatus::InProgress;
        let status = self.compactions.entry(it.compaction_id.as_str(), |_| true, begin);
        match &it.status {
            Presence::Value(changed) => *status = changed.clone(),
            Presence::Null => *status = begin(),
            Presence::Absent => {}
        }
        status.clone()
    }

    /// Moves a cursor to what the editor has of its anchor.
    fn anchor(&self, cursor: &CursorId, anchor: &mut CursorAnchor, out: &mut Outbox) {
        let (kind, anchor) = match anchor {
            CursorAnchor::ToolCall(anchor) => {
                anchor.tool_call_id = self.calls.ids.last(&anchor.tool_call_id);
                return;
            }
            CursorAnchor::UserMessage(anchor) => (MessageKind::User, anchor),
            CursorAnchor::AgentMessage(anchor) => (MessageKind::Agent, anchor),
            CursorAnchor::AgentThought(anchor) => (MessageKind::Thought, anchor),
            CursorAnchor::SessionMessage(_)
            | CursorAnchor::Compaction(_)
            | CursorAnchor::Unknown(_) => return,
        };
        let message = &anchor.message_id;
        if kind == MessageKind::User && self.is_prompt_message(message) {
            out.lose_of(BridgeLoss::Cursor, cursor.as_str(), message.as_str());
        }
        if let Some(sent) = self.messages.get(&kind.key(message)) {
            anchor.message_id = revised(message, sent.revision);
        }
    }

    fn plan(
        &mut self,
        id: &SessionId,
        mut it: PlanUpdate,
        meta: Option<&Meta>,
        capabilities: &Capabilities,
        out: &mut Outbox,
    ) {
        if let PlanUpdateContent::Items(items) = &mut it.plan {
            items.entries.iter_mut().for_each(|entry| known_entry(&items.plan_id, entry, out));
        }
        let is_known = it.plan.is_known();
        let name = it.plan.plan_id();
        let name = name.as_ref().map_or("", |name| name.as_str());
        let update = Update::PlanUpdate(Box::new(it.clone().into()));
        if is_known && capabilities.allows(&update).is_ok() {
            return send(id, update, meta, out);
        }
        let PlanUpdateContent::Items(items) = it.plan else {
            return out.lose(BridgeLoss::PlanKind, name);
        };
        out.lose(BridgeLoss::PlanId, name);
        self.plan = Some(items.plan_id);
        let entries = items.entries.into_iter().map(Into::into);
        let mut plan = v1::agent_plan::Plan::new(entries.collect::<Vec<_>>());
        plan.meta = items.meta;
        send(id, Update::Plan(plan), meta, out);
    }
}

/// Updates that an editor announces, and unknown ones.
fn other(
    id: &SessionId,
    update: SessionUpdate,
    meta: Option<&Meta>,
    capabilities: &Capabilities,
    out: &mut Outbox,
) {
    let tag = String::from(update.tag());
    let update_v1 = match update {
        SessionUpdate::Notice(it) => Update::Notice(*it),
        SessionUpdate::CompactionUpdate(it) => Update::CompactionUpdate(Box::new((*it).into())),
        SessionUpdate::CompactionSummaryChunk(it) => {
            if block_to_v1(it.compaction_id.as_str(), &it.content, out).is_none() {
                return;
            }
            Update::CompactionSummaryChunk(Box::new((*it).into()))
        }
        SessionUpdate::PromptSuggestionsUpdate(it) => {
            Update::PromptSuggestionsUpdate(suggestions(it, out))
        }
        SessionUpdate::CursorUpdate(it) => Update::CursorUpdate(it),
        SessionUpdate::SubagentUpdate(it) => Update::SubagentUpdate(Box::new((*it).into())),
        SessionUpdate::SessionMessage(it) => Update::SessionMessage(Box::new((*it).into())),
        SessionUpdate::SessionMessageChunk(it) => {
            if block_to_v1(it.message_id.as_str(), &it.content, out).is_none() {
                return;
            }
            Update::SessionMessageChunk(Box::new((*it).into()))
        }
        _ => return out.lose(BridgeLoss::Update, tag),
    };
    if capabilities.allows(&update_v1).is_ok() {
        send(id, update_v1, meta, out);
    } else {
        out.lose(BridgeLoss::NotAnnounced, tag);
    }
}

/// Converts suggestions. One with content that version 1 does not have is left out.
fn suggestions(
    it: PromptSuggestionsUpdate,
    out: &mut Outbox,
) -> v1::prompt_suggestions::PromptSuggestionsUpdate {
    let convert = |suggestion: PromptSuggestion| {
        let prompt = blocks_to_v1("suggestion", &suggestion.prompt, out);
        let mut suggestion_v1 = v1::prompt_suggestions::PromptSuggestion::new(prompt);
        suggestion_v1.meta = suggestion.meta;
        (suggestion_v1.prompt.len() == suggestion.prompt.len()).then_some(suggestion_v1)
    };
    let suggestions: Vec<_> = it.suggestions.into_iter().filter_map(convert).collect();
    let mut update_v1 = v1::prompt_suggestions::PromptSuggestionsUpdate::new(suggestions);
    update_v1.meta = it.meta;
    update_v1
}

/// The id of a message that began anew.
fn revised(message: &MessageId, revision: u32) -> MessageId {
    match revision {
        0 => message.clone(),
        revision => format!("{message}#{}", revision + 1).into(),
    }
}

fn known_entry(plan: &PlanId, entry: &mut PlanEntry, out: &mut Outbox) {
    let replaced = match entry.status {
        PlanEntryStatus::Cancelled => PlanEntryStatus::Completed,
        PlanEntryStatus::Unknown(_) => PlanEntryStatus::Pending,
        _ => return,
    };
    out.lose_of(BridgeLoss::PlanStatus, plan.as_str(), entry.status.as_str());
    entry.status = replaced;
}
