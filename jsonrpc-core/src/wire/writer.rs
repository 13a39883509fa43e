//! The writer of values as JSON text.
use super::extra::{Extra, ReceivedForm};
use super::raw::Raw;
use super::table::{Member, Table, Tags};
use super::value::{FlatObject, Members, View, Wire};
use crate::json_text;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Appends `value` as JSON text, without line ends or other white space of its own.
///
/// ```
/// let mut out = b"numbers: ".to_vec();
/// jsonrpc_core::wire::write(&vec![Some(1_u8), None], &mut out);
/// assert_eq!(out, b"numbers: [1,null]");
/// ```
pub fn write(value: &dyn Wire, out: &mut Vec<u8>) {
    write_value(value, Form::Verbatim, out);
}

/// Appends `value` as JSON text on one line: each line break inside a [`Raw`](super::Raw) becomes a
/// space. Line breaks of JSON are between tokens, where both are equivalent.
///
/// ```
/// use jsonrpc_core::wire::{self, Raw};
///
/// let mut out = b"data: ".to_vec();
/// wire::write_on_one_line(&Raw::from_text("{\n}")?, &mut out);
/// assert_eq!(out, b"data: { }");
/// # Ok::<(), wire::DecodeError>(())
/// ```
pub fn write_on_one_line(value: &dyn Wire, out: &mut Vec<u8>) {
    write_value(value, Form::OneLine, out);
}

/// The treatment of received text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Byte for byte.
    Verbatim,
    /// Without line breaks.
    OneLine,
    /// Without received forms of known members.
    Fields,
}

pub(super) fn write_value(value: &dyn Wire, form: Form, out: &mut Vec<u8>) {
    match value.view() {
        View::Null => out.extend_from_slice(b"null"),
        View::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        View::Unsigned(number) => json_text::integer(false, number, out),
        View::Signed(number) => json_text::integer(number < 0, number.unsigned_abs(), out),
        View::Float(number) => match serde_json::to_vec(&number) {
            Ok(text) => out.extend_from_slice(&text),
            Err(_) => out.extend_from_slice(b"null"),
        },
        View::Str(text) => json_text::string(text, out),
        View::Text(text) if form == Form::OneLine => json_text::raw(text.as_bytes(), out),
        View::Text(text) => out.extend_from_slice(text.as_bytes()),
        View::List(list) => {
            out.push(b'[');
            for at in 0..list.len() {
                if at > 0 {
                    out.push(b',');
                }
                if let Some(item) = list.item(at) {
                    write_value(item, form, out);
                }
            }
            out.push(b']');
        }
        View::Object(object) => {
            out.push(b'{');
            let mut entries = Entries::new(object, Sink::Text { out, is_first: true, form });
            object.write_members(&mut entries);
            entries.end();
            out.push(b'}');
        }
    }
}

/// The members of an object during writing.
pub struct Entries<'e> {
    sink: Sink<'e>,
    /// Received forms of known members.
    kept: &'e [(&'static str, ReceivedForm)],
    /// The names of the written fields, if any form is kept.
    written: Vec<&'static str>,
}

pub(super) enum Sink<'e> {
    /// JSON text.
    Text { out: &'e mut Vec<u8>, is_first: bool, form: Form },
    /// A name and a value each.
    Each(&'e mut dyn FnMut(&str, &dyn Wire)),
}

impl core::fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Entries").field("written", &self.written).finish_non_exhaustive()
    }
}

impl<'e> Entries<'e> {
    pub(super) fn new(object: &'e dyn Members, sink: Sink<'e>) -> Self {
        let keeps = !matches!(sink, Sink::Text { form: Form::Fields, .. });
        let kept = object.extra().filter(|_| keeps).map(Extra::kept).unwrap_or_default();
        Self { sink, kept, written: Vec::new() }
    }

    /// Writes the fields of an object in the order of its table; those without a value are absent.
    pub fn fields(&mut self, table: &'static Table, values: &[Option<&dyn Wire>]) {
        for (member, value) in table.members.iter().zip(values) {
            let Some(value) = value else { continue };
            if self.kept.is_empty() {
                self.member(member, *value);
            } else {
                self.member_or_kept(member, *value);
            }
        }
    }

    #[inline]
    fn member(&mut self, member: &'static Member, value: &dyn Wire) {
        match &mut self.sink {
            Sink::Text { out, is_first, form } if member.is_plain => {
                let quoted = member.quoted.as_bytes();
                let skipped = usize::from(core::mem::take(is_first));
                out.extend_from_slice(quoted.get(skipped..).unwrap_or_default());
                write_value(value, *form, out);
            }
            _ => self.entry(member.name, value),
        }
    }

    /// Writes the tag of a union and the members of its variant.
    pub fn tagged(&mut self, tags: &'static Tags, tag: &str, payload: &dyn FlatObject) {
        match &mut self.sink {
            Sink::Text { out, is_first, .. } => {
                let skipped = usize::from(core::mem::take(is_first));
                out.extend_from_slice(tags.quoted.as_bytes().get(skipped..).unwrap_or_default());
                json_text::string(tag, out);
            }
            Sink::Each(each) => each(tags.name, &Box::<str>::from(tag)),
        }
        payload.write_members(self);
    }

    /// Writes one member.
    pub fn entry(&mut self, name: &str, value: &dyn Wire) {
        match &mut self.sink {
            Sink::Text { out, is_first, form } => {
                if !core::mem::take(is_first) {
                    out.push(b',');
                }
                json_text::string(name, out);
                out.push(b':');
                write_value(value, *form, out);
            }
            Sink::Each(each) => each(name, value),
        }
    }

    /// Writes a field, or its received form if the field is unchanged.
    #[cold]
    fn member_or_kept(&mut self, member: &'static Member, value: &dyn Wire) {
        self.written.push(member.name);
        let kept = self.kept.iter().find(|(name, _)| *name == member.name);
        match kept {
            Some((_, ReceivedForm::Value(came))) if is_default(member, value) => {
                self.entry(member.name, came);
            }
            Some((_, ReceivedForm::Items(left_out))) => {
                let mut text = Vec::new();
                write(value, &mut text);
                let list = left_out.put_back(&text).and_then(|list| Raw::from_text(list).ok());
                match list {
                    Some(list) => self.entry(member.name, &list),
                    None => self.member(member, value),
                }
            }
            _ => self.member(member, value),
        }
    }

    /// Writes the received forms of members without a value.
    #[inline]
    pub(super) fn end(self) {
        if !self.kept.is_empty() {
            self.end_with_kept();
        }
    }

    #[cold]
    fn end_with_kept(mut self) {
        for (name, kept) in self.kept {
            if self.written.contains(name) {
                continue;
            }
            match kept {
                ReceivedForm::Null => self.entry(name, &()),
                ReceivedForm::Value(came) => self.entry(name, came),
                ReceivedForm::Items(_) => {}
            }
        }
    }
}

/// Returns whether a required member has the default of its table.
fn is_default(member: &Member, value: &dyn Wire) -> bool {
    let Some(default) = member.default else { return false };
    let mut text = Vec::new();
    write(value, &mut text);
    let value = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).ok();
    text == default.as_bytes() || value(&text) == value(default.as_bytes())
}

/// Returns the value of an optional field.
#[inline]
pub fn optional<T: Wire>(field: &Option<T>) -> Option<&dyn Wire> {
    // Generated for each type: a `match` is smaller than `map` with a closure.
    match field {
        Some(value) => Some(value),
        None => None,
    }
}
