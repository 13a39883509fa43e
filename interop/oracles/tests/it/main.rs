//! `acp-types` beside the official Rust types, and `jsonrpc-core` beside other crates, over sessions of real agents and
//! over what could have been said instead; `mcp-bridge` beside the official Rust SDK, its types and its client.

mod acp_schema;
mod acp_types;
mod json_rpc;
mod mcp;
mod mutation;
mod official;
mod transcript;
