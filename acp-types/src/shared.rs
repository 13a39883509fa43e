//! Types that are equal in both versions, in a module for each page of the specification.
//!
//! [`v1`](crate::v1) and [`v2`](crate::v2) re-export them on their pages, so a value of one version
//! is a value of the other. Types with members, names or annotations that differ are defined in
//! each version.

pub(crate) mod agent_plan;
pub(crate) mod authentication;
pub mod cancellation;
pub(crate) mod compaction;
pub(crate) mod content;
mod dispatch;
pub(crate) mod elicitation;
mod elicitation_schema;
pub mod extensibility;
pub(crate) mod initialization;
pub mod mcp_over_acp;
pub mod notices;
pub(crate) mod permissions;
pub(crate) mod prompts;
pub mod providers;
pub(crate) mod proxy_chains;
pub(crate) mod session_config_options;
pub mod session_cursors;
pub(crate) mod session_list;
pub(crate) mod session_setup;
pub(crate) mod session_status;
pub(crate) mod subagents;
pub(crate) mod system_prompt;
pub(crate) mod terminals;
pub(crate) mod tool_calls;
