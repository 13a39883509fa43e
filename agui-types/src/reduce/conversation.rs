//! The messages of a conversation, indexed by message and tool call.
use super::Warning;
use super::members::{Text, encrypted, grown, merge, size, text, written};
use crate::Metadata;
use crate::content::Content;
use crate::event::{
    ActivityDeltaEvent, ActivitySnapshotEvent, ReasoningEncryptedValueEvent,
    ReasoningEncryptedValueSubtype, ReasoningMessageStartEvent, TextMessageRole,
    TextMessageStartEvent, ToolCallResultEvent, ToolCallStartEvent,
};
use crate::id::{MessageId, ToolCallId};
use crate::json_patch::JsonDocument;
use crate::message::{
    ActivityMessage, AssistantMessage, DeveloperMessage, Message, ReasoningMessage, SystemMessage,
    ToolMessage, UserMessage,
};
use crate::tool::ToolCall;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};

/// The messages, with the positions of each message and call.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    messages: Vec<Message>,
    /// The first message of each identifier.
    places: BTreeMap<MessageId, usize>,
    /// The first call of each identifier: the positions of its message and of the call within it.
    calls: BTreeMap<ToolCallId, (usize, usize)>,
    /// Size in bytes of compact JSON (approximate).
    size: usize,
    limit: usize,
}

type Done = Result<(), Warning>;

