//! **Unstable.** MCP servers that live in the client, reached over the connection itself.
//!
//! Spec: [MCP over ACP](https://agentclientprotocol.com/rfds/mcp-over-acp)
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{member_union, object, string_id};

string_id! {
    /// **Unstable.** Names an MCP server that is reached over the connection.
    ///
    /// Spec: [`McpServerAcpId`](https://agentclientprotocol.com/protocol/v1/draft/schema#mcpserveracpid), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#mcpserveracpid)
    pub struct McpServerAcpId;
}

string_id! {
    /// **Unstable.** Names a request within `mcp/message`, as its sender chose.
    ///
    /// Spec: [`McpRequestId`](https://agentclientprotocol.com/protocol/v1/draft/schema#mcprequestid), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#mcprequestid)
    pub struct McpRequestId;
}

object! {
    /// **Unstable.** The agent sends a request to an MCP server of the client.
    ///
    /// Method `mcp/message`. Spec: [`MessageMcpRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#messagemcprequest), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcprequest)
    #[doc(alias = "mcp/message")]
    pub struct MessageMcpRequest {
        /// Which server.
        server_id: McpServerAcpId = "serverId",
        /// Names the inner request.
        request_id: McpRequestId = "requestId",
        /// The inner method.
        method: String = "method",
    }
    optional {
        /// The inner parameters, an object.
        params: Raw = "params",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The client sends a notification of an MCP server, in the course of a request.
    ///
    /// Method `mcp/message`. Spec: [`MessageMcpNotification`](https://agentclientprotocol.com/protocol/v1/draft/schema#messagemcpnotification), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcpnotification)
    #[doc(alias = "mcp/message")]
    pub struct MessageMcpNotification {
        /// Which server.
        server_id: McpServerAcpId = "serverId",
        /// Which inner request it belongs to.
        request_id: McpRequestId = "requestId",
        /// The inner method.
        method: String = "method",
    }
    optional {
        /// The inner parameters, an object.
        params: Raw = "params",
    }
    and "_meta"
}

member_union! {
    /// **Unstable.** What the MCP server answered: the outer answer is a success even where the inner one is an error.
    ///
    /// Method `mcp/message`. Spec: [`MessageMcpResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#messagemcpresponse), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcpresponse)
    ///
    /// Where both are there, the result is meant, and `null` is one:
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
    /// **Unstable.** The MCP server answered with a result.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/draft/schema#messagemcpresponse), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcpresponse)
    pub struct MessageMcpResult {
        /// The result, any JSON.
        result: Raw = "result",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The MCP server answered with an error.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/draft/schema#messagemcpresponse), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcpresponse)
    pub struct MessageMcpError {
        /// The error.
        error: McpError = "error",
    }
    and "_meta"
}

object! {
    /// **Unstable.** An error of an MCP server.
    ///
    /// Spec: [`McpError`](https://agentclientprotocol.com/protocol/v1/draft/schema#mcperror), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#mcperror)
    pub struct McpError {
        /// Its code.
        code: i32 = "code",
        /// What it is, in a line.
        message: String = "message",
    }
    optional {
        /// More about it.
        data: Raw = "data",
    }
}
