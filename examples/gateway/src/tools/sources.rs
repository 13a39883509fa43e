//! Tools of MCP servers in a program: connections that are kept, lists that change, and names
//! without collisions.
//!
//! ```no_run
//! use acp_types::v1::session_setup::{McpServer, McpServerStdio};
//! use jsonrpc_core::wire::Raw;
//! use mcp_bridge::client::CallParams;
//! use mcp_bridge_http::CallEvent;
//! use gateway::tools::sources::{ServerOptions, ToolServer};
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
//!
//! | event | effect |
//! |---|---|
//! | the server does not start, or does not answer in time | its tools are missing; it is tried again after 1 s, then after twice the time, up to 60 s, and when a tool is called |
//! | the process or the session ends | its calls fail; its tools are still listed; it is started again in the same way |
//! | the tool list changes | the list is retrieved again |
//! | prompts or resources change | subscribers are notified; after an interruption, of all of them |
//! | the server requires authorization | its tools are missing until a user signs in: `begin_sign_in` returns the page to open, and `finish_sign_in` takes its redirect. Tokens are kept in a `CredentialStore`, and refreshed without the user |
//! | a user other than the first calls a tool | a connection of that user is opened; an unused one is closed after a time, and in favour of another user's beyond the limit. With `is_shared`, all users have the same connection |
//! | a tool does not answer in time | the call fails and is cancelled; questions to the user do not count |
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
