//! Error codes that the protocol adds to those of JSON-RPC.
//!
//! Spec: [`ErrorCode`](https://agentclientprotocol.com/protocol/v1/schema#errorcode)
//!
//! The codes of JSON-RPC itself, and that of a cancelled request, are constants of [`ErrorCode`].
use jsonrpc_core::ErrorCode;

/// The user has to log in first; see [`authenticate`](super::authentication::AuthenticateRequest).
pub const AUTH_REQUIRED: ErrorCode = ErrorCode(-32000);

/// A file, session or other resource of the request does not exist.
pub const RESOURCE_NOT_FOUND: ErrorCode = ErrorCode(-32002);
