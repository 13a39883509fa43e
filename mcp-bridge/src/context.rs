//! `x-model-context`: data that a question carries for a rich form, past clients that know nothing of it.
//!
//! The schema of an elicitation says what comes back. What a form needs to be drawn (the flights, the seat map) has no
//! place in the protocol, so it travels in up to three carriers, and each client keeps at least one of them:
//!
//! | carrier | on the wire | kept by |
//! |---|---|---|
//! | [`Carrier::Meta`] | `_meta["dev.spanwire/model-context"]` and `_meta["x-model-context"]` | the official SDKs |
//! | [`Carrier::Schema`] | `requestedSchema["x-model-context"]` | clients that pass the schema on as it came |
//! | [`Carrier::Message`] | a section at the end of `message`: a line `--x-model-context: application/json`, a line of JSON | all |
//!
//! [`encode`] writes those that are chosen, [`extract`] takes the first that it finds in the order of the table, and gives
//! the question without any of them. Both know the later name `x-elicit-context` as well.
//!
//! ```
//! use jsonrpc_core::wire;
//! use mcp_bridge::context::{self, Carrier, Carriers, Encoding, Limits, ModelContext};
//! use mcp_bridge::mcp::elicitation::ElicitRequestParams;
//! use mcp_bridge::mcp::capabilities::ClientCapabilities;
//!
//! let plain = r#"{"message":"Which flight?","requestedSchema":{"type":"object","properties":{}}}"#;
//! let mut question: ElicitRequestParams = wire::decode(plain)?;
//! let flights = ModelContext::from_text(r#"{"flights":["SH-142","CA-287"]}"#)?;
//!
//! // A peer that says nothing of it gets all three.
//! let carriers = Carriers::for_peer(&ClientCapabilities::new());
//! assert_eq!(carriers, Carriers::ALL);
//! context::encode(&mut question, &flights, &Encoding::new(carriers))?;
//! assert_eq!(
//!     question.message(),
//!     Some("Which flight?\n\n--x-model-context: application/json\n{\"flights\":[\"SH-142\",\"CA-287\"]}"),
//! );
//!
//! // On the other side.
//! let found = context::extract(&question, &Limits::default());
//! assert_eq!((found.context, found.source), (Some(flights), Some(Carrier::Meta)));
//! assert_eq!(serde_json::to_string(&found.request)?, plain);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What holds:
//! - What was put in comes out, byte for byte, whatever the message and the schema are, as long as one carrier arrives
//!   whole. Where several arrive and differ, the first counts and a [`ContextDiagnostic`] tells.
//! - Encoding again replaces what was there.
//! - Text that is not read as a context is never cut from a message.
//! - A context goes through clients and logs: it must hold no secrets. Most of it was written by third parties: it must not
//!   enter the conversation with a model unless the tool wants that, and links in it are data.
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
mod section;

pub use display::{DisplayMessage, display_text};
pub use encode::{EncodeError, Encoding, Marker, encode};
pub use extract::{ContextDiagnostic, ContextProblem, Extracted, extract};

/// The name of the context in schemas, messages and `_meta`.
pub const NAME: &str = "x-model-context";

/// The name that came after [`NAME`] where both come from. Read as well.
pub const LATER_NAME: &str = "x-elicit-context";

/// The name of the context in `_meta`, in the form that the specification asks for, and of the extension by which a client
/// says that it reads it there.
pub const EXTENSION: &str = "dev.spanwire/model-context";

/// A place in an elicitation that carries a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carrier {
    /// `_meta`. It counts before the others.
    Meta,
    /// The schema of the form.
    Schema,
    /// The message.
    Message,
}

/// Some of the carriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carriers {
    /// Whether [`Carrier::Meta`] is one of them.
    pub meta: bool,
    /// Whether [`Carrier::Schema`] is one of them.
    pub schema: bool,
    /// Whether [`Carrier::Message`] is one of them.
    pub message: bool,
}

impl Carriers {
    /// None: for a form in the same program, which is given the context itself.
    pub const NONE: Self = Self { meta: false, schema: false, message: false };

    /// All, for a peer of which nothing is known: one of them arrives everywhere.
    pub const ALL: Self = Self { meta: true, schema: true, message: true };

    /// `_meta` alone: the message stays clean.
    pub const META: Self = Self { meta: true, ..Self::NONE };

    /// The schema and the message: what there was before `_meta`.
    pub const SCHEMA_AND_MESSAGE: Self = Self { schema: true, message: true, ..Self::NONE };

    /// What a peer needs: `_meta` alone if it declared [`EXTENSION`], among its `extensions` or, up to 2025-11-25, its
    /// `experimental` capabilities; otherwise all.
    pub fn for_peer(capabilities: &ClientCapabilities) -> Self {
        if capabilities.has_extension(EXTENSION) { Self::META } else { Self::ALL }
    }

    /// Whether `carrier` is one of them.
    pub fn has(self, carrier: Carrier) -> bool {
        match carrier {
            Carrier::Meta => self.meta,
            Carrier::Schema => self.schema,
            Carrier::Message => self.message,
        }
    }
}

/// How large a context may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of its JSON text.
    pub bytes: usize,
    /// Levels of objects and arrays, the context itself being the first.
    pub depth: usize,
    /// Bytes of a message with its section.
    pub message: usize,
}

impl Limits {
    /// 64 KiB: what is larger is better sent as the URI of a resource.
    pub const DEFAULT_BYTES: usize = 64 * 1024;

    /// 64 levels: clients that give up do so at about 120, and then never answer.
    pub const DEFAULT_DEPTH: usize = 64;

    /// 128 KiB.
    pub const DEFAULT_MESSAGE: usize = 128 * 1024;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: Self::DEFAULT_BYTES,
            depth: Self::DEFAULT_DEPTH,
            message: Self::DEFAULT_MESSAGE,
        }
    }
}

/// The data that a question carries: a JSON object, kept as text.
///
/// Two are equal when their texts are, apart from white space between tokens.
#[derive(Clone, Eq)]
pub struct ModelContext(Raw);

impl ModelContext {
    /// Takes JSON text.
    ///
    /// # Errors
    /// It is not JSON, or not an object.
    pub fn from_text(text: impl Into<String>) -> Result<Self, NotAnObject> {
        Raw::from_text(text).map_err(|_| NotAnObject).and_then(Self::from_raw)
    }

    /// Writes a value as JSON.
    ///
    /// # Errors
    /// It has no JSON form, or that is not an object.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, NotAnObject> {
        Raw::from_value(value).map_err(|_| NotAnObject).and_then(Self::from_raw)
    }

    /// Takes JSON.
    ///
    /// # Errors
    /// It is not an object.
    pub fn from_raw(value: Raw) -> Result<Self, NotAnObject> {
        if value.as_str().starts_with('{') { Ok(Self(value)) } else { Err(NotAnObject) }
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether there is nothing in it. Such a context is not sent, and counts as none.
    pub fn is_empty(&self) -> bool {
        self.as_str().get(1..).is_some_and(|rest| rest.trim_start().starts_with('}'))
    }

    /// Reads it.
    ///
    /// # Errors
    /// It is not a `T`; the error says where.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        self.0.decode_serde()
    }

    /// As JSON.
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

/// JSON is not an object, or not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a JSON object")]
pub struct NotAnObject;
