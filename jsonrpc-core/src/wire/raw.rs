//! Any JSON value, as text.
use super::decode_error::DecodeError;
use super::problem::Fault;
use super::reader::ValueReader;
use super::value::{View, Wire};
use super::writer::{Form, write_value};
use crate::checked;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// Any JSON value, kept as its text: with the order of members and the notation of numbers.
///
/// Values are equal if their texts are. In a serde format other than `serde_json`'s, it is the
/// value that the format holds.
///
/// ```
/// use jsonrpc_core::wire::Raw;
///
/// let raw: Raw = serde_json::from_str(r#"{"b":1.50,"a":[]}"#)?;
/// assert_eq!(raw.as_str(), r#"{"b":1.50,"a":[]}"#);
/// assert_eq!(Raw::from(serde_json::json!({ "path": "/a.txt" })).as_str(), r#"{"path":"/a.txt"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// Creates a value from JSON text.
    ///
    /// # Errors
    /// The text is not one JSON value.
    pub fn from_text(text: impl Into<String>) -> Result<Self, DecodeError> {
        RawValue::from_string(text.into()).map(Self::from).map_err(DecodeError::syntax)
    }

    /// Encodes a value of a type with serde's traits.
    ///
    /// # Errors
    /// `value` has no JSON form: a map has keys that are not strings, or its `Serialize` failed.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        to_raw_value(value).map(Self::from)
    }

    /// Encodes a value.
    pub fn of(value: &dyn Wire) -> Self {
        Self::written(value, Form::Verbatim)
    }

    /// Encodes a value without optional members that were `null`, and without invalid members that
    /// were preserved.
    pub fn without_nulls(value: &dyn Wire) -> Self {
        Self::written(value, Form::Fields)
    }

    fn written(value: &dyn Wire, form: Form) -> Self {
        let mut text = Vec::with_capacity(256);
        write_value(value, form, &mut text);
        let text = String::from_utf8(text).ok();
        text.and_then(|text| checked::boxed(text).ok()).map_or_else(Self::blank, Self::from)
    }

    /// Creates a value from validated text, without surrounding white space.
    pub(super) fn of_checked(text: &str) -> Option<Self> {
        checked::raw(text).map(Self::from)
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        self.as_ref().get()
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

impl From<serde_json::Value> for Raw {
    fn from(value: serde_json::Value) -> Self {
        Self::from_text(value.to_string()).unwrap_or_else(|_| Self::blank())
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

impl Wire for Raw {
    /// An empty text, which does not allocate.
    fn blank() -> Self {
        checked::boxed(String::new()).map_or_else(|_| Self::from(RawValue::NULL), Self)
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        match Self::of_checked(reader.text()?) {
            Some(value) => *self = value,
            None => return Err(reader.broken()),
        }
        Ok(())
    }

    fn view(&self) -> View<'_> {
        View::Text(self.as_str().into())
    }
}

crate::object! { @serde Raw }
