//! What the two sides may send each other, after what they said in `initialize`.
//!
//! Spec: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization)
//!
//! ```
//! use acp_types::capabilities::v1::Capabilities;
//! use acp_types::methods::Direction;
//! use acp_types::v1::initialization::{InitializeRequest, InitializeResponse, ProtocolVersion};
//!
//! let request = InitializeRequest::new(ProtocolVersion::V1);
//! let response = InitializeResponse::new(ProtocolVersion::V1);
//! let capabilities = Capabilities::new(&request, &response);
//!
//! assert!(capabilities.allows((Direction::ToAgent, "session/prompt")).is_ok());
//! let refusal = capabilities.allows((Direction::ToClient, "fs/read_text_file")).unwrap_err();
//! assert_eq!(refusal.to_string(), "`fs/read_text_file` needs `clientCapabilities.fs.readTextFile`");
//! ```
//!
//! What the state of a session decides is allowed here: `session/set_mode`, `session/set_config_option`,
//! `tool_call/cancel`, `terminal/cancel`. So are extensions, whose names begin with `_`, and notifications that begin
//! with `$/`: whoever does not know them ignores them, or says so.
use crate::methods::{self, Direction, Method};
use crate::v1::extensibility::EXTENSION_PREFIX;
use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

pub mod v1;
pub mod v2;

/// Why something may not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// What was asked about, by its name on the wire.
    pub name: String,
    /// Why it may not be sent.
    pub reason: Reason,
}

/// Why something may not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Nobody announced what it needs: a path in the `initialize` pair.
    NotAnnounced(&'static str),
    /// The version of the connection does not have it.
    NotInVersion,
    /// The version has it, and only the other side may send it.
    OtherDirection,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::NotAnnounced(needs) => write!(f, "`{}` needs `{needs}`", self.name),
            Reason::NotInVersion => write!(f, "this version has no `{}`", self.name),
            Reason::OtherDirection => write!(f, "only the other side may send `{}`", self.name),
        }
    }
}

impl core::error::Error for Refusal {}

impl Reason {
    fn of(self, name: &str) -> Refusal {
        Refusal { name: name.to_owned(), reason: self }
    }
}

/// Whether a method may be sent, where `holds` says which gates are open.
fn allows_method(
    table: &'static [Method],
    direction: Direction,
    name: &str,
    holds: impl Fn(&str) -> bool,
) -> Result<(), Refusal> {
    if name.starts_with(EXTENSION_PREFIX) || name.starts_with("$/") {
        return Ok(());
    }
    let Some(method) = methods::find(table, direction, name) else {
        let is_known = table.iter().any(|method| method.name == name);
        let reason = if is_known { Reason::OtherDirection } else { Reason::NotInVersion };
        return Err(reason.of(name));
    };
    method.gate.map_or(Ok(()), |gate| needs(name, gate, holds))
}

/// Whether a gate is open.
fn needs(name: &str, gate: &'static str, holds: impl Fn(&str) -> bool) -> Result<(), Refusal> {
    if holds(gate) { Ok(()) } else { Err(Reason::NotAnnounced(gate).of(name)) }
}

/// Whether something may be sent that the version does not know: extensions may.
fn unknown(name: &str) -> Result<(), Refusal> {
    if name.starts_with(EXTENSION_PREFIX) { Ok(()) } else { Err(Reason::NotInVersion.of(name)) }
}
