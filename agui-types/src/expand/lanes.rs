//! Open chunk streams, one lane for the agent and one for each subagent.
use crate::event::{
    Event, ReasoningMessageChunkEvent, ReasoningMessageContentEvent, ReasoningMessageEndEvent,
    ReasoningMessageStartEvent, ReasoningRole, TextMessageChunkEvent, TextMessageContentEvent,
    TextMessageEndEvent, TextMessageRole, TextMessageStartEvent, ToolCallArgsEvent,
    ToolCallChunkEvent, ToolCallEndEvent, ToolCallStartEvent,
};
use crate::id::{MessageId, Owner, SubagentRunId, ToolCallId};
use crate::rule::{Breach, Rule};
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

/// The open chunk streams, in order of opening: at most one for the agent itself and one for each
/// subagent invocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes(Vec<(Owner, Lane)>);

/// Members of a stream's first chunk.
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

/// The events that an event implies: in addition to itself, or instead of it if it is a chunk.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    /// Ends of streams, then the start of one.
    pub(crate) implied: Vec<Event>,
    /// The content event of a chunk, with its metadata but still without its delta and the
    /// provider's event.
    pub(crate) content: Option<Event>,
}

impl Lanes {
    pub(crate) const MAX: usize = 1_024;

    /// Returns the number of open streams.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the expansion of an event.
    pub(crate) fn expand(&mut self, event: &Event) -> Result<Expansion, Breach> {
        let ends = match event {
            Event::TextMessageChunk(chunk) => return self.expand_text(chunk),
            Event::ToolCallChunk(chunk) => return self.expand_tool_call(chunk),
            Event::ReasoningMessageChunk(chunk) => return self.expand_reasoning(chunk),
            _ if self.0.is_empty() => Vec::new(),
            Event::RunStarted(_)
            | Event::RunFinished(_)
            | Event::RunError(_)
            | Event::MessagesSnapshot(_) => {
                let lanes = mem::take(&mut self.0);
                lanes.into_iter().map(|(owner, lane)| lane.end(owner)).collect()
            }
            Event::Raw(_)
            | Event::ActivitySnapshot(_)
            | Event::ActivityDelta(_)
            | Event::ReasoningEncryptedValue(_)
            | Event::SubagentStarted(_)
            | Event::Unknown(_) => Vec::new(),
            _ => self.close(event.subagent_run_id()).into_iter().collect(),
        };
        Ok(Expansion { implied: ends, content: None })
    }

    fn close(&mut self, owner: Option<&SubagentRunId>) -> Option<Event> {
        let place = self.0.iter().position(|(other, _)| other.as_ref() == owner)?;
        let (owner, lane) = self.0.remove(place);
        Some(lane.end(owner))
    }

    /// Opens a stream in the lane of `owner`, and returns the end of the lane's previous stream.
    fn open(&mut self, owner: Option<&SubagentRunId>, lane: Lane) -> Result<Option<Event>, Breach> {
        let end = self.close(owner);
        Rule::TooMuch.holds(self.0.len() < Self::MAX, lane.id())?;
        self.0.push((owner.cloned(), lane));
        Ok(end)
    }

    /// Returns the open stream that a chunk continues, or `None` if the chunk opens one.
    fn find(
        &self,
        kind: Kind,
        id: Option<&str>,
        tag: Option<&SubagentRunId>,
    ) -> Result<Option<&(Owner, Lane)>, Breach> {
        let mut lanes = self.0.iter().filter(|(_, lane)| lane.kind() == kind);
        match (id, tag) {
            (Some(id), _) => {
                let Some(found) = lanes.find(|(_, lane)| lane.id() == id) else { return Ok(None) };
                Rule::OwnerMismatch.holds(tag.is_none() || tag == found.0.as_ref(), id)?;
                Ok(Some(found))
            }
            (None, Some(_)) => Ok(lanes.find(|(owner, _)| owner.as_ref() == tag)),
            (None, None) => match lanes.clone().find(|(owner, _)| owner.is_none()) {
                Some(own) => Ok(Some(own)),
                None => match (lanes.next(), lanes.next()) {
                    (Some(_), Some(_)) => Err(Rule::ChunkAmbiguous.into()),
                    (first, _) => Ok(first),
                },
            },
        }
    }

