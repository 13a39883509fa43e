//! Updates of a session.
//!
//! Spec: [`SessionUpdate`](https://agentclientprotocol.com/protocol/v1/schema#sessionupdate)
use super::send;
use super::session::{OwnTurn, Session};
use crate::alike::{alike, announced};
use crate::convert::BridgeLoss;
use crate::convert::content::block_to_v2;
use crate::convert::outbox::Outbox;
use crate::convert::setup::{commands_to_v2, options_to_v2};
use crate::convert::side::Side;
use crate::session_state::STATE_META;
use crate::v1::content::ContentBlock;
use crate::v1::prompt_turn::{ContentChunk, SessionNotification, SessionUpdate};
use crate::v1::session_cursors::CursorAnchor;
use crate::v1::session_list::SessionInfoUpdate;
use crate::v1::session_modes::SessionModeState;
use crate::v1::session_setup::SessionId;
use crate::v2::agent_plan::{PlanItems, PlanUpdate, PlanUpdateContent};
use crate::v2::prompt_lifecycle::{ContentChunk as Chunk, SessionUpdate as Update};
use crate::v2::session_config_options::ConfigOptionUpdate;
use crate::v2::session_states::StateUpdate;
use crate::v2::slash_commands::AvailableCommandsUpdate;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Meta, Presence, decode};

/// Identifier of the plan of a version 1 session.
const PLAN: &str = "plan";

impl Session {
    pub(super) fn update(&mut self, line: &str, it: SessionNotification, out: &mut Outbox) {
        let id = &it.session_id;
        let meta = it.meta.as_ref();
        if self.is_closed {
            return out.lose(BridgeLoss::Update, it.update.tag());
        }
        if self.drops_replay && is_history(&it.update) {
            return out.lose(BridgeLoss::Replay, it.update.tag());
        }
        match it.update {
            SessionUpdate::UserMessageChunk(it) => self.user_chunk(line, id, it, meta, out),
            SessionUpdate::AgentMessageChunk(it) => {
                self.output(id, out);
                self.chunk(line, id, Update::AgentMessageChunk, it, meta, out);
            }
            SessionUpdate::AgentThoughtChunk(it) => {
                self.output(id, out);
                self.chunk(line, id, Update::AgentThoughtChunk, it, meta, out);
            }
            SessionUpdate::ToolCall(it) => {
                self.output(id, out);
                self.open = None;
                let call = self.calls.announced(announced(&it), out);
                send(id, Update::ToolCallUpdate(Box::new(call)), meta, out);
            }
            SessionUpdate::ToolCallUpdate(it) => {
                self.output(id, out);
                self.open = None;
                let call = self.calls.changed(*it, out);
                send(id, Update::ToolCallUpdate(Box::new(call)), meta, out);
            }
            SessionUpdate::Plan(it) => {
                self.output(id, out);
                out.lose(BridgeLoss::PlanId, PLAN);
                let entries = it.entries.iter().filter_map(alike);
                let mut items = PlanItems::new(PLAN, entries.collect::<Vec<_>>());
                items.meta = it.meta;
                let plan = PlanUpdate::new(PlanUpdateContent::Items(items));
                send(id, Update::PlanUpdate(Box::new(plan)), meta, out);
            }
            SessionUpdate::AvailableCommandsUpdate(it) => {
                let commands = commands_to_v2(&it.available_commands, out);
                let mut update_v2 = AvailableCommandsUpdate::new(commands);
                update_v2.meta = it.meta;
                send(id, Update::AvailableCommandsUpdate(update_v2), meta, out);
            }
            SessionUpdate::CurrentModeUpdate(it) => {
                match &mut self.modes {
                    Some(modes) => modes.current_mode_id = it.current_mode_id,
                    None => self.modes = Some(SessionModeState::new(it.current_mode_id, [])),
                }
                if self.has_mode_option() {
                    let mut update_v2 = ConfigOptionUpdate::new(self.all_options(out));
                    update_v2.meta = it.meta;
                    send(id, Update::ConfigOptionUpdate(update_v2), meta, out);
                }
            }
            SessionUpdate::ConfigOptionUpdate(it) => {
                self.options = options_to_v2(&it.config_options);
                let mut update_v2 = ConfigOptionUpdate::new(self.all_options(out));
                update_v2.meta = it.meta;
                send(id, Update::ConfigOptionUpdate(update_v2), meta, out);
            }
            SessionUpdate::SessionInfoUpdate(it) => match carried_state(&it) {
                Some(state) => self.carried(id, *it, state, meta, out),
                None => out.forward(Side::Editor, line),
            },
            SessionUpdate::CursorUpdate(mut it) => match &mut it.anchor {
                Some(CursorAnchor::ToolCall(anchor)) => {
                    anchor.tool_call_id = self.calls.ids.last(&anchor.tool_call_id);
                    send(id, Update::CursorUpdate(it), meta, out);
                }
                _ => out.forward(Side::Editor, line),
            },
            // The others are equal in both versions.
            _ => out.forward(Side::Editor, line),
        }
    }

