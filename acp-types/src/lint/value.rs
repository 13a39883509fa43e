//! JSON values as text, and names and pointers for findings.
use alloc::borrow::Cow;
use alloc::string::String;
use core::iter;
use jsonrpc_core::pointer::push_segment;
use jsonrpc_core::{JsonStr, MemberReader, array_items, find_member};

/// Longest part of a received name in a message, in characters.
const MAX_SHOWN: usize = 64;

/// A JSON value of a validated line. Members and items are read on demand, without allocation. Of
/// repeated members the first counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    pub(super) const NULL: Self = Self("null");

    /// Creates a value from validated text without surrounding white space.
    pub(super) fn new(text: &'a str) -> Self {
        Self(text)
    }

    pub(super) fn as_text(self) -> &'a str {
        self.0
    }

    /// Returns the member `name` of an object.
    pub(super) fn get(self, name: &str) -> Option<Self> {
        find_member(self.0, &[name]).map(Self)
    }

    /// Returns the member at a path of names, each after a `/`.
    pub(super) fn pointer(self, path: &str) -> Option<Self> {
        path.split('/').skip(1).try_fold(self, Self::get)
    }

    /// Returns the members of an object, in order.
    pub(super) fn members(self) -> impl Iterator<Item = (Cow<'a, str>, Self)> {
        let mut reader = MemberReader::new(self.0.as_bytes()).ok();
        iter::from_fn(move || {
            let reader = reader.as_mut()?;
            let name = match reader.next_name().ok()?? {
                Cow::Borrowed(name) => Cow::Borrowed(core::str::from_utf8(name).ok()?),
                Cow::Owned(name) => Cow::Owned(String::from_utf8(name).ok()?),
            };
            Some((name, Self(reader.value().ok()?)))
        })
    }

    /// Returns the items of an array, in order.
    pub(super) fn items(self) -> impl Iterator<Item = Self> {
        array_items(self.0).map(Self)
    }

    /// Returns a string; `None` for other values, and for a lone surrogate.
    pub(super) fn as_str(self) -> Option<Cow<'a, str>> {
        JsonStr::new(self.0)?.decode()
    }

    pub(super) fn as_u64(self) -> Option<u64> {
        self.0.parse().ok()
    }

    pub(super) fn as_f64(self) -> Option<f64> {
        self.0
            .parse()
            .ok()
            .filter(|_| self.0.starts_with(|first: char| first == '-' || first.is_ascii_digit()))
    }

    /// Returns whether this is the string `text`.
    pub(super) fn is_str(self, text: &str) -> bool {
        JsonStr::new(self.0).is_some_and(|string| string == text)
    }

    pub(super) fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    pub(super) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    pub(super) fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    pub(super) fn is_boolean(self) -> bool {
        matches!(self.0, "true" | "false")
    }

    pub(super) fn is_null(self) -> bool {
        self.0 == "null"
    }
}

/// Returns the member `name` if it is a string.
pub(super) fn text<'a>(value: Json<'a>, name: &str) -> Option<Cow<'a, str>> {
    value.get(name)?.as_str()
}

/// Returns whether the member `name` is the string `expected`.
pub(super) fn is_text(value: Json<'_>, name: &str, expected: &str) -> bool {
    value.get(name).is_some_and(|value| value.is_str(expected))
}

/// Returns the items of the member `name` if it is an array.
pub(super) fn items<'a>(value: Json<'a>, name: &str) -> impl Iterator<Item = Json<'a>> {
    value.get(name).into_iter().flat_map(Json::items)
}

/// Returns a received name for messages: truncated, without control characters.
pub(super) fn shown(name: &str) -> String {
    let mut shown: String = name.chars().take(MAX_SHOWN).filter(|it| !it.is_control()).collect();
    if name.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Appends a segment to a JSON pointer.
pub(super) fn push(pointer: &mut String, name: &str) {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'~' | b'/');
    if name.len() <= MAX_SHOWN && name.bytes().all(is_plain) {
        pointer.push('/');
        return pointer.push_str(name);
    }
    push_segment(pointer, &shown(name));
}
