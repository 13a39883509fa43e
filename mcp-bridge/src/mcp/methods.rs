//! Methods of the protocol as data.
//!
//! ```
//! use mcp_bridge::mcp::base::ProtocolVersion;
//! use mcp_bridge::mcp::methods::{self, Direction};
//!
//! let call = methods::find(Direction::ToServer, "tools/call").ok_or("no such method")?;
//! assert_eq!((call.params, call.result), ("CallToolRequestParams", Some("CallToolOutcome")));
//! let ask = methods::find(Direction::ToClient, "elicitation/create").ok_or("no such method")?;
//! assert!(ask.is_sent_in(&ProtocolVersion::V20251125) && !ask.is_sent_in(&ProtocolVersion::V20260728));
//! assert!(ask.is_input_request);
//! # Ok::<(), &str>(())
//! ```
//!
//! Spec: [schema](https://modelcontextprotocol.io/specification/2026-07-28/schema) (2026-07-28),
//! [schema](https://modelcontextprotocol.io/specification/2025-11-25/schema) (2025-11-25)
use super::base::ProtocolVersion;
use super::dispatch::{ClientNotification, ClientRequest, ServerNotification, ServerRequest};

/// A method of the protocol, as one side may receive it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Method {
    /// Its name on the wire.
    pub name: &'static str,
    /// Who receives it.
    pub direction: Direction,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// The type of its params, by its name here.
    pub params: &'static str,
    /// The type of its result, by its name here; notifications have none.
    pub result: Option<&'static str>,
    /// The first version that has it as a message.
    pub since: ProtocolVersion,
    /// The last version that has it as a message; nothing while it stays.
    pub until: Option<ProtocolVersion>,
    /// What its receiver must have declared before it may be sent, a path of the capabilities; nothing for the baseline.
    pub gate: Option<&'static str>,
    /// Whether it is one of the [input requests](super::mrtr) inside of a result, from 2026-07-28 on.
    pub is_input_request: bool,
}

impl Method {
    /// Whether peers of a version send it as a message. Of a version that this one does not know, the newest is thought.
    pub fn is_sent_in(&self, version: &ProtocolVersion) -> bool {
        *version >= self.since && self.until.as_ref().is_none_or(|until| version <= until)
    }
}

/// Who receives a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The client sends, the server receives.
    ToServer,
    /// The server sends, the client receives.
    ToClient,
}

/// Whether a method is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// It is answered, once.
    Request,
    /// It is not answered.
    Notification,
}

/// All methods of all versions and of the extension [`tasks`](super::tasks), one row for each receiver.
pub fn all() -> impl Iterator<Item = &'static Method> {
    let requests = ClientRequest::METHODS.iter().chain(ServerRequest::METHODS);
    requests.chain(ClientNotification::METHODS).chain(ServerNotification::METHODS)
}

/// The method of this name that the receiver in `direction` may get.
pub fn find(direction: Direction, name: &str) -> Option<&'static Method> {
    all().find(|method| method.name == name && method.direction == direction)
}
