//! The stream of a thread: queued events, and the open texts.
//!
//! The parts of the translator append their events here. An event other than text first ends the
//! open text of its lane, since clients place later text at the start of its message.
use crate::content::{bounded_block, link_text, skill_text};
use crate::frame::Frame;
use crate::ids::{self, Ids};
use crate::json::{self, Members};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::MessageId as ChunkId;
use agui_types::Metadata;
use agui_types::event::{ActivitySnapshotEvent, CustomEvent, Event, MessagesSnapshotEvent};
use agui_types::id::{MessageId, ToolCallId};
use agui_types::message::Message;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Raw};
use serde::{Deserialize, Serialize};

mod history;
mod queue;
mod text;
mod written;

pub(crate) use history::History;
pub(crate) use text::Voice;

use queue::Queue;
use text::Text;
use written::WrittenMessages;

/// The queued events of a thread, and the state of the stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outbox {
    queue: Queue,
    text: Text,
    written: WrittenMessages,
}

/// The part of a message that [`Outbox::whole_message`] leaves to its caller.
#[must_use]
pub(crate) struct Rest<'a> {
    /// Whether the message was rewritten and has to be [restated](Outbox::restate).
    pub(crate) is_rewritten: bool,
    /// Blocks that have to be [shown](Outbox::show_block).
    pub(crate) blocks: Vec<&'a ContentBlock>,
}

impl Outbox {
    pub(crate) fn new(ids: Ids) -> Self {
        Self { queue: Queue::new(ids), text: Text::default(), written: WrittenMessages::default() }
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.queue.poll()
    }

