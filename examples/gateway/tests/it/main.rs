//! Tests of the gateway as a program: HTTP on one side, agents on the other, signals and command
//! lines.
//!
//! `cfg(test)` tells Clippy that helpers are tests too.

#[cfg(test)]
#[cfg(unix)]
mod agent_tools;
#[cfg(test)]
#[cfg(unix)]
mod audit;
#[cfg(all(test, unix))]
mod bad_agents;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod cancelling;
#[cfg(test)]
#[path = "../../../traces/tests/it/certificate.rs"]
#[cfg_attr(not(unix), expect(dead_code, reason = "acp-traces needs more of it"))]
mod certificate;
#[cfg(test)]
#[cfg(unix)]
#[path = "../../../traces/tests/it/collector.rs"]
#[expect(dead_code, reason = "acp-traces needs more of it")]
mod collector;
#[cfg(test)]
mod command_line;
#[cfg(test)]
#[cfg(unix)]
mod conversations;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod doors;
#[cfg(test)]
#[cfg(unix)]
mod encrypted;
#[cfg(all(test, unix))]
mod ending;
#[cfg(test)]
mod gateway;
#[cfg(test)]
mod history;
#[cfg(test)]
#[cfg(unix)]
mod host;
#[cfg(test)]
mod http2_agents;
#[cfg(test)]
mod http_agents;
#[cfg(test)]
mod hybrid;
#[cfg(test)]
mod interrupts;
#[cfg(test)]
#[cfg(unix)]
mod isolation;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod log;
#[cfg(test)]
#[cfg(unix)]
mod login;
#[cfg(test)]
mod markdown;
#[cfg(unix)]
#[cfg(test)]
mod mcp_servers;
#[cfg(test)]
mod mcp_sign_in;
#[cfg(unix)]
#[cfg(test)]
mod mcp_tools;
#[cfg(test)]
mod model;
#[cfg(test)]
mod page_tools;
#[cfg(test)]
mod permission;
#[cfg(unix)]
#[cfg(test)]
mod permission_rules;
#[cfg(test)]
mod plugins;
#[cfg(test)]
mod quotas;
#[cfg(test)]
mod reading;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod replaced;
#[cfg(test)]
#[cfg(all(unix, feature = "redis"))]
mod replicas;
#[cfg(test)]
mod run;
#[cfg(test)]
#[cfg(unix)]
mod security;
#[cfg(test)]
#[cfg(unix)]
mod sessions;
#[cfg(test)]
mod settings;
#[cfg(test)]
#[cfg(unix)]
mod signed_in;
#[cfg(test)]
mod site;
#[cfg(test)]
mod store;
#[cfg(test)]
#[cfg(unix)]
mod telemetry;
#[cfg(test)]
#[cfg(unix)]
mod timeline;
#[cfg(test)]
mod tool_sources;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod versions;
#[cfg(test)]
mod websocket;
