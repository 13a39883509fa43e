use super::decode::{DecodeError, decode};
use crate::checked;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// Any JSON value, kept as the text it came as: member order, number spelling and all.
///
/// Two are equal when their texts are. It reads from `serde_json` only.
///
/// ```
/// use jsonrpc_core::wire::Raw;
///
/// let raw: Raw = serde_json::from_str(r#"{"b":1.50,"a":[]}"#)?;
/// assert_eq!(raw.as_str(), r#"{"b":1.50,"a":[]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// How much memory a value is written into at first, in bytes.
    const USUAL: usize = 256;

    /// Takes JSON text.
    ///
    /// # Errors
    /// The text is not one JSON value.
    pub fn from_text(text: impl Into<String>) -> Result<Self, DecodeError> {
        RawValue::from_string(text.into()).map(Self).map_err(DecodeError::syntax)
    }

    /// Writes `value` as JSON text.
    ///
    /// # Errors
    /// `value` has no JSON form: a map whose keys are not strings, or its `Serialize` failed.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let mut text = Vec::with_capacity(Self::USUAL);
        super::write::write(value, &mut text)?;
        match String::from_utf8(text) {
            // To cut a short text's memory to its size would be dearer, and leave pieces.
            Ok(text) if text.len() <= Self::USUAL => checked::boxed(text.as_str().into()).map(Self),
            Ok(text) => checked::boxed(text).map(Self),
            // What is written is text; a serializer that puts something else in is asked again.
            Err(_) => to_raw_value(value).map(Self),
        }
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Reads the text as `T`.
    ///
    /// # Errors
    /// The value is not a `T`; the error says where.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode(self.as_str())
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Raw {}

impl From<Box<RawValue>> for Raw {
    fn from(value: Box<RawValue>) -> Self {
        Self(value)
    }
}

impl From<&RawValue> for Raw {
    fn from(value: &RawValue) -> Self {
        Self(value.to_owned())
    }
}

impl AsRef<RawValue> for Raw {
    fn as_ref(&self) -> &RawValue {
        &self.0
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::deserialize(deserializer).map(Self)
    }
}
