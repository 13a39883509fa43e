//! The vocabulary of open, lossless wire types.
//!
//! The model crates of the workspace are built on these macros and types, which share one law:
//! **decoding and encoding gives the same JSON value.** Additions of newer peers are kept.
//!
//! | wire shape | defined by | keeps |
//! |---|---|---|
//! | object | [`object!`](crate::object) | unknown members, in [`Extra`] |
//! | object with a shape that a tag selects | [`open_union!`](crate::open_union) | unknown variants, in [`UnknownVariant`] |
//! | object with a shape that its members select | [`member_union!`](crate::member_union) | unknown shapes, in [`Extra`] |
//! | string of a list | [`open_enum!`](crate::open_enum) | unknown names, in [`UnknownName`] |
//! | opaque identifier | [`string_id!`](crate::string_id) | the string |
//! | any JSON | [`Raw`] | the text, byte for byte |
//! | member with a distinct meaning of `null` | [`Presence`] | absent, `null`, value |
//!
//! An optional member that is not a [`Presence`] is `None` for `null`, and is encoded as `null`
//! again while it is `None`.
//!
//! Decoding is one pass over the text by [`ValueReader`], and encoding is one pass by [`write()`],
//! without an intermediate tree. [`decode`] reads a whole document; its error has a JSON pointer.
//! Serde's traits are adapters over both. They work in serde_json and in other self-describing
//! formats, and inside `flatten`, tagged and untagged types. [`serde_wire!`](crate::serde_wire)
//! makes a type with serde's traits a member of these types, and [`decode_serde`] decodes it with
//! pointers.
//!
//! Some specifications define replacements for invalid members or items. Such members have
//! annotations, see [`object!`](crate::object). [`decode_with`] decodes in one of these
//! [modes](Mode):
//!
//! | | `Strict` | `SpecLenient` | `Preserve` |
//! |---|---|---|---|
//! | unknown members, names and variants | kept | kept | kept |
//! | an invalid member or item with an annotation | an error | left out, with a [`Diagnostic`] | as before, and [`DecodedValue::encode`] writes it again |
//! | any other invalid value | an error | an error | an error |
//!
//! With the feature `schemars` all of these have a JSON Schema of what decoding accepts: unknown
//! values are allowed, and a member of a type without a schema may have any value. Only `_meta` is
//! described as in the specifications, an object or `null`, although any value is kept.
//!
//! ```
//! use jsonrpc_core::{object, open_enum, open_union, string_id, wire};
//!
//! string_id! {
//!     /// Identifies a job.
//!     pub struct JobId;
//! }
//! open_enum! {
//!     /// Status of a job.
//!     pub enum Status {
//!         /// Running.
//!         Running = "running",
//!         /// Finished.
//!         Done = "done",
//!     }
//! }
//! object! {
//!     /// A change of a job.
//!     pub struct Changed {
//!         /// Identifier of the job.
//!         job_id: JobId = "jobId",
//!     }
//!     optional {
//!         /// New status.
//!         status: Status = "status",
//!     }
//! }
//! open_union! {
//!     /// An event.
//!     pub enum Event by "type" {
//!         /// A change of a job.
//!         Changed(Changed) = "changed",
//!     }
//! }
//!
//! let text = r#"{"type":"changed","jobId":"7","status":"paused","since":1.50}"#;
//! let event: Event = wire::decode(text)?;
//! let Event::Changed(changed) = &event else { panic!("not a change") };
//! assert_eq!(changed.status.as_ref().map(Status::as_str), Some("paused"));
//! assert_eq!(serde_json::to_string(&event)?, text);
//!
//! let newer = r#"{"type":"moved","to":"elsewhere"}"#;
//! let event: Event = wire::decode(newer)?;
//! assert!(!event.is_known());
//! assert_eq!(serde_json::to_string(&event)?, newer);
//!
//! let error = wire::decode::<Event>(r#"{"type":"changed","jobId":7}"#).unwrap_err();
//! assert_eq!(error.to_string(), "at /jobId: expected a string, got number");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! - [`Wire`] describes a type: its blank value, how to read it, and how to write it ([`View`]).
//! - [`ValueReader`] has a position in the text. It stores the mode, the number of enclosing
//!   members with annotations that permit an error, notes for diagnostics, and the position and
//!   cause of the first problem. A type reads itself with `string`, `integer`, `items`, `object`
//!   and similar methods. They return a [`Fault`], which is empty, since the reader has the reason.
//!   JSON pointers are computed from positions after reading, only if there is something to report.
//! - An object is a table of members, with a slot for each. The reader passes once over the text.
//!   It looks up each name, beginning after the previous member, reads the value into its slot, and
//!   stores unknown members in [`Extra`]. This code is not generated for each type.
//! - A union is a table of tags. The reader finds the tag, lets the value select a blank variant,
//!   and reads the members into it. Flattened types of one object are read one after the other from
//!   the same text ([`OpenObject`]).
//! - An invalid member with annotations is noted and skipped. In the mode `Preserve` its text is
//!   stored in the `Extra` of the object.
//! - [`write()`] walks the views. [`Entries`] writes the members of an object, and stored members
//!   in their positions.
//! - The implementations of serde's traits convert between a format and JSON text. For
//!   [`decode_serde`] and [`serde_wire!`](crate::serde_wire), the same reader is a deserializer of
//!   serde.
//!
//! The code that `object!` generates for a required and an optional member, without constructor,
//! setters and serde:
//!
//! ```
//! use jsonrpc_core::wire::{self, Extra, private as __wire};
//!
//! #[derive(Clone, Debug, PartialEq)]
//! #[non_exhaustive]
//! pub struct Job {
//!     pub id: String,
//!     pub owner: Option<String>,
//!     pub extra: Extra,
//! }
//!
//! const _: () = {
//!     static TABLE: __wire::Table = __wire::Table::new(
//!         &[
//!             __wire::Member::required("id", ",\"id\":"),
//!             __wire::Member::optional("owner", ",\"owner\":"),
//!         ],
//!         !<Extra as __wire::Object>::TAKES_ALL,
//!     );
//!
//!     impl __wire::Wire for Job {
//!         fn blank() -> Self {
//!             Self { id: __wire::Wire::blank(), owner: None, extra: __wire::Wire::blank() }
//!         }
//!         fn read(&mut self, reader: &mut __wire::ValueReader<'_>) -> Result<(), __wire::Fault> {
//!             reader.object(self, <Self as __wire::Object>::NAME)
//!         }
//!         fn view(&self) -> __wire::View<'_> {
//!             __wire::View::Object(self)
//!         }
//!     }
//!
//!     impl __wire::Object for Job {
//!         const NAME: &'static str = "Job";
//!     }
//!
//!     impl __wire::Members for Job {
//!         fn write_members(&self, out: &mut __wire::Entries<'_>) {
//!             out.fields(&TABLE, &[Some(&self.id), __wire::optional(&self.owner)]);
//!             __wire::Members::write_members(&self.extra, out);
//!         }
//!         fn extra(&self) -> Option<&Extra> {
//!             __wire::Members::extra(&self.extra)
//!         }
//!     }
//!
//!     impl __wire::FlatObject for Job {
//!         fn read_flat(
//!             &mut self,
//!             reader: &mut __wire::ValueReader<'_>,
//!             open: &__wire::OpenObject<'_>,
//!         ) -> Result<(), __wire::Fault> {
//!             reader.fields(&TABLE, &mut [&mut self.id, &mut self.owner], &mut self.extra, open)
//!         }
//!         fn extra_mut(&mut self) -> Option<&mut Extra> {
//!             __wire::FlatObject::extra_mut(&mut self.extra)
//!         }
//!     }
//! };
//!
//! let text = r#"{"id":"7","owner":null,"since":1.50}"#;
//! let job: Job = wire::decode(text)?;
//! let mut out = Vec::new();
//! wire::write(&job, &mut out);
//! assert_eq!(out, br#"{"id":"7","since":1.50,"owner":null}"#);
//! # Ok::<(), wire::DecodeError>(())
//! ```

