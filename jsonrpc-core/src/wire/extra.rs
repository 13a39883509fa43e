//! Unknown members, and `_meta`.
use super::left_out::OmittedItems;
use super::problem::Fault;
use super::raw::Raw;
use super::reader::ValueReader;
use super::table::{OpenObject, Table};
use super::value::{FlatObject, Members, Object, View, Wire};
use super::writer::Entries;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use serde_json::value::RawValue;

/// The unknown members of an object, verbatim and in order.
///
/// It takes one machine word while it has no members.
///
/// It also stores what the fields of the object cannot represent: the names of optional members
/// that were `null`, and after [`Mode::Preserve`](super::Mode::Preserve) the text of invalid
/// members and items. These are encoded again while their fields are unchanged. They are not among
/// the members here, and do not affect equality.
///
/// ```
/// use jsonrpc_core::wire::{Extra, Raw};
///
/// let mut extra = Extra::new();
/// extra.insert("note", Raw::from_value("hi")?);
/// assert_eq!(extra.get("note").map(Raw::as_str), Some(r#""hi""#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Extra(Option<Box<List>>);

#[derive(Clone, Default)]
struct List {
    members: Vec<(Box<str>, Raw)>,
    kept: Vec<(&'static str, ReceivedForm)>,
}

/// The received form of a known member.
#[derive(Clone, Debug)]
pub(super) enum ReceivedForm {
    /// `null`, for an `Option` field.
    Null,
    /// An invalid value.
    Value(Raw),
    /// Items that were left out of a list.
    Items(Box<OmittedItems>),
}

impl Extra {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Returns whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |list| list.members.len())
    }

    /// Returns the first member with this name.
    pub fn get(&self, name: &str) -> Option<&Raw> {
        self.iter().find(|(member, _)| *member == name).map(|(_, value)| value)
    }

    /// Sets a member: in its place if the name exists, otherwise at the end.
    pub fn insert(&mut self, name: impl Into<Box<str>>, value: Raw) {
        let name = name.into();
        let members = &mut self.0.get_or_insert_default().members;
        match members.iter_mut().find(|(member, _)| *member == name) {
            Some(member) => member.1 = value,
            None => members.push((name, value)),
        }
    }

    /// Returns names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().flat_map(|list| list.members.iter()).map(|(name, value)| (&**name, value))
    }

    /// Takes all members, in order.
    pub fn into_members(mut self) -> impl Iterator<Item = (Box<str>, Raw)> {
        self.0.take().map(|list| list.members).unwrap_or_default().into_iter()
    }

    pub(super) fn push(&mut self, name: Box<str>, value: Raw) {
        self.0.get_or_insert_default().members.push((name, value));
    }

    pub(super) fn kept(&self) -> &[(&'static str, ReceivedForm)] {
        self.0.as_ref().map_or(&[], |list| &list.kept)
    }

    pub(super) fn keep(&mut self, mut kept: Vec<(&'static str, ReceivedForm)>) {
        let list = self.0.get_or_insert_default();
        if list.kept.is_empty() {
            list.kept = kept;
        } else {
            list.kept.append(&mut kept);
        }
    }
}

/// Most objects have no members to drop, which a check without a call decides.
impl Drop for Extra {
    #[inline]
    fn drop(&mut self) {
        if let Some(list) = self.0.take() {
            drop_list(list);
        }
    }
}

#[inline(never)]
fn drop_list(list: Box<List>) {
    drop(list);
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Wire for Extra {
    fn blank() -> Self {
        Self::new()
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        reader.object(self, Self::NAME)
    }

    fn view(&self) -> View<'_> {
        View::Object(self)
    }
}

impl Object for Extra {
    const NAME: &'static str = "object";
    const TAKES_ALL: bool = true;
}

impl Members for Extra {
    fn write_members(&self, out: &mut Entries<'_>) {
        for (name, value) in self.iter() {
            out.entry(name, value);
        }
    }

    fn extra(&self) -> Option<&Extra> {
        Some(self)
    }
}

impl FlatObject for Extra {
    fn read_flat(
        &mut self,
        reader: &mut ValueReader<'_>,
        open: &OpenObject<'_>,
    ) -> Result<(), Fault> {
        static NONE: Table = Table::new(&[], false);
        reader.fields(&NONE, &mut [], self, open)
    }

    fn extra_mut(&mut self) -> Option<&mut Extra> {
        Some(self)
    }
}

crate::object! { @serde Extra }

/// The `_meta` member of ACP and MCP objects: extension metadata.
///
/// It is stored as text, in one word. The specifications treat a value other than an object as
/// absent; here it is kept and encoded again, and [`get`](Self::get) returns `None`.
#[derive(Clone, PartialEq, Eq)]
pub struct Meta(Box<Raw>);

impl Meta {
    /// Creates an object without members.
    pub fn new() -> Self {
        Self::from(&Extra::new())
    }

    /// Returns the value of a key, as text.
    pub fn get(&self, key: &str) -> Option<Raw> {
        let members = self.0.decode::<Extra>().ok()?;
        members.into_members().find(|(name, _)| &**name == key).map(|(_, value)| value)
    }

    /// Sets the value of a key. A value other than an object becomes one with only this key.
    ///
    /// ```
    /// use jsonrpc_core::wire::{Meta, Raw};
    ///
    /// let mut meta = Meta::new();
    /// meta.insert("example.com/trace", Raw::from_value("t1")?);
    /// assert_eq!(meta.as_str(), r#"{"example.com/trace":"t1"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn insert(&mut self, key: impl Into<Box<str>>, value: Raw) {
        let mut members = self.0.decode::<Extra>().unwrap_or_default();
        members.insert(key, value);
        *self = Self::from(&members);
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl Default for Meta {
    fn default() -> Self {
        Self::new()
    }
}

impl From<&Extra> for Meta {
    fn from(members: &Extra) -> Self {
        Self::from(Raw::of(members))
    }
}

impl From<Raw> for Meta {
    fn from(value: Raw) -> Self {
        Self(Box::new(value))
    }
}

impl AsRef<RawValue> for Meta {
    fn as_ref(&self) -> &RawValue {
        (*self.0).as_ref()
    }
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Wire for Meta {
    fn blank() -> Self {
        Self(Box::new(Raw::blank()))
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        self.0.read(reader)
    }

    fn view(&self) -> View<'_> {
        self.0.view()
    }
}

crate::object! { @serde Meta }
