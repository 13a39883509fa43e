//! The way to the tools of the client's page: the session's MCP server named `ui`, or an extension
//! method.

use acp_types::v1::session_setup::{McpServer, McpServerStdio};
use acp_types::v2;
use jsonrpc_core::wire::Meta;

/// The server with the page's tools.
pub(crate) const SERVER: &str = "ui";

/// Jaeger's member for contextual tools.
const META_KEY: &str = "jaegertracing.io/contextual-tools";

/// The way to call the page's tools.
#[derive(Clone, Debug, Default)]
pub(crate) enum PageTools {
    #[default]
    None,
    /// An MCP server to start.
    Server(Box<McpServerStdio>),
    /// An extension method.
    Extension,
}

impl PageTools {
    /// Returns the way that a session's params offer.
    pub(crate) fn of(servers: &[McpServer], meta: Option<&Meta>) -> Self {
        let server = servers.iter().find_map(|server| match server {
            McpServer::Stdio(server) if server.name == SERVER => Some(server.clone()),
            _ => None,
        });
        Self::offered(server, meta)
    }

    /// As [`of`](Self::of), in version 2.
    pub(crate) fn of_v2(servers: &[v2::session_setup::McpServer], meta: Option<&Meta>) -> Self {
        let server = servers.iter().find_map(|server| match server {
            v2::session_setup::McpServer::Stdio(server) if server.name == SERVER => {
                let args = server.args.clone();
                let env = server.env.clone();
                let args = args.unwrap_or_default();
                let env = env.unwrap_or_default();
                Some(McpServerStdio::new(SERVER, server.command.as_str(), args, env))
            }
            _ => None,
        });
        Self::offered(server, meta)
    }

    fn offered(server: Option<McpServerStdio>, meta: Option<&Meta>) -> Self {
        match server {
            Some(server) => Self::Server(Box::new(server)),
            None if meta.is_some_and(|meta| meta.get(META_KEY).is_some()) => Self::Extension,
            None => Self::None,
        }
    }
}
