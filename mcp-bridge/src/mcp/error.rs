//! Errors with codes and data of their own.
//!
//! Spec: [Error Codes](https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes)
use super::base::ProtocolVersion;
use super::capabilities::ClientCapabilities;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Raw};
use jsonrpc_core::{ErrorCode, object};

/// Headers and body of an HTTP request do not say the same. From 2026-07-28 on.
///
/// Spec: [`HeaderMismatchError`](https://modelcontextprotocol.io/specification/2026-07-28/schema#headermismatcherror)
pub const HEADER_MISMATCH: ErrorCode = ErrorCode(-32020);

/// The client did not declare what the request needs; the data is a [`MissingRequiredClientCapabilityData`]. From
/// 2026-07-28 on.
///
/// Spec: [`MissingRequiredClientCapabilityError`](https://modelcontextprotocol.io/specification/2026-07-28/schema#missingrequiredclientcapabilityerror)
pub const MISSING_REQUIRED_CLIENT_CAPABILITY: ErrorCode = ErrorCode(-32021);

/// The server does not speak this version; the data is an [`UnsupportedProtocolVersionData`]. From 2026-07-28 on.
///
/// Spec: [`UnsupportedProtocolVersionError`](https://modelcontextprotocol.io/specification/2026-07-28/schema#unsupportedprotocolversionerror)
pub const UNSUPPORTED_PROTOCOL_VERSION: ErrorCode = ErrorCode(-32022);

/// The user has to go to a page first; the data is a [`URLElicitationRequiredData`]. In 2025-11-25 only.
///
/// Spec: [`URLElicitationRequiredError`](https://modelcontextprotocol.io/specification/2025-11-25/schema#urlelicitationrequirederror)
pub const URL_ELICITATION_REQUIRED: ErrorCode = ErrorCode(-32042);

/// There is no such resource. Up to 2025-11-25; since then it is [`ErrorCode::INVALID_PARAMS`].
///
/// Spec: [Error Handling](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#error-handling)
pub const RESOURCE_NOT_FOUND: ErrorCode = ErrorCode(-32002);

object! {
    /// The data of [`UNSUPPORTED_PROTOCOL_VERSION`].
    ///
    /// Spec: [`UnsupportedProtocolVersionError`](https://modelcontextprotocol.io/specification/2026-07-28/schema#unsupportedprotocolversionerror)
    pub struct UnsupportedProtocolVersionData {
        /// The versions that the server speaks.
        supported: Vec<ProtocolVersion> = "supported",
        /// The one that was asked for.
        requested: String = "requested",
    }
}

object! {
    /// The data of [`MISSING_REQUIRED_CLIENT_CAPABILITY`].
    ///
    /// Spec: [`MissingRequiredClientCapabilityError`](https://modelcontextprotocol.io/specification/2026-07-28/schema#missingrequiredclientcapabilityerror)
    pub struct MissingRequiredClientCapabilityData {
        /// What the client has to declare.
        required_capabilities: ClientCapabilities = "requiredCapabilities",
    }
}

object! {
    /// The data of [`URL_ELICITATION_REQUIRED`].
    ///
    /// Spec: [`URLElicitationRequiredError`](https://modelcontextprotocol.io/specification/2025-11-25/schema#urlelicitationrequirederror)
    pub struct URLElicitationRequiredData {
        /// The pages, each the params of an `elicitation/create`, as they came; [`elicitations`](Self::elicitations)
        /// reads them.
        raw_elicitations: Vec<Raw> = "elicitations",
    }
}

impl URLElicitationRequiredData {
    /// Reads each on its own.
    pub fn elicitations(
        &self,
    ) -> impl Iterator<Item = Result<super::elicitation::ElicitRequestParams, DecodeError>> {
        self.raw_elicitations.iter().map(Raw::decode)
    }
}
