//! Changes of the state.
use super::patch::{Patch, patch_meta};
use super::weight::{OVERHEAD, weight, weight_of_blocks, weight_of_call, weight_of_produced};
use super::{Change, Entry, Message, MessageKind, ProducedContent, SessionState, ToolCallState};
use crate::v2::agent_plan::{PlanId, PlanUpdateContent};
use crate::v2::compaction::{CompactionId, CompactionStatus, CompactionUpdate};
use crate::v2::content::{ContentBlock, TextContent};
use crate::v2::notices::Notice;
use crate::v2::prompt_lifecycle::{MessageId, UsageUpdate};
use crate::v2::session_cursors::{CursorAnchor, CursorUpdate};
use crate::v2::subagents::{SessionMessage, SubagentUpdate};
use crate::v2::tool_calls::{ToolCallId, ToolCallUpdate};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Presence};

/// Returns whether text can be appended.
fn is_plain(text: &TextContent) -> bool {
    text.annotations.is_none() && text.meta.is_none() && text.extra.is_empty()
}

impl SessionState {
    fn weight_of_entry(&self, entry: &Entry) -> usize {
        match entry {
            Entry::Message(message) => OVERHEAD + message.content.iter().map(weight).sum::<usize>(),
            Entry::ToolCall(id) => self.tool_calls.get(id).map_or(0, |call| weight_of_call(call)),
            Entry::Compaction(id) => {
                self.compactions.get(id).map_or(0, |it| weight_of_blocks(&it.summary))
            }
            Entry::SessionMessage(message) => weight_of_blocks(&message.content),
        }
    }

    /// Adds an entry, and returns its number.
    fn push(&mut self, entry: Entry) -> u64 {
        self.held += self.weight_of_entry(&entry);
        self.entries.push_back(entry);
        self.first + u64::try_from(self.entries.len()).unwrap_or(u64::MAX) - 1
    }

    /// Removes the oldest entries until the limits are met.
    fn fit(&mut self) {
        while self.entries.len() > 1
            && (self.entries.len() > self.limits.entries || self.held > self.limits.bytes)
        {
            let Some(entry) = self.entries.pop_front() else { return };
            self.held = self.held.saturating_sub(self.weight_of_entry(&entry));
            match &entry {
                Entry::ToolCall(id) => drop(self.tool_calls.remove(id)),
                Entry::Compaction(id) => drop(self.compactions.remove(id)),
                Entry::Message(_) | Entry::SessionMessage(_) => {}
            }
            self.remove_cursors_at(&entry);
            self.change(Change::Forgotten { entry: self.first });
            self.first += 1;
        }
    }

    /// Returns whether an entry may grow by this size.
    fn has_room(&self, weight: usize) -> bool {
        self.entries.len() > 1 || self.held + weight <= self.limits.bytes
    }

    fn last(&self) -> Option<u64> {
        (self.first + u64::try_from(self.entries.len()).ok()?).checked_sub(1)
    }

