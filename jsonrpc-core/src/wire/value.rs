//! The JSON form of each type.
use super::extra::Extra;
use super::problem::Fault;
use super::reader::ValueReader;
use super::table::OpenObject;
use super::writer::Entries;
use alloc::borrow::Cow;

/// A type with a JSON form that decodes and encodes without loss.
///
/// The macros of [`wire`](super) implement it, as do common types of the standard library.
/// [`serde_wire!`] implements it for a type with serde's traits. A manual implementation has three
/// short functions:
///
/// ```
/// use jsonrpc_core::wire::{self, Fault, ValueReader, View, Wire};
///
/// /// A percentage: a number up to 100.
/// struct Percent(u8);
///
/// impl Wire for Percent {
///     fn blank() -> Self {
///         Self(0)
///     }
///
///     fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
///         self.0.read(reader)?;
///         if self.0 <= 100 { Ok(()) } else { Err(reader.invalid("a number up to 100")) }
///     }
///
///     fn view(&self) -> View<'_> {
///         View::Unsigned(self.0.into())
///     }
/// }
///
/// let error = wire::decode::<Vec<Percent>>("[7,101]").err().map(|error| error.to_string());
/// assert_eq!(error.as_deref(), Some("at /1: expected a number up to 100, got number"));
/// ```
///
/// [`serde_wire!`]: crate::serde_wire
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON form that `wire` knows",
    label = "this type does not implement `Wire`",
    note = "define it with a macro of `jsonrpc_core::wire`, or give a type with serde's traits to `serde_wire!`"
)]
pub trait Wire {
    /// Returns the initial value for reading. It is never visible after a successful read.
    fn blank() -> Self
    where
        Self: Sized;

    /// Reads the next value of the text into this blank one.
    ///
    /// # Errors
    /// The next value has another form. The reader has the reason.
    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault>;

    /// Returns the JSON form of the value, for encoding.
    fn view(&self) -> View<'_>;
}

/// The JSON form of a value.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "the values behind it have none")]
#[non_exhaustive]
pub enum View<'v> {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer, usually negative.
    Signed(i64),
    /// A number. Values without a JSON number are encoded as `null`.
    Float(f64),
    /// A string.
    Str(&'v str),
    /// The text of one valid JSON value.
    Text(Cow<'v, str>),
    /// An array.
    List(&'v dyn List),
    /// An object.
    Object(&'v dyn Members),
}

/// The items of an array.
pub trait List {
    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Returns whether there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an item.
    fn item(&self, at: usize) -> Option<&dyn Wire>;
}

/// The members of an object.
pub trait Members {
    /// Passes all members to `out`.
    fn write_members(&self, out: &mut Entries<'_>);

    /// Returns the unknown members.
    fn extra(&self) -> Option<&Extra> {
        None
    }
}

/// An object that can be flattened into another with a tag or with other members.
pub trait FlatObject: Members {
    /// Reads the members that do not belong to the surrounding type.
    ///
    /// # Errors
    /// A member is invalid, missing or repeated.
    fn read_flat(
        &mut self,
        reader: &mut ValueReader<'_>,
        open: &OpenObject<'_>,
    ) -> Result<(), Fault>;

    /// Returns the unknown members.
    fn extra_mut(&mut self) -> Option<&mut Extra> {
        None
    }
}

/// A type that is a JSON object.
///
/// [`object!`](crate::object) and the macros of unions implement it.
pub trait Object: Wire + FlatObject {
    /// The type's name in the specification, for errors.
    const NAME: &'static str;

    /// Whether the type is [`Extra`], which accepts any member.
    #[doc(hidden)]
    const TAKES_ALL: bool = false;
}
