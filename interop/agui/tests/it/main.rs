//! `agui-types` beside the published JSON Schema, and beside another Rust client.

mod ag_ui_crate;
mod schema;
