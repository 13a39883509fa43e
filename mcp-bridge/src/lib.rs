//! The Model Context Protocol (MCP), agent ⇄ tools, as open, lossless types.
//!
//! What a newer or older peer put into a message is kept: unknown members in `extra`, unknown content blocks and names
//! whole. One model serves the generations up to
//! [2025-11-25](https://modelcontextprotocol.io/specification/2025-11-25) and
//! [2026-07-28](https://modelcontextprotocol.io/specification/2026-07-28); members that only one of them has say so.
//!
//! | part | is for |
//! |---|---|
//! | [`mcp`] | the messages, a module for each page of the specification, and reading them by their method |
//! | [`context`] | `x-model-context`: data for rich forms, past clients that know nothing of it |
//! | [`server`] | a server of tools on one connection, for clients of both generations |
//! | [`client`] | a client of one server, of either generation, that calls tools |
//! | [`relay`] | tools of another server offered again, from either generation to either |
//! | [`registry`] | which tools there are, where each is from, and by which [name](names) a model calls it |
//! | [`tool_events`] | messages between a chat page and its server, with the tools that run |
//! | [`schema`] | forms that strict clients show, out of JSON Schemas, and answers held against them |
//!
//! | with the feature | there is |
//! |---|---|
//! | `schemars` | `JsonSchema` for all types of the protocol, and [`schema::Form`]s out of Rust types |
//! | `plugin` | `plugin`: tools that ask while they run, and wait in memory, in a store or in a token; needs std |
//! | `http` | `http`: what the headers of Streamable HTTP say of a message |
//! | `seal` | `seal`: states that go through a client, sealed with AES-256-GCM |
//! | `tokio` | `stdio`: tools served over stdin and stdout; needs std |
//! | `validate` | answers are held against the whole schema of a form, not only against what the form says; needs std |
//!
//! Nothing here does IO, except for `stdio`.
//!
//! ```
//! use mcp_bridge::jsonrpc_core::wire;
//! use mcp_bridge::mcp::content::ContentBlock;
//! use mcp_bridge::mcp::tools::CallToolResult;
//!
//! let result: CallToolResult = wire::decode(r#"{"content":[{"type":"text","text":"21 °C"},{"type":"hologram","z":3}]}"#)?;
//! let [ContentBlock::Text(text), hologram] = &result.content[..] else { panic!("two blocks") };
//! assert_eq!((text.text.as_str(), hologram.is_known()), ("21 °C", false));
//! # Ok::<(), wire::DecodeError>(())
//! ```
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
#[cfg(feature = "plugin")]
extern crate std;

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
pub mod relay;
pub mod schema;
#[cfg(feature = "seal")]
pub mod seal;
pub mod server;
#[cfg(feature = "tokio")]
pub mod stdio;
pub mod tool_events;

pub use jsonrpc_core;
pub use serde_json;

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
