//! What a specification says about members that cannot be read.
use super::decode::DecodeError;
use super::diagnostic::DiagnosticCode;
use super::object::Members;
use alloc::string::String;
use core::fmt;
use core::marker::PhantomData;
use serde::de::{self, DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer};

/// What the names of all marks begin with.
pub(super) const PREFIX: &str = "$wire::marked";

/// The marks of a member, as [`object!`](crate::object) writes them down.
pub trait Mark {
    /// `$wire::marked`, each mark with a space before it, ` = `, and the JSON text of the default; nothing where that is
    /// to be absent.
    const NAME: &'static str;
}

/// A value that is read under a name which tells what to do if that fails.
///
/// Deserialisers read it as they read the value itself; [`locate`](super::locate) alone looks at the name.
struct Marked<T, K>(T, PhantomData<K>);

impl<'de, T: Deserialize<'de>, K: Mark> Deserialize<'de> for Marked<T, K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MarkedVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for MarkedVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<T, D::Error> {
                T::deserialize(value)
            }
        }

        let value = deserializer.deserialize_newtype_struct(K::NAME, MarkedVisitor(PhantomData))?;
        Ok(Self(value, PhantomData))
    }
}

/// Reads a value that may come once, and that has marks.
pub fn read_marked<'de, K: Mark, M: Members<'de>, T: DeserializeOwned>(
    slot: &mut Option<T>,
    name: &'static str,
    members: &mut M,
) -> Result<(), M::Error> {
    if slot.is_some() {
        return Err(de::Error::duplicate_field(name));
    }
    *slot = Some(next_marked::<K, _, _>(members)?);
    Ok(())
}

/// Reads the value of the member whose name was read last, which has marks.
pub(super) fn next_marked<'de, K: Mark, M: Members<'de>, T: DeserializeOwned>(
    members: &mut M,
) -> Result<T, M::Error> {
    members.next_value::<Marked<T, K>>().map(|Marked(value, _)| value)
}

/// What the specification does about an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recovery {
    pub(super) code: DiagnosticCode,
    /// What it does it to.
    pub(super) pointer: String,
    /// The JSON text of the value that it puts there; nothing where that is to be absent.
    pub(super) default: String,
}

/// Notes what `marks` say about an error in the value `text`, unless something was said further inside.
pub(super) fn recover(marks: &str, text: &str, error: DecodeError) -> DecodeError {
    if error.recovery().is_some() {
        return error;
    }
    let (marks, default) = marks.split_once(" = ").unwrap_or((marks, ""));
    let has = |mark| marks.split(' ').any(|word| word == mark);
    let item = error.pointer().get(1..).and_then(|pointer| pointer.split('/').next());
    let (code, pointer) = match item {
        Some(item) if has("skip_invalid_items") => {
            (DiagnosticCode::SkippedItem, alloc::format!("/{item}"))
        }
        _ if has("default_on_null") && text == "null" => {
            (DiagnosticCode::DefaultOnNull, String::new())
        }
        _ if has("default_on_error") => (DiagnosticCode::DefaultOnError, String::new()),
        _ => return error,
    };
    error.recoverable(Some(Recovery { code, pointer, default: default.into() }))
}
