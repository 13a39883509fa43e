//! Members of patches.
use super::problem::Fault;
use super::reader::ValueReader;
use super::value::{View, Wire};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A member that is absent, `null`, or a value, with three distinct meanings.
///
/// In a patch, absence keeps the value, `null` clears it, and a value replaces it. Only a `patch`
/// member of an [`object!`](crate::object) distinguishes the first two; anywhere else `Absent` is
/// encoded as `null`.
///
/// ```
/// use jsonrpc_core::{object, wire::Presence};
///
/// object! {
///     /// A change of a session.
///     pub struct InfoUpdate {}
///     patch {
///         /// The title.
///         title: String = "title",
///     }
/// }
///
/// let cleared: InfoUpdate = serde_json::from_str(r#"{"title":null}"#)?;
/// assert_eq!(cleared.title, Presence::Null);
/// assert_eq!(serde_json::to_string(&cleared)?, r#"{"title":null}"#);
/// assert_eq!(serde_json::to_string(&InfoUpdate::new())?, "{}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a member is absent, `null` or a value")]
pub enum Presence<T> {
    /// The member is absent.
    #[default]
    Absent,
    /// The member is `null`.
    Null,
    /// The member has a value.
    Value(T),
}

impl<T> Presence<T> {
    /// Returns the value, if present.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Returns whether the member is absent.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Applies the patch to `current`.
    pub fn apply_to(self, current: &mut Option<T>) {
        match self {
            Self::Absent => {}
            Self::Null => *current = None,
            Self::Value(value) => *current = Some(value),
        }
    }
}

impl<T> From<T> for Presence<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<T: Serialize> Serialize for Presence<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Presence<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(|value| value.map_or(Self::Null, Self::Value))
    }
}

impl<T: Wire> Wire for Presence<T> {
    fn blank() -> Self {
        Self::Absent
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        if reader.null()? {
            *self = Self::Null;
            return Ok(());
        }
        let mut value = T::blank();
        value.read(reader)?;
        *self = Self::Value(value);
        Ok(())
    }

    fn view(&self) -> View<'_> {
        match self {
            Self::Value(value) => value.view(),
            Self::Absent | Self::Null => View::Null,
        }
    }
}

/// Returns the value of a `patch` field, including `null`.
#[inline]
pub fn present<T: Wire>(field: &Presence<T>) -> Option<&dyn Wire> {
    if field.is_absent() { None } else { Some(field) }
}
