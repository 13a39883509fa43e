//! Subagents: sessions owned by a session, and messages between sessions.
//!
//! Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v1/schema#subagentupdate),
//! [version 2](https://agentclientprotocol.com/protocol/v2/schema#subagentupdate)
use jsonrpc_core::object;

object! {
    /// Operations that the client may perform on an owned session.
    ///
    /// Spec: [`SubagentSessionCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#subagentsessioncapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#subagentsessioncapabilities)
    pub struct SubagentSessionCapabilities {}
    optional {
        /// Present if the client may send `session/cancel`.
        cancel: SessionCancelCapabilities = "cancel" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The client may cancel the work of an owned session.
    ///
    /// Spec: [`SessionCancelCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessioncancelcapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#sessioncancelcapabilities)
    pub struct SessionCancelCapabilities {}
    and "_meta"
}