    fn expand_text(&mut self, chunk: &TextMessageChunkEvent) -> Result<Expansion, Breach> {
        let id = chunk.message_id.as_ref();
        let tag = chunk.subagent_run_id.as_ref();
        let says = chunk.delta.is_some() || chunk.raw_event.is_some();
        let (implied, goes_on, id, owner) =
            match self.find(Kind::Text, id.map(MessageId::as_str), tag)? {
                Some((of, Lane::Text { id: open, role, name })) => {
                    let agrees = repeats(chunk.role.as_ref(), Some(role))
                        && repeats(chunk.name.as_ref(), name.as_ref());
                    Rule::ChunkConflict.holds(agrees, open.as_str())?;
                    (Vec::new(), says || chunk.metadata.is_some(), open.clone(), of.clone())
                }
                _ => {
                    let new = chunk.message_id.clone().ok_or(Rule::ChunkWithoutId)?;
                    let role = chunk.role.clone();
                    let name = chunk.name.clone();
                    let role = role.unwrap_or(TextMessageRole::Assistant);
                    let mut start = TextMessageStartEvent::new(new.clone());
                    start.role = Some(role.clone());
                    start.name = name.clone();
                    start.subagent_run_id = tag.cloned();
                    start.metadata = chunk.metadata.clone();
                    let mut implied =
                        Vec::from_iter(self.open(tag, Lane::Text { id: new.clone(), role, name })?);
                    implied.push(start.into());
                    (implied, says, new, tag.cloned())
                }
            };
        let content = goes_on.then(|| {
            let mut content = TextMessageContentEvent::new(id, "");
            content.subagent_run_id = owner;
            content.metadata = chunk.metadata.clone();
            content.into()
        });
        Ok(Expansion { implied, content })
    }

    fn expand_tool_call(&mut self, chunk: &ToolCallChunkEvent) -> Result<Expansion, Breach> {
        let id = chunk.tool_call_id.as_ref();
        let tag = chunk.subagent_run_id.as_ref();
        let says = chunk.delta.is_some() || chunk.raw_event.is_some();
        let (implied, goes_on, id, owner) =
            match self.find(Kind::ToolCall, id.map(ToolCallId::as_str), tag)? {
                Some((of, Lane::ToolCall { id: open, name, parent })) => {
                    let agrees = repeats(chunk.tool_call_name.as_ref(), Some(name))
                        && repeats(chunk.parent_message_id.as_ref(), parent.as_ref());
                    Rule::ChunkConflict.holds(agrees, open.as_str())?;
                    (Vec::new(), says || chunk.metadata.is_some(), open.clone(), of.clone())
                }
                _ => {
                    let new = chunk.tool_call_id.clone().ok_or(Rule::ChunkWithoutId)?;
                    let unnamed = || Rule::ChunkWithoutName.broken_for(new.as_str());
                    let name = chunk.tool_call_name.clone().ok_or_else(unnamed)?;
                    let parent = chunk.parent_message_id.clone();
                    let mut start = ToolCallStartEvent::new(new.clone(), name.clone());
                    start.parent_message_id.clone_from(&parent);
                    start.subagent_run_id = tag.cloned();
                    start.metadata = chunk.metadata.clone();
                    let lane = Lane::ToolCall { id: new.clone(), name, parent };
                    let mut implied = Vec::from_iter(self.open(tag, lane)?);
                    implied.push(start.into());
                    (implied, says, new, tag.cloned())
                }
            };
        let content = goes_on.then(|| {
            let mut args = ToolCallArgsEvent::new(id, "");
            args.subagent_run_id = owner;
            args.metadata = chunk.metadata.clone();
            args.into()
        });
        Ok(Expansion { implied, content })
    }

    fn expand_reasoning(
        &mut self,
        chunk: &ReasoningMessageChunkEvent,
    ) -> Result<Expansion, Breach> {
        let id = chunk.message_id.as_ref();
        let tag = chunk.subagent_run_id.as_ref();
        let says = chunk.delta.is_some() || chunk.raw_event.is_some();
        let (implied, goes_on, id, owner) =
            match self.find(Kind::Reasoning, id.map(MessageId::as_str), tag)? {
                Some((of, Lane::Reasoning { id: open })) => {
                    (Vec::new(), says || chunk.metadata.is_some(), open.clone(), of.clone())
                }
                _ => {
                    let new = chunk.message_id.clone().ok_or(Rule::ChunkWithoutId)?;
                    let mut start =
                        ReasoningMessageStartEvent::new(new.clone(), ReasoningRole::Reasoning);
                    start.subagent_run_id = tag.cloned();
                    start.metadata = chunk.metadata.clone();
                    let mut implied =
                        Vec::from_iter(self.open(tag, Lane::Reasoning { id: new.clone() })?);
                    implied.push(start.into());
                    (implied, says, new, tag.cloned())
                }
            };
        let content = goes_on.then(|| {
            let mut content = ReasoningMessageContentEvent::new(id, "");
            content.subagent_run_id = owner;
            content.metadata = chunk.metadata.clone();
            content.into()
        });
        Ok(Expansion { implied, content })
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

/// Returns whether a chunk repeats the value of the first one or leaves it out.
fn repeats<T: PartialEq>(chunk: Option<&T>, first: Option<&T>) -> bool {
    chunk.is_none() || chunk == first
}
