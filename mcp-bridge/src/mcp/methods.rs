//! The methods of the protocol as data.
//!
//! ```
//! use mcp_bridge::mcp::base::ProtocolVersion;
//! use mcp_bridge::mcp::methods::{self, Receiver};
//!
//! let call = methods::find(Receiver::Server, "tools/call").ok_or("no such method")?;
//! assert_eq!((call.params, call.result), ("CallToolRequestParams", Some("CallToolOutcome")));
//! let ask = methods::find(Receiver::Client, "elicitation/create").ok_or("no such method")?;
//! assert!(ask.is_sent_in(&ProtocolVersion::V20251125) && !ask.is_sent_in(&ProtocolVersion::V20260728));
//! assert!(ask.is_input_request);
//! # Ok::<(), &str>(())
//! ```
//!
//! Spec: [schema](https://modelcontextprotocol.io/specification/2026-07-28/schema) (2026-07-28),
//! [schema](https://modelcontextprotocol.io/specification/2025-11-25/schema) (2025-11-25)
pub use super::method::{Method, MethodKind, Receiver};

use super::dispatch::{ClientNotification, ClientRequest, ServerNotification, ServerRequest};

/// Returns all methods of all versions and of the extensions [`tasks`](super::tasks) and
/// [`skills`](super::skills), one row for each receiver.
pub fn all() -> impl Iterator<Item = &'static Method> {
    let requests = ClientRequest::METHODS.iter().chain(ServerRequest::METHODS);
    requests.chain(ClientNotification::METHODS).chain(ServerNotification::METHODS)
}

/// Finds the method that has this name and this receiver.
pub fn find(receiver: Receiver, name: &str) -> Option<&'static Method> {
    all().find(|method| method.name == name && method.receiver == receiver)
}
