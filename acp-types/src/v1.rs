//! Version 1 of the protocol, the current one.
//!
//! Spec: [Agent Client Protocol, version 1](https://agentclientprotocol.com/protocol/v1/overview)
//!
//! One module for each page of the specification. Names are those of its
//! [schema](https://agentclientprotocol.com/protocol/v1/schema).

pub use crate::shared::{
    cancellation, extensibility, mcp_over_acp, notices, providers, session_cursors,
};

pub mod agent_plan;
pub mod authentication;
pub mod compaction;
pub mod content;
pub mod dispatch;
pub mod elicitation;
pub mod error;
pub mod file_system;
pub mod initialization;
pub mod prompt_suggestions;
pub mod prompt_turn;
pub mod proxy_chains;
pub mod session_config_options;
pub mod session_list;
pub mod session_modes;
pub mod session_setup;
pub mod session_status;
pub mod slash_commands;
pub mod subagents;
pub mod system_prompt;
pub mod terminals;
pub mod tool_calls;
