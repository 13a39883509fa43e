//! Integration tests. `cfg(test)` makes Clippy treat helpers as tests.

#[cfg(test)]
#[cfg(feature = "oauth")]
mod auth;
#[cfg(test)]
#[cfg(feature = "oauth")]
mod auth_checks;
#[cfg(test)]
#[cfg(feature = "oauth")]
mod auth_dpop;
#[cfg(test)]
#[cfg(feature = "oauth")]
mod auth_grants;
#[cfg(test)]
mod client;
#[cfg(test)]
#[cfg(feature = "plugin")]
#[cfg(test)]
mod context;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
#[cfg(feature = "http")]
mod http;
#[cfg(test)]
mod law;
#[cfg(test)]
mod methods;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod plugin;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod plugin_caller;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod plugin_claim;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod plugin_ends;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod plugin_page;
#[cfg(test)]
#[cfg(feature = "plugin")]
mod plugin_rounds;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod plugin_sampling;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod plugin_serve;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod plugin_session;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod plugin_store;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod plugin_tool;
#[cfg(test)]
mod registry;
#[cfg(test)]
mod schema;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod seal;
#[cfg(test)]
mod server;
#[cfg(test)]
mod shapes;
#[cfg(test)]
#[cfg(feature = "skills")]
mod skill_frontmatter;
#[cfg(test)]
#[cfg(feature = "skills")]
mod skills;
#[cfg(test)]
#[cfg(all(feature = "tokio", feature = "seal"))]
mod stdio;
#[cfg(test)]
mod task_peers;
#[cfg(test)]
#[cfg(all(feature = "plugin", feature = "seal"))]
mod tasks;
#[cfg(test)]
mod tool_results;
#[cfg(test)]
mod wire_types;
