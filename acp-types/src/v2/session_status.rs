//! **Unstable.** Whether an agent has a session in memory.
//!
//! Spec: [`SessionStatusRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatusrequest)
use super::session_states::StateUpdate;
use crate::shared::session_setup::SessionId;
pub use crate::shared::session_status::SessionStatus;
use jsonrpc_core::object;

object! {
    /// **Unstable.** The client asks whether a session is in memory; nothing else happens.
    ///
    /// Method `session/status`. Spec: [`SessionStatusRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatusrequest)
    #[doc(alias = "session/status")]
    pub struct SessionStatusRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** Whether a session is in memory, at that moment.
    ///
    /// Method `session/status`. Spec: [`SessionStatusResponse`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatusresponse)
    pub struct SessionStatusResponse {
        /// Whether it is.
        status: SessionStatus = "status",
    }
    optional {
        /// What it is at, where the agent says so; absent does not mean that it is idle.
        state: StateUpdate = "state" [default_on_error],
    }
    and "_meta"
}
