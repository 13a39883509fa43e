//! `agui-types` and `agui-bridge` beside the published JSON Schema, and beside another Rust client.

mod ag_ui_crate;
mod bridge;
mod schema;
