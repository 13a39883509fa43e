//! The version of a connection, as the agent chooses it.
//!
//! Spec: [Version Negotiation](https://agentclientprotocol.com/protocol/v1/initialization#version-negotiation),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/initialization#version-negotiation)
use super::ClientRequest;
use crate::v1::initialization::ProtocolVersion;
use crate::v2::error::{UNSUPPORTED_PROTOCOL_VERSION, UnsupportedProtocolVersionErrorData};
use crate::v2::initialization::Implementation;
use crate::{v1, v2};
use jsonrpc_core::wire::{DecodeError, Decoded, Extra, Mode, Raw, decode};
use jsonrpc_core::{ErrorObject, find_member};
use serde_json::value::RawValue;

/// The version that parameters of `initialize` ask for.
pub(super) fn requested(params: &RawValue) -> Result<ProtocolVersion, DecodeError> {
    // Where the member is missing or wrong, decoding the whole says so.
    match find_member(params.get(), &["protocolVersion"]).map(decode) {
        Some(Ok(version)) => Ok(version),
        _ => decode::<v1::initialization::InitializeRequest>(params.get())
            .map(|request| request.protocol_version),
    }
}

/// The version that an agent which speaks `supported` answers with: an agent of version 1 alone its own, one of a later
/// version the highest up to the one that was asked for.
///
/// # Errors
/// The agent speaks a later version than 1, and none up to the one that was asked for; or it speaks none.
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

/// Reads parameters of `initialize` in the version that was chosen. Where a later version was asked for, a program that does
/// not name itself as version 2 has it is `unknown`.
pub(super) fn read(
    params: &RawValue,
    requested: ProtocolVersion,
    chosen: ProtocolVersion,
) -> Result<Decoded<ClientRequest>, DecodeError> {
    let (method, mode) = ("initialize", Mode::SpecLenient);
    if chosen != ProtocolVersion::V2 {
        let read = v1::dispatch::ClientRequest::decode_with(method, Some(params), mode)?;
        return Ok(read.map(ClientRequest::V1));
    }
    let read = |params: &RawValue| {
        let read = v2::dispatch::ClientRequest::decode_with(method, Some(params), mode)?;
        Ok(read.map(ClientRequest::V2))
    };
    read(params).or_else(|error: DecodeError| {
        let unknown = Raw::from_value(&Implementation::new("unknown", "unknown")).ok();
        let Some(unknown) = unknown.filter(|_| requested > chosen) else { return Err(error) };
        let mut members = decode::<Extra>(params.get())?;
        members.insert("info", unknown);
        let params = Raw::from_value(&members).map_err(|_| error)?;
        read(params.as_ref())
    })
}
