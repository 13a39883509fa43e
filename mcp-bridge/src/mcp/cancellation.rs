//! Requests that are taken back.
//!
//! Spec: [Cancellation](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation)
use alloc::string::String;
use jsonrpc_core::{RequestId, object};

object! {
    /// The params of `notifications/cancelled`.
    ///
    /// Spec: [`CancelledNotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#cancellednotificationparams)
    pub struct CancelledNotificationParams {}
    optional {
        /// Which request. Required but for tasks in 2025-11-25.
        request_id: RequestId = "requestId",
        /// Why, for people.
        reason: String = "reason",
    }
    and "_meta"
}
