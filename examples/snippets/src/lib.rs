//! The examples of the README, compiled and run as they stand there, and short programs, which the tests run.
#![doc = include_str!("../../../README.md")]

pub mod acp_agent;
pub mod acp_client;
pub mod agui_agent;
pub mod agui_http_agent;
pub mod agui_in_editor;
pub mod frontend_tools;
