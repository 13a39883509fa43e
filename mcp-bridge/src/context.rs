//! `x-model-context`: structured data that an elicitation carries for a rich form.
//!
//! The schema of an elicitation describes the answer. The protocol has no place for the data that a
//! form displays, such as a list of flights or a seat map. That data travels in up to three
//! carriers, and every known client preserves at least one of them:
//!
//! | carrier | on the wire | preserved by |
//! |---|---|---|
//! | [`Carrier::Meta`] | `_meta["dev.spanwire/model-context"]` and `_meta["x-model-context"]` | the official SDKs |
//! | [`Carrier::Schema`] | `requestedSchema["x-model-context"]` | clients that pass the schema on unchanged |
//! | [`Carrier::Message`] | a section at the end of `message`: a line `--x-model-context: application/json`, then a line of JSON | all clients |
//!
//! [`encode`] writes the selected carriers. [`extract`] reads the first carrier that is present, in
//! the order of the table, and returns the elicitation without any of them. Both also support the
//! later name `x-elicit-context`.
//!
//! ```
//! use jsonrpc_core::wire;
//! use mcp_bridge::context::{self, Carrier, Carriers, ContextLimits, EncodeOptions, ModelContext};
//! use mcp_bridge::mcp::elicitation::ElicitRequestParams;
//! use mcp_bridge::mcp::capabilities::ClientCapabilities;
//!
//! let plain = r#"{"message":"Which flight?","requestedSchema":{"type":"object","properties":{}}}"#;
//! let mut question: ElicitRequestParams = wire::decode(plain)?;
//! let flights = ModelContext::from_text(r#"{"flights":["SH-142","CA-287"]}"#)?;
//!
//! // Nothing is known about the peer: all three carriers are written.
//! let carriers = Carriers::for_peer(&ClientCapabilities::new());
//! assert_eq!(carriers, Carriers::ALL);
//! context::encode(&mut question, &flights, &EncodeOptions::new(carriers))?;
//! assert_eq!(
//!     question.message(),
//!     Some("Which flight?\n\n--x-model-context: application/json\n{\"flights\":[\"SH-142\",\"CA-287\"]}"),
//! );
//!
//! // The receiving side.
//! let found = context::extract(&question, &ContextLimits::default());
//! assert_eq!((found.context, found.source), (Some(flights), Some(Carrier::Meta)));
//! assert_eq!(serde_json::to_string(&found.request)?, plain);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Guarantees:
//! - A context is extracted unchanged, apart from white space between tokens, whatever the message
//!   and the schema contain, as long as one carrier arrives intact. If several carriers differ, the
//!   first takes precedence and a [`ContextDiagnostic`] reports the mismatch.
//! - Encoding again replaces the previous context.
//! - Text that is not recognized as a context is never removed from a message.
//! - A context passes through clients and logs, so it must not contain secrets. Its content usually
//!   comes from third parties: keep it out of the conversation with a model unless the tool intends
//!   otherwise, and treat links in it as data.
use crate::mcp::capabilities::ClientCapabilities;
use alloc::string::String;
use core::fmt;
use jsonrpc_core::wire::{DecodeError, Raw};
use serde::Serialize;
use serde::de::DeserializeOwned;

mod display;
mod encode;
mod extract;
mod json;
mod problem;
mod section;

pub use display::{DisplayMessage, display_text};
pub use encode::{EncodeError, EncodeOptions, Marker, encode};
pub use extract::{ContextDiagnostic, Extraction, extract};
pub use problem::ContextProblem;

/// Name of the context in schemas, messages and `_meta`.
pub const NAME: &str = "x-model-context";

/// The successor of [`NAME`]. Accepted when reading.
pub const LATER_NAME: &str = "x-elicit-context";

/// Qualified name of the context in `_meta`, as the specification requires. It is also the name of
/// the extension by which a client declares support for it.
pub const EXTENSION: &str = "dev.spanwire/model-context";

/// A part of an elicitation that can carry a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Carrier {
    /// `_meta`. It takes precedence over the other carriers.
    Meta,
    /// The requested schema.
    Schema,
    /// The message.
    Message,
}

