//! Integration tests of the bridge. `cfg(test)` lets Clippy treat helpers as tests.

#[cfg(test)]
mod acp_agent;
#[cfg(test)]
mod acp_agent_properties;
#[cfg(test)]
mod arguments;
#[cfg(test)]
mod chat_history;
#[cfg(test)]
mod contextual_tools;
#[cfg(test)]
mod continuation;
#[cfg(test)]
mod conversation;
#[cfg(test)]
mod conversation_properties;
#[cfg(test)]
mod conversation_tools;
#[cfg(test)]
mod diffs;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod frontend_tool;
#[cfg(test)]
mod frontend_tool_properties;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod hub;
#[cfg(test)]
mod hub_differences;
#[cfg(test)]
mod hub_login;
#[cfg(test)]
mod hub_player;
#[cfg(test)]
mod hub_properties;
#[cfg(test)]
mod hub_text;
#[cfg(test)]
mod hub_v2;
#[cfg(test)]
mod hub_world;
#[cfg(test)]
mod hybrid_tools;
#[cfg(test)]
mod hybrid_tools_properties;
#[cfg(test)]
mod input;
#[cfg(test)]
mod interrupts;
#[cfg(test)]
mod jaeger;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod opensearch;
#[cfg(test)]
mod own_turns;
#[cfg(test)]
mod permission;
#[cfg(test)]
mod permission_authority;
#[cfg(test)]
mod permission_properties;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod recorded_hub;
#[cfg(test)]
mod replay;
#[cfg(test)]
#[cfg(feature = "async")]
mod runner;
#[cfg(test)]
mod script;
#[cfg(test)]
mod session_cursors;
#[cfg(test)]
mod session_memory;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod state;
#[cfg(test)]
mod terminals;
#[cfg(test)]
mod text;
#[cfg(test)]
mod thread;
#[cfg(test)]
mod tool_calls;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod v2;
