//! The vocabulary of open, lossless wire types.
//!
//! Every model crate of the workspace is written with these five macros and few types, so that one law holds for all
//! of them: **decode, then encode, gives the same JSON value.** What a newer peer put in is kept.
//!
//! | wire shape | written as | keeps |
//! |---|---|---|
//! | object | [`object!`](crate::object) | members it does not know, in [`Extra`] |
//! | object whose shape a tag selects | [`open_union!`](crate::open_union) | unknown variants whole, in [`UnknownVariant`] |
//! | object whose shape its members select | [`member_union!`](crate::member_union) | unknown shapes whole, in [`Extra`] |
//! | string out of a list | [`open_enum!`](crate::open_enum) | unknown names, in [`UnknownName`] |
//! | opaque identifier | [`string_id!`](crate::string_id) | the string |
//! | any JSON | [`Raw`] | the text, byte for byte |
//! | member where `null` has a meaning of its own | [`Presence`] | absent, `null`, value |
//!
//! An optional member that is not a [`Presence`] is `None` for `null`, and is written as `null` again until it has a value.
//!
//! Decoding is one pass over the text by one reader, [`ValueReader`], and encoding is one pass by [`write`]: no `flatten`, no
//! `untagged`, no intermediate tree. [`decode`] reads a whole document, and its error has a JSON pointer. Serde's traits are
//! adapters over both: they work in serde_json and in other formats that describe themselves, and inside `flatten`,
//! tagged and untagged types. A derived type is a member of these types by [`serde_wire!`](crate::serde_wire), and is read
//! with pointers by [`decode_serde`].
//!
//! Some specifications say what to take instead of a member or an item that cannot be read. Such members have marks, see
//! [`object!`](crate::object); [`decode_with`] reads in one of these [modes](Mode):
//!
//! | | `Strict` | `SpecLenient` | `Preserve` |
//! |---|---|---|---|
//! | members, names and variants that the type does not know | kept | kept | kept |
//! | a member or item with marks that cannot be read | an error | left out, with a [`Diagnostic`] | as before, and [`Decoded::encode`] writes it again |
//! | anything else that cannot be read | an error | an error | an error |
//!
//! With the feature `schemars` all of these have a JSON Schema, which says what decoding takes: what a type does not know
//! is allowed, a member whose type has no schema may be anything. Only `_meta` is described as the specifications have it,
//! an object or `null`, though anything is kept.
//!
//! ```
//! use jsonrpc_core::{object, open_enum, open_union, string_id, wire};
//!
//! string_id! {
//!     /// Names a job.
//!     pub struct JobId;
//! }
//! open_enum! {
//!     /// How a job stands.
//!     pub enum Status {
//!         /// It runs.
//!         Running = "running",
//!         /// It ended.
//!         Done = "done",
//!     }
//! }
//! object! {
//!     /// A job changed.
//!     pub struct Changed {
//!         /// Which one.
//!         job_id: JobId = "jobId",
//!     }
//!     optional {
//!         /// What it is now.
//!         status: Status = "status",
//!     }
//! }
//! open_union! {
//!     /// What happened.
//!     pub enum Event by "type" {
//!         /// A job changed.
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
//! - [`Wire`] is what a type says of itself: a blank value, how to read it, and how it is written ([`View`]).
//! - [`ValueReader`] is at a place of the text. It has the mode, the number of members around that place whose marks allow an
//!   error, the notes that become diagnostics, and the place and cause of the first problem. A type reads by `string`,
//!   `integer`, `items`, `object` and the like, and returns a [`Fault`], which is empty: the reader has the reason. JSON
//!   pointers are made from places after reading, and only if there is something to report.
//! - An object is a table of members, and a slot for each. The reader goes through the text once: it looks the name up,
//!   beginning where the member before was, reads the value into its slot, and keeps what the table does not have in
//!   [`Extra`]. None of this is generated for each type.
//! - A union is a table of tags. The reader finds the tag, has the value choose a blank variant, and reads the members into
//!   that. Types that lie flat in the same object are read in turn over the same text ([`Open`]).
//! - A member with marks that cannot be read is noted, and the reader goes behind it. In the mode `Preserve` its text is
//!   kept in the `Extra` of the object.
//! - [`write`] goes through the views. [`Entries`] writes the members of an object, with what is kept in their places.
//! - Serde's traits make JSON text of what a format has and read that, or write the views into the format.
//!
//! What `object!` makes of a required and an optional member, without constructor, setters and serde:
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
//!     static TABLE: __wire::Table = __wire::Table {
//!         members: &[
//!             __wire::Member::required("id", ",\"id\":"),
//!             __wire::Member::optional("owner", ",\"owner\":"),
//!         ],
//!         is_framed: !<Extra as __wire::Object>::TAKES_ALL,
//!     };
//!     __wire::assert_distinct(TABLE.members);
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
//!     impl __wire::Flat for Job {
//!         fn read_flat(
//!             &mut self,
//!             reader: &mut __wire::ValueReader<'_>,
//!             open: &__wire::Open<'_>,
//!         ) -> Result<(), __wire::Fault> {
//!             reader.fields(&TABLE, &mut [&mut self.id, &mut self.owner], &mut self.extra, open)?;
//!             Ok(())
//!         }
//!         fn extra_mut(&mut self) -> Option<&mut Extra> {
//!             __wire::Flat::extra_mut(&mut self.extra)
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

mod decode;
mod diagnostic;
mod extra;
mod fields;
mod id;
mod member_union;
mod object;
mod open_enum;
mod open_union;
mod pointer;
mod presence;
mod raw;
mod reader;
#[cfg(feature = "schemars")]
#[doc(hidden)]
pub mod schema;
mod serde_wire;
mod text;
mod value;
mod via_serde;
mod writer;

/// Stands where the macros would implement `JsonSchema`.
#[cfg(not(feature = "schemars"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __json_schema {
    ($($schema:tt)*) => {};
}

pub use decode::{DecodeError, Decoded, Mode, decode, decode_serde, decode_with};
pub use diagnostic::{Diagnostic, DiagnosticCode};
pub use extra::{Extra, Meta};
pub use object::Open;
pub use open_enum::UnknownName;
pub use open_union::UnknownVariant;
pub use presence::Presence;
pub use raw::Raw;
pub use reader::{Fault, Items, ValueReader};
pub use value::{Flat, List, Members, Object, View, Wire};
pub use writer::{Entries, write};

/// What the macros expand to; not for use by hand.
#[doc(hidden)]
pub mod private {
    pub use super::fields::Defaults;
    pub use super::object::{
        Choice, Mark, Marks, Member, Selector, Table, Tags, assert_distinct, assert_distinct_names,
    };
    pub use super::open_union::from_parts;
    pub use super::serde_wire::{read_serde, view_serde};
    pub use super::via_serde::{deserialize, serialize};
    pub use super::writer::{optional, present};
    pub use super::{Entries, Fault, Flat, Members, Object, Open, ValueReader, View, Wire};
    pub use alloc::borrow::Cow;
    pub use alloc::boxed::Box;
    pub use alloc::sync::Arc;
    pub use alloc::vec::Vec;
    pub use pastey;
    pub use serde;
}
