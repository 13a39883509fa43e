//! Compares `acp-types` with the official Rust types, and `jsonrpc-core` with other crates, over
//! recorded and modified sessions of real agents; and `mcp-bridge` with the official Rust SDK, its
//! types and its client.

mod acp_delta;
mod acp_schema;
mod acp_types;
mod convert;
mod json_rpc;
mod mcp;
mod mutation;
mod official;
mod rmcp_adapter;
mod transcript;
