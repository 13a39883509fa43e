//! **Unstable.** Whether an agent has a session in memory.
//!
//! Spec: [`SessionStatusRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionstatusrequest)
use crate::shared::session_setup::SessionId;
pub use crate::shared::session_status::SessionStatus;
use jsonrpc_core::object;

object! {
    /// **Unstable.** A request for the status of a session. It has no other effect.
    ///
    /// Method `session/status`.
    /// Spec: [`SessionStatusRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionstatusrequest)
    #[doc(alias = "session/status")]
    pub struct SessionStatusRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The status of a session at the time of the request.
    ///
    /// Method `session/status`.
    /// Spec: [`SessionStatusResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionstatusresponse)
    pub struct SessionStatusResponse {
        /// Whether the session is in memory.
        status: SessionStatus = "status",
    }
    and "_meta"
}
