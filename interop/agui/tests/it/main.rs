//! Compares `agui-types` and `agui-bridge` with the published JSON Schema and with another Rust
//! client.

mod ag_ui_crate;
mod bridge;
mod schema;
