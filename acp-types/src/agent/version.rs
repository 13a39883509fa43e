//! Selection of a connection's version by the agent.
//!
//! Spec: [Version
//! Negotiation](https://agentclientprotocol.com/protocol/v1/initialization#version-negotiation),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/initialization#version-negotiation)
use super::ClientRequest;
use crate::v1;
use crate::v1::initialization::ProtocolVersion;
use crate::v2::error::{UNSUPPORTED_PROTOCOL_VERSION, UnsupportedProtocolVersionErrorData};
use crate::v2::initialization::Implementation;
use jsonrpc_core::wire::{DecodeError, DecodedValue, Extra, Raw, decode};
use jsonrpc_core::{ErrorObject, find_member};
use serde_json::value::RawValue;

/// Returns the version that parameters of `initialize` request.
pub(super) fn requested(params: &RawValue) -> Result<ProtocolVersion, DecodeError> {
    // If the member is missing or invalid, decoding the whole object reports that.
    match find_member(params.get(), &["protocolVersion"]).map(decode) {
        Some(Ok(version)) => Ok(version),
        _ => decode::<v1::initialization::InitializeRequest>(params.get())
            .map(|request| request.protocol_version),
    }
}

/// Returns the agent's version for a client that requests `asked`. An agent of version 1 only
/// returns version 1; an agent of later versions returns the highest one up to the requested one.
///
/// # Errors
/// The agent supports only later versions than 1 and none up to the requested one, or no version at
/// all.
pub(super) fn choose(
    supported: &[ProtocolVersion],
    requested: ProtocolVersion,
) -> Result<ProtocolVersion, ErrorObject> {
    let newest = supported.iter().copied().max();
    if let Some(newest) = newest.filter(|newest| *newest <= ProtocolVersion::V1) {
        return Ok(if supported.contains(&requested) { requested } else { newest });
    }
    let up_to = supported.iter().copied().filter(|version| *version <= requested).max();
    up_to.ok_or_else(|| {
        let mut error =
            ErrorObject::new(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version");
        let data = UnsupportedProtocolVersionErrorData::new(requested, supported);
        error.data = Raw::from_value(&data).ok();
        error
    })
}

/// Decodes parameters of `initialize` in the selected version. If a later version was requested, a
/// program without a name in the form of version 2 is called `unknown`.
pub(super) fn read(
    params: &RawValue,
    requested: ProtocolVersion,
    chosen: ProtocolVersion,
) -> Result<DecodedValue<ClientRequest>, DecodeError> {
    let is_v2 = chosen == ProtocolVersion::V2;
    let read = |params: &RawValue| ClientRequest::decode(is_v2, "initialize", Some(params));
    read(params).or_else(|error| {
        let unknown = Raw::from_value(&Implementation::new("unknown", "unknown")).ok();
        let Some(unknown) = unknown.filter(|_| is_v2 && requested > chosen) else {
            return Err(error);
        };
        let mut members = decode::<Extra>(params.get())?;
        members.insert("info", unknown);
        let params = Raw::from_value(&members).map_err(|_| error)?;
        read(params.as_ref())
    })
}
