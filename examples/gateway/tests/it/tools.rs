//! Relays between agents and MCP servers of all versions.
#[cfg(test)]
mod relay;
#[cfg(test)]
mod sampling;
#[cfg(test)]
mod world;
