//! **Preview.** Version 2 of the protocol.
//!
//! Spec: [Agent Client Protocol, version 2](https://agentclientprotocol.com/protocol/v2/overview)
//!
//! Version 2 is a preview since 2026-11-20. The specification may change, and this module changes
//! with it, in any release. A connection uses
//! version 2 only if both sides agreed on it in `initialize`.
//!
//! One module for each page of the specification, and for parts without a page. Names are those of
//! its [schema](https://agentclientprotocol.com/protocol/v2/schema). Items marked as unstable are
//! only in the [schema of drafts](https://agentclientprotocol.com/protocol/v2/draft/schema).
//!
//! Differences from version 1: a prompt is answered at once, and [`session_states`] report its
//! progress. Tool calls, terminals and messages are upserts, in which absence, `null` and a value
//! differ ([`Presence`]). The agent runs commands and accesses files itself. `session/resume`
//! replays the history on request.
//!
//! [`Presence`]: jsonrpc_core::wire::Presence

pub use crate::shared::{
    cancellation, extensibility, mcp_over_acp, notices, providers, session_cursors,
};

pub mod agent_plan;
pub mod authentication;
pub mod compaction;
pub mod content;
pub mod diffs;
pub mod dispatch;
pub mod elicitation;
pub mod error;
mod idempotency_key;
pub mod initialization;
mod paths;
pub mod permissions;
pub mod prompt_lifecycle;
pub mod prompt_suggestions;
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
