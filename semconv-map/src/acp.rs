//! How the parts of the Agent Client Protocol become spans; each module documents one table.

pub mod client_request;
pub mod lifecycle;
pub mod permission;
pub mod prompt_turn;
pub mod subagent;
pub mod tool_call;
