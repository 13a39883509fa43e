//! **Unstable.** Subagents: sessions owned by a session, and messages between sessions.
//!
//! Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#subagentupdate),
//! [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#subagentupdate)
use jsonrpc_core::object;

object! {
    /// **Unstable.** Operations that the client may perform on an owned session.
    ///
    /// Spec: [`SubagentSessionCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#subagentsessioncapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#subagentsessioncapabilities)
    pub struct SubagentSessionCapabilities {}
    optional {
        /// Present if the client may send `session/cancel`.
        cancel: SessionCancelCapabilities = "cancel" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** The client may cancel the work of an owned session.
    ///
    /// Spec: [`SessionCancelCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessioncancelcapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessioncancelcapabilities)
    pub struct SessionCancelCapabilities {}
    and "_meta"
}
