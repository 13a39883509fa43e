//! A method of the protocol.
use super::base::ProtocolVersion;

/// A method of the protocol and its receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Method {
    /// Name on the wire.
    pub name: &'static str,
    /// Receiver of the method.
    pub receiver: Receiver,
    /// Whether the method is a request or a notification.
    pub kind: MethodKind,
    /// Name of the params type in this crate.
    pub params: &'static str,
    /// Name of the result type in this crate. `None` for notifications.
    pub result: Option<&'static str>,
    /// The first version that defines the method as a message.
    pub since: ProtocolVersion,
    /// The last version that defines the method as a message. `None` if it is still defined.
    pub until: Option<ProtocolVersion>,
    /// Path of the capability that the receiver must have declared. `None` if none is required.
    /// That of tasks is the path of 2025-11-25; since 2026-07-28 it is
    /// `extensions.io.modelcontextprotocol/tasks`.
    pub gate: Option<&'static str>,
    /// Whether the method is an [input request](super::mrtr) inside a result, since 2026-07-28.
    pub is_input_request: bool,
}

impl Method {
    /// Returns whether peers of a version send the method as a message. An unknown version counts
    /// as the latest.
    pub fn is_sent_in(&self, version: &ProtocolVersion) -> bool {
        *version >= self.since && self.until.as_ref().is_none_or(|until| version <= until)
    }
}

/// Receiver of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a connection has two sides")]
pub enum Receiver {
    /// The client sends, the server receives.
    Server,
    /// The server sends, the client receives.
    Client,
}

/// Kind of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has requests and notifications")]
pub enum MethodKind {
    /// A request. It has exactly one response.
    Request,
    /// A notification. It has no response.
    Notification,
}
