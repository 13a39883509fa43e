//! Error codes that the protocol adds to those of JSON-RPC, and what comes with them.
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

/// The agent wants the user to log in first: see [`auth/login`](super::authentication::LoginAuthRequest).
pub const AUTH_REQUIRED: ErrorCode = ErrorCode(-32000);

/// A file, a session or another thing that the request names does not exist.
pub const RESOURCE_NOT_FOUND: ErrorCode = ErrorCode(-32002);

/// The agent speaks no version that the client can.
pub const UNSUPPORTED_PROTOCOL_VERSION: ErrorCode = ErrorCode(-32022);

/// What comes with an error.
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
    /// Any other JSON value, kept as it came.
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
    /// The agent speaks no version that the client can.
    ///
    /// Spec: [`UnsupportedProtocolVersionErrorData`](https://agentclientprotocol.com/protocol/v2/schema#unsupportedprotocolversionerrordata)
    pub struct UnsupportedProtocolVersionErrorData {
        /// The version that the client asked for.
        requested: ProtocolVersion = "requested",
        /// The versions that the agent speaks.
        supported: Vec<ProtocolVersion> = "supported",
    }
    and "_meta"
}

object! {
    /// There is no such session.
    ///
    /// Spec: [`SessionNotFoundErrorData`](https://agentclientprotocol.com/protocol/v2/schema#sessionnotfounderrordata)
    pub struct SessionNotFoundErrorData {
        /// The one that the request named.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}
