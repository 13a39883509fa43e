//! The events, with their fields.
use super::content::WirePart;
use super::field::{
    DecodeError, EncodeError, Field, closed, content_from_wire, content_to_wire, without,
};
use super::message::{WireMessage, WireRunInput, WireUsage};
use super::operation::WireOperation;
use super::value::{Struct, Value};
use crate::Metadata;
use crate::event::*;
use crate::integer::SafeInteger;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};

/// The members common to all events.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Base {
    #[prost(int32, tag = "1")]
    event_type: i32,
    #[prost(int64, optional, tag = "2")]
    timestamp: Option<i64>,
    #[prost(message, optional, tag = "3")]
    raw_event: Option<Value>,
    #[prost(message, optional, tag = "4")]
    metadata: Option<Struct>,
}

type BaseMembers = (Option<SafeInteger>, Option<Raw>, Option<Metadata>);

fn base(
    event_type: i32,
    timestamp: &Option<SafeInteger>,
    raw_event: &Option<Raw>,
    metadata: &Option<Metadata>,
) -> Result<Option<Base>, EncodeError> {
    let timestamp = timestamp.to_wire()?;
    let raw_event = raw_event.to_wire()?;
    Ok(Some(Base { event_type, timestamp, raw_event, metadata: metadata.to_wire()? }))
}

fn read_base(base: Option<Base>, expected: i32) -> Result<BaseMembers, DecodeError> {
    let Some(base) = base else { return Ok((None, None, None)) };
    let found = base.event_type;
    if found != expected {
        return Err(DecodeError::Type { expected, found });
    }
    Ok((
        Field::from_wire(base.timestamp)?,
        Field::from_wire(base.raw_event)?,
        Field::from_wire(base.metadata)?,
    ))
}

