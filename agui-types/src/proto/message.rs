//! Messages, tools and run input.
use super::content::WirePart;
use super::field::{
    DecodeError, EncodeError, Field, closed, content_from_wire, content_to_wire, without,
};
use super::value::{Struct, Value};
use crate::input::{Context, RunAgentInput};
use crate::interrupt::{Interrupt, ResumeEntry};
use crate::message::{
    ActivityMessage, AssistantMessage, DeveloperMessage, Message, ReasoningMessage, SystemMessage,
    ToolMessage, UserMessage,
};
use crate::tool::{FunctionCall, Tool, ToolCall};
use crate::usage::TokenUsage;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;

message! {
    WireUsage is TokenUsage {
        provider: Option<String> [string, optional, tag = "1"],
        model: Option<String> [string, optional, tag = "2"],
        input_tokens: Option<i64> [int64, optional, tag = "3"],
        output_tokens: Option<i64> [int64, optional, tag = "4"],
        total_tokens: Option<i64> [int64, optional, tag = "5"],
        reasoning_tokens: Option<i64> [int64, optional, tag = "6"],
        cached_input_tokens: Option<i64> [int64, optional, tag = "7"],
        cache_write_input_tokens: Option<i64> [int64, optional, tag = "8"],
    }
}

message! {
    WireInterrupt is Interrupt {
        id: String [string, tag = "1"],
        reason: String [string, tag = "2"],
        message: Option<String> [string, optional, tag = "3"],
        tool_call_id: Option<String> [string, optional, tag = "4"],
        response_schema: Option<Value> [message, optional, tag = "5"],
        expires_at: Option<String> [string, optional, tag = "6"],
        metadata: Option<Value> [message, optional, tag = "7"],
        subagent_run_id: Option<String> [string, optional, tag = "8"],
    }
}

message! {
    WireResume is ResumeEntry {
        interrupt_id: String [string, tag = "1"],
        status: String [string, tag = "2"],
        payload: Option<Value> [message, optional, tag = "3"],
        metadata: Option<Struct> [message, optional, tag = "4"],
    }
}

message! {
    WireTool is Tool {
        name: String [string, tag = "1"],
        description: String [string, tag = "2"],
        parameters: Option<Value> [message, optional, tag = "3"],
        metadata: Option<Struct> [message, optional, tag = "4"],
    }
}

message! {
    WireContext is Context {
        description: String [string, tag = "1"],
        value: String [string, tag = "2"],
    }
}

message! {
    WireRunInput is RunAgentInput {
        thread_id: String [string, tag = "1"],
        run_id: String [string, tag = "2"],
        parent_run_id: Option<String> [string, optional, tag = "3"],
        state: Option<Value> [message, optional, tag = "4"],
        messages: Vec<WireMessage> [message, repeated, tag = "5"],
        tools: Vec<WireTool> [message, repeated, tag = "6"],
        context: Vec<WireContext> [message, repeated, tag = "7"],
        forwarded_props: Option<Value> [message, optional, tag = "8"],
        resume: Vec<WireResume> [message, repeated, tag = "9"],
        protocol_version: Option<String> [string, optional, tag = "10"],
    }
}

message! {
    WireFunction is FunctionCall {
        name: String [string, tag = "1"],
        arguments: String [string, tag = "2"],
    }
}

message! {
    WireToolCall is ToolCall {
        id: String [string, tag = "1"],
        r#type: String [string, tag = "2"],
        function: Option<WireFunction> [message, optional, tag = "3"],
        metadata: Option<Struct> [message, optional, tag = "4"],
        encrypted_value: Option<String> [string, optional, tag = "5"],
    } without { encrypted_value_type = "encryptedValueType" }
}

/// A message of any role, with the members of all roles.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct WireMessage {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    role: String,
    #[prost(string, optional, tag = "3")]
    content: Option<String>,
    #[prost(string, optional, tag = "4")]
    name: Option<String>,
    #[prost(message, repeated, tag = "5")]
    tool_calls: Vec<WireToolCall>,
    #[prost(string, optional, tag = "6")]
    tool_call_id: Option<String>,
    #[prost(string, optional, tag = "7")]
    error: Option<String>,
    #[prost(message, repeated, tag = "8")]
    content_parts: Vec<WirePart>,
    #[prost(message, optional, tag = "9")]
    metadata: Option<Struct>,
    #[prost(string, optional, tag = "10")]
    subagent_run_id: Option<String>,
    #[prost(string, optional, tag = "11")]
    encrypted_value: Option<String>,
    #[prost(string, optional, tag = "12")]
    activity_type: Option<String>,
    #[prost(message, optional, tag = "13")]
    activity_content: Option<Struct>,
}

