//! Messages that were sent and may be repeated.
use super::text::Voice;
use crate::frame::Frame;
use acp_types::v1::prompt_turn::MessageId as ChunkId;
use agui_types::id::MessageId;
use agui_types::message::Message;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Largest number of remembered messages.
const MAX_MESSAGES: usize = 4096;

/// Messages that were sent, by voice and the agent's id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct WrittenMessages {
    /// Whether messages are remembered.
    is_active: bool,
    messages: BTreeMap<String, SentMessage>,
    /// The oldest first.
    order: VecDeque<String>,
    bytes: usize,
    /// Messages with a changed text, by name, that were not restated.
    changed: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct SentMessage {
    ids: Vec<MessageId>,
    text: String,
    /// Number of blocks that are not text.
    blocks: usize,
}

impl WrittenMessages {
    /// Remembers messages from now on.
    pub(super) fn activate(&mut self) {
        self.is_active = true;
    }

    pub(super) fn is_active(&self) -> bool {
        self.is_active
    }

    /// Records a piece of a message that was sent.
    pub(super) fn record(
        &mut self,
        frame: &Frame<'_>,
        voice: Voice,
        key: Option<&ChunkId>,
        id: &MessageId,
        text: &str,
    ) {
        let Some(key) = key.filter(|_| self.is_active) else { return };
        let sent = self.sent(name(frame.lane, voice, key));
        if sent.ids.last() != Some(id) {
            sent.ids.push(id.clone());
        }
        sent.text.push_str(text);
        self.bytes = self.bytes.saturating_add(text.len());
        while self.bytes > frame.limits.value || self.order.len() > MAX_MESSAGES {
            let Some(oldest) = self.order.pop_front() else { break };
            let sent = self.messages.remove(&oldest).unwrap_or_default();
            self.bytes = self.bytes.saturating_sub(sent.text.len());
        }
    }

    /// Returns the sent text of a message, and the number of its other blocks.
    pub(super) fn known(&self, name: &str) -> (&str, usize) {
        self.messages.get(name).map_or(("", 0), |sent| (&sent.text, sent.blocks))
    }

    pub(super) fn set_blocks(&mut self, name: String, blocks: usize) {
        self.sent(name).blocks = blocks;
    }

    /// Replaces the text of a message, and returns the message's first id.
    pub(super) fn replace(&mut self, name: &str, text: &str) -> Option<MessageId> {
        let sent = self.messages.get_mut(name)?;
        self.bytes = self.bytes.saturating_sub(sent.text.len()).saturating_add(text.len());
        sent.text = text.into();
        sent.ids.first().cloned()
    }

    /// Marks a message to be restated with this text.
    pub(super) fn mark_changed(&mut self, name: String, text: String) {
        self.changed.retain(|(changed, _)| *changed != name);
        self.changed.push((name, text));
    }

    pub(super) fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Replaces the texts of changed messages.
    pub(super) fn apply_changes(&mut self, messages: &mut [Message]) {
        for (name, text) in core::mem::take(&mut self.changed) {
            let Some(sent) = self.messages.get(&name) else { continue };
            for (number, id) in sent.ids.iter().enumerate() {
                let text = if number == 0 { &*text } else { "" };
                messages.iter_mut().for_each(|message| set_text(message, id, text));
            }
        }
    }

    fn sent(&mut self, name: String) -> &mut SentMessage {
        if !self.messages.contains_key(&name) {
            self.order.push_back(name.clone());
        }
        self.messages.entry(name).or_default()
    }
}

/// Returns the key of a message: its voice, its lane and the agent's id.
pub(super) fn name(lane: &str, voice: Voice, key: &ChunkId) -> String {
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
