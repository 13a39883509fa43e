//! Messages and thoughts: joining chunks, opening and closing spans.
use crate::ids;
use crate::json::{self, Members};
use crate::translator::Translator;
use acp_types::v1::content::ContentBlock;
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
use alloc::vec::Vec;
use jsonrpc_core::wire::Meta;
use serde::{Deserialize, Serialize};

/// Who speaks in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Voice {
    User,
    Agent,
    Thought,
}

/// What is open, what tool calls hang on, and what the agent may repeat.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Text {
    /// By the session of a subagent; empty for the agent itself.
    lanes: BTreeMap<String, Lane>,
    echo: Echo,
}

/// What one of those who speak has open.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Lane {
    open: Option<Open>,
    parent: Option<Parent>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Open {
    voice: Voice,
    key: Option<ChunkId>,
    id: MessageId,
    /// Of a thought.
    span: Option<MessageId>,
    /// Whose it is: also its end, whoever's event brings that.
    owner: Option<SubagentRunId>,
}

/// The assistant message that the next tool call belongs to.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Parent {
    key: Option<ChunkId>,
    id: MessageId,
    /// Whose it is: calls of another invocation do not belong to it.
    owner: Option<SubagentRunId>,
}

/// The prompt, as far as the agent has not repeated it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Echo {
    text: String,
    repeated: usize,
    blocks: Vec<ContentBlock>,
}

impl Text {
    /// Nothing that comes now belongs to a turn.
    pub(crate) fn end_turn(&mut self) {
        self.end_steps();
        self.echo = Echo::default();
    }

    /// Begins a turn with `prompt`.
    pub(crate) fn begin_turn(&mut self, prompt: &[ContentBlock]) {
        let mut echo = Echo::default();
        for block in prompt {
            match block {
                ContentBlock::Text(text) => echo.text.push_str(&text.text),
                other => echo.blocks.push(other.clone()),
            }
        }
        self.end_steps();
        self.echo = echo;
    }

    fn end_steps(&mut self) {
        self.lanes.retain(|_, lane| lane.open.is_some());
        self.lanes.values_mut().for_each(|lane| lane.parent = None);
    }

    fn lane(&self, lane: &str) -> Option<&Lane> {
        self.lanes.get(lane)
    }

    fn lane_mut(&mut self, lane: &str) -> &mut Lane {
        self.lanes.entry(lane.to_owned()).or_default()
    }

    /// Voice, key and id of the text that the agent itself has open.
    pub(crate) fn open(&self) -> Option<(Voice, Option<&str>, &MessageId)> {
        let open = self.lane("")?.open.as_ref()?;
        Some((open.voice, open.key.as_ref().map(ChunkId::as_str), &open.id))
    }

    /// Those who have a text open.
    pub(crate) fn open_lanes(&self) -> Vec<String> {
        let open = self.lanes.iter().filter(|(_, lane)| lane.open.is_some());
        open.map(|(name, _)| name.clone()).collect()
    }

    /// Whether the agent only repeats, in a chunk of the user's, the prompt of the last run.
    pub(crate) fn is_echo(&mut self, block: &ContentBlock) -> bool {
        let echo = &mut self.echo;
        match block {
            ContentBlock::Text(text) => {
                let rest = echo.text.get(echo.repeated..).unwrap_or_default();
                let repeats = rest.starts_with(&text.text);
                echo.repeated += if repeats { text.text.len() } else { 0 };
                repeats
            }
            other => {
                let at = echo.blocks.iter().position(|block| block == other);
                at.map(|at| echo.blocks.remove(at)).is_some()
            }
        }
    }

    /// Whether a whole message of the user's repeats the prompt of the last run.
    pub(crate) fn is_whole_echo(&mut self, blocks: &[ContentBlock]) -> bool {
        let echo = self.echo.clone();
        let repeats = !blocks.is_empty() && blocks.iter().all(|block| self.is_echo(block));
        if !repeats {
            self.echo = echo;
        }
        repeats
    }

    /// The next tool call belongs to another step of the model, unless a text goes on.
    pub(crate) fn end_step(&mut self, lane: &str) {
        if let Some(lane) = self.lanes.get_mut(lane).filter(|lane| lane.open.is_none()) {
            lane.parent = None;
        }
    }
}

impl Translator {
    pub(crate) fn chunk(
        &mut self,
        voice: Voice,
        key: Option<ChunkId>,
        block: ContentBlock,
        meta: Option<&Meta>,
    ) {
        let acp = Members::new().with_some("_meta", meta);
        match block {
            ContentBlock::Text(text) => {
                let acp = acp
                    .with_some("annotations", text.annotations.as_ref())
                    .with_some("contentMeta", text.meta.as_ref());
                self.say(voice, key, text.text, acp);
            }
            ContentBlock::ResourceLink(link) => {
                let text = crate::content::link_text(&link);
                self.say(voice, key, text, acp.with("resource", &link));
            }
            other => self.show_block(&other),
        }
    }

