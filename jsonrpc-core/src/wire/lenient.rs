use super::decode::{DecodeError, decode, push_segment, segments};
use super::diagnostic::{Diagnostic, DiagnosticCode};
use super::locate::Pairs;
use super::mark::Recovery;
use super::object::Name;
use crate::encode;
use alloc::borrow::{Cow, ToOwned};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// What becomes of a member that cannot be read, where its specification says what to take instead (the marks of
/// [`object!`](crate::object)).
///
/// In all of them, members, names and variants that the type does not know are kept, and an error where the specification
/// says nothing is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It is an error, as it is for [`decode`].
    Strict,
    /// What the specification says is taken, and a [`Diagnostic`] tells.
    SpecLenient,
    /// As `SpecLenient`, and what could not be read is kept aside, so that [`Decoded::encode`] gives it back.
    #[default]
    Preserve,
}

/// A value, and what was done so that the text could be read as one.
#[derive(Clone, Debug)]
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    /// What was done, in order.
    pub diagnostics: Vec<Diagnostic>,
    edits: Vec<Edit>,
}

impl<T> Decoded<T> {
    /// The most diagnostics that one text may have; more are the error that they tell of.
    pub const MAX_DIAGNOSTICS: usize = 256;

    /// How many bytes are read again at most to get around errors, in all: 64 MiB. A long text may have fewer
    /// diagnostics for that.
    pub const MAX_REREAD: usize = 64 * 1024 * 1024;

    /// The same of a value that is made of this one, and has the same JSON form.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Decoded<U> {
        let Self { value, diagnostics, edits } = self;
        Decoded { value: make(value), diagnostics, edits }
    }
}

/// A value for which nothing had to be done.
impl<T> From<T> for Decoded<T> {
    fn from(value: T) -> Self {
        Self { value, diagnostics: Vec::new(), edits: Vec::new() }
    }
}

impl<T: Serialize> Decoded<T> {
    /// Writes the value as JSON text. In [`Mode::Preserve`] it is the same JSON value as the text that was read, as long
    /// as nobody changed this one: what could not be read is put back where it was, if nothing else is there now.
    ///
    /// # Errors
    /// The value has no JSON form; see [`Raw::from_value`](super::Raw::from_value).
    pub fn encode(&self) -> Result<String, serde_json::Error> {
        let text = serde_json::to_string(&self.value)?;
        Ok(self.edits.iter().rev().fold(text, |text, edit| edit.undo(&text).unwrap_or(text)))
    }
}

/// Reads one JSON document as `T`, in one of the [modes](Mode).
///
/// Good input is read once, as [`decode`] reads it. Only where that fails the marks are looked at.
///
/// ```
/// use jsonrpc_core::wire::{self, DiagnosticCode, Mode};
///
/// jsonrpc_core::object! {
///     /// A step.
///     pub struct Step {
///         /// What is done.
///         name: String = "name",
///     }
/// }
/// jsonrpc_core::object! {
///     /// What will be done.
///     pub struct Plan {
///         /// One after the other.
///         steps: Vec<Step> = "steps" [skip_invalid_items, default_on_null] or "[]",
///     }
///     optional {
///         /// How urgent it is.
///         priority: u8 = "priority" [default_on_error],
///     }
/// }
///
/// let text = r#"{"steps":[{"name":"read"},{"name":7},{"name":"write"}],"priority":"high"}"#;
/// assert_eq!(wire::decode::<Plan>(text).unwrap_err().pointer(), "/steps/1/name");
///
/// let plan = wire::decode_with::<Plan>(text, Mode::Preserve)?;
/// assert_eq!((plan.value.steps.len(), plan.value.priority), (2, None));
/// let told: Vec<_> = plan.diagnostics.iter().map(ToString::to_string).collect();
/// assert_eq!(told, [
///     "skipped_item at /steps/1: at /steps/1/name: expected a string, got number",
///     "default_on_error at /priority: expected u8, got string",
/// ]);
/// assert_eq!(plan.encode()?, text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The text is not JSON, or not a `T` even with what the specification allows.
pub fn decode_with<T: DeserializeOwned>(text: &str, mode: Mode) -> Result<Decoded<T>, DecodeError> {
    let mut decoded = decode(text);
    let (mut text, mut diagnostics, mut edits) = (Cow::Borrowed(text), Vec::new(), Vec::new());
    let mut reread = 0;
    while let Err(error) = &decoded
        && let Some(recovery) = error.recovery()
        && mode != Mode::Strict
        && diagnostics.len() < Decoded::<T>::MAX_DIAGNOSTICS
        && reread < Decoded::<T>::MAX_REREAD
        && let Some((edit, edited)) = Edit::new(&text, recovery)
    {
        diagnostics.push(diagnostic(error, recovery, &edits));
        edits.push(edit);
        reread += edited.len();
        decoded = decode(&edited);
        text = edited.into();
    }
    let value = decoded.map_err(|error| {
        let pointer = original(error.pointer(), &edits);
        error.at(pointer).recoverable(None)
    })?;
    if mode != Mode::Preserve {
        edits.clear();
    }
    Ok(Decoded { value, diagnostics, edits })
}

fn diagnostic(error: &DecodeError, recovery: &Recovery, edits: &[Edit]) -> Diagnostic {
    let problem = if error.pointer() == recovery.pointer {
        error.problem().to_owned()
    } else {
        error.clone().at(original(error.pointer(), edits)).to_string()
    };
    Diagnostic::new(recovery.code, original(&recovery.pointer, edits), problem)
}

/// The pointer into the text as it came, for one into the text after `edits`.
fn original(pointer: &str, edits: &[Edit]) -> String {
    edits.iter().rev().fold(pointer.to_owned(), |pointer, edit| edit.before(pointer))
}

