//! Permitted messages after the exchange of capabilities in `initialize`.
//!
//! Spec: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization)
//!
//! ```
//! use acp_types::capabilities::v1::Capabilities;
//! use acp_types::methods::Receiver;
//! use acp_types::v1::initialization::{InitializeRequest, InitializeResponse, ProtocolVersion};
//!
//! let request = InitializeRequest::new(ProtocolVersion::V1);
//! let response = InitializeResponse::new(ProtocolVersion::V1);
//! let capabilities = Capabilities::new(&request, &response);
//!
//! assert!(capabilities.allows((Receiver::Agent, "session/prompt")).is_ok());
//! let refusal = capabilities.allows((Receiver::Client, "fs/read_text_file")).unwrap_err();
//! assert_eq!(refusal.to_string(), "`fs/read_text_file` needs `clientCapabilities.fs.readTextFile`");
//! ```
//!
//! Messages that depend on the state of a session are permitted here: `session/set_mode`,
//! `session/set_config_option`, `tool_call/cancel`, `terminal/cancel`. So are extensions, with
//! names that begin with `_`, and notifications that begin with `$/`; a receiver that does not
//! support them ignores or rejects them.
use crate::methods::{self, Method, Receiver};
use crate::v1::extensibility::EXTENSION_PREFIX;
use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

/// Implements `From` for the subjects of checks.
macro_rules! subjects {
    ($($Type:ident => $Variant:ident),+) => { $(
        impl<'a> From<&'a $Type> for Subject<'a> {
            fn from(subject: &'a $Type) -> Self {
                Self::$Variant(subject)
            }
        }
    )+ };
}

pub mod v1;
pub mod v2;

/// An error: a message must not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Name of the method, update or member on the wire.
    pub name: String,
    /// The reason.
    pub reason: Reason,
}

/// The reason why a message must not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A required capability was not announced: a path in the `initialize` pair.
    NotAnnounced(&'static str),
    /// The version of the connection does not define it.
    NotInVersion,
    /// Only the other side may send it.
    OtherDirection,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::NotAnnounced(needs) => write!(f, "`{}` needs `{needs}`", self.name),
            Reason::NotInVersion => write!(f, "this version does not define `{}`", self.name),
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

/// Checks a method, with the gates that `holds` reports as open.
fn allows_method(
    table: &'static [Method],
    receiver: Receiver,
    name: &str,
    holds: impl Fn(&str) -> bool,
) -> Result<(), Refusal> {
    if name.starts_with(EXTENSION_PREFIX) || name.starts_with("$/") {
        return Ok(());
    }
    let Some(method) = methods::find(table, receiver, name) else {
        let is_known = table.iter().any(|method| method.name == name);
        let reason = if is_known { Reason::OtherDirection } else { Reason::NotInVersion };
        return Err(reason.of(name));
    };
    method.gate.map_or(Ok(()), |gate| needs(name, gate, holds))
}

/// Checks a gate.
fn needs(name: &str, gate: &'static str, holds: impl Fn(&str) -> bool) -> Result<(), Refusal> {
    if holds(gate) { Ok(()) } else { Err(Reason::NotAnnounced(gate).of(name)) }
}

/// Checks a name that the version does not define: only extensions are permitted.
fn unknown(name: &str) -> Result<(), Refusal> {
    if name.starts_with(EXTENSION_PREFIX) { Ok(()) } else { Err(Reason::NotInVersion.of(name)) }
}
