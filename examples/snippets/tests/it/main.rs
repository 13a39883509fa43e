//! The snippets at work.

mod acp;
mod agui;
#[cfg(test)]
mod agui_http_agent;
