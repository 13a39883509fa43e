//! Error codes of MCP and their data.
//!
//! Spec: [Error Codes](https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes)
use super::base::ProtocolVersion;
use super::capabilities::ClientCapabilities;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Raw};
use jsonrpc_core::{ErrorCode, object};

/// The headers of an HTTP request do not match its body. Since 2026-07-28.
///
/// Spec: [`HeaderMismatchError`](https://modelcontextprotocol.io/specification/2026-07-28/schema#headermismatcherror)
pub const HEADER_MISMATCH: ErrorCode = ErrorCode(-32020);

/// The client did not declare a capability that the request requires. The data is a
/// [`MissingRequiredClientCapabilityData`]. Since 2026-07-28.
///
/// Spec: [`MissingRequiredClientCapabilityError`](https://modelcontextprotocol.io/specification/2026-07-28/schema#missingrequiredclientcapabilityerror)
pub const MISSING_REQUIRED_CLIENT_CAPABILITY: ErrorCode = ErrorCode(-32021);

/// The server does not support the protocol version. The data is an
/// [`UnsupportedProtocolVersionData`]. Since 2026-07-28.
///
/// Spec: [`UnsupportedProtocolVersionError`](https://modelcontextprotocol.io/specification/2026-07-28/schema#unsupportedprotocolversionerror)
pub const UNSUPPORTED_PROTOCOL_VERSION: ErrorCode = ErrorCode(-32022);

/// The user has to open a URL first. The data is a [`URLElicitationRequiredData`]. In 2025-11-25
/// only.
///
/// Spec: [`URLElicitationRequiredError`](https://modelcontextprotocol.io/specification/2025-11-25/schema#urlelicitationrequirederror)
pub const URL_ELICITATION_REQUIRED: ErrorCode = ErrorCode(-32042);

/// The resource does not exist. Up to 2025-11-25; later versions use [`ErrorCode::INVALID_PARAMS`].
///
/// Spec: [Error
/// Handling](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#error-handling)
pub const RESOURCE_NOT_FOUND: ErrorCode = ErrorCode(-32002);

object! {
    /// The data of [`UNSUPPORTED_PROTOCOL_VERSION`].
    ///
    /// Spec: [`UnsupportedProtocolVersionError`](https://modelcontextprotocol.io/specification/2026-07-28/schema#unsupportedprotocolversionerror)
    pub struct UnsupportedProtocolVersionData {
        /// The versions that the server supports.
        supported: Vec<ProtocolVersion> = "supported",
        /// The requested version.
        requested: String = "requested",
    }
}

object! {
    /// The data of [`MISSING_REQUIRED_CLIENT_CAPABILITY`].
    ///
    /// Spec: [`MissingRequiredClientCapabilityError`](https://modelcontextprotocol.io/specification/2026-07-28/schema#missingrequiredclientcapabilityerror)
    pub struct MissingRequiredClientCapabilityData {
        /// The missing capabilities.
        required_capabilities: ClientCapabilities = "requiredCapabilities",
    }
}

object! {
    /// The data of [`URL_ELICITATION_REQUIRED`].
    ///
    /// Spec: [`URLElicitationRequiredError`](https://modelcontextprotocol.io/specification/2025-11-25/schema#urlelicitationrequirederror)
    pub struct URLElicitationRequiredData {
        /// The URLs to open, each the params of an `elicitation/create`, as received.
        /// [`elicitations`](Self::elicitations) decodes them.
        raw_elicitations: Vec<Raw> = "elicitations",
    }
}

impl URLElicitationRequiredData {
    /// Decodes each elicitation separately.
    pub fn elicitations(
        &self,
    ) -> impl Iterator<Item = Result<super::elicitation::ElicitRequestParams, DecodeError>> {
        self.raw_elicitations.iter().map(Raw::decode)
    }
}
