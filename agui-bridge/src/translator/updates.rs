//! Dispatch of updates, of either version of ACP.
use super::{Lane, Translator};
use crate::json::{self, Members};
use crate::outbox::Voice;
use crate::tool_call::Change;
use crate::update::{Extension, Kind, Update};
use acp_types::v1::agent_plan::Plan;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{ContentChunk, MessageId as ChunkId, SessionUpdate};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::subagents::{SessionMessage, SessionMessageChunk};
use acp_types::v2::content::ContentBlock as ContentBlockV2;
use acp_types::v2::prompt_lifecycle::{
    ContentChunk as ContentChunkV2, SessionUpdate as SessionUpdateV2, UpdateSessionNotification,
};
use acp_types::v2::terminals::{TerminalOutputChunk, TerminalUpdate};
use agui_types::event::CustomEvent;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Presence, Raw};

/// Title and next step of a new session with the conversation as text.
const RETOLD: (&str, &str) = (
    "The agent continues in a new session",
    "Its earlier session could not be continued. It received the latest part of this conversation as text. If it lacks \
     something, say it again.",
);

/// Title and next step of a new session without the conversation.
const UNKNOWN: (&str, &str) = (
    "The agent does not know what was said before",
    "Its session is new. Repeat what it needs in the next message.",
);

impl Translator {
    /// Handles `session/update` of ACP v2. An idle `state_update` ends the turn.
    pub fn handle_notification_v2(&mut self, notification: UpdateSessionNotification) {
        self.runs.note_activity();
        self.outbox.remember_messages();
        let is_main = self.subagents.lane(notification.session_id.as_str()).is_empty();
        match &notification.update {
            SessionUpdateV2::StateUpdate(state) if is_main => {
                return self.update_state(state.clone());
            }
            SessionUpdateV2::UserMessageChunk(chunk)
                if is_main && self.is_prompt(&chunk.message_id)
                    || self.takes_echo(&chunk.content.clone().into()) =>
            {
                return;
            }
            SessionUpdateV2::UserMessage(message)
                if is_main && self.is_prompt(&message.message_id) =>
            {
                return;
            }
            _ => {}
        }
        self.take(Update::V2(Box::new(notification)));
    }

    /// Handles an update of a terminal that the client runs for the agent (`terminal/create` of ACP
    /// v1), in the form of ACP v2 for an agent's own terminal. It becomes `ACTIVITY_SNAPSHOT`
    /// `acp.terminal`, and part of the result of a tool call with the terminal.
    ///
    /// Spec: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals)
    pub fn handle_terminal_update(&mut self, session_id: &SessionId, update: TerminalUpdate) {
        self.take_client_terminal(session_id, SessionUpdateV2::TerminalUpdate(Box::new(update)));
    }

    /// Handles a piece of such a terminal's output, as
    /// [`handle_terminal_update`](Self::handle_terminal_update).
    pub fn handle_terminal_output(&mut self, session_id: &SessionId, chunk: TerminalOutputChunk) {
        self.take_client_terminal(
            session_id,
            SessionUpdateV2::TerminalOutputChunk(Box::new(chunk)),
        );
    }

    /// Handles a notification of an extension method, `_vendor/…`. It becomes `CUSTOM`
    /// `acp.ext:METHOD` with its parameters if [`Options::extensions`](crate::Options::extensions)
    /// lists the method, and is dropped otherwise.
    ///
    /// Spec: [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility)
    pub fn handle_extension(&mut self, method: &str, params: Option<Raw>) {
        self.runs.note_activity();
        let is_listed = |known: &String| match known.strip_suffix('*') {
            Some(start) => method.starts_with(start),
            None => method == known,
        };
        if self.basis.options.extensions.iter().any(is_listed) {
            let params = params.unwrap_or_else(|| json::raw(&Extra::new()));
            self.take(Update::Extension(Extension { method: method.to_owned(), params }));
        }
    }