mod checks;
mod decode;
mod decode_error;
mod diagnostic;
mod extra;
mod fields;
mod id;
mod left_out;
mod member_union;
mod mode;
mod object;
mod open_enum;
mod open_union;
mod pointer;
mod presence;
mod problem;
mod raw;
mod reader;
#[cfg(feature = "schemars")]
#[doc(hidden)]
pub mod schema;
mod serde_reader;
mod serde_wire;
mod table;
mod unions;
mod value;
mod values;
mod via_serde;
mod walk;
mod writer;

/// Replaces the implementation of `JsonSchema` without the feature.
#[cfg(not(feature = "schemars"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __json_schema {
    ($($schema:tt)*) => {};
}

pub use decode::{DecodedValue, decode, decode_into, decode_serde, decode_with};
pub use decode_error::DecodeError;
pub use diagnostic::{Diagnostic, DiagnosticCode};
pub use extra::{Extra, Meta};
pub use mode::Mode;
pub use open_enum::UnknownName;
pub use open_union::UnknownVariant;
pub use presence::Presence;
pub use problem::Fault;
pub use raw::Raw;
pub use reader::ValueReader;
pub use table::OpenObject;
pub use value::{FlatObject, List, Members, Object, View, Wire};
pub use writer::{Entries, write, write_on_one_line};

/// Used by the macros; not part of the public interface.
#[doc(hidden)]
pub mod private {
    pub use super::checks::assert_distinct_names;
    pub use super::fields::fill;
    pub use super::open_union::union_text;
    pub use super::presence::present;
    pub use super::serde_reader::read_serde;
    pub use super::serde_wire::view_serde;
    pub use super::table::{Marks, Member, Selector, Table, Tags, are_plain};
    pub use super::unions::Choice;
    pub use super::via_serde::{deserialize, serialize};
    pub use super::writer::optional;
    pub use super::{
        Entries, Fault, FlatObject, Members, Object, OpenObject, ValueReader, View, Wire,
    };
    pub use alloc::borrow::Cow;
    pub use alloc::boxed::Box;
    pub use alloc::sync::Arc;
    pub use alloc::vec::Vec;
    pub use pastey;
    pub use serde;
}
