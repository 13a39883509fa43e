//! **Unstable.** Whether an agent has a session in memory.
//!
//! Spec: [`SessionStatusRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatusrequest)
use super::session_setup::SessionId;
use super::session_states::StateUpdate;
use jsonrpc_core::{object, open_enum};

object! {
    /// **Unstable.** The client asks whether a session is in memory; nothing else happens.
    ///
    /// Method `session/status`. Spec: [`SessionStatusRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatusrequest)
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

open_enum! {
    /// **Unstable.** Whether a session is in memory. One that is not known means `saved`.
    ///
    /// Spec: [`SessionStatus`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatus)
    pub enum SessionStatus {
        /// It is.
        Open = "open",
        /// It is not, and can be resumed.
        Saved = "saved",
    }
}

impl SessionStatus {
    /// The status to act on: one that is not known is `saved`.
    pub fn or_saved(&self) -> &Self {
        if self.is_known() { self } else { &Self::Saved }
    }
}
