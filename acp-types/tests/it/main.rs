//! Integration tests. `cfg(test)` lets Clippy treat helpers as tests.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod capabilities;
#[cfg(test)]
mod client;
#[cfg(test)]
mod client_laws;
#[cfg(test)]
mod connection;
#[cfg(test)]
mod connection_v2;
#[cfg(test)]
mod conversion;
#[cfg(test)]
mod convert;
#[cfg(test)]
mod dispatch;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod fallback;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod law;
#[cfg(test)]
mod lenient;
#[cfg(test)]
mod lint;
#[cfg(test)]
mod lint_memory;
#[cfg(test)]
mod methods;
#[cfg(test)]
mod preserve;
#[cfg(test)]
mod session_state;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod transcripts;
#[cfg(test)]
mod wire_types;
