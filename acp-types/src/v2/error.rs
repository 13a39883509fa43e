//! Error codes that the protocol adds to those of JSON-RPC, and their data.
//!
//! Spec: [`ErrorCode`](https://agentclientprotocol.com/protocol/v2/schema#errorcode)
//!
//! The codes of JSON-RPC itself, and that of a cancelled request, are constants of [`ErrorCode`].
use super::initialization::ProtocolVersion;
use super::session_setup::SessionId;
use alloc::vec::Vec;
use jsonrpc_core::ErrorCode;
use jsonrpc_core::wire::{Fault, Raw, ValueReader, View, Wire};
use jsonrpc_core::{__json_schema, object};

/// The user has to log in first; see [`auth/login`](super::authentication::LoginAuthRequest).
pub const AUTH_REQUIRED: ErrorCode = ErrorCode(-32000);

/// A file, session or other resource of the request does not exist.
pub const RESOURCE_NOT_FOUND: ErrorCode = ErrorCode(-32002);

/// The agent supports none of the client's versions.
pub const UNSUPPORTED_PROTOCOL_VERSION: ErrorCode = ErrorCode(-32022);

/// The data of an error.
///
/// Spec: [`ErrorData`](https://agentclientprotocol.com/protocol/v2/schema#errordata)
///
/// ```
/// use acp_types::v2::error::ErrorData;
/// use jsonrpc_core::wire::{Fault, Raw, ValueReader, View, Wire};
///
/// let data = Raw::from_text(r#"{"requested":0,"supported":[1,2]}"#)?;
/// let ErrorData::UnsupportedProtocolVersion(data) = ErrorData::from(data) else { panic!("something else") };
/// assert_eq!(data.supported.len(), 2);
/// # Ok::<(), jsonrpc_core::wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorData {
    /// With [`UNSUPPORTED_PROTOCOL_VERSION`].
    UnsupportedProtocolVersion(UnsupportedProtocolVersionErrorData),
    /// With [`RESOURCE_NOT_FOUND`].
    SessionNotFound(SessionNotFoundErrorData),
    /// Any other JSON value, kept verbatim.
    Unknown(Raw),
}

impl From<Raw> for ErrorData {
    fn from(value: Raw) -> Self {
        if let Ok(data) = value.decode() {
            Self::UnsupportedProtocolVersion(data)
        } else if let Ok(data) = value.decode() {
            Self::SessionNotFound(data)
        } else {
            Self::Unknown(value)
        }
    }
}

impl Wire for ErrorData {
    fn blank() -> Self {
        Self::Unknown(Raw::blank())
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        let mut value = Raw::blank();
        value.read(reader)?;
        *self = value.into();
        Ok(())
    }

    fn view(&self) -> View<'_> {
        match self {
            Self::UnsupportedProtocolVersion(data) => data.view(),
            Self::SessionNotFound(data) => data.view(),
            Self::Unknown(data) => data.view(),
        }
    }
}

object! { @serde ErrorData }

__json_schema! { ErrorData, generator => jsonrpc_core::wire::schema::schemars::json_schema!({ "anyOf": [
    object!(@schema UnsupportedProtocolVersionErrorData, generator),
    object!(@schema SessionNotFoundErrorData, generator), true,
] }) }

object! {
    /// Data of the error for an unsupported version.
    ///
    /// Spec: [`UnsupportedProtocolVersionErrorData`](https://agentclientprotocol.com/protocol/v2/schema#unsupportedprotocolversionerrordata)
    pub struct UnsupportedProtocolVersionErrorData {
        /// The version that the client requested.
        requested: ProtocolVersion = "requested",
        /// The versions that the agent supports.
        supported: Vec<ProtocolVersion> = "supported",
    }
    and "_meta"
}

object! {
    /// Data of the error for a missing session.
    ///
    /// Spec: [`SessionNotFoundErrorData`](https://agentclientprotocol.com/protocol/v2/schema#sessionnotfounderrordata)
    pub struct SessionNotFoundErrorData {
        /// Identifier of the session in the request.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}
