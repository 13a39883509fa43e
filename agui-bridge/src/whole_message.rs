//! Messages that come whole, or again: what is new of them goes out, and one that is another now is restated.
use crate::json::{self, Members};
use crate::text::Voice;
use crate::translator::Translator;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::MessageId as ChunkId;
use agui_types::event::{Event, MessagesSnapshotEvent};
use agui_types::id::MessageId;
use agui_types::message::Message;
use agui_types::reduce::Reducer;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::Presence;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What went out of messages that may come again, by voice and the agent's id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Written {
    messages: BTreeMap<String, Said>,
    /// The oldest first.
    order: VecDeque<String>,
    bytes: usize,
    /// Messages that are others now, and have not been restated.
    changed: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Said {
    ids: Vec<MessageId>,
    text: String,
    /// Blocks that are not text.
    blocks: usize,
}

impl Written {
    fn said(&mut self, name: String) -> &mut Said {
        if !self.messages.contains_key(&name) {
            self.order.push_back(name.clone());
        }
        self.messages.entry(name).or_default()
    }

    fn write(&mut self, name: String, id: &MessageId, text: &str, limit: usize) {
        let said = self.said(name);
        if said.ids.last() != Some(id) {
            said.ids.push(id.clone());
        }
        said.text.push_str(text);
        self.bytes = self.bytes.saturating_add(text.len());
        while self.bytes > limit || self.order.len() > MAX_MESSAGES {
            let Some(oldest) = self.order.pop_front() else { break };
            let said = self.messages.remove(&oldest).unwrap_or_default();
            self.bytes = self.bytes.saturating_sub(said.text.len());
        }
    }
}

/// How many messages are remembered that may come again.
const MAX_MESSAGES: usize = 4096;

/// The conversation as the client has it; kept only where [`Options::history`](crate::Options::history) says so.
#[derive(Clone, Debug)]
pub(crate) struct History {
    reducer: Reducer,
    limit: usize,
}

impl History {
    pub(crate) fn new(messages: &[Message], limit: usize) -> Self {
        let mut reducer = Reducer::new().with_limit(limit);
        let snapshot = MessagesSnapshotEvent::new(messages.to_vec());
        // What does not fit is not there, and nothing is restated then.
        let _ = reducer.handle(&Event::from(snapshot));
        Self { reducer, limit }
    }

    pub(crate) fn handle(&mut self, event: &Event) {
        // It warns of what the client will not do either.
        let _ = self.reducer.handle(event);
    }

    pub(crate) fn messages(&self) -> &[Message] {
        self.reducer.messages()
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.limit, self.messages()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (limit, messages) = <(usize, Vec<Message>)>::deserialize(deserializer)?;
        Ok(Self::new(&messages, limit))
    }
}

impl Translator {
    /// Notes what went out of a message that may come again.
    pub(crate) fn wrote(
        &mut self,
        voice: Voice,
        key: Option<&ChunkId>,
        id: &MessageId,
        text: &str,
    ) {
        if let Some(key) = key.filter(|_| self.remembers) {
            let name = name(&self.lane, voice, key);
            self.written.write(name, id, text, self.options.limits.value);
        }
    }

    /// Takes in a message whole, or as it is now.
    pub(crate) fn whole_message(
        &mut self,
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
        if voice == Voice::User && self.text.is_whole_echo(&blocks) {
            return;
        }
        self.remembers = true;
        let (mut text, mut others) = (String::new(), Vec::new());
        for block in &blocks {
            match block {
                ContentBlock::Text(block) => text.push_str(&block.text),
                ContentBlock::ResourceLink(link) => {
                    text.push_str(&crate::content::link_text(link));
                }
                other => others.push(other),
            }
        }
        let name = name(&self.lane, voice, key);
        let said = self.written.messages.get(&name);
        let (before, shown) = said.map_or(("", 0), |said| (&said.text, said.blocks));
        if let Some(rest) = text.strip_prefix(before) {
            let rest = rest.to_string();
            self.say(voice, Some(key.clone()), rest, acp);
        } else {
            self.rewrite(name.clone(), text);
        }
        for block in others.iter().skip(shown) {
            self.show_block(block);
        }
        if others.len() > shown {
            self.written.said(name).blocks = others.len();
        }
    }

    fn rewrite(&mut self, name: String, text: String) {
        let Some(said) = self.written.messages.get_mut(&name) else { return };
        let (old, new) = (said.text.len(), text.len());
        said.text.clone_from(&text);
        let first = said.ids.first().cloned();
        self.written.bytes = self.written.bytes.saturating_sub(old).saturating_add(new);
        if self.history.is_some() {
            self.written.changed.retain(|(changed, _)| *changed != name);
            self.written.changed.push((name, text));
            return self.restate_if_quiet();
        }
        let value = Members::new()
            .with_some("messageId", first.as_ref())
            .with("text", &json::bounded(&text, self.options.limits.value));
        self.custom("acp.message.changed", value.into_raw());
    }

    /// Restates messages that are others now, when no call is being told.
    pub(crate) fn restate_if_quiet(&mut self) {
        if self.written.changed.is_empty() || self.calls.is_one_open() {
            return;
        }
        self.close_texts();
        let changed = core::mem::take(&mut self.written.changed);
        let Some(history) = &self.history else { return };
        let mut messages = history.messages().to_vec();
        for (name, text) in changed {
            let Some(said) = self.written.messages.get(&name) else { continue };
            for (number, id) in said.ids.iter().enumerate() {
                let text = if number == 0 { &*text } else { "" };
                messages.iter_mut().for_each(|message| set_text(message, id, text));
            }
        }
        self.emit(MessagesSnapshotEvent::new(messages));
    }
}

fn name(lane: &str, voice: Voice, key: &ChunkId) -> String {
    let voice = match voice {
        Voice::User => "user",
        Voice::Agent => "agent",
        Voice::Thought => "thought",
    };
    format!("{voice} {lane} {key}")
}

fn set_text(message: &mut Message, id: &MessageId, text: &str) {
    match message {
        Message::Assistant(message) if message.id == *id => message.content = Some(text.into()),
        Message::User(message) if message.id == *id => message.content = text.into(),
        Message::Reasoning(message) if message.id == *id => message.content = text.into(),
        _ => {}
    }
}
