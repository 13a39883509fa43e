//! The [Model Context Protocol](https://modelcontextprotocol.io) (MCP) as open, lossless types,
//! with sans-IO machines for servers and clients of tools.
//!
//! Use this crate to serve tools, to call the tools of other servers, or to translate between the
//! two generations of the protocol: up to
//! [2025-11-25](https://modelcontextprotocol.io/specification/2025-11-25) and since
//! [2026-07-28](https://modelcontextprotocol.io/specification/2026-07-28). Servers and clients have
//! one interface for both.
//!
//! ```toml
//! [dependencies]
//! mcp-bridge = { version = "0.1", features = ["tokio"] }
//! schemars = "1"
//! serde = { version = "1", features = ["derive"] }
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//! ```
//!
//! # First program
//!
//! A server with one tool, over stdin and stdout, for any MCP client:
//!
#![cfg_attr(feature = "tokio", doc = "```no_run")]
#![cfg_attr(not(feature = "tokio"), doc = "```text")]
//! use mcp_bridge::mcp::capabilities::Implementation;
//! use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginError, PluginTool};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! /// Arguments of the tool. Their JSON Schema is derived.
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! async fn add(add: Add, _: PluginContext<NoElicitations>) -> Result<i64, PluginError> {
//!     Ok(add.a + add.b)
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let add = PluginTool::builder("add", "1")
//!         .description("Adds two integers")
//!         .elicits::<NoElicitations>()
//!         .execute(add)?;
//!     let server = Implementation::new("calculator", "1.0.0");
//!     mcp_bridge::stdio::serve(server, [add]).await?;
//!     Ok(())
//! }
//! ```
//!
//! The folder `examples` contains this server (`stdio`), one that asks the user (`ask`), a client
//! (`call_tool`), and a call that is resumed in another program (`resume`).
//!
//! # Overview
//!
//! | task | module |
//! |---|---|
//! | serve tools over stdin and stdout | `stdio` (feature `tokio`) |
//! | write tools that ask the user or the model while they run | `plugin` (feature `plugin`) |
//! | serve tools over HTTP | crate [`mcp-bridge-http`](https://docs.rs/mcp-bridge-http) |
//! | serve tools with a server of `rmcp` | an adapter to copy, in the folder `interop/oracles/examples/rmcp_server` of the repository |
//! | serve tools over another transport | [`server`] |
//! | call the tools of a server, read its prompts and resources, and follow changes | [`client`] |
//! | read and write messages | [`mcp`], one module for each page of the specification |
//! | decode params and results by method | [`mcp::dispatch`] |
//! | combine the tools of several servers under unique [names] | [`registry`] |
//! | convert JSON Schemas into forms, and validate answers | [`schema`] |
//! | send structured data along with an elicitation | [`context`] |
//! | write and check the headers of Streamable HTTP | `http` (feature `http`) |
//! | sign in at a server that requires authorization | `client::auth` (feature `oauth`) |
//! | seal states that pass through a client | `seal` (feature `seal`) |
//! | offer agent skills, and verify those of a server | `skills` (feature `skills`) |
//!
//! # Lossless types
//!
//! Every value is written as it was read: unknown members are kept in `extra`, and unknown content
//! blocks, names and results are kept as variants. One invalid tool does not invalidate a list.
//!
//! ```
//! use mcp_bridge::jsonrpc_core::wire;
//! use mcp_bridge::mcp::content::ContentBlock;
//! use mcp_bridge::mcp::tools::CallToolResult;
//!
//! let line = r#"{"content":[{"type":"text","text":"21 °C"},{"type":"hologram","z":3}]}"#;
//! let result: CallToolResult = wire::decode(line)?;
//! let [ContentBlock::Text(text), hologram] = &result.content[..] else {
//!     panic!("expected two blocks")
//! };
//! assert_eq!(text.text, "21 °C");
//! assert!(!hologram.is_known());
//! # Ok::<(), wire::DecodeError>(())
//! ```
//!
//! # Features
//!
//! No feature is enabled by default. Without features the crate is `no_std` and performs no I/O.
//!
//! | feature | adds |
//! |---|---|
//! | `http` | module `http`: headers of Streamable HTTP |
//! | `oauth` | module `client::auth`: sign-in with OAuth 2.1 |
//! | `plugin` | module `plugin`: tools that ask while they run, waiting in memory, in a store or in a token (requires std) |
//! | `schemars` | `JsonSchema` for all protocol types, and [`schema::Form`]s of Rust types |
//! | `seal` | module `seal`: states sealed with AES-256-GCM |
//! | `skills` | module `skills`: agent skills, for servers and hosts |
//! | `tokio` | module `stdio`: tools served over stdin and stdout (requires std) |
//! | `validate` | validation of answers against the whole schema of a form (requires std) |
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::exhaustive_enums)]

extern crate alloc;
#[cfg(feature = "plugin")]
extern crate std;

#[cfg(feature = "plugin")]
mod arguments;
pub mod client;
pub mod context;
#[cfg(feature = "http")]
pub mod http;
pub mod mcp;
pub mod names;
#[cfg(feature = "plugin")]
pub mod plugin;
pub mod registry;
pub mod schema;
#[cfg(feature = "seal")]
pub mod seal;
pub mod server;
#[cfg(feature = "skills")]
pub mod skills;
#[cfg(feature = "tokio")]
pub mod stdio;

pub use jsonrpc_core;
#[cfg(feature = "schemars")]
pub use schemars;
pub use serde;
pub use serde_json;

/// Compiles and runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
