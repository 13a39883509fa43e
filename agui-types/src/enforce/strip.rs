//! Removal of unknown material from typed values.
use super::{Removal, RemovalKind};
use crate::content::*;
use crate::event::*;
use crate::input::{Context, RunAgentInput};
use crate::interrupt::{Interrupt, ResumeEntry, ResumeStatus};
use crate::json_patch::JsonPatchOperation;
use crate::message::*;
use crate::tool::{FunctionCall, Tool, ToolCall, ToolCallType};
use crate::usage::TokenUsage;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem;
use jsonrpc_core::pointer::push_segment;
use jsonrpc_core::wire::Extra;

/// A value that may contain unknown material.
pub(super) trait Strip {
    /// Removes unknown material from the value.
    ///
    /// # Errors
    /// The value itself is unknown, or requires something unknown, so that it has to be removed.
    fn strip(&mut self, walk: &mut Walk) -> Result<(), UnknownMaterial>;
}

/// Unknown material that cannot be removed by itself.
pub(super) struct UnknownMaterial {
    kind: RemovalKind,
    name: String,
    pointer: String,
}

/// The traversal of an event or input.
#[derive(Default)]
pub(super) struct Walk {
    at: String,
    pub(super) removals: Vec<Removal>,
}

impl Walk {
    /// Strips the whole value and returns whether it remains.
    pub(super) fn root(&mut self, value: &mut impl Strip) -> bool {
        let stripped = value.strip(self);
        self.settle(stripped)
    }

    fn unknown(&self, kind: RemovalKind, name: &str) -> UnknownMaterial {
        UnknownMaterial { kind, name: name.to_string(), pointer: self.at.clone() }
    }

    /// Returns whether the current value remains, and records its removal.
    fn settle(&mut self, stripped: Result<(), UnknownMaterial>) -> bool {
        let Err(UnknownMaterial { kind, name, pointer }) = stripped else { return true };
        self.removals.push(Removal { kind, name, pointer, removed: self.at.clone() });
        false
    }

    fn below<T>(&mut self, name: &str, step: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.at.len();
        push_segment(&mut self.at, name);
        let stepped = step(self);
        self.at.truncate(length);
        stepped
    }

    fn required(&mut self, name: &str, value: &mut impl Strip) -> Result<(), UnknownMaterial> {
        self.below(name, |walk| value.strip(walk))
    }

    fn optional(&mut self, name: &str, slot: &mut Option<impl Strip>) {
        let Some(value) = slot else { return };
        let stays = self.below(name, |walk| {
            let stripped = value.strip(walk);
            walk.settle(stripped)
        });
        if !stays {
            *slot = None;
        }
    }

    fn close(&mut self, extra: &mut Extra) {
        if extra.is_empty() {
            return;
        }
        for (name, _) in mem::take(extra).iter() {
            self.below(name, |walk| {
                let unknown = walk.unknown(RemovalKind::Member, name);
                walk.settle(Err(unknown))
            });
        }
    }
}

impl<T: Strip> Strip for Vec<T> {
    fn strip(&mut self, walk: &mut Walk) -> Result<(), UnknownMaterial> {
        let mut index = 0_usize;
        self.retain_mut(|element| {
            let name = index.to_string();
            index += 1;
            walk.below(&name, |walk| {
                let stripped = element.strip(walk);
                walk.settle(stripped)
            })
        });
        Ok(())
    }
}

impl<T: Strip> Strip for Box<T> {
    fn strip(&mut self, walk: &mut Walk) -> Result<(), UnknownMaterial> {
        (**self).strip(walk)
    }
}

impl Strip for Content {
    fn strip(&mut self, walk: &mut Walk) -> Result<(), UnknownMaterial> {
        match self {
            Self::Text(_) => Ok(()),
            Self::Parts(parts) => parts.strip(walk),
        }
    }
}

impl Strip for JsonPatchOperation {
    fn strip(&mut self, walk: &mut Walk) -> Result<(), UnknownMaterial> {
        match self {
            Self::Unknown(other) => Err(walk.unknown(RemovalKind::Variant, other.tag())),
            _ => Ok(()),
        }
    }
}

impl Strip for ContentPart {
    fn strip(&mut self, walk: &mut Walk) -> Result<(), UnknownMaterial> {
        match self {
            Self::Text(part) => part.strip(walk),
            Self::Image(part) => part.strip(walk),
            Self::Audio(part) => part.strip(walk),
            Self::Video(part) => part.strip(walk),
            Self::Document(part) => part.strip(walk),
            Self::Binary(part) => {
                let unknown = walk.unknown(RemovalKind::Variant, "binary");
                walk.close(&mut part.extra);
                let modern = part.modern().ok_or(unknown)?;
                let retired = walk.unknown(RemovalKind::LegacyPart, "binary");
                walk.settle(Err(retired));
                *self = modern;
                Ok(())
            }
            Self::Unknown(other) => Err(walk.unknown(RemovalKind::Variant, other.tag())),
        }
    }
}

