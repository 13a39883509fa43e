//! MCP servers that an agent refuses.
use acp_types::v1::session_setup::McpServer;
use serde::{Deserialize, Serialize};

/// MCP servers that an agent announces to support, but does not accept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedServers {
    pub(super) http: bool,
    pub(super) sse: bool,
    pub(super) stdio: bool,
    /// The configured servers.
    pub(super) configured: bool,
}

impl RefusedServers {
    /// Adds a transport of the page's server: `http`, `sse` or `stdio`. Other names have no effect.
    ///
    /// ```
    /// use agui_bridge::conversation::RefusedServers;
    ///
    /// let mut refused = RefusedServers::default();
    /// refused.add_transport("pigeon");
    /// assert_eq!(refused, RefusedServers::default());
    /// refused.add_transport("http");
    /// assert_ne!(refused, RefusedServers::default());
    /// ```
    pub fn add_transport(&mut self, name: &str) {
        self.http |= name == "http";
        self.sse |= name == "sse";
        self.stdio |= name == "stdio";
    }

    /// Returns the servers of both.
    pub(crate) fn and(self, other: Self) -> Self {
        let Self { http, sse, stdio, configured } = other;
        Self {
            http: self.http | http,
            sse: self.sse | sse,
            stdio: self.stdio | stdio,
            configured: self.configured | configured,
        }
    }

    /// Returns whether the page's server is refused over a transport.
    pub(super) fn has_transport(self) -> bool {
        self.http || self.sse || self.stdio
    }

    /// Adds the transport of a server.
    pub(super) fn with(mut self, server: &McpServer) -> Self {
        match server {
            McpServer::Http(_) => self.http = true,
            McpServer::Sse(_) => self.sse = true,
            _ => self.stdio = true,
        }
        self
    }
}
