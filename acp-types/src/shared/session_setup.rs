//! Session setup: new, loaded, resumed and forked sessions.
//!
//! Spec: [Session Setup](https://agentclientprotocol.com/protocol/v1/session-setup), [version
//! 2](https://agentclientprotocol.com/protocol/v2/session-setup)
use super::mcp_over_acp::McpServerAcpId;
use alloc::string::String;
use jsonrpc_core::{object, string_id};

string_id! {
    /// Identifies a session.
    ///
    /// Spec: [`SessionId`](https://agentclientprotocol.com/protocol/v1/schema#sessionid), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#sessionid)
    pub struct SessionId;
}

object! {
    /// A request to close a session. Its running work is cancelled.
    ///
    /// Method `session/close`.
    /// Spec: [`CloseSessionRequest`](https://agentclientprotocol.com/protocol/v1/schema#closesessionrequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#closesessionrequest)
    #[doc(alias = "session/close")]
    pub struct CloseSessionRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// The session is closed.
    ///
    /// Method `session/close`.
    /// Spec: [`CloseSessionResponse`](https://agentclientprotocol.com/protocol/v1/schema#closesessionresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#closesessionresponse)
    pub struct CloseSessionResponse {}
    and "_meta"
}

object! {
    /// **Unstable.** An MCP server of the client.
    ///
    /// Spec: [`McpServerAcp`](https://agentclientprotocol.com/protocol/v1/draft/schema#mcpserveracp),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#mcpserveracp)
    pub struct McpServerAcp {
        /// Human-readable name.
        name: String = "name",
        /// Identifier of the server in `mcp/message`.
        server_id: McpServerAcpId = "serverId",
    }
    and "_meta"
}

object! {
    /// An HTTP header.
    ///
    /// Spec: [`HttpHeader`](https://agentclientprotocol.com/protocol/v1/schema#httpheader),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#httpheader)
    pub struct HttpHeader {
        /// Name.
        name: String = "name",
        /// Value.
        value: String = "value",
    }
    and "_meta"
}

object! {
    /// An environment variable.
    ///
    /// Spec: [`EnvVariable`](https://agentclientprotocol.com/protocol/v1/schema#envvariable),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#envvariable)
    pub struct EnvVariable {
        /// Name.
        name: String = "name",
        /// Value.
        value: String = "value",
    }
    and "_meta"
}
