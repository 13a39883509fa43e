//! Decoded values with their text.
use crate::dispatch::object;
use alloc::borrow::Cow;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{JsonStr, find_member};
use serde_json::value::RawValue;

/// A decoded value, with its JSON text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReceivedValue<T> {
    /// The value.
    pub value: T,
    /// The parameters or the result, verbatim; `{}` if absent.
    pub raw: Raw,
}

impl<T> ReceivedValue<T> {
    /// Creates a received value, for tests and for programs with their own events.
    pub fn new(value: T, raw: Raw) -> Self {
        Self { value, raw }
    }
}

/// Returns the session id of parameters.
pub(crate) fn session_id(params: Option<&RawValue>) -> Option<Cow<'_, str>> {
    string(params?.get(), &["sessionId"])
}

/// Returns a string of a JSON text.
pub(crate) fn string<'a>(text: &'a str, path: &[&str]) -> Option<Cow<'a, str>> {
    JsonStr::new(find_member(text, path)?)?.decode()
}

/// Returns the text of parameters; `{}` if absent.
pub(crate) fn raw_or_empty(params: Option<&RawValue>) -> Raw {
    match params {
        Some(params) => Raw::from(params),
        None => Raw::from_text(object(None)).unwrap_or_else(|_| Raw::from(RawValue::NULL)),
    }
}
