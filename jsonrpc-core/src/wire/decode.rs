use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::{self, Write};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_path_to_error::{Path, Segment, Track};

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
    serde_json::from_str(text).map_err(|error| {
        // The type may be what reading stumbles over first in a text that is no JSON at all.
        match serde_json::from_str::<IgnoredAny>(text) {
            Ok(IgnoredAny) => DecodeError::locate::<T>(text, &error),
            Err(error) => DecodeError::syntax(error),
        }
    })
}

/// JSON text is not what its type says: where, what was expected, what came. It never repeats the peer's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    pointer: String,
    problem: String,
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

    pub(super) fn syntax(error: serde_json::Error) -> Self {
        Self { pointer: String::new(), problem: format!("expected JSON, got {error}") }
    }

    /// The same error, seen from the object that has the document as its member `name`.
    pub(crate) fn below(mut self, name: &str) -> Self {
        let mut pointer = String::new();
        push_segment(&mut pointer, name);
        self.pointer.insert_str(0, &pointer);
        self
    }

    fn locate<T: DeserializeOwned>(text: &str, error: &serde_json::Error) -> Self {
        let mut track = Track::new();
        let mut json = serde_json::Deserializer::from_str(text);
        let tracked = T::deserialize(serde_path_to_error::Deserializer::new(&mut json, &mut track));
        let message = tracked.err().map_or_else(|| error.to_string(), |error| error.to_string());
        let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
        let mut pointer = pointer(&track.path());
        // An error that was made from one of ours, for members that were kept, already has the end of the pointer.
        if let Some((end, problem)) =
            message.strip_prefix(PREFIX).and_then(|rest| rest.split_once(": "))
        {
            pointer.push_str(end);
            return Self { pointer, problem: problem.to_owned() };
        }
        let problem = problem(message, text, &pointer);
        Self { pointer, problem }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{PREFIX}{}: ", self.pointer)?;
        }
        f.write_str(&self.problem)
    }
}

const PREFIX: &str = "at ";

/// Says a serde message without the value it quotes.
fn problem(message: &str, text: &str, pointer: &str) -> String {
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("expected member {name}, got none");
    }
    if let Some(name) = message.strip_prefix("duplicate field ") {
        return format!("expected one member {name}, got two");
    }
    let expected = message.rsplit_once(", expected ").map(|(_, expected)| expected);
    match expected {
        Some(expected) => format!("expected {expected}, got {}", kind_at(text, pointer)),
        None => message.to_owned(),
    }
}

fn kind_at(text: &str, pointer: &str) -> &'static str {
    // A document that is nested too deep for a tree still has its error, without what came.
    let Ok(document) = serde_json::from_str::<Value>(text) else { return "another value" };
    match document.pointer(pointer) {
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
        None => "none",
    }
}

fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => push_segment(&mut pointer, &index.to_string()),
            Segment::Map { key } => push_segment(&mut pointer, key),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

fn push_segment(pointer: &mut String, name: &str) {
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
