//! Tools for the agents of a web chat: those of the user's page, and the server's own, which may ask the user.
//!
//! ```text
//! agent ─ MCP over HTTP, or `shim` on stdio ─ PageServer ─┬─ FromServer::Call ─ the page
//!                                                         └─ Toolbox ─ Questions ─ FromServer::Ask ─ the user
//! model without ACP ───────────────────────── Toolbox ────── Questions ─ interrupts of the run
//! ```
pub use {mcp_bridge, mcp_bridge_http};

pub mod page_server;
pub mod questions;
pub mod shim;
pub mod toolbox;
mod tools;

pub use page_server::{FromServer, PageServer, PageServers, ToolQuestion};
pub use questions::{Called, Questions, Refused, Sampler};
pub use toolbox::Toolbox;
