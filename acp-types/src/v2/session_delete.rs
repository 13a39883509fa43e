//! Taking a session out of the list.
//!
//! Spec: [Session Delete](https://agentclientprotocol.com/protocol/v2/session-delete)
use super::session_setup::SessionId;
use jsonrpc_core::object;

object! {
    /// The client wants a session out of the list.
    ///
    /// Method `session/delete`. Spec: [`DeleteSessionRequest`](https://agentclientprotocol.com/protocol/v2/schema#deletesessionrequest)
    pub struct DeleteSessionRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// The session is out of the list.
    ///
    /// Method `session/delete`. Spec: [`DeleteSessionResponse`](https://agentclientprotocol.com/protocol/v2/schema#deletesessionresponse)
    pub struct DeleteSessionResponse {}
    and "_meta"
}
