//! Open messages and thoughts: chunks are joined, spans opened and closed.
use super::queue::Queue;
use crate::frame::Frame;
use crate::ids;
use acp_types::v1::prompt_turn::MessageId as ChunkId;
use agui_types::Metadata;
use agui_types::event::{
    ReasoningEndEvent, ReasoningMessageContentEvent, ReasoningMessageEndEvent,
    ReasoningMessageStartEvent, ReasoningRole, ReasoningStartEvent, TextMessageContentEvent,
    TextMessageEndEvent, TextMessageRole, TextMessageStartEvent,
};
use agui_types::id::{MessageId, SubagentRunId};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The author of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Voice {
    User,
    Agent,
    Thought,
}

/// The open messages and thoughts, and the parent messages of tool calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Text {
    /// By the session of a subagent; empty for the agent itself.
    lanes: BTreeMap<String, Lane>,
}

/// One session's open text, and the parent of its next tool call.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Lane {
    open: Option<OpenText>,
    parent: Option<Parent>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenText {
    voice: Voice,
    key: Option<ChunkId>,
    id: MessageId,
    /// The reasoning span; `None` for a message.
    span: Option<MessageId>,
    /// The invocation that opened it. Its end is attributed to the same one.
    owner: Option<SubagentRunId>,
}

/// The assistant message of the next tool call.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Parent {
    key: Option<ChunkId>,
    id: MessageId,
    /// The invocation of the message. Calls of another one have another message.
    owner: Option<SubagentRunId>,
}

impl Text {
    /// Ends the current step of the model in each lane, unless a text is open there.
    pub(super) fn end_steps(&mut self) {
        self.lanes.retain(|_, lane| lane.open.is_some());
        self.lanes.values_mut().for_each(|lane| lane.parent = None);
    }

    /// Ends the current step of the model in a lane, unless a text is open there.
    pub(super) fn end_step(&mut self, lane: &str) {
        if let Some(lane) = self.lanes.get_mut(lane).filter(|lane| lane.open.is_none()) {
            lane.parent = None;
        }
    }

    /// Returns voice, key and id of the text that the agent itself has open.
    pub(super) fn main(&self) -> Option<(Voice, Option<&str>, &MessageId)> {
        let open = self.lanes.get("")?.open.as_ref()?;
        Some((open.voice, open.key.as_ref().map(ChunkId::as_str), &open.id))
    }

    /// Returns the text that a chunk continues, or opens one with `metadata`.
    pub(super) fn open(
        &mut self,
        frame: &Frame<'_>,
        queue: &mut Queue,
        voice: Voice,
        key: Option<&ChunkId>,
        metadata: &mut Option<Metadata>,
    ) -> MessageId {
        let joins = |open: &&OpenText| {
            let is_same = key.is_none() || open.key.as_ref() == key;
            open.voice == voice && is_same && open.owner.as_ref() == frame.owner
        };
        let open = self.lanes.get(frame.lane).and_then(|lane| lane.open.as_ref());
        match open.filter(joins) {
            Some(open) => open.id.clone(),
            None => self.open_anew(frame, queue, voice, key, metadata.take()),
        }
    }

    fn open_anew(
        &mut self,
        frame: &Frame<'_>,
        queue: &mut Queue,
        voice: Voice,
        key: Option<&ChunkId>,
        metadata: Option<Metadata>,
    ) -> MessageId {
        self.close(frame.lane, queue);
        let lane = self.lane(frame.lane);
        let same = lane.parent.as_ref().is_some_and(|it| key.is_some() && it.key.as_ref() == key);
        if voice != Voice::Thought || !same {
            lane.parent = None;
        }
        let (id, span) = if voice == Voice::Thought {
            let (id, span) = open_thought(frame, queue, key, metadata);
            (id, Some(span))
        } else {
            (open_message(frame, queue, voice, key, metadata), None)
        };
        let owner = frame.owner.cloned();
        if voice == Voice::Agent {
            lane.parent = Some(Parent { key: key.cloned(), id: id.clone(), owner: owner.clone() });
        }
        lane.open = Some(OpenText { voice, key: key.cloned(), id: id.clone(), span, owner });
        id
    }

