//! Reads members of JSON values, and writes names and pointers for findings.
use alloc::string::String;
use core::fmt::Write;
use serde_json::Value;

/// The longest part of a name that a message repeats, in characters.
const MAX_SHOWN: usize = 64;

/// Returns the member `name` if it is a string.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// Returns the items of the member `name` if it is an array.
pub(super) fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// Returns a received name as messages show it: cut, without control characters.
pub(super) fn shown(name: &str) -> String {
    let mut shown: String = name.chars().take(MAX_SHOWN).filter(|it| !it.is_control()).collect();
    if name.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Appends a segment to a JSON pointer.
pub(super) fn push(pointer: &mut String, name: &str) {
    let name = shown(name).replace('~', "~0").replace('/', "~1");
    // Writing to a string does not fail.
    let _ = write!(pointer, "/{name}");
}
