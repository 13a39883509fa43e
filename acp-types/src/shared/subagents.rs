//! **Unstable.** Sessions that a session began and owns, and what they say to each other.
//!
//! Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#subagentupdate), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#subagentupdate)
use jsonrpc_core::object;

object! {
    /// **Unstable.** What the client may do to a session that another owns.
    ///
    /// Spec: [`SubagentSessionCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#subagentsessioncapabilities), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#subagentsessioncapabilities)
    pub struct SubagentSessionCapabilities {}
    optional {
        /// Present when it may send `session/cancel`.
        cancel: SessionCancelCapabilities = "cancel" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** The client may cancel the work of a session that another owns.
    ///
    /// Spec: [`SessionCancelCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessioncancelcapabilities), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessioncancelcapabilities)
    pub struct SessionCancelCapabilities {}
    and "_meta"
}
