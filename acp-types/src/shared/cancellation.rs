//! Cancellation of requests.
//!
//! Spec: [Cancellation](https://agentclientprotocol.com/protocol/v1/cancellation), [version
//! 2](https://agentclientprotocol.com/protocol/v2/cancellation)
use jsonrpc_core::{RequestId, object};

object! {
    /// Cancels a request that the sender made.
    ///
    /// Method `$/cancel_request`.
    /// Spec: [`CancelRequestNotification`](https://agentclientprotocol.com/protocol/v1/schema#cancelrequestnotification),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#cancelrequestnotification)
    #[doc(alias = "$/cancel_request")]
    pub struct CancelRequestNotification {
        /// Identifier of the request.
        request_id: RequestId = "requestId",
    }
    and "_meta"
}
