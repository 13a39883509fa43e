//! Initialization of a connection, up to 2025-11-25.
//!
//! Spec: [Lifecycle](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle)
use super::base::ProtocolVersion;
use super::capabilities::{ClientCapabilities, Implementation, ServerCapabilities};
use alloc::string::String;
use jsonrpc_core::object;

object! {
    /// The params of `initialize`.
    ///
    /// Spec: [`InitializeRequest`](https://modelcontextprotocol.io/specification/2025-11-25/schema#initializerequest)
    #[doc(alias = "initialize")]
    pub struct InitializeRequestParams {
        /// The latest version that the client supports.
        protocol_version: ProtocolVersion = "protocolVersion",
        /// The capabilities of the client.
        capabilities: ClientCapabilities = "capabilities",
        /// Name and version of the client.
        client_info: Implementation = "clientInfo",
    }
    and "_meta"
}

object! {
    /// The result of `initialize`.
    ///
    /// Spec: [`InitializeResult`](https://modelcontextprotocol.io/specification/2025-11-25/schema#initializeresult)
    #[doc(alias = "initialize")]
    pub struct InitializeResult {
        /// The negotiated version: that of the client, or the latest that the server supports.
        protocol_version: ProtocolVersion = "protocolVersion",
        /// The capabilities of the server.
        capabilities: ServerCapabilities = "capabilities",
        /// Name and version of the server.
        server_info: Implementation = "serverInfo",
    }
    optional {
        /// Usage instructions for the model.
        instructions: String = "instructions",
    }
    and "_meta"
}