    /// Ends the open text of a lane, if any.
    pub(super) fn close(&mut self, lane: &str, queue: &mut Queue) {
        if let Some(open) = self.lanes.get_mut(lane).and_then(|lane| lane.open.take()) {
            open.end(queue);
        }
    }

    /// Ends all texts.
    pub(super) fn close_all(&mut self, queue: &mut Queue) {
        self.lanes.values_mut().filter_map(|lane| lane.open.take()).for_each(|it| it.end(queue));
    }

    /// Returns the assistant message of a tool call that starts now; without an earlier text, a new
    /// message.
    pub(super) fn parent(&mut self, frame: &Frame<'_>, queue: &mut Queue) -> MessageId {
        let lane = self.lane(frame.lane);
        let parent = lane.parent.as_ref().filter(|parent| parent.owner.as_ref() == frame.owner);
        if let Some(parent) = parent {
            return parent.id.clone();
        }
        let id = message_id(queue, ids::MESSAGE, None);
        lane.parent = Some(Parent { key: None, id: id.clone(), owner: frame.owner.cloned() });
        id
    }

    fn lane(&mut self, lane: &str) -> &mut Lane {
        self.lanes.entry(lane.to_owned()).or_default()
    }
}

impl OpenText {
    fn end(self, queue: &mut Queue) {
        let owner = self.owner.as_ref();
        match self.span {
            Some(span) => {
                queue.push(owner, ReasoningMessageEndEvent::new(self.id));
                queue.push(owner, ReasoningEndEvent::new(span));
            }
            None => queue.push(owner, TextMessageEndEvent::new(self.id)),
        }
    }
}

/// Appends a piece of an open text.
pub(super) fn push_piece(
    frame: &Frame<'_>,
    queue: &mut Queue,
    voice: Voice,
    id: MessageId,
    delta: String,
    metadata: Option<Metadata>,
) {
    if voice == Voice::Thought {
        let mut event = ReasoningMessageContentEvent::new(id, delta);
        event.metadata = metadata;
        queue.push(frame.owner, event);
    } else {
        let mut event = TextMessageContentEvent::new(id, delta);
        event.metadata = metadata;
        queue.push(frame.owner, event);
    }
}

fn open_thought(
    frame: &Frame<'_>,
    queue: &mut Queue,
    key: Option<&ChunkId>,
    metadata: Option<Metadata>,
) -> (MessageId, MessageId) {
    let span = message_id(queue, ids::SPAN, key);
    let id = message_id(queue, ids::REASONING, key);
    queue.push(frame.owner, ReasoningStartEvent::new(span.clone()));
    let mut start = ReasoningMessageStartEvent::new(id.clone(), ReasoningRole::Reasoning);
    start.metadata = metadata;
    queue.push(frame.owner, start);
    (id, span)
}

fn open_message(
    frame: &Frame<'_>,
    queue: &mut Queue,
    voice: Voice,
    key: Option<&ChunkId>,
    metadata: Option<Metadata>,
) -> MessageId {
    let id = message_id(queue, ids::MESSAGE, key);
    let mut start = TextMessageStartEvent::new(id.clone());
    let is_agent = voice == Voice::Agent;
    start.role = Some(if is_agent { TextMessageRole::Assistant } else { TextMessageRole::User });
    start.metadata = metadata;
    queue.push(frame.owner, start);
    id
}

fn message_id(queue: &mut Queue, prefix: &str, key: Option<&ChunkId>) -> MessageId {
    match key {
        Some(key) => queue.ids().keyed(prefix, key.as_str(), '.').into(),
        None => queue.ids().numbered(prefix).into(),
    }
}
