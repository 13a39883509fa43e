//! Cursors of an agent's session: places in its timeline where it can be forked.
//!
//! A conversation goes back to the beginning of a turn. A cursor is at that place by its anchor:
//!
//! | anchor | position |
//! |---|---|
//! | the user message that the agent made of the prompt | `before` |
//! | the last entry of the timeline before the prompt: a message, a thought, a tool call, a compaction | `after` |
//!
//! Spec: [Session Cursors](https://agentclientprotocol.com/rfds/session-cursors)
use super::background::Background;
use crate::json::Print;
use acp_types::v1::prompt_turn::{MessageId, SessionUpdate};
use acp_types::v1::session_cursors::{
    CursorAnchor, CursorAnchorPosition, CursorCapabilities, CursorId, CursorUpdate,
};
use acp_types::v2::prompt_lifecycle::SessionUpdate as SessionUpdateV2;
use alloc::collections::VecDeque;
use jsonrpc_core::wire::Presence;
use serde::{Deserialize, Serialize};

/// Largest number of known cursors of a session; the latest are kept.
const MAX_CURSORS: usize = 1024;
/// Longest id of a cursor, in bytes. Cursors with a longer id are ignored.
const MAX_CURSOR_BYTES: usize = 256;
/// Largest number of entries that are recognized when they change; the latest are kept.
const MAX_ENTRIES: usize = 1024;

/// The timeline of an agent's session, as far as it decides the place of a cursor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Timeline {
    /// Fingerprint of the session's id.
    session: Option<Print>,
    cursors: VecDeque<Cursor>,
    /// Entries, in the order of their first update.
    entries: VecDeque<Entry>,
    /// Entries of the session that this one is a fork of. Another entry here may have an id of
    /// theirs.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    source: VecDeque<Entry>,
    /// Whether the next session is a fork of this one.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    is_forked: bool,
    /// The last entry; `None` if it has no id, or nothing has followed the last prompt.
    last: Option<Entry>,
    /// Whether the agent has added no entry since the last prompt.
    is_quiet: bool,
}

/// A cursor that the agent has announced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Cursor {
    id: CursorId,
    anchor: Anchor,
    can_fork: bool,
}

/// The place of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Anchor {
    Before(Entry),
    After(Entry),
}

/// Fingerprint of the type and the id of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Entry(Print);

/// The place in the timeline where the turn of a prompt begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TurnPlace {
    /// The entry before the prompt, if it is known.
    pub(super) after: Option<Entry>,
    /// The user message that the agent made of the prompt, if it is known.
    pub(super) message: Option<Entry>,
    /// Background that the agent had before the prompt.
    pub(super) background: Background,
    /// Whether the prompt was sent.
    pub(super) is_sent: bool,
    /// Whether it was sent again in the same session.
    pub(super) is_repeated: bool,
}

/// The part of an update that concerns the timeline.
pub(crate) enum TimelineUpdate<'a> {
    Cursor(&'a CursorUpdate),
    /// A message of the user, with its id if it has one.
    User(Option<Entry>),
    /// An entry of the agent, or a change of one; `None` without an id.
    Agent(Option<Entry>),
}

impl Timeline {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Begins the timeline of a session, unless it is the current one. Returns whether it is not.
    pub(super) fn begin_session(&mut self, session: &str) -> bool {
        let session = Some(Print::default().and(session));
        let is_other = self.session != session;
        if is_other {
            let mut source = VecDeque::new();
            if self.is_forked {
                source.append(&mut self.source);
                source.append(&mut self.entries);
                source.drain(..source.len().saturating_sub(MAX_ENTRIES));
            }
            *self = Self { session, source, ..Self::default() };
        }
        is_other
    }

    /// Records whether the next session is a fork of this one.
    pub(super) fn set_forked(&mut self, is_forked: bool) {
        self.is_forked = is_forked;
    }

    /// Handles that a prompt was sent. Returns the entry before it, if it is known.
    pub(super) fn handle_prompt(&mut self) -> Option<Entry> {
        self.is_quiet = true;
        self.last.take()
    }