    /// Sends a state that another bridge has put into metadata. A prompt's turn has states of its
    /// own.
    fn carried(
        &mut self,
        id: &SessionId,
        mut it: SessionInfoUpdate,
        state: StateUpdate,
        meta: Option<&Meta>,
        out: &mut Outbox,
    ) {
        let others = it.meta.value().map(|meta| without(meta, STATE_META));
        let others = others.filter(|meta| *meta != Meta::new());
        if others.is_some() || !it.title.is_absent() || !it.updated_at.is_absent() {
            it.meta = others.map_or(Presence::Absent, Presence::from);
            send(id, Update::SessionInfoUpdate(Box::new(it)), None, out);
        }
        if self.turn.is_some() {
            return out.lose(BridgeLoss::State, state.tag());
        }
        self.own_turn = state.is_busy().then_some(OwnTurn::Reported);
        send(id, Update::StateUpdate(state), meta, out);
    }

    /// Handles a user message. One that repeats the prompt before any output is that of the prompt.
    fn user_chunk(
        &mut self,
        line: &str,
        id: &SessionId,
        it: ContentChunk,
        meta: Option<&Meta>,
        out: &mut Outbox,
    ) {
        let turn = self.turn.as_mut().filter(|turn| !turn.has_output);
        let rest = match (&turn, &it.content) {
            (Some(turn), ContentBlock::Text(text)) => turn.unrepeated.strip_prefix(&*text.text),
            _ => None,
        };
        match (rest.map(String::from), turn) {
            (Some(rest), Some(turn)) => {
                turn.unrepeated = rest;
                if meta.is_some() || it.meta.is_some() {
                    let name = it.message_id.as_ref().map_or("message", |id| id.as_str());
                    out.lose(BridgeLoss::MessageMeta, name);
                }
                self.accept(id, it.message_id.as_ref(), out);
            }
            _ => self.chunk(line, id, Update::UserMessageChunk, it, meta, out),
        }
    }

    fn chunk(
        &mut self,
        line: &str,
        id: &SessionId,
        make: fn(Chunk) -> Update,
        it: ContentChunk,
        meta: Option<&Meta>,
        out: &mut Outbox,
    ) {
        if it.message_id.is_some() && matches!(it.content, ContentBlock::Text(_)) {
            self.open = None;
            return out.forward(Side::Editor, line);
        }
        let name = it.message_id.as_ref().map_or("message", |id| id.as_str());
        let Some(block) = block_to_v2(name, &it.content, out) else { return };
        let kind = String::from(make(Chunk::new("", block.clone())).tag());
        let message = match (it.message_id, self.open.take()) {
            (Some(given), _) => given,
            (None, Some((open, message))) if *open == *kind => {
                self.open = Some((open, message.clone()));
                message
            }
            (None, _) => {
                let message = self.invent();
                out.lose(BridgeLoss::MessageId, message.as_str());
                self.open = Some((kind, message.clone()));
                message
            }
        };
        let mut chunk = Chunk::new(message, block);
        chunk.meta = it.meta;
        chunk.extra = it.extra;
        send(id, make(chunk), meta, out);
    }
}

/// Returns whether an update is a part of the conversation, and not of what the session is now.
fn is_history(update: &SessionUpdate) -> bool {
    !matches!(
        update,
        SessionUpdate::AvailableCommandsUpdate(_)
            | SessionUpdate::CurrentModeUpdate(_)
            | SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::SessionInfoUpdate(_)
            | SessionUpdate::UsageUpdate(_)
            | SessionUpdate::CursorUpdate(_)
            | SessionUpdate::PromptSuggestionsUpdate(_)
    )
}

/// Returns the state in the metadata of an update.
fn carried_state(it: &SessionInfoUpdate) -> Option<StateUpdate> {
    it.meta.value()?.get(STATE_META)?.decode().ok()
}

/// Returns metadata without a key.
fn without(meta: &Meta, key: &str) -> Meta {
    let members: Extra = decode(meta.as_str()).unwrap_or_default();
    let mut rest = Extra::new();
    let others = members.iter().filter(|(name, _)| *name != key);
    others.for_each(|(name, value)| rest.insert(name, value.clone()));
    Meta::from(&rest)
}
