//! Cancellation of requests.
//!
//! Spec: [Cancellation](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation)
use alloc::string::String;
use jsonrpc_core::{RequestId, object};

object! {
    /// The params of `notifications/cancelled`.
    ///
    /// Spec: [`CancelledNotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#cancellednotificationparams)
    #[doc(alias = "notifications/cancelled")]
    pub struct CancelledNotificationParams {}
    optional {
        /// Id of the cancelled request. Required except for tasks in 2025-11-25.
        request_id: RequestId = "requestId",
        /// Human-readable reason.
        reason: String = "reason",
    }
    and "_meta"
}