/// Declares the message of an event: its base, then its own fields.
macro_rules! event {
    ($Wire:ident is $Type:ident = $number:literal { $($field:ident: $Field:ty [$($attr:tt)*],)* } $(without { $($lost:ident = $name:literal)* })?) => {
        #[derive(Clone, PartialEq, prost::Message)]
        pub(super) struct $Wire {
            #[prost(message, optional, tag = "1")]
            base_event: Option<Base>,
            $( #[prost($($attr)*)] $field: $Field, )*
        }

        impl Field<$Wire> for $Type {
            fn to_wire(&self) -> Result<$Wire, EncodeError> {
                closed(&self.extra)?;
                $( $( without($name, &self.$lost)?; )* )?
                Ok($Wire {
                    base_event: base($number, &self.timestamp, &self.raw_event, &self.metadata)?,
                    $( $field: self.$field.to_wire()?, )*
                })
            }

            fn from_wire(wire: $Wire) -> Result<Self, DecodeError> {
                let (timestamp, raw_event, metadata) = read_base(wire.base_event, $number)?;
                Ok(Self {
                    $( $field: Field::from_wire(wire.$field)?, )*
                    $( $( $lost: None, )* )?
                    timestamp,
                    raw_event,
                    metadata,
                    extra: Extra::new(),
                })
            }
        }
    };
}

event! {
    WireTextMessageStart is TextMessageStartEvent = 0 {
        message_id: String [string, tag = "2"],
        role: Option<String> [string, optional, tag = "3"],
        name: Option<String> [string, optional, tag = "4"],
        subagent_run_id: Option<String> [string, optional, tag = "5"],
    }
}

event! {
    WireTextMessageContent is TextMessageContentEvent = 1 {
        message_id: String [string, tag = "2"],
        delta: String [string, tag = "3"],
        subagent_run_id: Option<String> [string, optional, tag = "4"],
    }
}

event! {
    WireTextMessageEnd is TextMessageEndEvent = 2 {
        message_id: String [string, tag = "2"],
        subagent_run_id: Option<String> [string, optional, tag = "3"],
    }
}

event! {
    WireTextMessageChunk is TextMessageChunkEvent = 19 {
        message_id: Option<String> [string, optional, tag = "2"],
        role: Option<String> [string, optional, tag = "3"],
        delta: Option<String> [string, optional, tag = "4"],
        name: Option<String> [string, optional, tag = "5"],
        subagent_run_id: Option<String> [string, optional, tag = "6"],
    }
}

event! {
    WireToolCallStart is ToolCallStartEvent = 3 {
        tool_call_id: String [string, tag = "2"],
        tool_call_name: String [string, tag = "3"],
        parent_message_id: Option<String> [string, optional, tag = "4"],
        subagent_run_id: Option<String> [string, optional, tag = "5"],
    }
}

event! {
    WireToolCallArgs is ToolCallArgsEvent = 4 {
        tool_call_id: String [string, tag = "2"],
        delta: String [string, tag = "3"],
        subagent_run_id: Option<String> [string, optional, tag = "4"],
    }
}

event! {
    WireToolCallEnd is ToolCallEndEvent = 5 {
        tool_call_id: String [string, tag = "2"],
        subagent_run_id: Option<String> [string, optional, tag = "3"],
    }
}

event! {
    WireToolCallChunk is ToolCallChunkEvent = 20 {
        tool_call_id: Option<String> [string, optional, tag = "2"],
        tool_call_name: Option<String> [string, optional, tag = "3"],
        parent_message_id: Option<String> [string, optional, tag = "4"],
        delta: Option<String> [string, optional, tag = "5"],
        subagent_run_id: Option<String> [string, optional, tag = "6"],
    }
}

event! {
    WireStateSnapshot is StateSnapshotEvent = 6 {
        snapshot: Option<Value> [message, optional, tag = "2"],
        subagent_run_id: Option<String> [string, optional, tag = "3"],
    }
}

event! {
    WireStateDelta is StateDeltaEvent = 7 {
        delta: Vec<WireOperation> [message, repeated, tag = "2"],
        subagent_run_id: Option<String> [string, optional, tag = "3"],
    }
}

event! {
    WireMessagesSnapshot is MessagesSnapshotEvent = 8 {
        messages: Vec<WireMessage> [message, repeated, tag = "2"],
    }
}

event! {
    WireActivitySnapshot is ActivitySnapshotEvent = 22 {
        subagent_run_id: Option<String> [string, optional, tag = "2"],
        message_id: String [string, tag = "3"],
        activity_type: String [string, tag = "4"],
        content: Option<Struct> [message, optional, tag = "5"],
        replace: Option<bool> [bool, optional, tag = "6"],
    }
}

event! {
    WireActivityDelta is ActivityDeltaEvent = 23 {
        subagent_run_id: Option<String> [string, optional, tag = "2"],
        message_id: String [string, tag = "3"],
        activity_type: String [string, tag = "4"],
        patch: Vec<WireOperation> [message, repeated, tag = "5"],
    }
}

event! {
    WireRaw is RawEvent = 9 {
        event: Option<Value> [message, optional, tag = "2"],
        source: Option<String> [string, optional, tag = "3"],
        subagent_run_id: Option<String> [string, optional, tag = "4"],
    }
}

event! {
    WireCustom is CustomEvent = 10 {
        name: String [string, tag = "2"],
        value: Option<Value> [message, optional, tag = "3"],
        subagent_run_id: Option<String> [string, optional, tag = "4"],
    }
}

event! {
    WireRunStarted is RunStartedEvent = 11 {
        thread_id: String [string, tag = "2"],
        run_id: String [string, tag = "3"],
        parent_run_id: Option<String> [string, optional, tag = "4"],
        input: Option<WireRunInput> [message, optional, tag = "5"],
        protocol_version: Option<String> [string, optional, tag = "6"],
    }
}

event! {
    WireRunError is RunErrorEvent = 13 {
        code: Option<String> [string, optional, tag = "2"],
        message: String [string, tag = "3"],
        usage: Vec<WireUsage> [message, repeated, tag = "4"],
    }
}

event! {
    WireStepStarted is StepStartedEvent = 14 {
        step_name: String [string, tag = "2"],
        subagent_run_id: Option<String> [string, optional, tag = "3"],
    }
}

event! {
    WireStepFinished is StepFinishedEvent = 15 {
        step_name: String [string, tag = "2"],
        subagent_run_id: Option<String> [string, optional, tag = "3"],
    }
}

event! {
    WireReasoningStart is ReasoningStartEvent = 24 {
        subagent_run_id: Option<String> [string, optional, tag = "2"],
        message_id: String [string, tag = "3"],
    }
}

event! {
    WireReasoningMessageStart is ReasoningMessageStartEvent = 25 {
        subagent_run_id: Option<String> [string, optional, tag = "2"],
        message_id: String [string, tag = "3"],
        role: String [string, tag = "4"],
    }
}

event! {
    WireReasoningMessageContent is ReasoningMessageContentEvent = 26 {
        subagent_run_id: Option<String> [string, optional, tag = "2"],
        message_id: String [string, tag = "3"],
        delta: String [string, tag = "4"],
    }
}

event! {
    WireReasoningMessageEnd is ReasoningMessageEndEvent = 27 {
        subagent_run_id: Option<String> [string, optional, tag = "2"],
        message_id: String [string, tag = "3"],
    }
}

event! {
    WireReasoningMessageChunk is ReasoningMessageChunkEvent = 28 {
        subagent_run_id: Option<String> [string, optional, tag = "2"],
        message_id: Option<String> [string, optional, tag = "3"],
        delta: Option<String> [string, optional, tag = "4"],
    }
}

event! {
    WireReasoningEnd is ReasoningEndEvent = 29 {
        subagent_run_id: Option<String> [string, optional, tag = "2"],
        message_id: String [string, tag = "3"],
    }
}

event! {
    WireReasoningEncryptedValue is ReasoningEncryptedValueEvent = 30 {
        subagent_run_id: Option<String> [string, optional, tag = "2"],
        subtype: String [string, tag = "3"],
        entity_id: String [string, tag = "4"],
        encrypted_value: String [string, tag = "5"],
    } without { encrypted_value_type = "encryptedValueType" }
}

event! {
    WireSubagentStarted is SubagentStartedEvent = 16 {
        subagent_run_id: String [string, tag = "2"],
        name: String [string, tag = "3"],
        description: Option<String> [string, optional, tag = "4"],
        parent_subagent_run_id: Option<String> [string, optional, tag = "5"],
        parent_tool_call_id: Option<String> [string, optional, tag = "6"],
        parent_message_id: Option<String> [string, optional, tag = "7"],
    }
}

event! {
    WireSubagentError is SubagentErrorEvent = 18 {
        subagent_run_id: String [string, tag = "2"],
        message: String [string, tag = "3"],
        code: Option<String> [string, optional, tag = "4"],
    }
}

/// The messages of events that map one member to several fields.
macro_rules! written_out {
    ($Wire:ident = $number:literal { $($field:ident: $Field:ty [$($attr:tt)*],)* }) => {
        #[derive(Clone, PartialEq, prost::Message)]
        pub(in crate::proto) struct $Wire {
            #[prost(message, optional, tag = "1")]
            base_event: Option<Base>,
            $( #[prost($($attr)*)] $field: $Field, )*
        }

        impl $Wire {
            const TYPE: i32 = $number;
        }
    };
}

written_out! {
    WireToolCallResult = 21 {
        subagent_run_id: Option<String> [string, optional, tag = "2"],
        message_id: String [string, tag = "3"],
        tool_call_id: String [string, tag = "4"],
        content: Option<String> [string, optional, tag = "5"],
        role: Option<String> [string, optional, tag = "6"],
        content_parts: Vec<WirePart> [message, repeated, tag = "7"],
    }
}

impl Field<WireToolCallResult> for ToolCallResultEvent {
    fn to_wire(&self) -> Result<WireToolCallResult, EncodeError> {
        closed(&self.extra)?;
        let (content, content_parts) = content_to_wire(&self.content)?;
        Ok(WireToolCallResult {
            base_event: base(
                WireToolCallResult::TYPE,
                &self.timestamp,
                &self.raw_event,
                &self.metadata,
            )?,
            subagent_run_id: self.subagent_run_id.to_wire()?,
            message_id: self.message_id.to_wire()?,
            tool_call_id: self.tool_call_id.to_wire()?,
            content,
            role: self.role.to_wire()?,
            content_parts,
        })
    }

    fn from_wire(wire: WireToolCallResult) -> Result<Self, DecodeError> {
        let base = read_base(wire.base_event, WireToolCallResult::TYPE)?;
        let content = content_from_wire((wire.content, wire.content_parts))?;
        let mut event = Self::new(wire.message_id, wire.tool_call_id, content);
        event.role = Field::from_wire(wire.role)?;
        event.subagent_run_id = Field::from_wire(wire.subagent_run_id)?;
        (event.timestamp, event.raw_event, event.metadata) = base;
        Ok(event)
    }
}

mod outcomes;

pub(super) use outcomes::{WireRunFinished, WireSubagentFinished};
