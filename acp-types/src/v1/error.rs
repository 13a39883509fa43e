//! Error codes that the protocol adds to those of JSON-RPC.
//!
//! Spec: [`ErrorCode`](https://agentclientprotocol.com/protocol/v1/schema#errorcode)
//!
//! The codes of JSON-RPC itself, and that of a cancelled request, are constants of [`ErrorCode`].
use jsonrpc_core::ErrorCode;

/// The agent wants the user to log in first: see [`authenticate`](super::authentication::AuthenticateRequest).
pub const AUTH_REQUIRED: ErrorCode = ErrorCode(-32000);

/// A file, a session or another thing that the request names does not exist.
pub const RESOURCE_NOT_FOUND: ErrorCode = ErrorCode(-32002);
