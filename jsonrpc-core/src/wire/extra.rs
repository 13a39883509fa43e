use super::object::{Members, Name, Object};
use super::raw::Raw;
use alloc::boxed::Box;
use alloc::vec::{self, Vec};
use core::fmt;
use serde::de;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The members of an object that its type does not know, as they came and in the order they came.
///
/// One word when there are none.
///
/// ```
/// use jsonrpc_core::wire::{Extra, Raw};
///
/// let mut extra = Extra::new();
/// extra.insert("note", Raw::from_value("hi")?);
/// assert_eq!(extra.get("note").map(Raw::as_str), Some(r#""hi""#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Extra(Option<Box<List>>);

#[derive(Clone, Default, PartialEq)]
struct List(Vec<(Box<str>, Raw)>);

impl Extra {
    /// No members.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |members| members.0.len())
    }

    /// The first member of this name.
    pub fn get(&self, name: &str) -> Option<&Raw> {
        self.iter().find(|(member, _)| *member == name).map(|(_, value)| value)
    }

    /// Sets a member: in its place when there is one of this name, else at the end.
    pub fn insert(&mut self, name: impl Into<Box<str>>, value: Raw) {
        let (name, members) = (name.into(), &mut self.0.get_or_insert_default().0);
        match members.iter_mut().find(|(member, _)| *member == name) {
            Some(member) => member.1 = value,
            None => members.push((name, value)),
        }
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().flat_map(|members| members.0.iter()).map(|(name, value)| (&**name, value))
    }

    /// Takes the next value of `members` under `name`, after whatever there is.
    #[doc(hidden)]
    pub fn read<'de, M: Members<'de>>(
        &mut self,
        name: Name<'de>,
        members: &mut M,
    ) -> Result<(), M::Error> {
        let value = members.next_value()?;
        self.0.get_or_insert_default().0.push((name.into_boxed(), value));
        Ok(())
    }

    pub(super) fn into_members(self) -> vec::IntoIter<(Box<str>, Raw)> {
        self.0.map(|members| members.0).unwrap_or_default().into_iter()
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Object for Extra {
    const NAME: &'static str = "object";

    fn read_members<'de, M: Members<'de>>(mut members: M) -> Result<Self, M::Error> {
        let mut extra = Self::new();
        while let Some(name) = members.next_name()? {
            extra.read(name, &mut members)?;
        }
        Ok(extra)
    }

    fn write_members<M: SerializeMap>(&self, out: &mut M) -> Result<(), M::Error> {
        self.iter().try_for_each(|(name, value)| out.serialize_entry(name, value))
    }

    fn from_extra<E: de::Error>(extra: Extra) -> Result<Self, E> {
        Ok(extra)
    }
}

/// The `_meta` member of ACP and MCP objects: what peers agreed on outside the protocol.
///
/// Kept as text until it is asked for, one word. The specifications treat a value that is not an object as absent;
/// here it stays and comes out again as it came, and [`get`](Self::get) finds nothing in it.
#[derive(Clone, PartialEq, Eq)]
pub struct Meta(Box<Raw>);

impl Meta {
    /// The value of one key, as text.
    pub fn get(&self, key: &str) -> Option<Raw> {
        let members = self
            .as_str()
            .trim_start()
            .starts_with('{')
            .then(|| self.0.decode::<Extra>().ok())??;
        members.into_members().find(|(name, _)| &**name == key).map(|(_, value)| value)
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
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

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Raw::deserialize(deserializer).map(Self::from)
    }
}

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        super::object::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::object::deserialize(deserializer)
    }
}
