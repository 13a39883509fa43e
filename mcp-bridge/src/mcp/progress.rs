//! How far a request is.
//!
//! Spec: [Progress](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress)
use alloc::string::String;
use jsonrpc_core::{RequestId, object};
use serde_json::Number;

object! {
    /// The params of `notifications/progress`.
    ///
    /// Spec: [`ProgressNotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#progressnotificationparams)
    pub struct ProgressNotificationParams {
        /// The token that the request had: a string or an integer.
        progress_token: RequestId = "progressToken",
        /// How much is done; it grows with each notification.
        progress: Number = "progress",
    }
    optional {
        /// How much there is to do.
        total: Number = "total",
        /// What is going on, for people. From 2025-03-26 on.
        message: String = "message",
    }
    and "_meta"
}
