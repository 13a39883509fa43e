//! Tools of MCP servers in a program: connections that are kept, lists that change, and names without collisions.
//!
//! ```no_run
//! use acp_types::v1::session_setup::{McpServer, McpServerStdio};
//! use jsonrpc_core::wire::Raw;
//! use mcp_bridge::client::CallParams;
//! use mcp_bridge_http::CallEvent;
//! use tool_sources::{ServerOptions, ToolServer};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let address = McpServer::Stdio(McpServerStdio::new("files", "/usr/bin/files-server", [], []));
//! let server = ToolServer::start(&address, ServerOptions::new("program", "1"), None)?;
//! server.ready().await;
//! let mut call = server.open("ada", CallParams::new("list", Raw::from_text("{}")?)).await?;
//! if let CallEvent::Ended(result) = call.next().await {
//!     println!("{:?}", result?.content);
//! }
//! # Ok(())
//! # }
//! ```
pub use mcp_bridge::client::auth::AuthError;
pub use mcp_bridge_http::{CallEvent, CredentialStore};

mod address;
mod names;
mod server;

pub use address::{AddressError, SignInOptions};
pub use names::merge;
pub use server::{
    ServerCall, ServerChanges, ServerOptions, ServerStatus, ToolServer, Unavailable,
    WatchedResource,
};
