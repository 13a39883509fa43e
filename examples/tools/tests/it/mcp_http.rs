//! Integration tests. `cfg(test)` makes Clippy treat helpers as tests.

#[cfg(test)]
mod book_flight;
#[cfg(test)]
mod client;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod key;
#[cfg(test)]
#[cfg(feature = "redis")]
mod redis;
#[cfg(test)]
mod skills;
#[cfg(test)]
mod tasks;
#[cfg(test)]
#[path = "../../../../mcp-bridge/http/tests/it/world.rs"]
mod world;
