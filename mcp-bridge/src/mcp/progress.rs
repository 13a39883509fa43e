//! Progress of requests.
//!
//! Spec: [Progress](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress)
use alloc::string::String;
use jsonrpc_core::{RequestId, object};
use serde_json::Number;

object! {
    /// The params of `notifications/progress`.
    ///
    /// Spec: [`ProgressNotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#progressnotificationparams)
    #[doc(alias = "notifications/progress")]
    pub struct ProgressNotificationParams {
        /// The `progressToken` of the request, a string or an integer.
        progress_token: RequestId = "progressToken",
        /// Progress so far. It increases with each notification.
        progress: Number = "progress",
    }
    optional {
        /// Total amount of progress, if known.
        total: Number = "total",
        /// Human-readable description. Since 2025-03-26.
        message: String = "message",
    }
    and "_meta"
}
