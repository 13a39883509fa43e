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
