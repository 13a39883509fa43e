//! Strings of JSON text.
use alloc::borrow::Cow;
use jsonrpc_core::{JsonStr, find_member};

/// Returns a value that is a string.
#[inline]
pub(crate) fn string(member: &str) -> Option<Cow<'_, str>> {
    JsonStr::new(member)?.decode()
}

/// Returns a member that is a string.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<Cow<'a, str>> {
    string(find_member(object, &[name])?)
}