/// A set of carriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carriers {
    /// Whether the set contains [`Carrier::Meta`].
    pub meta: bool,
    /// Whether the set contains [`Carrier::Schema`].
    pub schema: bool,
    /// Whether the set contains [`Carrier::Message`].
    pub message: bool,
}

impl Carriers {
    /// The empty set, for a form in the same program that receives the context directly.
    pub const NONE: Self = Self { meta: false, schema: false, message: false };

    /// All carriers, for a peer with unknown support.
    pub const ALL: Self = Self { meta: true, schema: true, message: true };

    /// `_meta` only. The message stays free of sections.
    pub const META: Self = Self { meta: true, ..Self::NONE };

    /// The schema and the message, the carriers that predate `_meta`.
    pub const SCHEMA_AND_MESSAGE: Self = Self { schema: true, message: true, ..Self::NONE };

    /// Returns the carriers that a peer requires: only `_meta` if it declared [`EXTENSION`] in
    /// `extensions` or, up to 2025-11-25, in `experimental`; otherwise all.
    pub fn for_peer(capabilities: &ClientCapabilities) -> Self {
        if capabilities.has_extension(EXTENSION) { Self::META } else { Self::ALL }
    }

    /// Returns whether the set contains `carrier`.
    pub fn has(self, carrier: Carrier) -> bool {
        match carrier {
            Carrier::Meta => self.meta,
            Carrier::Schema => self.schema,
            Carrier::Message => self.message,
        }
    }
}

/// Size limits of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextLimits {
    /// Maximum size of the JSON text, in bytes.
    pub bytes: usize,
    /// Maximum nesting depth of objects and arrays, including the context itself.
    pub depth: usize,
    /// Maximum size of a message including its section, in bytes.
    pub message: usize,
}

impl ContextLimits {
    /// 64 KiB. Send the URI of a resource instead of larger data.
    pub const DEFAULT_BYTES: usize = 64 * 1024;

    /// 64 levels. Some clients fail at about 120 levels and then never respond.
    pub const DEFAULT_DEPTH: usize = 64;

    /// 128 KiB.
    pub const DEFAULT_MESSAGE: usize = 128 * 1024;
}

impl Default for ContextLimits {
    fn default() -> Self {
        Self {
            bytes: Self::DEFAULT_BYTES,
            depth: Self::DEFAULT_DEPTH,
            message: Self::DEFAULT_MESSAGE,
        }
    }
}

/// The data that an elicitation carries: a JSON object, kept as text.
///
/// Two contexts are equal if their texts are equal apart from white space between tokens.
///
/// The [module](self) has an example.
#[derive(Clone, Eq)]
pub struct ModelContext(Raw);

impl ModelContext {
    /// Creates a context from JSON text.
    ///
    /// # Errors
    /// Returns an error if the text is not a JSON object.
    pub fn from_text(text: impl Into<String>) -> Result<Self, ModelContextError> {
        Raw::from_text(text).map_err(|_| ModelContextError).and_then(Self::from_raw)
    }

    /// Creates a context by serializing a value.
    ///
    /// # Errors
    /// Returns an error if the value does not serialize to a JSON object.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, ModelContextError> {
        Raw::from_value(value).map_err(|_| ModelContextError).and_then(Self::from_raw)
    }

    /// Creates a context from a JSON value.
    ///
    /// # Errors
    /// Returns an error if the value is not an object.
    pub fn from_raw(value: Raw) -> Result<Self, ModelContextError> {
        if value.as_str().starts_with('{') { Ok(Self(value)) } else { Err(ModelContextError) }
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns whether the object has no members. An empty context is not sent.
    pub fn is_empty(&self) -> bool {
        self.as_str().get(1..).is_some_and(|rest| rest.trim_start().starts_with('}'))
    }

    /// Deserializes the context.
    ///
    /// # Errors
    /// Returns an error if the context is not a `T`. The error contains the position.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        self.0.decode_serde()
    }

    /// Returns the JSON value.
    pub fn as_raw(&self) -> &Raw {
        &self.0
    }
}

impl PartialEq for ModelContext {
    fn eq(&self, other: &Self) -> bool {
        json::compact(self.as_str()) == json::compact(other.as_str())
    }
}

impl fmt::Debug for ModelContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An error creating a [`ModelContext`] from a value that is not a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a JSON object")]
pub struct ModelContextError;
