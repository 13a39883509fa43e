//! Conversions between members of this crate and fields of the binary form.
use super::value::{Struct, Value};
use crate::content::Content;
use crate::event::{ReasoningEncryptedValueSubtype, ReasoningRole, TextMessageRole, ToolRole};
use crate::id::{InterruptId, MessageId, RunId, SubagentRunId, ThreadId, ToolCallId};
use crate::integer::{Count, SafeInteger};
use crate::interrupt::ResumeStatus;
use crate::tool::ToolCallType;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde::Serialize;

/// A conversion between a value of this crate and its binary form.
pub(super) trait Field<W>: Sized {
    fn to_wire(&self) -> Result<W, EncodeError>;
    fn from_wire(wire: W) -> Result<Self, DecodeError>;
}

/// An error writing an event: the binary form cannot express it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// An event, variant or name that this version does not know.
    #[error("the binary form has no {0:?}")]
    Unknown(String),
    /// A member.
    #[error("the binary form has no member {0:?} here")]
    Member(String),
    /// A value that is nested too deeply, or has a number outside the range of a double.
    #[error("the value has no binary form: {0}")]
    Value(String),
    /// More bytes than the length of a frame can express.
    #[error("the event is too long for a frame")]
    TooLong,
}

/// An error reading an event in the binary form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes are not the expected protobuf message.
    #[error("not the protobuf message that was expected: {0}")]
    Protobuf(String),
    /// The message holds no event.
    #[error("the message holds no event")]
    Empty,
    /// The message holds more than one event.
    #[error("the message holds more than one event")]
    Several,
    /// The event's type contradicts its field in the envelope.
    #[error("the event states type {found} in the field of type {expected}")]
    Type {
        /// The type of the field.
        expected: i32,
        /// The type that the event states.
        found: i32,
    },
    /// A value is missing or invalid.
    #[error("{0}")]
    Value(String),
}

impl From<prost::DecodeError> for DecodeError {
    fn from(error: prost::DecodeError) -> Self {
        Self::Protobuf(error.to_string())
    }
}

/// Checks that no unknown member is present, since the binary form has no place for it.
pub(super) fn closed(extra: &Extra) -> Result<(), EncodeError> {
    match extra.iter().next() {
        Some((name, _)) => Err(EncodeError::Member(name.into())),
        None => Ok(()),
    }
}

/// Checks that a member is absent, since the binary form has no place for it.
pub(super) fn without<T>(name: &str, member: &Option<T>) -> Result<(), EncodeError> {
    if member.is_some() { Err(EncodeError::Member(name.into())) } else { Ok(()) }
}

pub(super) fn missing(name: &str) -> DecodeError {
    DecodeError::Value(alloc::format!("{name} is missing"))
}

macro_rules! strings {
    ($($Type:ty)*) => { $(
        impl Field<String> for $Type {
            fn to_wire(&self) -> Result<String, EncodeError> {
                Ok(self.as_str().into())
            }

            fn from_wire(wire: String) -> Result<Self, DecodeError> {
                Ok(wire.into())
            }
        }
    )* };
}

strings! { String ThreadId RunId MessageId ToolCallId SubagentRunId InterruptId }

macro_rules! names {
    ($($Type:ty)*) => { $(
        impl Field<String> for $Type {
            fn to_wire(&self) -> Result<String, EncodeError> {
                if self.is_known() {
                    Ok(self.as_str().into())
                } else {
                    Err(EncodeError::Unknown(self.as_str().into()))
                }
            }

            fn from_wire(wire: String) -> Result<Self, DecodeError> {
                Ok(Self::from(&*wire))
            }
        }
    )* };
}

names! { TextMessageRole ToolRole ReasoningRole ReasoningEncryptedValueSubtype ToolCallType ResumeStatus }

impl Field<bool> for bool {
    fn to_wire(&self) -> Result<bool, EncodeError> {
        Ok(*self)
    }

    fn from_wire(wire: bool) -> Result<Self, DecodeError> {
        Ok(wire)
    }
}

impl Field<i64> for SafeInteger {
    fn to_wire(&self) -> Result<i64, EncodeError> {
        Ok(self.get())
    }

    fn from_wire(wire: i64) -> Result<Self, DecodeError> {
        wire.try_into().map_err(|error: crate::integer::IntegerRangeError| {
            DecodeError::Value(error.to_string())
        })
    }
}

impl Field<i64> for Count {
    fn to_wire(&self) -> Result<i64, EncodeError> {
        // At most 2^53 - 1.
        Ok(self.get() as i64)
    }

    fn from_wire(wire: i64) -> Result<Self, DecodeError> {
        wire.try_into().map_err(|error: crate::integer::IntegerRangeError| {
            DecodeError::Value(error.to_string())
        })
    }
}

