//! The address of one MCP server of a conversation.
use super::{PATH, PageServers, SECRET_VARIABLE, URL_VARIABLE};
use acp_types::v1::session_setup::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerStdio,
};
use host::process::own_program_for_others;
use mcp_bridge_http::Endpoint;
use std::io;
use std::sync::Arc;

/// A server with an address that cannot be guessed. Dropping it closes the server.
pub(super) struct Door {
    pub(super) servers: Arc<PageServers>,
    pub(super) name: String,
    pub(super) secret: String,
    pub(super) endpoint: Arc<Endpoint>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.servers.open().remove(&self.name);
        self.endpoint.close();
    }
}

impl Door {
    /// Returns the server for an agent that speaks MCP over HTTP.
    pub(super) fn over_http(&self, server: &str) -> McpServer {
        let authorization = HttpHeader::new("Authorization", format!("Bearer {}", self.secret));
        McpServer::Http(McpServerHttp::new(server, self.url(), [authorization]))
    }

    /// Returns the server for an agent that starts its servers.
    pub(super) fn over_stdio(&self, server: &str) -> io::Result<McpServer> {
        let program = own_program_for_others()?.to_string_lossy().into_owned();
        let environment = [
            EnvVariable::new(URL_VARIABLE, self.url()),
            EnvVariable::new(SECRET_VARIABLE, &*self.secret),
        ];
        let arguments = vec!["mcp-shim".to_owned()];
        Ok(McpServer::Stdio(McpServerStdio::new(server, program, arguments, environment)))
    }

    fn url(&self) -> String {
        format!("{}{PATH}{}", self.servers.base, self.name)
    }
}