    pub(super) fn last(&self) -> Option<Entry> {
        self.last
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Handles a message of the user. Returns whether it is new.
    pub(super) fn handle_user(&mut self, entry: Option<Entry>) -> bool {
        let is_new = self.insert(entry);
        if is_new && self.is_quiet {
            self.last = entry.filter(|entry| !self.source.contains(entry));
        }
        is_new
    }

    /// Handles an entry of the agent, or a change of one. Outside of a turn it may be a replay, or
    /// belong to an earlier place. Returns whether it is new.
    pub(super) fn handle_agent(&mut self, entry: Option<Entry>, is_in_turn: bool) -> bool {
        let is_new = self.insert(entry);
        if is_new || entry.is_none() {
            self.last = entry.filter(|entry| is_in_turn && !self.source.contains(entry));
            self.is_quiet = false;
        }
        is_new
    }

    /// Handles that updates are missing.
    pub(super) fn handle_loss(&mut self) {
        self.last = None;
        self.is_quiet = false;
    }

    /// Adds an entry with an id. Returns whether it is new.
    fn insert(&mut self, entry: Option<Entry>) -> bool {
        let Some(entry) = entry else { return false };
        if self.entries.back() == Some(&entry) || self.entries.contains(&entry) {
            return false;
        }
        if self.entries.len() == MAX_ENTRIES {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
        true
    }

    /// Handles a new cursor, or a change of its capabilities. Its place stays the first one.
    pub(super) fn handle_cursor(&mut self, update: &CursorUpdate) {
        let can_fork = |capabilities: &CursorCapabilities| capabilities.fork.is_some();
        let known = self.cursors.iter_mut().find(|cursor| cursor.id == update.cursor_id);
        if let Some(cursor) = known {
            match &update.capabilities {
                Presence::Absent => {}
                Presence::Null => cursor.can_fork = false,
                Presence::Value(capabilities) => cursor.can_fork = can_fork(capabilities),
            }
            return;
        }
        let Some(anchor) = update.anchor.as_ref().and_then(Anchor::of) else { return };
        if update.cursor_id.as_str().len() > MAX_CURSOR_BYTES {
            return;
        }
        if self.cursors.len() == MAX_CURSORS {
            self.cursors.pop_front();
        }
        let can_fork = update.capabilities.value().is_some_and(can_fork);
        self.cursors.push_back(Cursor { id: update.cursor_id.clone(), anchor, can_fork });
    }

    /// Returns the last cursor at the beginning of a turn that the session can be forked at.
    pub(super) fn cursor_at(&self, place: &TurnPlace) -> Option<&CursorId> {
        let is_there = |cursor: &&Cursor| match cursor.anchor {
            Anchor::Before(entry) => place.message == Some(entry),
            Anchor::After(entry) => place.after == Some(entry),
        };
        let mut cursors = self.cursors.iter().rev().filter(|cursor| cursor.can_fork);
        cursors.find(is_there).map(|cursor| &cursor.id)
    }
}

impl Anchor {
    /// Returns the place of an anchor, if its type and its position are known.
    fn of(anchor: &CursorAnchor) -> Option<Self> {
        let (id, position) = match anchor {
            CursorAnchor::UserMessage(anchor)
            | CursorAnchor::AgentMessage(anchor)
            | CursorAnchor::AgentThought(anchor)
            | CursorAnchor::SessionMessage(anchor) => {
                (anchor.message_id.as_str(), &anchor.position)
            }
            CursorAnchor::ToolCall(anchor) => (anchor.tool_call_id.as_str(), &anchor.position),
            CursorAnchor::Compaction(anchor) => (anchor.compaction_id.as_str(), &anchor.position),
            _ => return None,
        };
        let entry = Entry::new(anchor.tag(), id);
        match position {
            CursorAnchorPosition::Before => Some(Self::Before(entry)),
            CursorAnchorPosition::After => Some(Self::After(entry)),
            _ => None,
        }
    }
}

impl Entry {
    /// Creates the entry of an anchor's type and id.
    fn new(kind: &str, id: &str) -> Self {
        Self(Print::default().and(kind).and("/").and(id))
    }

    pub(super) fn user_message(id: &MessageId) -> Self {
        Self::new("user_message", id.as_str())
    }

    fn agent_message(id: &MessageId) -> Self {
        Self::new("agent_message", id.as_str())
    }

    fn agent_thought(id: &MessageId) -> Self {
        Self::new("agent_thought", id.as_str())
    }

    fn session_message(id: &MessageId) -> Self {
        Self::new("session_message", id.as_str())
    }

    fn tool_call(id: &str) -> Self {
        Self::new("tool_call", id)
    }

    fn compaction(id: &str) -> Self {
        Self::new("compaction", id)
    }
}

impl<'a> TimelineUpdate<'a> {
    /// Returns the part of an update that concerns the timeline, if any.
    pub(crate) fn of(update: &'a SessionUpdate) -> Option<Self> {
        let agent = |entry| Some(Self::Agent(Some(entry)));
        match update {
            SessionUpdate::CursorUpdate(cursor) => Some(Self::Cursor(cursor)),
            SessionUpdate::UserMessageChunk(chunk) => {
                Some(Self::User(chunk.message_id.as_ref().map(Entry::user_message)))
            }
            SessionUpdate::AgentMessageChunk(chunk) => {
                Some(Self::Agent(chunk.message_id.as_ref().map(Entry::agent_message)))
            }
            SessionUpdate::AgentThoughtChunk(chunk) => {
                Some(Self::Agent(chunk.message_id.as_ref().map(Entry::agent_thought)))
            }
            SessionUpdate::ToolCall(call) => agent(Entry::tool_call(call.tool_call_id.as_str())),
            SessionUpdate::ToolCallUpdate(call) => {
                agent(Entry::tool_call(call.tool_call_id.as_str()))
            }
            SessionUpdate::SessionMessage(message) => {
                agent(Entry::session_message(&message.message_id))
            }
            SessionUpdate::SessionMessageChunk(chunk) => {
                agent(Entry::session_message(&chunk.message_id))
            }
            SessionUpdate::CompactionUpdate(compaction) => {
                agent(Entry::compaction(compaction.compaction_id.as_str()))
            }
            _ => None,
        }
    }

    /// As [`of`](Self::of), for version 2.
    pub(crate) fn of_v2(update: &'a SessionUpdateV2) -> Option<Self> {
        let agent = |entry| Some(Self::Agent(Some(entry)));
        let user = |id| Some(Self::User(Some(Entry::user_message(id))));
        match update {
            SessionUpdateV2::CursorUpdate(cursor) => Some(Self::Cursor(cursor)),
            SessionUpdateV2::UserMessageChunk(chunk) => user(&chunk.message_id),
            SessionUpdateV2::UserMessage(message) => user(&message.message_id),
            SessionUpdateV2::AgentMessageChunk(chunk) => {
                agent(Entry::agent_message(&chunk.message_id))
            }
            SessionUpdateV2::AgentMessage(message) => {
                agent(Entry::agent_message(&message.message_id))
            }
            SessionUpdateV2::AgentThoughtChunk(chunk) => {
                agent(Entry::agent_thought(&chunk.message_id))
            }
            SessionUpdateV2::AgentThought(message) => {
                agent(Entry::agent_thought(&message.message_id))
            }
            SessionUpdateV2::ToolCallUpdate(call) => {
                agent(Entry::tool_call(call.tool_call_id.as_str()))
            }
            SessionUpdateV2::ToolCallContentChunk(chunk) => {
                agent(Entry::tool_call(chunk.tool_call_id.as_str()))
            }
            SessionUpdateV2::SessionMessage(message) => {
                agent(Entry::session_message(&message.message_id))
            }
            SessionUpdateV2::SessionMessageChunk(chunk) => {
                agent(Entry::session_message(&chunk.message_id))
            }
            SessionUpdateV2::CompactionUpdate(compaction) => {
                agent(Entry::compaction(compaction.compaction_id.as_str()))
            }
            _ => None,
        }
    }
}
