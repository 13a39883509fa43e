//! **Unstable.** Version 2 of the protocol, which is a draft.
//!
//! Spec: [Agent Client Protocol, version 2](https://agentclientprotocol.com/protocol/v2/overview)
//!
//! The specification may still change all of it, and this module changes with it, in any release. A connection
//! speaks it only where both sides agreed on it in `initialize`.
//!
//! One module for each page of the specification, and for what has no page yet; names are those of its
//! [schema](https://agentclientprotocol.com/protocol/v2/schema). What is marked unstable here is not even in the draft
//! proper, but in the [draft of that](https://agentclientprotocol.com/protocol/v2/draft/schema).
//!
//! Against version 1: a prompt is answered at once, and [`session_states`] tell what becomes of it; tool calls,
//! terminals and messages are upserts, where absence, `null` and a value each have a meaning ([`Presence`]); the agent
//! runs commands and touches files itself; `session/resume` tells the history on request.
//!
//! [`Presence`]: jsonrpc_core::wire::Presence

pub use crate::shared::{cancellation, mcp_over_acp, notices, providers};

pub mod agent_plan;
pub mod authentication;
pub mod compaction;
pub mod content;
pub mod diffs;
pub mod dispatch;
pub mod elicitation;
pub mod error;
pub mod extensibility;
pub mod initialization;
pub mod permissions;
pub mod prompt_lifecycle;
pub mod proxy_chains;
pub mod session_config_options;
pub mod session_delete;
pub mod session_list;
pub mod session_setup;
pub mod session_states;
pub mod session_status;
pub mod slash_commands;
pub mod subagents;
pub mod system_prompt;
pub mod terminals;
pub mod tool_calls;