    /// Returns whether all events were taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn set_history(&mut self, history: Option<History>) {
        self.queue.set_history(history);
    }

    pub(crate) fn history(&self) -> Option<&History> {
        self.queue.history()
    }

    pub(crate) fn ids(&mut self) -> &mut Ids {
        self.queue.ids()
    }

    pub(crate) fn into_ids(self) -> Ids {
        self.queue.into_ids()
    }

    /// Returns the id of a tool call in the stream; see [`Ids::tool_call`].
    pub(crate) fn tool_call_id(&mut self, id: &str) -> ToolCallId {
        self.queue.ids().tool_call(id).into()
    }

    /// Appends an event, without ending a text.
    pub(crate) fn emit(&mut self, frame: &Frame<'_>, event: impl Into<Event>) {
        self.queue.push(frame.owner, event);
    }

    pub(crate) fn custom(&mut self, frame: &Frame<'_>, name: &'static str, value: Raw) {
        self.emit(frame, CustomEvent::new(name, value));
    }

    /// Appends a notice of the bridge, with a text below its title unless that is empty.
    pub(crate) fn warn(&mut self, frame: &Frame<'_>, title: &str, description: &str) {
        let mut notice = Members::new().with("severity", "warning").with("title", title);
        if !description.is_empty() {
            notice = notice.with("description", description);
        }
        self.custom(frame, "acp.notice", notice.into_raw());
    }

    /// Shows an activity, replacing its earlier content.
    pub(crate) fn activity(
        &mut self,
        frame: &Frame<'_>,
        id: impl Into<MessageId>,
        kind: &'static str,
        content: Members,
    ) {
        self.close_text(frame.lane);
        let mut snapshot = ActivitySnapshotEvent::new(id, kind, content.into_extra());
        snapshot.replace = Some(true);
        self.emit(frame, snapshot);
    }

    /// Shows a content block without a text form.
    pub(crate) fn show_block(&mut self, frame: &Frame<'_>, block: &ContentBlock) {
        let content = Members::new().with("part", &bounded_block(block, frame.limits.value));
        if !block.is_known() {
            self.custom(frame, "acp.unknown_content", content.into_raw());
        } else if frame.is_modern {
            let id = self.ids().numbered(&format!("{}content-", ids::ACTIVITY));
            self.activity(frame, id, "acp.content", content);
        } else {
            self.custom(frame, "acp.content", content.into_raw());
        }
    }

    /// Handles a chunk of a message or a thought.
    pub(crate) fn chunk(
        &mut self,
        frame: &Frame<'_>,
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
                self.say(frame, voice, key.as_ref(), text.text, acp);
            }
            ContentBlock::ResourceLink(link) => {
                let acp = acp.with("resource", &link);
                self.say(frame, voice, key.as_ref(), link_text(&link), acp);
            }
            other => match skill_text(&other) {
                Some(text) => self.say(frame, voice, key.as_ref(), text, acp),
                None => self.show_block(frame, &other),
            },
        }
    }

    /// Handles text of a message or a thought.
    fn say(
        &mut self,
        frame: &Frame<'_>,
        voice: Voice,
        key: Option<&ChunkId>,
        delta: String,
        acp: Members,
    ) {
        if delta.is_empty() {
            return;
        }
        let mut metadata = metadata(frame, acp);
        let id = self.text.open(frame, &mut self.queue, voice, key, &mut metadata);
        self.written.record(frame, voice, key, &id, &delta);
        let limit = frame.limits.delta;
        if delta.len() <= limit {
            return text::push_piece(frame, &mut self.queue, voice, id, delta, metadata);
        }
        let mut rest = &*delta;
        while let Some(first) = rest.chars().next() {
            let piece = json::head(rest, limit.max(first.len_utf8()));
            rest = rest.strip_prefix(piece).unwrap_or_default();
            let id = id.clone();
            let metadata = metadata.take();
            text::push_piece(frame, &mut self.queue, voice, id, piece.into(), metadata);
        }
    }

    /// Appends a piece of an open text.
    pub(crate) fn push_piece(
        &mut self,
        frame: &Frame<'_>,
        voice: Voice,
        id: MessageId,
        delta: String,
    ) {
        text::push_piece(frame, &mut self.queue, voice, id, delta, None);
    }

    /// Handles a whole message, which may repeat an earlier one. Only the new part is sent.
    pub(crate) fn whole_message<'a>(
        &mut self,
        frame: &Frame<'_>,
        voice: Voice,
        key: &ChunkId,
        blocks: &'a [ContentBlock],
        acp: Members,
    ) -> Rest<'a> {
        self.written.activate();
        let mut text = String::new();
        let mut others = Vec::new();
        for block in blocks {
            match block {
                ContentBlock::Text(block) => text.push_str(&block.text),
                ContentBlock::ResourceLink(link) => text.push_str(&link_text(link)),
                other => match skill_text(other) {
                    Some(skill) => text.push_str(&skill),
                    None => others.push(other),
                },
            }
        }
        let name = written::name(frame.lane, voice, key);
        let (before, shown) = self.written.known(&name);
        let rest = text.strip_prefix(before).map(ToString::to_string);
        let is_rewritten = rest.is_none();
        match rest {
            Some(rest) => self.say(frame, voice, Some(key), rest, acp),
            None => self.rewrite(frame, name.clone(), text),
        }
        if others.len() > shown {
            self.written.set_blocks(name, others.len());
        }
        Rest { is_rewritten, blocks: others.split_off(shown.min(others.len())) }
    }

    fn rewrite(&mut self, frame: &Frame<'_>, name: String, text: String) {
        let first = self.written.replace(&name, &text);
        if self.history().is_some() {
            return self.written.mark_changed(name, text);
        }
        let value = Members::new()
            .with_some("messageId", first.as_ref())
            .with("text", &json::bounded(&text, frame.limits.value));
        self.custom(frame, "acp.message.changed", value.into_raw());
    }

    /// Returns whether rewritten messages have to be restated.
    pub(crate) fn has_changed(&self) -> bool {
        self.written.has_changed()
    }

    /// Restates the conversation with the rewritten messages.
    pub(crate) fn restate(&mut self, frame: &Frame<'_>) {
        self.close_texts();
        let history = self.queue.history().map(|history| history.messages().to_vec());
        let mut messages = history.unwrap_or_default();
        self.written.apply_changes(&mut messages);
        if self.history().is_some() {
            self.restate_as(frame, messages);
        }
    }

    /// Restates the conversation as these messages.
    pub(crate) fn restate_as(&mut self, frame: &Frame<'_>, messages: Vec<Message>) {
        self.emit(frame, MessagesSnapshotEvent::new(messages));
    }

    /// Remembers messages from now on, since they may be repeated.
    pub(crate) fn remember_messages(&mut self) {
        self.written.activate();
    }

    /// Returns whether messages are remembered.
    pub(crate) fn remembers_messages(&self) -> bool {
        self.written.is_active()
    }

    /// Ends all open messages and thoughts.
    pub(crate) fn close_texts(&mut self) {
        self.text.close_all(&mut self.queue);
    }

    /// Ends the open message or thought of a lane.
    pub(crate) fn close_text(&mut self, lane: &str) {
        self.text.close(lane, &mut self.queue);
    }

    /// Returns voice, key and id of the agent's own open text.
    pub(crate) fn main_text(&self) -> Option<(Voice, Option<&str>, &MessageId)> {
        self.text.main()
    }

    /// Returns the assistant message of a tool call that starts now.
    pub(crate) fn parent_message(&mut self, frame: &Frame<'_>) -> MessageId {
        self.text.parent(frame, &mut self.queue)
    }

    /// Ends a step of the model in a lane, so that the next tool call has another message, unless a
    /// text is open there.
    pub(crate) fn end_step(&mut self, lane: &str) {
        self.text.end_step(lane);
    }

    /// Ends a step in all lanes.
    pub(crate) fn end_steps(&mut self) {
        self.text.end_steps();
    }
}

/// Returns the metadata of an event, for clients that support it: members of ACP that AG-UI lacks,
/// under the key `acp`.
pub(crate) fn metadata(frame: &Frame<'_>, acp: Members) -> Option<Metadata> {
    (frame.is_modern && !acp.is_empty()).then(|| acp_metadata(acp))
}

/// Returns metadata with members of ACP that AG-UI lacks.
pub(crate) fn acp_metadata(acp: Members) -> Metadata {
    Members::new().with("acp", &acp.into_extra()).into_extra()
}
