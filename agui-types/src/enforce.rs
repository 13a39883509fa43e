//! What becomes of material that this version of the protocol does not describe.
//!
//! Reading keeps it, so that whoever translates newer or retired shapes still sees it. Before verification and before
//! the application it has to go: that is this stage. What goes is told, with where it was.
//!
//! | what | becomes |
//! |---|---|
//! | an event of an unknown type | dropped |
//! | an unknown member | removed |
//! | an unknown variant or name, in an optional position | the member is removed |
//! | an unknown variant or name, as an element of a list | the element is removed |
//! | an unknown variant or name, in a required position | what contains it is removed, by the same rules |
//! | a `binary` part of a 0.x peer | the part of 1.0 that says the same; removed where there is none |
//! | `null` in an optional member, where 0.x peers write it | absent |
//! | `null` in any other optional member, or any malformed value | an error: the run fails |
//! | members under `metadata`, in an activity's `content`, a `responseSchema` or a patch operation | kept: those are open |
//!
//! ```
//! use agui_types::enforce;
//!
//! let text = r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","priority":1,
//!     "content":[{"type":"hologram"},{"type":"text","text":"x"}]}"#;
//! let (event, _) = enforce::read_event(text)?; // whole: translators see everything
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

/// Reads an event and keeps all of it, but for `null`s of 0.x peers, which are told.
///
/// # Errors
/// The text is no event, a known value is malformed, or an optional member is `null` that never was.
///
/// Spec: [The rule, 1.0](https://ag-ui.com/spec/1.0/basic/processing#the-rule)
pub fn read_event(text: &str) -> Result<(Event, Vec<Removal>), Malformed> {
    if let Some(delta) = DeltaRef::read(text) {
        return Ok((delta.into(), Vec::new()));
    }
    let mut event: Event = wire::decode(text)?;
    let tag = String::from(event.tag());
    let removals = nulls::remove(text, &mut event, |null| null.was_legal_in_event(&tag))?;
    Ok((event, removals))
}

/// Reads a run input and keeps all of it, but for `null`s of 0.x peers, which are told.
///
/// # Errors
/// The text is no run input, a known value is malformed, or an optional member is `null` that never was.
///
/// Spec: [Outgoing material, 1.0](https://ag-ui.com/spec/1.0/basic/processing#outgoing-material)
pub fn read_input(text: &str) -> Result<(RunAgentInput, Vec<Removal>), Malformed> {
    let mut input: RunAgentInput = wire::decode(text)?;
    let removals = nulls::remove(text, &mut input, |null| null.was_legal_in_input())?;
    Ok((input, removals))
}

/// Removes from an event what this version does not describe; nothing is left of an event that is unknown, or that
/// requires something unknown.
///
/// What comes out stays as it is when it comes in again. An interrupt outcome that asks for nothing is left to the
/// [verifier](crate::verify), which rejects it ([`NoInterrupts`](crate::verify::Rule::NoInterrupts)).
///
/// Spec: [What a consumer does with unrecognised material,
/// 1.0](https://ag-ui.com/spec/1.0/basic/processing#what-a-consumer-does-with-unrecognised-material)
pub fn enforce_event(mut event: Event) -> (Option<Event>, Vec<Removal>) {
    let mut walk = Walk::default();
    let stays = walk.root(&mut event);
    (stays.then_some(event), walk.removals)
}

/// Removes from a run input what this version does not describe: before it is sent, or after it was received.
///
/// Spec: [Outgoing material, 1.0](https://ag-ui.com/spec/1.0/basic/processing#outgoing-material)
pub fn enforce_input(mut input: RunAgentInput) -> (RunAgentInput, Vec<Removal>) {
    let mut walk = Walk::default();
    // An input requires nothing that can be unknown.
    walk.root(&mut input);
    (input, walk.removals)
}

/// Something that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removal {
    /// What it was.
    pub kind: RemovalKind,
    /// The unknown type, tag, name or member, as the peer wrote it.
    pub name: String,
    /// Where it was, as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)) into the event or input as
    /// it came; empty for the whole of it.
    pub pointer: String,
    /// What had to go with it: the same place, or the nearest around it that may be missing.
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

/// What was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RemovalKind {
    /// An event of a type that this version does not know.
    Event,
    /// A member that this version does not know.
    Member,
    /// A variant of a union that this version does not know.
    Variant,
    /// A name out of a list that this version does not know.
    Name,
    /// `null` as 0.x peers write it for an absent member.
    LegacyNull,
    /// A `binary` part, which has been replaced with what 1.0 has for it.
    LegacyPart,
    /// An event that 1.0 has under another name, which took its place ([`legacy`](crate::legacy)).
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

/// Text is not what the protocol says; the run fails.
///
/// Spec: [The rule, 1.0](https://ag-ui.com/spec/1.0/basic/processing#the-rule)
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// It is not JSON, or a known value in it is of a wrong type or missing.
    #[error(transparent)]
    Value(#[from] DecodeError),
    /// An optional member is `null`.
    #[error("at {pointer}: expected a value or no member, got null")]
    Null {
        /// Where, as a JSON pointer.
        pointer: String,
    },
}
