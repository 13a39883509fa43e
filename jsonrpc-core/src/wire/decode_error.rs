//! The error of decoding a document.
use crate::pointer::push_segment;
use alloc::format;
use alloc::string::String;
use core::fmt;

/// An error decoding JSON text: the place, the expected value and the found kind of value. It
/// contains no values of the peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    pointer: String,
    problem: String,
}

impl core::error::Error for DecodeError {}

impl DecodeError {
    /// Returns the place as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901));
    /// empty for the whole document.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Returns the expected value and the found kind of value.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    pub(super) fn new(pointer: String, problem: String) -> Self {
        Self { pointer, problem }
    }

    pub(super) fn syntax(error: serde_json::Error) -> Self {
        Self { pointer: String::new(), problem: format!("expected JSON, got {error}") }
    }

    /// Returns the same error for the object or array with the document as its member or item
    /// `name`.
    pub(crate) fn below(mut self, name: &str) -> Self {
        let mut pointer = String::new();
        push_segment(&mut pointer, name);
        self.pointer.insert_str(0, &pointer);
        self
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