    /// Shows that the agent's session is new in a conversation that has begun, as `CUSTOM`
    /// `acp.notice` with the next step. `has_transcript` states whether the prompt repeats the
    /// conversation as text. Does nothing while no run is open.
    ///
    /// Call it in the run that opens the session, if its prompt leaves out
    /// [unseen](crate::input::Prompt::unseen) messages.
    pub fn handle_new_session(&mut self, has_transcript: bool) {
        if !self.is_running() {
            return;
        }
        let (title, description) = if has_transcript { RETOLD } else { UNKNOWN };
        self.outbox.warn(&self.basis.root(), title, description);
    }

    /// Shows a notice of the bridge. Does nothing while no run is open.
    pub(crate) fn warn(&mut self, title: &str) {
        if self.is_running() {
            self.outbox.warn(&self.basis.root(), title, "");
        }
    }

    /// Records that updates of the agent were lost on the way. It becomes `CUSTOM` `acp.dropped`,
    /// at the beginning of the next run if no run is open.
    pub fn handle_dropped(&mut self, updates: u64) {
        if self.is_running() {
            let dropped = Members::new().with("updates", &updates);
            self.outbox.custom(&self.basis.root(), "acp.dropped", dropped.into_raw());
        } else {
            self.waiting.note_dropped(updates);
        }
    }

    pub(super) fn translate(&mut self, update: Update) {
        let session = update.session();
        let lane =
            if update.is_conversation() { self.begin_lane(&session) } else { self.lane(&session) };
        drop(session);
        match update {
            Update::V1(notification) => {
                self.translate_v1(&lane, notification.session_id.as_str(), notification.update);
            }
            Update::V2(notification) => self.translate_v2(&lane, *notification),
            Update::Asked(request_id, update) => {
                if let Some(change) = update.into_change() {
                    self.change_call(&lane, change.asking());
                    let limits = &self.basis.options.limits;
                    self.questions.find_call(&request_id, &self.calls, limits);
                }
            }
            Update::Extension(extension) => {
                let frame = self.basis.frame(&lane);
                let name =
                    format!("acp.ext:{}", json::head(&extension.method, frame.limits.message));
                let params = json::bounded(&extension.params, frame.limits.value);
                self.outbox.emit(&frame, CustomEvent::new(name, params));
            }
        }
        self.restate_if_quiet();
    }

