use super::rule::{Breach, Rule};
use super::run::Owner;
use crate::event::{
    Event, ReasoningMessageChunkEvent, ReasoningMessageContentEvent, ReasoningMessageEndEvent,
    ReasoningMessageStartEvent, ReasoningRole, TextMessageChunkEvent, TextMessageContentEvent,
    TextMessageEndEvent, TextMessageRole, TextMessageStartEvent, ToolCallArgsEvent,
    ToolCallChunkEvent, ToolCallEndEvent, ToolCallStartEvent,
};
use crate::id::{MessageId, SubagentRunId, ToolCallId};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// The chunk streams that are open: one at most for the agent itself and for each subagent's invocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes(BTreeMap<Owner, Lane>);

/// What the first chunk of a stream said.
#[derive(Clone, Debug)]
enum Lane {
    Text { id: MessageId, role: TextMessageRole, name: Option<String> },
    ToolCall { id: ToolCallId, name: String, parent: Option<MessageId> },
    Reasoning { id: MessageId },
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    ToolCall,
    Reasoning,
}

impl Lanes {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Gives what an event stands for: the ends that it implies, and for a chunk what is in its place.
    ///
    /// Nothing for an event that implies no end and stands for itself.
    pub(super) fn expand(&mut self, event: &Event) -> Result<Vec<Event>, Breach> {
        match event {
            Event::TextMessageChunk(chunk) => self.expand_text(chunk),
            Event::ToolCallChunk(chunk) => self.expand_tool_call(chunk),
            Event::ReasoningMessageChunk(chunk) => self.expand_reasoning(chunk),
            _ if self.0.is_empty() => Ok(Vec::new()),
            Event::RunStarted(_)
            | Event::RunFinished(_)
            | Event::RunError(_)
            | Event::MessagesSnapshot(_) => {
                let lanes = core::mem::take(&mut self.0);
                Ok(lanes.into_iter().map(|(owner, lane)| lane.end(owner)).collect())
            }
            Event::Raw(_)
            | Event::ActivitySnapshot(_)
            | Event::ActivityDelta(_)
            | Event::ReasoningEncryptedValue(_)
            | Event::SubagentStarted(_)
            | Event::Unknown(_) => Ok(Vec::new()),
            _ => Ok(self.close(&event.subagent_run_id().cloned()).into_iter().collect()),
        }
    }

    fn close(&mut self, owner: &Owner) -> Option<Event> {
        self.0.remove(owner).map(|lane| lane.end(owner.clone()))
    }

    /// The owner of the open stream that a chunk goes on with; nothing when it opens one.
    fn find(
        &self,
        kind: Kind,
        id: Option<&str>,
        tag: Option<&SubagentRunId>,
    ) -> Result<Option<Owner>, Breach> {
        let mut lanes = self.0.iter().filter(|(_, lane)| lane.kind() == kind);
        match (id, tag) {
            (Some(id), _) => {
                let Some((owner, _)) = lanes.find(|(_, lane)| lane.id() == id) else {
                    return Ok(None);
                };
                Rule::OwnerMismatch.holds(tag.is_none() || tag == owner.as_ref(), id)?;
                Ok(Some(owner.clone()))
            }
            (None, Some(_)) => {
                Ok(lanes.find(|(owner, _)| owner.as_ref() == tag).map(|(owner, _)| owner.clone()))
            }
            // The agent's own lane is the first in order.
            (None, None) => match (lanes.next(), lanes.next()) {
                (Some((None, _)), _) => Ok(Some(None)),
                (Some(_), Some(_)) => Err(Rule::ChunkAmbiguous.into()),
                (first, _) => Ok(first.map(|(owner, _)| owner.clone())),
            },
        }
    }

    fn expand_text(&mut self, chunk: &TextMessageChunkEvent) -> Result<Vec<Event>, Breach> {
        let (id, tag) = (chunk.message_id.as_ref(), chunk.subagent_run_id.as_ref());
        let found = self.find(Kind::Text, id.map(MessageId::as_str), tag)?;
        let mut events = Vec::new();
        let owner = match found {
            Some(owner) => owner,
            None => {
                let id = id.ok_or(Rule::ChunkWithoutId)?.clone();
                let (owner, name) = (tag.cloned(), chunk.name.clone());
                events.extend(self.close(&owner));
                let mut start = TextMessageStartEvent::new(id.clone());
                (start.role, start.name) = (chunk.role.clone(), name.clone());
                start.subagent_run_id = owner.clone();
                events.push(start.into());
                let role = chunk.role.clone().unwrap_or(TextMessageRole::Assistant);
                self.0.insert(owner.clone(), Lane::Text { id, role, name });
                owner
            }
        };
        if let Some(Lane::Text { id, role, name }) = self.0.get(&owner) {
            let agrees = repeats(chunk.role.as_ref(), Some(role))
                && repeats(chunk.name.as_ref(), name.as_ref());
            Rule::ChunkConflict.holds(agrees, id.as_str())?;
            let mut content = TextMessageContentEvent::new(id.clone(), "");
            content.subagent_run_id = owner;
            events.push(content.into());
        }
        Ok(events)
    }

