//! Agreeing on a version.
//!
//! Spec: [Version Negotiation](https://agentclientprotocol.com/protocol/v1/initialization#version-negotiation),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/initialization#version-negotiation)
//!
//! The client asks with the newest version that it speaks, the agent [answers](answer), and the client
//! [checks](accept) that. From then on the connection speaks that one version.
//!
//! ```
//! use acp_types::negotiation::{accept, answer};
//! use acp_types::v1::initialization::ProtocolVersion;
//!
//! let (v1, v2) = (ProtocolVersion::V1, ProtocolVersion::V2);
//! assert_eq!(answer(&[v1], v2), Ok(v1));
//! assert_eq!(accept(&[v1, v2], v1), Ok(v1));
//! # Ok::<(), acp_types::negotiation::UnsupportedVersion>(())
//! ```
use crate::v1;
use crate::v1::initialization::ProtocolVersion;
use crate::v2::error::{UNSUPPORTED_PROTOCOL_VERSION, UnsupportedProtocolVersionErrorData};
use crate::v2::initialization::{Implementation, InitializeRequest};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::wire::{DecodeError, Extra, Raw, decode};
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// There is no version that both sides speak.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedVersion {
    /// The version that the other side named.
    pub requested: ProtocolVersion,
    /// The versions that this side speaks.
    pub supported: Vec<ProtocolVersion>,
}

impl UnsupportedVersion {
    /// The error to answer `initialize` with, as version 2 has it.
    pub fn to_error(&self) -> ErrorObject {
        let mut error =
            ErrorObject::new(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version");
        let data = UnsupportedProtocolVersionErrorData::new(self.requested, self.supported.clone());
        error.data = Raw::from_value(&data).ok();
        error
    }
}

impl fmt::Display for UnsupportedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {} is none of those that this side speaks:", self.requested.0)?;
        self.supported.iter().try_for_each(|version| write!(f, " {}", version.0))
    }
}

impl core::error::Error for UnsupportedVersion {}

/// The version that an agent which speaks `supported` answers with.
///
/// An agent that speaks version 1 alone answers with that, whatever was asked for. One that speaks a later version
/// answers with the highest that it speaks, up to the one that was asked for.
///
/// # Errors
/// The agent speaks a later version than 1, and none up to the one that was asked for; or it speaks none at all.
pub fn answer(
    supported: &[ProtocolVersion],
    requested: ProtocolVersion,
) -> Result<ProtocolVersion, UnsupportedVersion> {
    let newest = supported.iter().copied().max();
    if let Some(newest) = newest.filter(|newest| *newest <= ProtocolVersion::V1) {
        return Ok(if supported.contains(&requested) { requested } else { newest });
    }
    let up_to = supported.iter().copied().filter(|version| *version <= requested).max();
    up_to.ok_or_else(|| UnsupportedVersion { requested, supported: supported.to_vec() })
}

/// The version of the connection, where a client that speaks `supported` was answered with `answered`.
///
/// # Errors
/// The client does not speak it, and has to leave.
pub fn accept(
    supported: &[ProtocolVersion],
    answered: ProtocolVersion,
) -> Result<ProtocolVersion, UnsupportedVersion> {
    if supported.contains(&answered) {
        return Ok(answered);
    }
    Err(UnsupportedVersion { requested: answered, supported: supported.to_vec() })
}

/// The version that the parameters of `initialize` ask for. Only that is read: the rest is of a version not yet known.
///
/// # Errors
/// There is none, or it is no integer from 0 to 65535.
pub fn requested(params: &RawValue) -> Result<ProtocolVersion, DecodeError> {
    decode::<asked::Asked>(params.get()).map(|asked| asked.protocol_version)
}

/// Whether an agent takes one more `initialize` in version 2: only before any other request, and for the same version.
///
/// # Errors
/// The answer to it.
pub fn repeat(phase: Phase, requested: ProtocolVersion) -> Result<(), ErrorObject> {
    let problem = match phase {
        Phase::Initializing => "initialize is being answered already",
        Phase::Initialized(selected) if selected == requested => return Ok(()),
        Phase::Initialized(_) => "another version was selected already",
        Phase::InUse => "initialize comes before all other requests",
    };
    Err(ErrorObject::new(ErrorCode::INVALID_REQUEST, problem))
}

/// How far a connection in version 2 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// An `initialize` has come, and is not answered yet. The only notification to take now is `$/cancel_request`.
    Initializing,
    /// It is answered, with this version, and no other request has come.
    Initialized(ProtocolVersion),
    /// Other requests have come.
    InUse,
}

mod asked {
    use super::ProtocolVersion;

    jsonrpc_core::object! {
        /// What the parameters of `initialize` have in every version.
        pub struct Asked {
            /// The newest version that the client speaks.
            protocol_version: ProtocolVersion = "protocolVersion",
        }
    }
}

/// The parameters of `initialize` as an agent takes them, and what it had to leave out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Opening<T> {
    /// The parameters.
    pub request: T,
    /// What did not fit the selected version, where a later one was asked for.
    pub dropped: Vec<DecodeError>,
}

/// Reads the parameters of `initialize` where version 1 was selected.
///
/// Where that was asked for, they must fit. Where a later version was, members that do not fit are left out.
///
/// # Errors
/// The version is missing or wrong; or version 1 was asked for, and these are not its parameters.
pub fn open_v1(
    params: &RawValue,
) -> Result<Opening<v1::initialization::InitializeRequest>, DecodeError> {
    open(params, ProtocolVersion::V1, |_| {})
}

/// Reads the parameters of `initialize` where version 2 was selected.
///
/// Where that was asked for, they must fit. Where a later version was, members that do not fit are left out, and a
/// program that does not say which it is, is `unknown`.
///
/// # Errors
/// The version is missing or wrong; or version 2 was asked for, and these are not its parameters.
pub fn open_v2(params: &RawValue) -> Result<Opening<InitializeRequest>, DecodeError> {
    open(params, ProtocolVersion::V2, |members| {
        let unknown = Implementation::new("unknown", "unknown");
        if let (None, Ok(info)) = (members.get("info"), Raw::from_value(&unknown)) {
            members.insert("info", info);
        }
    })
}

/// Reads what fits, where `repair` puts in what must be there.
fn open<T: DeserializeOwned>(
    params: &RawValue,
    selected: ProtocolVersion,
    repair: impl Fn(&mut Extra),
) -> Result<Opening<T>, DecodeError> {
    let mut error = match decode(params.get()) {
        Ok(request) => return Ok(Opening { request, dropped: Vec::new() }),
        Err(error) => error,
    };
    if requested(params)? <= selected {
        return Err(error);
    }
    let (mut members, mut dropped) = (decode::<Extra>(params.get())?, Vec::new());
    // Each turn but the first takes a member out.
    for _ in 0..=members.len() {
        if let Some(name) = first_name(error.pointer()) {
            members = without(&members, &name);
            dropped.push(error.clone());
        }
        repair(&mut members);
        let Ok(text) = Raw::from_value(&members) else { break };
        match text.decode() {
            Ok(request) => return Ok(Opening { request, dropped }),
            Err(next) => error = next,
        }
    }
    Err(error)
}

/// The member that a pointer begins with.
fn first_name(pointer: &str) -> Option<String> {
    let name = pointer.strip_prefix('/')?.split('/').next()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

fn without(members: &Extra, name: &str) -> Extra {
    let mut kept = Extra::new();
    for (member, value) in members.iter().filter(|(member, _)| *member != name) {
        kept.insert(member, value.clone());
    }
    kept
}
