use super::locate::locate;
use super::mark::Recovery;
use super::text;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};
use serde::de::{DeserializeOwned, IgnoredAny};

/// Reads one JSON document as `T`.
///
/// Good input is read once. Bad input is read again to find out where it is bad.
///
/// ```
/// let error = jsonrpc_core::wire::decode::<Vec<u32>>("[1,-2]").unwrap_err();
/// assert_eq!((error.pointer(), error.to_string().as_str()), ("/1", "at /1: expected u32, got number"));
/// ```
///
/// # Errors
/// The text is not JSON, or not a `T`.
pub fn decode<T: DeserializeOwned>(text: &str) -> Result<T, DecodeError> {
    if let Some(value) = text::read(text) {
        return Ok(value);
    }
    // The type may be what reading stumbles over first in a text that is no JSON at all.
    serde_json::from_str::<IgnoredAny>(text).map_err(DecodeError::syntax)?;
    locate(text)
}

/// JSON text is not what its type says: where, what was expected, what came. It never repeats the peer's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    pointer: String,
    problem: String,
    recovery: Option<Box<Recovery>>,
}

impl core::error::Error for DecodeError {}

impl DecodeError {
    /// Where, as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)); empty for the whole document.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What was expected there, and what came.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    pub(super) fn new(problem: String) -> Self {
        Self { pointer: String::new(), problem, recovery: None }
    }

    pub(super) fn syntax(error: serde_json::Error) -> Self {
        Self::new(format!("expected JSON, got {error}"))
    }

    /// The same error, seen from the object or array that has the document as its member or item `name`.
    pub(crate) fn below(self, name: &str) -> Self {
        let mut pointer = String::new();
        push_segment(&mut pointer, name);
        self.under(&pointer)
    }

    /// The same error, seen from the document that has this one at `pointer`.
    pub(super) fn under(mut self, pointer: &str) -> Self {
        self.pointer.insert_str(0, pointer);
        if let Some(recovery) = &mut self.recovery {
            recovery.pointer.insert_str(0, pointer);
        }
        self
    }

    pub(super) fn at(self, pointer: String) -> Self {
        Self { pointer, ..self }
    }

    pub(super) fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_deref()
    }

    pub(super) fn recoverable(self, recovery: Option<Recovery>) -> Self {
        Self { recovery: recovery.map(Box::new), ..self }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "at {}: ", self.pointer)?;
        }
        f.write_str(&self.problem)
    }
}

/// Appends a segment to a JSON pointer.
pub(super) fn push_segment(pointer: &mut String, name: &str) {
    pointer.push('/');
    for character in name.chars() {
        let written = match character {
            '~' => pointer.write_str("~0"),
            '/' => pointer.write_str("~1"),
            other => pointer.write_char(other),
        };
        debug_assert!(written.is_ok(), "writing to a string does not fail");
    }
}

/// The segments of a JSON pointer as they were before they were written.
pub(super) fn segments(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~"))
}