    fn expand_tool_call(&mut self, chunk: &ToolCallChunkEvent) -> Result<Vec<Event>, Breach> {
        let (id, tag) = (chunk.tool_call_id.as_ref(), chunk.subagent_run_id.as_ref());
        let found = self.find(Kind::ToolCall, id.map(ToolCallId::as_str), tag)?;
        let mut events = Vec::new();
        let owner = match found {
            Some(owner) => owner,
            None => {
                let id = id.ok_or(Rule::ChunkWithoutId)?.clone();
                let unnamed = || Rule::ChunkWithoutName.broken_for(id.as_str());
                let name = chunk.tool_call_name.clone().ok_or_else(unnamed)?;
                let (owner, parent) = (tag.cloned(), chunk.parent_message_id.clone());
                events.extend(self.close(&owner));
                let mut start = ToolCallStartEvent::new(id.clone(), name.clone());
                start.parent_message_id.clone_from(&parent);
                start.subagent_run_id = owner.clone();
                events.push(start.into());
                self.0.insert(owner.clone(), Lane::ToolCall { id, name, parent });
                owner
            }
        };
        if let Some(Lane::ToolCall { id, name, parent }) = self.0.get(&owner) {
            let agrees = repeats(chunk.tool_call_name.as_ref(), Some(name))
                && repeats(chunk.parent_message_id.as_ref(), parent.as_ref());
            Rule::ChunkConflict.holds(agrees, id.as_str())?;
            let mut args = ToolCallArgsEvent::new(id.clone(), "");
            args.subagent_run_id = owner;
            events.push(args.into());
        }
        Ok(events)
    }

    fn expand_reasoning(
        &mut self,
        chunk: &ReasoningMessageChunkEvent,
    ) -> Result<Vec<Event>, Breach> {
        let (id, tag) = (chunk.message_id.as_ref(), chunk.subagent_run_id.as_ref());
        let found = self.find(Kind::Reasoning, id.map(MessageId::as_str), tag)?;
        let mut events = Vec::new();
        let owner = match found {
            Some(owner) => owner,
            None => {
                let (id, owner) = (id.ok_or(Rule::ChunkWithoutId)?.clone(), tag.cloned());
                events.extend(self.close(&owner));
                let mut start =
                    ReasoningMessageStartEvent::new(id.clone(), ReasoningRole::Reasoning);
                start.subagent_run_id = owner.clone();
                events.push(start.into());
                self.0.insert(owner.clone(), Lane::Reasoning { id });
                owner
            }
        };
        if let Some(Lane::Reasoning { id }) = self.0.get(&owner) {
            let mut content = ReasoningMessageContentEvent::new(id.clone(), "");
            content.subagent_run_id = owner;
            events.push(content.into());
        }
        Ok(events)
    }
}

impl Lane {
    fn kind(&self) -> Kind {
        match self {
            Self::Text { .. } => Kind::Text,
            Self::ToolCall { .. } => Kind::ToolCall,
            Self::Reasoning { .. } => Kind::Reasoning,
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Text { id, .. } | Self::Reasoning { id } => id.as_str(),
            Self::ToolCall { id, .. } => id.as_str(),
        }
    }

    fn end(self, owner: Owner) -> Event {
        match self {
            Self::Text { id, .. } => {
                let mut end = TextMessageEndEvent::new(id);
                end.subagent_run_id = owner;
                end.into()
            }
            Self::ToolCall { id, .. } => {
                let mut end = ToolCallEndEvent::new(id);
                end.subagent_run_id = owner;
                end.into()
            }
            Self::Reasoning { id } => {
                let mut end = ReasoningMessageEndEvent::new(id);
                end.subagent_run_id = owner;
                end.into()
            }
        }
    }
}

/// Whether a chunk says what the first one said, or nothing.
fn repeats<T: PartialEq>(chunk: Option<&T>, first: Option<&T>) -> bool {
    chunk.is_none() || chunk == first
}
