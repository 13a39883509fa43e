//! Enforcement: removal of material that AG-UI 1.0 does not describe.
//!
//! Decoding keeps unknown material, so that translators of newer or retired shapes can read it.
//! Enforcement removes it before verification and before the application, and reports each removal
//! with its place.
//!
//! | material | result |
//! |---|---|
//! | an event of an unknown type | dropped |
//! | an unknown member | removed |
//! | an unknown variant or name, in an optional position | the member is removed |
//! | an unknown variant or name, as an element of a list | the element is removed |
//! | an unknown variant or name, in a required position | the containing value is removed, by the same rules |
//! | a `binary` part of a 0.x peer | the equivalent part of 1.0; removed without one |
//! | `null` in an optional member, where 0.x peers write it | absent |
//! | `null` in any other optional member, or any malformed value | an error: the run fails |
//! | members under `metadata`, in an activity's `content`, a `responseSchema` or a patch operation | kept: these are open |
//!
//! ```
//! use agui_types::enforce;
//!
//! let text = r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","priority":1,
//!     "content":[{"type":"hologram"},{"type":"text","text":"x"}]}"#;
//! let (event, _) = enforce::read_event(text)?; // complete, for translators
//! let (event, removals) = enforce::enforce_event(event);
//! assert_eq!(
//!     serde_json::to_string(&event)?,
//!     r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"x"}]}"#
//! );
//! let pointers: Vec<_> = removals.iter().map(|removal| &*removal.pointer).collect();
//! assert_eq!(pointers, ["/priority", "/content/0"]);
//!
//! let error = enforce::read_event(r#"{"type":"TEXT_MESSAGE_START","messageId":"m","name":null}"#).unwrap_err();
//! assert_eq!(error.to_string(), "at /name: expected a value or no member, got null");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Spec: [Processing Model, 1.0](https://ag-ui.com/spec/1.0/basic/processing)
use crate::event::{DeltaRef, Event};
use crate::input::RunAgentInput;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::wire::{self, DecodeError};

mod nulls;
mod strip;

use strip::Walk;

/// Reads an event without removals, except for `null`s of 0.x peers, which are reported.
///
/// # Errors
/// The text is not an event, a known value is malformed, or an optional member is `null` that was
/// never nullable.
///
/// Spec: [The rule, 1.0](https://ag-ui.com/spec/1.0/basic/processing#the-rule)
pub fn read_event(text: &str) -> Result<(Event, Vec<Removal>), SchemaError> {
    if let Some(delta) = DeltaRef::read(text) {
        return Ok((delta.into(), Vec::new()));
    }
    let mut event: Event = wire::decode(text)?;
    let tag = String::from(event.tag());
    let removals = nulls::remove(text, &mut event, |null| null.was_legal_in_event(&tag))?;
    Ok((event, removals))
}

/// Reads a run input without removals, except for `null`s of 0.x peers, which are reported.
///
/// # Errors
/// The text is not a run input, a known value is malformed, or an optional member is `null` that
/// was never nullable.
///
/// Spec: [Outgoing material, 1.0](https://ag-ui.com/spec/1.0/basic/processing#outgoing-material)
pub fn read_input(text: &str) -> Result<(RunAgentInput, Vec<Removal>), SchemaError> {
    let mut input: RunAgentInput = wire::decode(text)?;
    let removals = nulls::remove(text, &mut input, |null| null.was_legal_in_input())?;
    Ok((input, removals))
}

/// Removes from an event what AG-UI 1.0 does not describe. Returns `None` if the event is unknown
/// or requires something unknown.
///
/// The operation is idempotent. An interrupt outcome without interrupts is left to the
/// [verifier](crate::verify), which rejects it
/// ([`NoInterrupts`](crate::verify::Rule::NoInterrupts)).
///
/// Spec: [What a consumer does with unrecognised material,
/// 1.0](https://ag-ui.com/spec/1.0/basic/processing#what-a-consumer-does-with-unrecognised-material)
pub fn enforce_event(mut event: Event) -> (Option<Event>, Vec<Removal>) {
    let mut walk = Walk::default();
    let stays = walk.root(&mut event);
    (stays.then_some(event), walk.removals)
}

/// Removes from a run input what AG-UI 1.0 does not describe. Call it before sending or after
/// receiving an input.
///
/// Spec: [Outgoing material, 1.0](https://ag-ui.com/spec/1.0/basic/processing#outgoing-material)
pub fn enforce_input(mut input: RunAgentInput) -> (RunAgentInput, Vec<Removal>) {
    let mut walk = Walk::default();
    // A run input requires nothing that can be unknown.
    walk.root(&mut input);
    (input, walk.removals)
}

/// One removal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removal {
    /// The kind of material.
    pub kind: RemovalKind,
    /// The unknown type, tag, name or member, as the peer wrote it.
    pub name: String,
    /// Its place, as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)) into the
    /// received event or input; empty for the whole value.
    pub pointer: String,
    /// The place that was removed: `pointer` itself, or the nearest optional value around it.
    pub removed: String,
}

impl fmt::Display for Removal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, pointer, removed } = self;
        write!(f, "{} {name:?} at {pointer:?}", kind.text())?;
        if removed != pointer {
            write!(f, ", removed with {removed:?}")?;
        }
        Ok(())
    }
}

/// The kind of removed material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RemovalKind {
    /// An event of an unknown type.
    Event,
    /// An unknown member.
    Member,
    /// An unknown variant of a union.
    Variant,
    /// An unknown name of an enumeration.
    Name,
    /// A `null` that 0.x peers write for an absent member.
    LegacyNull,
    /// A `binary` part, replaced with its equivalent of 1.0.
    LegacyPart,
    /// An event with a retired name, replaced with its equivalent of 1.0
    /// ([`legacy`](crate::legacy)).
    LegacyEvent,
}

impl RemovalKind {
    fn text(self) -> &'static str {
        match self {
            Self::Event => "unknown event",
            Self::Member => "unknown member",
            Self::Variant => "unknown variant",
            Self::Name => "unknown name",
            Self::LegacyNull => "null member",
            Self::LegacyPart => "retired part",
            Self::LegacyEvent => "retired event",
        }
    }
}

/// An error decoding an event or run input. The run fails.
///
/// Spec: [The rule, 1.0](https://ag-ui.com/spec/1.0/basic/processing#the-rule)
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is not JSON, or a known value has the wrong type or is missing.
    #[error(transparent)]
    Value(#[from] DecodeError),
    /// An optional member is `null`.
    #[error("at {pointer}: expected a value or no member, got null")]
    Null {
        /// Place of the member, as a JSON pointer.
        pointer: String,
    },
    /// A role, subtype or other name is not one of the schema's. [Enforcement](enforce_event)
    /// removes such a name; the [client](crate::client) rejects the event, as the first-party
    /// client does.
    #[error("at {pointer}: expected a name of the schema, got {name:?}")]
    Name {
        /// Place of the name, as a JSON pointer.
        pointer: String,
        /// The name, as the peer wrote it.
        name: String,
    },
}
