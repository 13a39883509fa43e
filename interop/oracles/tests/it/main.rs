//! `acp-types` beside the official Rust types, and `jsonrpc-core` beside other crates, over sessions of real agents and
//! over what could have been said instead.

mod acp_schema;
mod acp_types;
mod json_rpc;
mod mutation;
mod official;
mod transcript;
