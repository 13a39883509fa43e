//! Integration tests of the snippets.

mod acp;
mod agui;
#[cfg(test)]
mod agui_http_agent;
