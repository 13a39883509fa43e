//! Cancelling any request.
//!
//! Spec: [Cancellation](https://agentclientprotocol.com/protocol/v1/cancellation), [version 2](https://agentclientprotocol.com/protocol/v2/cancellation)
use jsonrpc_core::{RequestId, object};

object! {
    /// Who sent a request has no more use for its answer.
    ///
    /// Method `$/cancel_request`. Spec: [`CancelRequestNotification`](https://agentclientprotocol.com/protocol/v1/schema#cancelrequestnotification), [version 2](https://agentclientprotocol.com/protocol/v2/schema#cancelrequestnotification)
    #[doc(alias = "$/cancel_request")]
    pub struct CancelRequestNotification {
        /// Which request, by the id it was sent with.
        request_id: RequestId = "requestId",
    }
    and "_meta"
}
