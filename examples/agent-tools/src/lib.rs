//! Tools for the agents of a web chat: those of the user's page, the server's own, which may ask the user, and those of MCP
//! servers.
//!
//! ```text
//! agent ─ MCP over HTTP, or `shim` on stdio ─ relay ─ tool_sources ─ MCP servers
//! agent ─ MCP over HTTP, or `shim` on stdio ─ PageServer ─┬─ FromServer::Call ─ the page
//!                                                         └─ Toolbox ─ Questions ─ FromServer::Ask ─ the user
//! model without ACP ───────────────────────── Toolbox ─┬─── Questions ─ interrupts of the run
//!                                                      └─── tool_sources ─ MCP servers
//! ```
pub use {mcp_bridge, mcp_bridge_http, mcp_http, tool_sources};

mod lost;
pub mod page_server;
pub mod questions;
mod relay;
mod server_calls;
pub mod shim;
pub mod toolbox;
mod tools;

pub use page_server::{FromServer, PageServer, PageServers, ToolQuestion};
pub use questions::{Called, MAX_SAMPLES, Questions, Refused};
pub use relay::traced_meta;
pub use toolbox::{ModelCaller, Offered, OfferedServer, Toolbox};