/// What was changed in a text so that it can be read, and what was there.
#[derive(Clone, Debug)]
struct Edit {
    /// The object or array that was changed.
    parent: String,
    change: Change,
    was: String,
}

#[derive(Clone, Debug)]
enum Change {
    /// A member got another value.
    Replaced { name: String, default: String },
    /// A member went away.
    Member { name: String },
    /// An item went away.
    Item { at: usize },
}

impl Edit {
    /// Does what the specification says, and gives the changed text.
    fn new(text: &str, recovery: &Recovery) -> Option<(Self, String)> {
        let (parent, _) = recovery.pointer.rsplit_once('/')?;
        let last = segments(&recovery.pointer).last()?;
        let place = find(text, parent)?;
        let object = text.get(place.clone())?;
        let change = if object.starts_with('[') {
            Change::Item { at: last.parse().ok()? }
        } else if recovery.default.is_empty() || recovery.code == DiagnosticCode::SkippedItem {
            Change::Member { name: last }
        } else {
            Change::Replaced { name: last, default: recovery.default.clone() }
        };
        let (changed, was) = change.apply(object)?;
        Some((Self { parent: parent.into(), change, was }, splice(text, place, &changed)?))
    }

    /// The pointer before the change, for one after it.
    fn before(&self, pointer: String) -> String {
        let Change::Item { at } = self.change else { return pointer };
        let below = pointer.strip_prefix(&*self.parent).and_then(|rest| rest.strip_prefix('/'));
        let Some(below) = below else { return pointer };
        let (item, rest) = below.split_at(below.find('/').unwrap_or(below.len()));
        match item.parse::<usize>() {
            Ok(item) if item >= at => {
                let mut before = self.parent.clone();
                push_segment(&mut before, &(item + 1).to_string());
                before + rest
            }
            _ => pointer,
        }
    }

    /// Puts back what was there; nothing if its place is gone or taken.
    fn undo(&self, text: &str) -> Option<String> {
        let place = find(text, &self.parent)?;
        let parent = text.get(place.clone())?;
        let restored = match &self.change {
            Change::Item { at } => {
                let mut items = items(parent)?;
                let at = (*at).min(items.len());
                items.insert(at, &self.was);
                array(&items)
            }
            Change::Member { name } => {
                let Pairs(members) = serde_json::from_str(parent).ok()?;
                if members.iter().any(|(member, _)| member.as_str() == name) {
                    return None;
                }
                let members = members.iter().map(|(name, value)| (name.as_str(), value.get()));
                object(members.chain([(&**name, &*self.was)]))?
            }
            Change::Replaced { name, default } => {
                let Pairs(members) = serde_json::from_str(parent).ok()?;
                let is_default = |value: &RawValue| same_json(value.get(), default);
                object(members.iter().map(|(member, value)| match member.as_str() {
                    member if member == name && is_default(value) => (member, &*self.was),
                    member => (member, value.get()),
                }))?
            }
        };
        splice(text, place, &restored)
    }
}

impl Change {
    /// The changed object or array, and what went away.
    fn apply(&self, parent: &str) -> Option<(String, String)> {
        match self {
            Self::Item { at } => {
                let mut items = items(parent)?;
                let was = (*at < items.len()).then(|| items.remove(*at))?;
                Some((array(&items), was.to_owned()))
            }
            Self::Member { name } | Self::Replaced { name, .. } => {
                let Pairs(members) = serde_json::from_str(parent).ok()?;
                let is_meant = |member: &Name<'_>| member.as_str() == name;
                let mut meant = members.iter().filter(|(member, _)| is_meant(member));
                // Of a member that comes twice nobody can tell which is meant.
                let (Some((_, was)), None) = (meant.next(), meant.next()) else { return None };
                let changed = object(members.iter().filter_map(|(member, value)| match self {
                    Self::Replaced { default, .. } if is_meant(member) => {
                        Some((member.as_str(), &**default))
                    }
                    _ if is_meant(member) => None,
                    _ => Some((member.as_str(), value.get())),
                }))?;
                Some((changed, was.get().to_owned()))
            }
        }
    }
}

/// Where the value at `pointer` is in the text.
fn find(text: &str, pointer: &str) -> Option<Range<usize>> {
    let start = text.len() - text.trim_ascii_start().len();
    let mut place = start..start + text.trim_ascii().len();
    for segment in segments(pointer) {
        let parent = text.get(place.clone())?;
        let child = if parent.starts_with('[') {
            *items(parent)?.get(segment.parse::<usize>().ok()?)?
        } else {
            let Pairs(members) = serde_json::from_str(parent).ok()?;
            members.iter().find(|(name, _)| name.as_str() == segment)?.1.get()
        };
        let start = place.start + (child.as_ptr().addr() - parent.as_ptr().addr());
        place = start..start + child.len();
    }
    Some(place)
}

fn items(array: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(array).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

fn array(items: &[&str]) -> String {
    alloc::format!("[{}]", items.join(","))
}

fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> Option<String> {
    let mut out = Vec::new();
    for (name, value) in members {
        out.push(if out.is_empty() { b'{' } else { b',' });
        encode::string(name, &mut out);
        out.push(b':');
        out.extend_from_slice(value.as_bytes());
    }
    if out.is_empty() {
        out.push(b'{');
    }
    out.push(b'}');
    String::from_utf8(out).ok()
}

fn splice(text: &str, place: Range<usize>, with: &str) -> Option<String> {
    Some([text.get(..place.start)?, with, text.get(place.end..)?].concat())
}

fn same_json(one: &str, other: &str) -> bool {
    let value = |text| serde_json::from_str::<serde_json::Value>(text).ok();
    value(one) == value(other)
}
