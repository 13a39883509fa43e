//! Cancellation of requests by notifications.
use crate::message::Notification;
use crate::wire::Raw;

/// The notification by which a protocol cancels a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelMethod {
    /// The method.
    pub method: &'static str,
    /// The member of its parameters with the id of the request.
    pub id_member: &'static str,
}

impl CancelMethod {
    /// `$/cancel_request`.
    ///
    /// Spec: [Cancellation](https://agentclientprotocol.com/protocol/v1/cancellation) (ACP v1)
    pub const ACP: Self = Self { method: "$/cancel_request", id_member: "requestId" };

    /// `notifications/cancelled`.
    ///
    /// Spec: [Cancellation](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation)
    /// (MCP 2025-11-25)
    pub const MCP: Self = Self { method: "notifications/cancelled", id_member: "requestId" };
}

/// A notification to send, which cancels an own request.
#[derive(Clone, Debug, PartialEq)]
pub struct Cancellation {
    pub(super) method: &'static str,
    pub(super) params: Raw,
}

impl Cancellation {
    /// Returns the notification to send.
    pub fn notification(&self) -> Notification<'_> {
        Notification::new(self.method, self.params.as_ref())
    }
}