    pub(crate) fn say(&mut self, voice: Voice, key: Option<ChunkId>, delta: String, acp: Members) {
        if delta.is_empty() {
            return;
        }
        let metadata = self.metadata(acp);
        let joins = |open: &&Open| {
            open.voice == voice && (key.is_none() || open.key == key) && open.owner == self.owner
        };
        let open = self.text.lane(&self.lane).and_then(|lane| lane.open.as_ref());
        let open = open.filter(joins).map(|open| open.id.clone());
        let (id, mut metadata) = match open {
            Some(id) => (id, metadata),
            None => (self.open(voice, key.clone(), metadata), None),
        };
        self.wrote(voice, key.as_ref(), &id, &delta);
        let limit = self.options.limits.delta;
        if delta.len() <= limit {
            return self.say_piece(voice, id, delta, metadata);
        }
        let mut rest = &*delta;
        while let Some(first) = rest.chars().next() {
            let piece = json::head(rest, limit.max(first.len_utf8()));
            rest = rest.strip_prefix(piece).unwrap_or_default();
            self.say_piece(voice, id.clone(), piece.into(), metadata.take());
        }
    }

    fn say_piece(
        &mut self,
        voice: Voice,
        id: MessageId,
        delta: String,
        metadata: Option<Metadata>,
    ) {
        if voice == Voice::Thought {
            let mut event = ReasoningMessageContentEvent::new(id, delta);
            event.metadata = metadata;
            self.emit(event);
        } else {
            let mut event = TextMessageContentEvent::new(id, delta);
            event.metadata = metadata;
            self.emit(event);
        }
    }

    fn open(
        &mut self,
        voice: Voice,
        key: Option<ChunkId>,
        metadata: Option<Metadata>,
    ) -> MessageId {
        self.close_text();
        let lane = self.text.lane_mut(&self.lane);
        let same = lane.parent.as_ref().is_some_and(|parent| key.is_some() && parent.key == key);
        if voice != Voice::Thought || !same {
            lane.parent = None;
        }
        let (id, span) = match voice {
            Voice::Thought => {
                let span = self.message_id(ids::SPAN, key.as_ref());
                let id = self.message_id(ids::REASONING, key.as_ref());
                self.emit(ReasoningStartEvent::new(span.clone()));
                let mut start =
                    ReasoningMessageStartEvent::new(id.clone(), ReasoningRole::Reasoning);
                start.metadata = metadata;
                self.emit(start);
                (id, Some(span))
            }
            Voice::Agent | Voice::User => {
                let id = self.message_id(ids::MESSAGE, key.as_ref());
                let mut start = TextMessageStartEvent::new(id.clone());
                let agent = voice == Voice::Agent;
                start.role =
                    Some(if agent { TextMessageRole::Assistant } else { TextMessageRole::User });
                start.metadata = metadata;
                self.emit(start);
                if agent {
                    let owner = self.owner.clone();
                    let parent = Parent { key: key.clone(), id: id.clone(), owner };
                    self.text.lane_mut(&self.lane).parent = Some(parent);
                }
                (id, None)
            }
        };
        let open = Open { voice, key, id: id.clone(), span, owner: self.owner.clone() };
        self.text.lane_mut(&self.lane).open = Some(open);
        id
    }

    /// Ends all messages and thoughts that are open.
    pub(crate) fn close_texts(&mut self) {
        for lane in self.text.open_lanes() {
            self.speak_as(&lane, Self::close_text);
        }
    }

    /// Ends the message or thought that is open.
    pub(crate) fn close_text(&mut self) {
        let open = self.text.lanes.get_mut(&self.lane).and_then(|lane| lane.open.take());
        let Some(open) = open else { return };
        self.own(open.owner, |t| match open.span {
            Some(span) => {
                t.emit(ReasoningMessageEndEvent::new(open.id));
                t.emit(ReasoningEndEvent::new(span));
            }
            None => t.emit(TextMessageEndEvent::new(open.id)),
        });
    }

    /// The assistant message that a tool call which starts now belongs to; one of its own where no text came before.
    pub(crate) fn parent_message(&mut self) -> MessageId {
        let parent = self.text.lane(&self.lane).and_then(|lane| lane.parent.as_ref());
        if let Some(parent) = parent.filter(|parent| parent.owner == self.owner) {
            return parent.id.clone();
        }
        let id = self.message_id(ids::MESSAGE, None);
        let owner = self.owner.clone();
        let parent = Parent { key: None, id: id.clone(), owner };
        self.text.lane_mut(&self.lane).parent = Some(parent);
        id
    }

    fn message_id(&mut self, prefix: &str, key: Option<&ChunkId>) -> MessageId {
        match key {
            Some(key) => self.ids.keyed(prefix, key.as_str(), '.').into(),
            None => self.ids.numbered(prefix).into(),
        }
    }
}