/// The members common to most roles.
macro_rules! common {
    ($message:expr, $role:expr) => {{
        closed(&$message.extra)?;
        WireMessage {
            id: $message.id.to_wire()?,
            role: $role.into(),
            metadata: Field::<Option<Struct>>::to_wire(&$message.metadata)?,
            subagent_run_id: $message.subagent_run_id.to_wire()?,
            ..WireMessage::default()
        }
    }};
    ($message:expr, $role:expr, encrypted) => {{
        without("encryptedValueType", &$message.encrypted_value_type)?;
        WireMessage {
            encrypted_value: $message.encrypted_value.clone(),
            ..common!($message, $role)
        }
    }};
}

impl Field<WireMessage> for Message {
    fn to_wire(&self) -> Result<WireMessage, EncodeError> {
        let role = self.tag();
        let mut wire = match self {
            Self::Developer(message) => WireMessage {
                content: Some(message.content.clone()),
                name: message.name.clone(),
                ..common!(message, role, encrypted)
            },
            Self::System(message) => WireMessage {
                content: Some(message.content.clone()),
                name: message.name.clone(),
                ..common!(message, role, encrypted)
            },
            Self::Assistant(message) => WireMessage {
                content: message.content.clone(),
                name: message.name.clone(),
                tool_calls: message.tool_calls.to_wire()?,
                ..common!(message, role, encrypted)
            },
            Self::User(message) => {
                WireMessage { name: message.name.clone(), ..common!(message, role, encrypted) }
            }
            Self::Tool(message) => WireMessage {
                tool_call_id: Some(message.tool_call_id.to_wire()?),
                error: message.error.clone(),
                ..common!(message, role, encrypted)
            },
            Self::Activity(message) => WireMessage {
                activity_type: Some(message.activity_type.clone()),
                activity_content: Some(message.content.to_wire()?),
                ..common!(message, role)
            },
            Self::Reasoning(message) => WireMessage {
                content: Some(message.content.clone()),
                ..common!(message, role, encrypted)
            },
            Self::Unknown(other) => return Err(EncodeError::Unknown(other.tag().into())),
        };
        if let Self::User(UserMessage { content, .. }) | Self::Tool(ToolMessage { content, .. }) =
            self
        {
            (wire.content, wire.content_parts) = content_to_wire(content)?;
        }
        Ok(wire)
    }

    fn from_wire(wire: WireMessage) -> Result<Self, DecodeError> {
        let id = wire.id;
        let name = wire.name;
        let content = wire.content;
        let parts = wire.content_parts;
        let metadata = Option::<Extra>::from_wire(wire.metadata)?;
        let subagent_run_id = wire.subagent_run_id.map(Into::into);
        let encrypted_value = wire.encrypted_value;
        let text = content.clone().unwrap_or_default();
        Ok(match &*wire.role {
            "developer" => Self::Developer(DeveloperMessage {
                name,
                encrypted_value,
                metadata,
                subagent_run_id,
                ..DeveloperMessage::new(id, text)
            }),
            "system" => Self::System(SystemMessage {
                name,
                encrypted_value,
                metadata,
                subagent_run_id,
                ..SystemMessage::new(id, text)
            }),
            "assistant" => Self::Assistant(AssistantMessage {
                content,
                tool_calls: Field::from_wire(wire.tool_calls)?,
                name,
                encrypted_value,
                metadata,
                subagent_run_id,
                ..AssistantMessage::new(id)
            }),
            "user" => Self::User(UserMessage {
                name,
                encrypted_value,
                metadata,
                subagent_run_id,
                ..UserMessage::new(id, content_from_wire((content, parts))?)
            }),
            "tool" => {
                let content = content_from_wire((content, parts))?;
                let call = wire.tool_call_id.unwrap_or_default();
                Self::Tool(ToolMessage {
                    error: wire.error,
                    encrypted_value,
                    metadata,
                    subagent_run_id,
                    ..ToolMessage::new(id, content, call)
                })
            }
            "activity" => {
                let content: Extra = Field::<Option<Struct>>::from_wire(wire.activity_content)?;
                let kind = wire.activity_type.unwrap_or_default();
                Self::Activity(ActivityMessage {
                    metadata,
                    subagent_run_id,
                    ..ActivityMessage::new(id, kind, content)
                })
            }
            "reasoning" => Self::Reasoning(ReasoningMessage {
                encrypted_value,
                metadata,
                subagent_run_id,
                ..ReasoningMessage::new(id, text)
            }),
            other => {
                return Err(DecodeError::Value(alloc::format!(
                    "{other:?} is not a role of a message"
                )));
            }
        })
    }
}