    fn message_mut(&mut self, number: u64) -> Option<&mut Message> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        match self.entries.get_mut(at) {
            Some(Entry::Message(message)) => Some(message),
            _ => None,
        }
    }

    /// Returns the message with an id, or without an id the directly preceding one.
    fn find_message(&self, kind: MessageKind, id: Option<&MessageId>) -> Option<u64> {
        let is_it = |entry: &Entry| match entry {
            Entry::Message(message) => message.kind == kind && message.message_id.as_ref() == id,
            _ => false,
        };
        if id.is_none() {
            return self.last().filter(|_| self.entries.back().is_some_and(is_it));
        }
        let from_the_end = self.entries.iter().rev().position(is_it)?;
        self.last()?.checked_sub(u64::try_from(from_the_end).ok()?)
    }

    fn begin_message(&mut self, kind: MessageKind, id: Option<&MessageId>) -> u64 {
        let message = Message { kind, message_id: id.cloned(), content: Vec::new(), meta: None };
        self.push(Entry::Message(message))
    }

    /// Appends a chunk to a message.
    pub(super) fn chunk(&mut self, kind: MessageKind, id: Option<&MessageId>, block: ContentBlock) {
        let existing = self.find_message(kind, id);
        let number = existing.unwrap_or_else(|| self.begin_message(kind, id));
        let added = weight(&block);
        let blocks = self.limits.blocks;
        if !self.has_room(added) {
            return self.lost(format!("/entries/{number}/content"), "too long");
        }
        let Some(message) = self.message_mut(number) else { return };
        let last = message.content.len().saturating_sub(1);
        if let (Some(ContentBlock::Text(text)), ContentBlock::Text(more)) =
            (message.content.last_mut(), &block)
            && is_plain(text)
            && is_plain(more)
        {
            let from = text.text.len();
            text.text.push_str(&more.text);
            self.held += more.text.len();
            self.change(Change::Text { entry: number, block: last, from });
        } else if message.content.len() < blocks {
            message.content.push(block);
            self.held += added;
            self.change(Change::Message { entry: number });
        } else {
            self.lost(format!("/entries/{number}/content"), "too many blocks");
        }
        self.fit();
    }

    /// Handles a complete or changed message.
    pub(super) fn message(
        &mut self,
        kind: MessageKind,
        id: Option<&MessageId>,
        content: &Presence<Vec<ContentBlock>>,
        meta: &Presence<Meta>,
    ) -> u64 {
        let existing = self.find_message(kind, id).filter(|_| id.is_some());
        let number = existing.unwrap_or_else(|| self.begin_message(kind, id));
        let blocks = self.limits.blocks;
        let Some(message) = self.message_mut(number) else { return number };
        let before: usize = message.content.iter().map(weight).sum();
        let mut lost = 0;
        match content {
            Presence::Absent => {}
            Presence::Null => message.content.clear(),
            Presence::Value(content) => {
                let mut all = Presence::Absent;
                for block in content {
                    lost += usize::from(!add(&mut all, block.clone(), blocks, true));
                }
                message.content = all.value().cloned().unwrap_or_default();
            }
        }
        let mut patched = message.meta.take().map_or(Presence::Absent, Presence::Value);
        patch_meta(&mut patched, meta);
        message.meta = patched.value().cloned();
        let after: usize = message.content.iter().map(weight).sum();
        self.held = (self.held + after).saturating_sub(before);
        if lost > 0 {
            self.lost(format!("/entries/{number}/content"), "too many blocks");
        }
        self.change(Change::Message { entry: number });
        self.fit();
        number
    }

    /// Clears the content of a message that a replay repeats.
    pub(super) fn clear_message(&mut self, number: u64, id: Option<&MessageId>) {
        if let Some(message) = self.message_mut(number) {
            let before: usize = message.content.iter().map(weight).sum();
            message.content.clear();
            message.message_id = id.cloned();
            self.held = self.held.saturating_sub(before);
        }
    }

    fn tool_call_mut(&mut self, id: &ToolCallId) -> Option<&mut ToolCallState> {
        if !self.tool_calls.contains_key(id) {
            let update = ToolCallUpdate::new(id.clone());
            let call = ToolCallState { update, content: Vec::new() };
            self.tool_calls.insert(id.clone(), Box::new(call));
            self.push(Entry::ToolCall(id.clone()));
        }
        self.tool_calls.get_mut(id).map(Box::as_mut)
    }

    /// Adds or changes a tool call; `update` has no content, which is `content`.
    pub(super) fn change_call(
        &mut self,
        update: &ToolCallUpdate,
        content: Presence<Vec<ProducedContent>>,
    ) {
        let id = &update.tool_call_id;
        let blocks = self.limits.blocks;
        let Some(call) = self.tool_call_mut(id) else { return };
        let before = weight_of_call(call);
        call.update.patch(update);
        let mut lost = false;
        match content {
            Presence::Absent => {}
            Presence::Null => call.content.clear(),
            Presence::Value(mut content) => {
                lost = content.len() > blocks;
                content.truncate(blocks);
                call.content = content;
            }
        }
        let after = weight_of_call(call);
        self.held = (self.held + after).saturating_sub(before);
        if lost {
            self.lost(format!("/toolCalls/{id}/content"), "too many blocks");
        }
        self.change(Change::ToolCall(id.clone()));
        self.fit();
    }

    /// Appends content to a tool call.
    pub(super) fn produce(&mut self, id: &ToolCallId, content: ProducedContent) {
        let added = weight_of_produced(&content);
        let blocks = self.limits.blocks;
        let has_room = self.has_room(added);
        let Some(call) = self.tool_call_mut(id) else { return };
        if call.content.len() >= blocks || !has_room {
            return self.lost(format!("/toolCalls/{id}/content"), "too much content");
        }
        call.content.push(content);
        self.held += added;
        self.change(Change::ToolCall(id.clone()));
        self.fit();
    }

    /// Sets a plan.
    pub(super) fn plan(&mut self, id: Option<PlanId>, plan: PlanUpdateContent) {
        if self.plans.len() >= self.limits.names && !self.plans.contains_key(&id) {
            return self.lost("/plans", "too many plans");
        }
        self.plans.insert(id.clone(), plan);
        self.change(Change::Plan(id));
    }

    /// Removes a plan.
    pub(super) fn remove_plan(&mut self, id: &PlanId) {
        let id = Some(id.clone());
        if self.plans.remove(&id).is_some() {
            self.change(Change::Plan(id));
        }
    }

    /// Sets a list. Items beyond the limit are lost.
    pub(super) fn list<T>(&mut self, mut items: Vec<T>, name: &str, change: Change) -> Vec<T> {
        if items.len() > self.limits.names {
            items.truncate(self.limits.names);
            self.lost(format!("/{name}"), "too many");
        }
        self.change(change);
        items
    }

    /// Adds a notice.
    pub(super) fn notice(&mut self, notice: Notice) {
        if self.notices.len() >= self.limits.names {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
        self.change(Change::Notice);
    }

    /// Sets the usage. An absent cost is unchanged, and the metadata is a patch by key.
    pub(super) fn set_usage(&mut self, update: &UsageUpdate) {
        let mut usage = update.clone();
        let before = self.usage.take();
        let mut meta = before.as_ref().map_or(Presence::Absent, |usage| usage.meta.clone());
        patch_meta(&mut meta, &update.meta);
        usage.meta = meta;
        if usage.cost.is_none() && !usage.clears_cost() {
            usage.cost = before.and_then(|usage| usage.cost);
        }
        self.usage = Some(usage);
        self.change(Change::Usage);
    }

    /// Adds or changes a cursor. Its first update has an anchor, which stays.
    pub(super) fn change_cursor(&mut self, update: &CursorUpdate) {
        let id = &update.cursor_id;
        let at = self.cursors.iter().position(|cursor| cursor.cursor_id == *id);
        let mut cursor = match at.and_then(|at| self.cursors.get(at)) {
            Some(cursor) => cursor.clone(),
            None => Box::new(CursorUpdate::new(id.clone())),
        };
        match (&cursor.anchor, &update.anchor) {
            (None, None) => {
                return self.lost(format!("/cursors/{id}"), "a cursor without an anchor");
            }
            (None, Some(anchor)) => cursor.anchor = Some(anchor.clone()),
            (Some(anchor), Some(other)) if anchor != other => {
                self.lost(format!("/cursors/{id}/anchor"), "another anchor of the same cursor");
            }
            _ => {}
        }
        cursor.patch(update);
        match at.and_then(|at| self.cursors.get_mut(at)) {
            Some(current) => *current = cursor,
            None => {
                if self.cursors.len() >= self.limits.names
                    && let Some(oldest) = self.cursors.pop_front()
                {
                    self.change(Change::Cursor(oldest.cursor_id));
                }
                self.cursors.push_back(cursor);
            }
        }
        self.change(Change::Cursor(id.clone()));
    }

    /// Removes the cursors that are anchored to an entry.
    fn remove_cursors_at(&mut self, entry: &Entry) {
        let is_at = |cursor: &CursorUpdate| match (cursor.anchor.as_ref(), entry) {
            (Some(CursorAnchor::UserMessage(anchor)), Entry::Message(message)) => {
                message.is(MessageKind::User, &anchor.message_id)
            }
            (Some(CursorAnchor::AgentMessage(anchor)), Entry::Message(message)) => {
                message.is(MessageKind::Agent, &anchor.message_id)
            }
            (Some(CursorAnchor::AgentThought(anchor)), Entry::Message(message)) => {
                message.is(MessageKind::Thought, &anchor.message_id)
            }
            (Some(CursorAnchor::SessionMessage(anchor)), Entry::SessionMessage(message)) => {
                message.message_id == anchor.message_id
            }
            (Some(CursorAnchor::ToolCall(anchor)), Entry::ToolCall(id)) => {
                *id == anchor.tool_call_id
            }
            (Some(CursorAnchor::Compaction(anchor)), Entry::Compaction(id)) => {
                *id == anchor.compaction_id
            }
            _ => false,
        };
        let (removed, kept) =
            core::mem::take(&mut self.cursors).into_iter().partition(|it| is_at(it));
        self.cursors = kept;
        let removed: VecDeque<Box<CursorUpdate>> = removed;
        for cursor in removed {
            self.change(Change::Cursor(cursor.cursor_id));
        }
    }

    fn compaction_mut(&mut self, update: &CompactionUpdate) -> Option<&mut CompactionUpdate> {
        let id = &update.compaction_id;
        if !self.compactions.contains_key(id) {
            let compaction =
                CompactionUpdate::new(id.clone()).with_status(CompactionStatus::InProgress);
            self.compactions.insert(id.clone(), Box::new(compaction));
            self.push(Entry::Compaction(id.clone()));
        }
        self.compactions.get_mut(id).map(Box::as_mut)
    }

    /// Adds or changes a compaction.
    pub(super) fn change_compaction(&mut self, update: &CompactionUpdate) {
        let Some(compaction) = self.compaction_mut(update) else { return };
        let before = weight_of_blocks(&compaction.summary);
        compaction.patch(update);
        if compaction.status.is_absent() {
            compaction.status = CompactionStatus::InProgress.into();
        }
        let after = weight_of_blocks(&compaction.summary);
        self.held = (self.held + after).saturating_sub(before);
        self.change(Change::Compaction(update.compaction_id.clone()));
        self.fit();
    }

    /// Appends to the summary of a compaction.
    pub(super) fn summarize(&mut self, id: &CompactionId, block: ContentBlock) {
        let added = weight(&block);
        let blocks = self.limits.blocks;
        let has_room = self.has_room(added);
        let update = CompactionUpdate::new(id.clone());
        let Some(compaction) = self.compaction_mut(&update) else { return };
        match add(&mut compaction.summary, block, blocks, has_room) {
            true => self.held += added,
            false => self.lost(format!("/compactions/{id}/summary"), "too much content"),
        }
        self.change(Change::Compaction(id.clone()));
        self.fit();
    }

    /// Adds or changes an owned session.
    pub(super) fn subagent(&mut self, update: &SubagentUpdate) {
        let id = &update.session_id;
        if self.subagents.len() >= self.limits.names && !self.subagents.contains_key(id) {
            return self.lost("/subagents", "too many subagents");
        }
        if !self.subagents.contains_key(id) {
            self.subagents.insert(id.clone(), Box::new(SubagentUpdate::new(id.clone())));
        }
        if let Some(subagent) = self.subagents.get_mut(id) {
            subagent.patch(update);
        }
        self.change(Change::Subagent(id.clone()));
    }

    fn session_message(&mut self, id: &MessageId) -> (u64, Option<&mut SessionMessage>) {
        let is_it = |entry: &Entry| match entry {
            Entry::SessionMessage(message) => message.message_id == *id,
            _ => false,
        };
        let at = self.entries.iter().position(is_it).unwrap_or_else(|| {
            self.push(Entry::SessionMessage(SessionMessage::new(id.clone())));
            self.entries.len() - 1
        });
        let number = self.first + u64::try_from(at).unwrap_or_default();
        match self.entries.get_mut(at) {
            Some(Entry::SessionMessage(message)) => (number, Some(message)),
            _ => (number, None),
        }
    }

    /// Adds or changes a message between sessions.
    pub(super) fn change_session_message(&mut self, update: &SessionMessage) {
        let (entry, Some(message)) = self.session_message(&update.message_id) else { return };
        let before = weight_of_blocks(&message.content);
        message.patch(update);
        let after = weight_of_blocks(&message.content);
        self.held = (self.held + after).saturating_sub(before);
        self.change(Change::SessionMessage { entry });
        self.fit();
    }

    /// Appends to a message between sessions.
    pub(super) fn session_message_chunk(&mut self, id: &MessageId, block: ContentBlock) {
        let added = weight(&block);
        let blocks = self.limits.blocks;
        let has_room = self.has_room(added);
        let (entry, Some(message)) = self.session_message(id) else { return };
        match add(&mut message.content, block, blocks, has_room) {
            true => self.held += added,
            false => self.lost(format!("/entries/{entry}/content"), "too much content"),
        }
        self.change(Change::SessionMessage { entry });
        self.fit();
    }
}

/// Appends a block, joining text, and returns whether it fits.
fn add(
    content: &mut Presence<Vec<ContentBlock>>,
    block: ContentBlock,
    limit: usize,
    has_room: bool,
) -> bool {
    let mut all = Vec::new();
    if let Presence::Value(blocks) = content {
        all = core::mem::take(blocks);
    }
    let is_added = has_room && {
        if let (Some(ContentBlock::Text(text)), ContentBlock::Text(more)) = (all.last_mut(), &block)
            && is_plain(text)
            && is_plain(more)
        {
            text.text.push_str(&more.text);
            true
        } else {
            let has_place = all.len() < limit;
            if has_place {
                all.push(block);
            }
            has_place
        }
    };
    *content = Presence::Value(all);
    is_added
}
