//! Short programs that show one use of one crate each; the tests run them.

pub mod acp_agent;
pub mod acp_client;
pub mod agui_agent;
pub mod agui_http_agent;
pub mod agui_in_editor;
pub mod frontend_tools;
