//! **Unstable.** Whether an agent has a session in memory.
//!
//! Spec: [`SessionStatusRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionstatusrequest),
//! [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatusrequest)
use jsonrpc_core::open_enum;

open_enum! {
    /// **Unstable.** Whether a session is in memory. An unknown name means `saved`.
    ///
    /// Spec: [`SessionStatus`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionstatus),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatus)
    pub enum SessionStatus {
        /// The session is in memory.
        Open = "open",
        /// The session is not in memory, and can be resumed.
        Saved = "saved",
    }
}

impl SessionStatus {
    /// Returns the status, with `saved` for an unknown name.
    pub fn or_saved(&self) -> &Self {
        if self.is_known() { self } else { &Self::Saved }
    }
}