impl Conversation {
    pub(super) fn new(limit: usize) -> Self {
        let places = BTreeMap::new();
        let calls = BTreeMap::new();
        Self { messages: Vec::new(), places, calls, size: 0, limit }
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(super) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Replaces all messages.
    pub(super) fn hold(&mut self, messages: Vec<Message>) {
        self.size = messages.iter().map(written).sum();
        self.messages = messages;
        self.places.clear();
        self.calls.clear();
        self.find_from(0);
    }

    /// Appends the messages that are missing.
    pub(super) fn meet(&mut self, messages: &[Message]) -> Done {
        for message in messages {
            if message.id().is_none_or(|id| !self.places.contains_key(&id)) {
                self.grow(written(message))?;
                self.push(message.clone());
            }
        }
        Ok(())
    }

    /// Applies a complete list of the producer's messages.
    pub(super) fn restate(&mut self, messages: &[Message]) -> Done {
        if messages.iter().map(written).sum::<usize>() > self.limit {
            return Err(Warning::TooMuch);
        }
        let restated: BTreeMap<_, _> =
            messages.iter().filter_map(|message| Some((message.id()?, message))).collect();
        let activities = messages.iter().any(|message| matches!(message, Message::Activity(_)));
        let reasoning = messages.iter().any(|message| matches!(message, Message::Reasoning(_)));
        let mut merged: Vec<Message> = Vec::with_capacity(self.messages.len());
        for held in core::mem::take(&mut self.messages) {
            let id = held.id();
            match (id.and_then(|id| restated.get(&id)), &held) {
                (Some(message), _) => merged.push((*message).clone()),
                (None, Message::Activity(_)) if !activities => merged.push(held),
                (None, Message::Reasoning(_)) if !reasoning => merged.push(held),
                (None, _) => {}
            }
        }
        let is_new =
            |message: &&Message| message.id().is_none_or(|id| !self.places.contains_key(&id));
        merged.extend(messages.iter().filter(is_new).cloned());
        self.hold(merged);
        Ok(())
    }

    pub(super) fn start_text(&mut self, event: &TextMessageStartEvent) -> Done {
        let id = &event.message_id;
        if !self.places.contains_key(id) {
            let id = id.clone();
            let name = event.name.clone();
            let owner = event.subagent_run_id.clone();
            let message = match event.role {
                Some(TextMessageRole::User) => {
                    let mut message = UserMessage::new(id, "");
                    message.name = name;
                    message.subagent_run_id = owner;
                    Message::User(message)
                }
                Some(TextMessageRole::System) => {
                    let mut message = SystemMessage::new(id, "");
                    message.name = name;
                    message.subagent_run_id = owner;
                    Message::System(message)
                }
                Some(TextMessageRole::Developer) => {
                    let mut message = DeveloperMessage::new(id, "");
                    message.name = name;
                    message.subagent_run_id = owner;
                    Message::Developer(message)
                }
                _ => {
                    let mut message = AssistantMessage::new(id);
                    message.name = name;
                    message.subagent_run_id = owner;
                    message.content = Some(String::new());
                    Message::Assistant(message)
                }
            };
            self.grow(written(&message))?;
            self.push(message);
        }
        self.append(id, None, event.metadata.as_ref())
    }

    pub(super) fn start_reasoning(&mut self, event: &ReasoningMessageStartEvent) -> Done {
        let id = &event.message_id;
        if !self.places.contains_key(id) {
            let mut message = ReasoningMessage::new(id.clone(), "");
            message.subagent_run_id.clone_from(&event.subagent_run_id);
            let message = Message::Reasoning(message);
            self.grow(written(&message))?;
            self.push(message);
        }
        self.append(id, None, event.metadata.as_ref())
    }

    /// Merges metadata into a message and appends a delta. An empty delta creates an empty text.
    pub(super) fn append(
        &mut self,
        id: &MessageId,
        delta: Option<&str>,
        metadata: Option<&Metadata>,
    ) -> Done {
        let place = *self.places.get(id).ok_or(Warning::NoMessage)?;
        let message = self.messages.get_mut(place).ok_or(Warning::NoMessage)?;
        let (text, kept) = text(message).ok_or(Warning::NoText)?;
        if let Some(delta) = delta {
            self.size = grown(self.size, self.limit, delta.len())?;
            match text {
                Text::Plain(text) | Text::Content(Content::Text(text)) => text.push_str(delta),
                Text::Optional(text) => text.get_or_insert_default().push_str(delta),
                Text::Content(content) => *content = delta.into(),
            }
        }
        self.size = merge(kept, metadata, self.size, self.limit)?;
        Ok(())
    }

    pub(super) fn start_call(&mut self, event: &ToolCallStartEvent) -> Done {
        let id = &event.tool_call_id;
        let metadata = event.metadata.as_ref();
        if let Some(call) = self.calls.get(id).copied().and_then(|place| self.call(place)) {
            let renamed = call.function.name != event.tool_call_name;
            call.function.name.clone_from(&event.tool_call_name);
            self.append_arguments(id, "", metadata)?;
            return if renamed { Err(Warning::Renamed) } else { Ok(()) };
        }
        let parent = event.parent_message_id.as_ref();
        let held = parent.and_then(|parent| self.places.get(parent).copied());
        let there = held.and_then(|place| self.messages.get(place));
        let taken = there.is_some() && !matches!(there, Some(Message::Assistant(_)));
        let mut call = ToolCall::function(id.clone(), event.tool_call_name.clone(), "");
        call.metadata = metadata.cloned();
        self.grow(written(&call))?;
        let place = match held {
            Some(place) if !taken => place,
            _ => {
                let named = parent.filter(|_| !taken).cloned();
                let named = named.unwrap_or_else(|| MessageId::from(id.as_str()));
                let mut message = AssistantMessage::new(named);
                message.subagent_run_id.clone_from(&event.subagent_run_id);
                self.push(Message::Assistant(message));
                self.messages.len() - 1
            }
        };
        if let Some(Message::Assistant(message)) = self.messages.get_mut(place) {
            let calls = message.tool_calls.get_or_insert_default();
            self.calls.insert(id.clone(), (place, calls.len()));
            calls.push(call);
        }
        if taken { Err(Warning::ParentNotAssistant) } else { Ok(()) }
    }

    /// Appends to the arguments of a call, and merges metadata into it.
    pub(super) fn append_arguments(
        &mut self,
        id: &ToolCallId,
        delta: &str,
        metadata: Option<&Metadata>,
    ) -> Done {
        let place = *self.calls.get(id).ok_or(Warning::NoToolCall)?;
        let after = grown(self.size, self.limit, delta.len())?;
        let before = after;
        let limit = self.limit;
        let call = self.call(place).ok_or(Warning::NoToolCall)?;
        call.function.arguments.push_str(delta);
        let merged = merge(&mut call.metadata, metadata, before, limit);
        self.size = *merged.as_ref().unwrap_or(&after);
        merged.map(|_| ())
    }

    /// Inserts a tool message after the message that holds the call.
    pub(super) fn answer(&mut self, event: &ToolCallResultEvent) -> Done {
        let id = event.message_id.clone();
        let call = event.tool_call_id.clone();
        let mut message = ToolMessage::new(id, event.content.clone(), call);
        message.subagent_run_id.clone_from(&event.subagent_run_id);
        message.metadata.clone_from(&event.metadata);
        let message = Message::Tool(message);
        self.grow(written(&message))?;
        let Some((holder, _)) = self.calls.get(&event.tool_call_id) else {
            self.push(message);
            return Ok(());
        };
        let behind = self.messages.iter().skip(holder + 1);
        let answers = behind.take_while(|message| matches!(message, Message::Tool(_))).count();
        let place = holder + 1 + answers;
        self.messages.insert(place, message);
        self.find_from(place);
        Ok(())
    }

    pub(super) fn show(&mut self, event: &ActivitySnapshotEvent) -> Done {
        let id = &event.message_id;
        let replaces = event.replace != Some(false);
        let place = self.places.get(id).copied();
        let held = place.and_then(|place| self.messages.get_mut(place));
        let more = size(&event.content);
        let mut activity =
            ActivityMessage::new(id.clone(), event.activity_type.clone(), event.content.clone());
        activity.subagent_run_id.clone_from(&event.subagent_run_id);
        match held {
            Some(Message::Activity(held)) => {
                if replaces {
                    let before = self.size.saturating_sub(size(&held.content));
                    self.size = grown(before, self.limit, more)?;
                    held.activity_type = activity.activity_type;
                    held.content = activity.content;
                    held.subagent_run_id = activity.subagent_run_id;
                }
                self.size =
                    merge(&mut held.metadata, event.metadata.as_ref(), self.size, self.limit)?;
            }
            Some(_) if !replaces => return Err(Warning::NoActivity),
            Some(other) => {
                activity.metadata.clone_from(&event.metadata);
                self.size = grown(self.size, self.limit, more)?;
                *other = Message::Activity(activity);
                self.calls.retain(|_, (holder, _)| Some(*holder) != place);
                // Another message may hold a call with the same identifier.
                self.find_from(place.unwrap_or_default());
            }
            None => {
                activity.metadata.clone_from(&event.metadata);
                let message = Message::Activity(activity);
                self.grow(written(&message))?;
                self.push(message);
            }
        }
        Ok(())
    }

    pub(super) fn change(&mut self, event: &ActivityDeltaEvent) -> Done {
        let place = *self.places.get(&event.message_id).ok_or(Warning::NoMessage)?;
        let Some(Message::Activity(activity)) = self.messages.get_mut(place) else {
            return Err(Warning::NoActivity);
        };
        let content = Raw::from_value(&activity.content).map_err(|_| Warning::Unreadable)?;
        let content = content.decode().map_err(|_| Warning::Unreadable)?;
        let mut document = JsonDocument::new(content);
        document.apply(&event.patch).map_err(Warning::Patch)?;
        let content = Raw::from_value(document.value()).map_err(|_| Warning::Unreadable)?;
        let content: Extra = content.decode().map_err(|_| Warning::NotAnObject)?;
        let before = self.size.saturating_sub(size(&activity.content));
        self.size = grown(before, self.limit, size(&content))?;
        activity.content = content;
        activity.activity_type.clone_from(&event.activity_type);
        self.size = merge(&mut activity.metadata, event.metadata.as_ref(), self.size, self.limit)?;
        Ok(())
    }

    pub(super) fn keep_encrypted(&mut self, event: &ReasoningEncryptedValueEvent) -> Done {
        let kind = event.encrypted_value_type.as_ref();
        self.grow(event.encrypted_value.len() + kind.map_or(0, String::len))?;
        let (value, kept_kind) = if event.subtype == ReasoningEncryptedValueSubtype::ToolCall {
            let place = self.calls.get(event.entity_id.as_str());
            let place = *place.ok_or(Warning::NoToolCall)?;
            let call = self.call(place).ok_or(Warning::NoToolCall)?;
            (&mut call.encrypted_value, &mut call.encrypted_value_type)
        } else {
            let place = self.places.get(event.entity_id.as_str());
            let place = *place.ok_or(Warning::NoMessage)?;
            let message = self.messages.get_mut(place).ok_or(Warning::NoMessage)?;
            encrypted(message).ok_or(Warning::NoMessage)?
        };
        *value = Some(event.encrypted_value.clone());
        *kept_kind = kind.cloned();
        Ok(())
    }

    fn grow(&mut self, more: usize) -> Done {
        self.size = grown(self.size, self.limit, more)?;
        Ok(())
    }

    fn call(&mut self, (holder, place): (usize, usize)) -> Option<&mut ToolCall> {
        match self.messages.get_mut(holder)? {
            Message::Assistant(message) => message.tool_calls.as_mut()?.get_mut(place),
            _ => None,
        }
    }

    fn push(&mut self, message: Message) {
        self.messages.push(message);
        self.find_from(self.messages.len() - 1);
    }

    /// Rebuilds the positions of the messages from `first` on.
    fn find_from(&mut self, first: usize) {
        // From the last to the first: of several messages with one identifier the first is indexed.
        for (place, message) in self.messages.iter().enumerate().skip(first).rev() {
            if let Some(id) = message.id() {
                let noted = self.places.entry(id).or_insert(place);
                if *noted >= first {
                    *noted = place;
                }
            }
            let Message::Assistant(message) = message else { continue };
            let calls = message.tool_calls.as_deref().unwrap_or_default();
            for (index, call) in calls.iter().enumerate().rev() {
                let noted = self.calls.entry(call.id.clone()).or_insert((place, index));
                if noted.0 >= first {
                    *noted = (place, index);
                }
            }
        }
    }
}
