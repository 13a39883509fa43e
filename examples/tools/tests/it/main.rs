//! Tests of the programs.
#[cfg(test)]
mod acp_bridge;
#[cfg(test)]
mod acp_lint;
#[cfg(test)]
mod agui_verify;
#[cfg(test)]
mod mcp_http;