    fn translate_v1(&mut self, lane: &Lane, session: &str, update: SessionUpdate) {
        let frame = self.basis.frame(lane);
        let out = &mut self.outbox;
        match update {
            SessionUpdate::UserMessageChunk(chunk) => self.chunk_v1(lane, Voice::User, chunk),
            SessionUpdate::AgentMessageChunk(chunk) => self.chunk_v1(lane, Voice::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => self.chunk_v1(lane, Voice::Thought, chunk),
            SessionUpdate::ToolCall(call) => self.change_call(lane, Change::from(*call)),
            SessionUpdate::ToolCallUpdate(update) => self.change_call(lane, Change::from(*update)),
            SessionUpdate::Plan(plan) => self.show_plan(lane, session, &plan),
            SessionUpdate::PlanUpdate(update) => {
                self.plans.handle_update(&frame, out, session, &update.plan);
            }
            SessionUpdate::PlanRemoved(removed) => {
                self.plans.handle_removed(&frame, out, session, &removed.plan_id);
            }
            SessionUpdate::SubagentUpdate(update) => {
                self.subagents.handle_update(&frame, out, *update);
            }
            SessionUpdate::SessionMessage(message) => self.session_message(lane, *message),
            SessionUpdate::SessionMessageChunk(chunk) => self.session_chunk(lane, *chunk),
            SessionUpdate::CompactionUpdate(update) => {
                self.compactions.handle_update(&frame, out, *update);
            }
            SessionUpdate::CompactionSummaryChunk(chunk) => {
                self.compactions.handle_chunk(&frame, out, &chunk);
            }
            other => self.session.handle_update(&frame, out, &other),
        }
    }

    fn translate_v2(&mut self, lane: &Lane, notification: UpdateSessionNotification) {
        let frame = self.basis.frame(lane);
        let out = &mut self.outbox;
        let limit = frame.limits.value;
        match notification.update {
            SessionUpdateV2::UserMessageChunk(chunk) => self.chunk_v2(lane, Voice::User, chunk),
            SessionUpdateV2::AgentMessageChunk(chunk) => self.chunk_v2(lane, Voice::Agent, chunk),
            SessionUpdateV2::AgentThoughtChunk(chunk) => self.chunk_v2(lane, Voice::Thought, chunk),
            SessionUpdateV2::UserMessage(message) => {
                self.message_v2(lane, Voice::User, &message.message_id, message.content);
            }
            SessionUpdateV2::AgentMessage(message) => {
                self.message_v2(lane, Voice::Agent, &message.message_id, message.content);
            }
            SessionUpdateV2::AgentThought(message) => {
                self.message_v2(lane, Voice::Thought, &message.message_id, message.content);
            }
            SessionUpdateV2::ToolCallUpdate(update) => {
                self.change_call(lane, Change::from(*update));
            }
            SessionUpdateV2::ToolCallContentChunk(chunk) => {
                self.change_call(lane, Change::from(*chunk));
            }
            SessionUpdateV2::TerminalUpdate(update) => {
                self.terminals.handle_update(&frame, out, *update);
            }
            SessionUpdateV2::TerminalOutputChunk(chunk) => {
                self.terminals.handle_output(&frame, out, &chunk);
            }
            SessionUpdateV2::AvailableCommandsUpdate(commands) => {
                self.session.show(&frame, out, Kind::Commands, json::bounded(&commands, limit));
            }
            SessionUpdateV2::ConfigOptionUpdate(options) => {
                self.session.show(&frame, out, Kind::ConfigOptions, json::bounded(&options, limit));
            }
            SessionUpdateV2::CompactionUpdate(update) => {
                self.compactions.handle_update_v2(&frame, out, *update);
            }
            SessionUpdateV2::StateUpdate(state) => {
                let owner = self.subagents.owner(&lane.name).cloned();
                let frame = self.basis.root().owned_by(owner.as_ref());
                self.subagents.handle_state(&frame, out, &lane.name, state);
            }
            // What it ends is shown with the response that follows.
            SessionUpdateV2::ReplayComplete(_) => {}
            SessionUpdateV2::PromptSuggestionsUpdate(suggestions) => {
                let value = json::bounded(&suggestions, limit);
                self.session.show(&frame, out, Kind::Suggestions, value);
            }
            other => match as_v1(other) {
                Ok(update) => self.translate_v1(lane, notification.session_id.as_str(), update),
                Err(other) => out.custom(&frame, "acp.unknown", json::bounded(&other, limit)),
            },
        }
    }

    /// Handles a message about a tool call.
    pub(super) fn change_call(&mut self, lane: &Lane, change: Change) {
        let frame = self.basis.frame(lane);
        if let Some(meta) = &change.meta {
            self.terminals.handle_meta(&frame, &mut self.outbox, meta);
        }
        self.calls.handle(&frame, &mut self.outbox, &self.terminals, change);
    }

    fn chunk_v1(&mut self, lane: &Lane, voice: Voice, chunk: ContentChunk) {
        let ContentChunk { message_id, content, meta, .. } = chunk;
        self.outbox.chunk(&self.basis.frame(lane), voice, message_id, content, meta.as_ref());
    }

    fn chunk_v2(&mut self, lane: &Lane, voice: Voice, chunk: ContentChunkV2) {
        let ContentChunkV2 { message_id, content, meta, .. } = chunk;
        let frame = self.basis.frame(lane);
        self.outbox.chunk(&frame, voice, Some(message_id), content.into(), meta.as_ref());
    }

    fn message_v2(
        &mut self,
        lane: &Lane,
        voice: Voice,
        id: &ChunkId,
        content: Presence<Vec<ContentBlockV2>>,
    ) {
        let content = match content {
            Presence::Absent => Presence::Absent,
            Presence::Null => Presence::Null,
            Presence::Value(blocks) => {
                Presence::Value(blocks.into_iter().map(Into::into).collect())
            }
        };
        self.whole_message(lane, voice, id, content, Members::new());
    }

    /// Handles a message from one session to another.
    fn session_message(&mut self, lane: &Lane, message: SessionMessage) {
        let session = |session: &Presence<SessionId>| session.value().cloned();
        let acp = Members::new()
            .with_some("senderSessionId", session(&message.sender_session_id).as_ref())
            .with_some("recipientSessionId", session(&message.recipient_session_id).as_ref());
        let key = format!("session-{}", message.message_id);
        self.whole_message(lane, Voice::Agent, &key.into(), message.content, acp);
    }

    fn session_chunk(&mut self, lane: &Lane, chunk: SessionMessageChunk) {
        self.outbox.remember_messages();
        let key = format!("session-{}", chunk.message_id);
        let key = Some(key.into());
        let frame = self.basis.frame(lane);
        self.outbox.chunk(&frame, Voice::Agent, key, chunk.content, chunk.meta.as_ref());
    }

    /// Handles a whole message, which may repeat an earlier one.
    fn whole_message(
        &mut self,
        lane: &Lane,
        voice: Voice,
        key: &ChunkId,
        content: Presence<Vec<ContentBlock>>,
        acp: Members,
    ) {
        let blocks = match content {
            Presence::Absent => return,
            Presence::Null => Vec::new(),
            Presence::Value(blocks) => blocks,
        };
        if voice == Voice::User && self.echo.takes_all(&blocks) {
            return;
        }
        let frame = self.basis.frame(lane);
        let rest = self.outbox.whole_message(&frame, voice, key, &blocks, acp);
        if rest.is_rewritten {
            self.restate_if_quiet();
        }
        let frame = self.basis.frame(lane);
        rest.blocks.into_iter().for_each(|block| self.outbox.show_block(&frame, block));
    }

    fn show_plan(&mut self, lane: &Lane, session: &str, plan: &Plan) {
        let frame = self.basis.frame(lane);
        let out = &mut self.outbox;
        self.session.set_plan(&frame, out, &plan.entries);
        self.plans.handle_plan(&frame, out, session, plan);
    }

    fn take_client_terminal(&mut self, session_id: &SessionId, update: SessionUpdateV2) {
        self.runs.note_activity();
        let notification = UpdateSessionNotification::new(session_id.as_str(), update);
        self.take(Update::V2(Box::new(notification)));
    }
}

/// Converts an update that both versions have. An update that v2 does not know may be one of v1.
fn as_v1(update: SessionUpdateV2) -> Result<SessionUpdate, SessionUpdateV2> {
    Ok(match update {
        SessionUpdateV2::PlanUpdate(update) => {
            SessionUpdate::PlanUpdate(Box::new((*update).into()))
        }
        SessionUpdateV2::PlanRemoved(removed) => SessionUpdate::PlanRemoved(removed),
        SessionUpdateV2::SessionInfoUpdate(info) => SessionUpdate::SessionInfoUpdate(info),
        SessionUpdateV2::UsageUpdate(usage) => SessionUpdate::UsageUpdate(usage),
        SessionUpdateV2::Notice(notice) => SessionUpdate::Notice(*notice),
        SessionUpdateV2::CompactionSummaryChunk(chunk) => {
            SessionUpdate::CompactionSummaryChunk(Box::new((*chunk).into()))
        }
        SessionUpdateV2::SubagentUpdate(update) => {
            SessionUpdate::SubagentUpdate(Box::new((*update).into()))
        }
        SessionUpdateV2::SessionMessage(message) => {
            SessionUpdate::SessionMessage(Box::new((*message).into()))
        }
        SessionUpdateV2::SessionMessageChunk(chunk) => {
            SessionUpdate::SessionMessageChunk(Box::new((*chunk).into()))
        }
        other => return json::raw(&other).decode().map_err(|_| other),
    })
}
