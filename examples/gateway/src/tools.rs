//! Tools for the agents of a web chat: those of the user's page, the server's own, which may ask
//! the user, and those of MCP servers, which are [`sources`].
//!
//! ```text
//! agent ─ MCP over HTTP, or `shim` on stdio ─ relay ─ sources ─ MCP servers
//! agent ─ MCP over HTTP, or `shim` on stdio ─ PageServer ─┬─ FromServer::Call ─ the page
//!                                                         └─ Toolbox ─ Questions ─ FromServer::Ask ─ the user
//! model without ACP ───────────────────────── Toolbox ─┬─── Questions ─ interrupts of the run
//!                                                      └─── sources ─ MCP servers
//! ```
pub mod events;
mod lost;
mod own_tools;
pub mod page_server;
pub mod questions;
mod relay;
mod server_calls;
pub mod shim;
pub mod sources;
pub mod toolbox;

pub use events::{EventHandler, FromServer};
pub use page_server::{PageServer, PageServers};
pub use questions::{CallState, MAX_SAMPLES, Questions, ResumeError};
pub use relay::traced_meta;
pub use toolbox::{ModelCaller, Offered, OfferedServer, Toolbox};