macro_rules! objects {
    ($( $Type:ident { $($how:ident $field:ident = $wire:literal),* } )*) => { $(
        impl Strip for $Type {
            fn strip(&mut self, walk: &mut Walk) -> Result<(), UnknownMaterial> {
                walk.close(&mut self.extra);
                $( objects!(@ $how walk, $wire, self.$field); )*
                Ok(())
            }
        }
    )* };
    (@ required $walk:ident, $wire:literal, $value:expr) => { $walk.required($wire, &mut $value)? };
    (@ optional $walk:ident, $wire:literal, $value:expr) => { $walk.optional($wire, &mut $value) };
}

macro_rules! unions {
    ($( $Type:ident as $Kind:ident { $($Variant:ident)* } )*) => { $(
        impl Strip for $Type {
            fn strip(&mut self, walk: &mut Walk) -> Result<(), UnknownMaterial> {
                match self {
                    $( Self::$Variant(value) => value.strip(walk), )*
                    Self::Unknown(other) => Err(walk.unknown(RemovalKind::$Kind, other.tag())),
                }
            }
        }
    )* };
}

macro_rules! names {
    ($($Type:ident)*) => { $(
        impl Strip for $Type {
            fn strip(&mut self, walk: &mut Walk) -> Result<(), UnknownMaterial> {
                match self {
                    Self::Unknown(name) => Err(walk.unknown(RemovalKind::Name, name.as_str())),
                    _ => Ok(()),
                }
            }
        }
    )* };
}

unions! {
    Event as Event {
        TextMessageStart TextMessageContent TextMessageEnd TextMessageChunk ToolCallStart ToolCallArgs ToolCallEnd
        ToolCallChunk ToolCallResult StateSnapshot StateDelta MessagesSnapshot ActivitySnapshot ActivityDelta Raw Custom
        RunStarted RunFinished RunError StepStarted StepFinished ReasoningStart ReasoningMessageStart
        ReasoningMessageContent ReasoningMessageEnd ReasoningMessageChunk ReasoningEnd ReasoningEncryptedValue
        SubagentStarted SubagentFinished SubagentError
    }
    Message as Variant { Developer System Assistant User Tool Activity Reasoning }
    PartSource as Variant { Data Url File }
    RunFinishedOutcome as Variant { Success Interrupt Cancelled }
    SubagentFinishedOutcome as Variant { Success Suspended }
}

names! { TextMessageRole ToolRole ReasoningRole ReasoningEncryptedValueSubtype ToolCallType ResumeStatus }

objects! {
    TextMessageStartEvent { optional role = "role" }
    TextMessageContentEvent {}
    TextMessageEndEvent {}
    TextMessageChunkEvent { optional role = "role" }
    ToolCallStartEvent {}
    ToolCallArgsEvent {}
    ToolCallEndEvent {}
    ToolCallChunkEvent {}
    ToolCallResultEvent { required content = "content", optional role = "role" }
    StateSnapshotEvent {}
    StateDeltaEvent { required delta = "delta" }
    MessagesSnapshotEvent { required messages = "messages" }
    ActivitySnapshotEvent {}
    ActivityDeltaEvent { required patch = "patch" }
    RawEvent {}
    CustomEvent {}
    RunStartedEvent { optional input = "input" }
    RunFinishedEvent { optional outcome = "outcome", optional usage = "usage" }
    RunErrorEvent { optional usage = "usage" }
    StepStartedEvent {}
    StepFinishedEvent {}
    ReasoningStartEvent {}
    ReasoningMessageStartEvent { required role = "role" }
    ReasoningMessageContentEvent {}
    ReasoningMessageEndEvent {}
    ReasoningMessageChunkEvent {}
    ReasoningEndEvent {}
    ReasoningEncryptedValueEvent { required subtype = "subtype" }
    SubagentStartedEvent {}
    SubagentFinishedEvent { optional outcome = "outcome" }
    SubagentErrorEvent {}
    RunFinishedSuccessOutcome {}
    RunFinishedInterruptOutcome { required interrupts = "interrupts" }
    RunFinishedCancelledOutcome {}
    SubagentFinishedSuccessOutcome {}
    SubagentFinishedSuspendedOutcome {}
    Interrupt {}
    TokenUsage {}
    RunAgentInput {
        required messages = "messages",
        optional tools = "tools",
        optional context = "context",
        optional resume = "resume"
    }
    Context {}
    Tool {}
    ResumeEntry { required status = "status" }
    DeveloperMessage {}
    SystemMessage {}
    AssistantMessage { optional tool_calls = "toolCalls" }
    UserMessage { required content = "content" }
    ToolMessage { required content = "content" }
    ActivityMessage {}
    ReasoningMessage {}
    ToolCall { required r#type = "type", required function = "function" }
    FunctionCall {}
    TextPart {}
    ImagePart { required source = "source" }
    AudioPart { required source = "source" }
    VideoPart { required source = "source" }
    DocumentPart { required source = "source" }
    DataSource {}
    UrlSource {}
    FileSource {}
}
