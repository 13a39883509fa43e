//! **Unstable.** Whether an agent has a session in memory.
//!
//! Spec: [`SessionStatusRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionstatusrequest), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatusrequest)
use jsonrpc_core::open_enum;

open_enum! {
    /// **Unstable.** Whether a session is in memory. One that is not known means `saved`.
    ///
    /// Spec: [`SessionStatus`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionstatus), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatus)
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
