//! How a connection begins, up to 2025-11-25.
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
    pub struct InitializeRequestParams {
        /// The newest version that the client speaks.
        protocol_version: ProtocolVersion = "protocolVersion",
        /// What the client can do.
        capabilities: ClientCapabilities = "capabilities",
        /// Who it is.
        client_info: Implementation = "clientInfo",
    }
    and "_meta"
}

object! {
    /// The answer to `initialize`.
    ///
    /// Spec: [`InitializeResult`](https://modelcontextprotocol.io/specification/2025-11-25/schema#initializeresult)
    pub struct InitializeResult {
        /// The version that both speak from now on: the client's, or the newest that the server speaks.
        protocol_version: ProtocolVersion = "protocolVersion",
        /// What the server can do.
        capabilities: ServerCapabilities = "capabilities",
        /// Who it is.
        server_info: Implementation = "serverInfo",
    }
    optional {
        /// How to use it, for the model.
        instructions: String = "instructions",
    }
    and "_meta"
}
