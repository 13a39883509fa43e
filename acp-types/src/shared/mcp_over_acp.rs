//! **Unstable.** MCP servers of the client, reached over the ACP connection.
//!
//! Spec: [MCP over ACP](https://agentclientprotocol.com/rfds/mcp-over-acp)
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{member_union, object, string_id};

string_id! {
    /// **Unstable.** Identifies an MCP server that is reached over the ACP connection.
    ///
    /// Spec: [`McpServerAcpId`](https://agentclientprotocol.com/protocol/v1/draft/schema#mcpserveracpid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#mcpserveracpid)
    pub struct McpServerAcpId;
}

string_id! {
    /// **Unstable.** Identifies a request within `mcp/message`, chosen by its sender.
    ///
    /// Spec: [`McpRequestId`](https://agentclientprotocol.com/protocol/v1/draft/schema#mcprequestid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#mcprequestid)
    pub struct McpRequestId;
}

object! {
    /// **Unstable.** A request of the agent to an MCP server of the client.
    ///
    /// Method `mcp/message`.
    /// Spec: [`MessageMcpRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#messagemcprequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcprequest)
    #[doc(alias = "mcp/message")]
    pub struct MessageMcpRequest {
        /// Identifier of the server.
        server_id: McpServerAcpId = "serverId",
        /// Identifier of the inner request.
        request_id: McpRequestId = "requestId",
        /// The inner method.
        method: String = "method",
    }
    optional {
        /// Parameters of the inner request, an object.
        params: Raw = "params",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A notification from an MCP server of the client, related to a request.
    ///
    /// Method `mcp/message`.
    /// Spec: [`MessageMcpNotification`](https://agentclientprotocol.com/protocol/v1/draft/schema#messagemcpnotification),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcpnotification)
    #[doc(alias = "mcp/message")]
    pub struct MessageMcpNotification {
        /// Identifier of the server.
        server_id: McpServerAcpId = "serverId",
        /// Identifier of the inner request that it belongs to.
        request_id: McpRequestId = "requestId",
        /// The inner method.
        method: String = "method",
    }
    optional {
        /// Parameters of the inner request, an object.
        params: Raw = "params",
    }
    and "_meta"
}

member_union! {
    /// **Unstable.** The response of the MCP server. An error of the MCP server is a successful
    /// response of ACP.
    ///
    /// Method `mcp/message`.
    /// Spec: [`MessageMcpResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#messagemcpresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcpresponse)
    ///
    /// If both members are present, the result counts. It may be `null`:
    ///
    /// ```
    /// use acp_types::v1::mcp_over_acp::MessageMcpResponse;
    ///
    /// let response: MessageMcpResponse = serde_json::from_str(r#"{"result":null}"#)?;
    /// assert!(matches!(response, MessageMcpResponse::Result(_)));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub enum MessageMcpResponse {
        /// The result.
        Result(MessageMcpResult) has "result" or null,
        /// The error.
        Error(MessageMcpError) has "error" or null,
    }
}

object! {
    /// **Unstable.** A result of the MCP server.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/draft/schema#messagemcpresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcpresponse)
    pub struct MessageMcpResult {
        /// The result, any JSON value.
        result: Raw = "result",
    }
    and "_meta"
}

object! {
    /// **Unstable.** An error response of the MCP server.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/draft/schema#messagemcpresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcpresponse)
    pub struct MessageMcpError {
        /// The error.
        error: McpError = "error",
    }
    and "_meta"
}

object! {
    /// **Unstable.** An error of an MCP server.
    ///
    /// Spec: [`McpError`](https://agentclientprotocol.com/protocol/v1/draft/schema#mcperror),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#mcperror)
    pub struct McpError {
        /// Error code.
        code: i32 = "code",
        /// Error message, one line.
        message: String = "message",
    }
    optional {
        /// Additional data.
        data: Raw = "data",
    }
}