impl Field<Value> for Raw {
    fn to_wire(&self) -> Result<Value, EncodeError> {
        self.decode_serde().map_err(|error| EncodeError::Value(error.to_string()))
    }

    fn from_wire(wire: Value) -> Result<Self, DecodeError> {
        Self::from_value(&wire).map_err(|error| DecodeError::Value(error.to_string()))
    }
}

/// A required value.
impl Field<Option<Value>> for Raw {
    fn to_wire(&self) -> Result<Option<Value>, EncodeError> {
        Field::<Value>::to_wire(self).map(Some)
    }

    fn from_wire(wire: Option<Value>) -> Result<Self, DecodeError> {
        Field::<Value>::from_wire(wire.ok_or_else(|| missing("a value"))?)
    }
}

fn json<T: Serialize>(value: &T) -> Result<Raw, serde_json::Error> {
    Raw::from_value(value)
}

impl Field<Struct> for Extra {
    fn to_wire(&self) -> Result<Struct, EncodeError> {
        let text = json(self).map_err(|error| EncodeError::Value(error.to_string()))?;
        text.decode_serde().map_err(|error| EncodeError::Value(error.to_string()))
    }

    fn from_wire(wire: Struct) -> Result<Self, DecodeError> {
        let text = json(&wire).map_err(|error| DecodeError::Value(error.to_string()))?;
        text.decode().map_err(|error| DecodeError::Value(error.to_string()))
    }
}

/// An object; empty if absent.
impl Field<Option<Struct>> for Extra {
    fn to_wire(&self) -> Result<Option<Struct>, EncodeError> {
        Field::<Struct>::to_wire(self).map(Some)
    }

    fn from_wire(wire: Option<Struct>) -> Result<Self, DecodeError> {
        Field::<Struct>::from_wire(wire.unwrap_or_default())
    }
}

/// An object, where the binary form has any value.
impl Field<Value> for Extra {
    fn to_wire(&self) -> Result<Value, EncodeError> {
        let text = json(self).map_err(|error| EncodeError::Value(error.to_string()))?;
        Field::<Value>::to_wire(&text)
    }

    fn from_wire(wire: Value) -> Result<Self, DecodeError> {
        let text: Raw = Field::<Value>::from_wire(wire)?;
        text.decode().map_err(|error| DecodeError::Value(error.to_string()))
    }
}

impl<W, T: Field<W>> Field<Option<W>> for Option<T> {
    fn to_wire(&self) -> Result<Option<W>, EncodeError> {
        self.as_ref().map(T::to_wire).transpose()
    }

    fn from_wire(wire: Option<W>) -> Result<Self, DecodeError> {
        wire.map(T::from_wire).transpose()
    }
}

impl<W, T: Field<W>> Field<Vec<W>> for Vec<T> {
    fn to_wire(&self) -> Result<Vec<W>, EncodeError> {
        self.iter().map(T::to_wire).collect()
    }

    fn from_wire(wire: Vec<W>) -> Result<Self, DecodeError> {
        wire.into_iter().map(T::from_wire).collect()
    }
}

/// A list; absent if empty.
impl<W, T: Field<W>> Field<Vec<W>> for Option<Vec<T>> {
    fn to_wire(&self) -> Result<Vec<W>, EncodeError> {
        self.iter().flatten().map(T::to_wire).collect()
    }

    fn from_wire(wire: Vec<W>) -> Result<Self, DecodeError> {
        if wire.is_empty() { Ok(None) } else { Vec::from_wire(wire).map(Some) }
    }
}

impl<W, T: Field<W>> Field<W> for Box<T> {
    fn to_wire(&self) -> Result<W, EncodeError> {
        T::to_wire(self)
    }

    fn from_wire(wire: W) -> Result<Self, DecodeError> {
        T::from_wire(wire).map(Box::new)
    }
}

/// Content in two fields: a string, or parts.
pub(super) type ContentFields<P> = (Option<String>, Vec<P>);

pub(super) fn content_to_wire<P>(content: &Content) -> Result<ContentFields<P>, EncodeError>
where
    crate::content::ContentPart: Field<P>,
{
    match content {
        Content::Text(text) => Ok((Some(text.clone()), Vec::new())),
        Content::Parts(parts) => Ok((None, parts.to_wire()?)),
    }
}

pub(super) fn content_from_wire<P>((text, parts): ContentFields<P>) -> Result<Content, DecodeError>
where
    crate::content::ContentPart: Field<P>,
{
    match (text, parts.is_empty()) {
        (Some(text), true) => Ok(Content::Text(text)),
        (None, true) => Ok(Content::Text(String::new())),
        (None, false) => Ok(Content::Parts(Vec::from_wire(parts)?)),
        (Some(_), false) => Err(DecodeError::Value("content is both text and parts".into())),
    }
}
