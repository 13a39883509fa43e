//! Mapping of the Agent Client Protocol to spans. Each module documents one table.

#[doc(alias("fs/read_text_file", "fs/write_text_file", "terminal/create"))]
pub mod client_request;
#[doc(alias("initialize", "session/new"))]
pub mod lifecycle;
pub(crate) mod members;
#[doc(alias = "session/request_permission")]
pub mod permission;
#[doc(alias("session/prompt", "invoke_agent"))]
pub mod prompt_turn;
#[doc(alias = "subagent_update")]
pub mod subagent;
pub(crate) mod terminals;
#[doc(alias("execute_tool", "tool_call_update"))]
pub mod tool_call;
