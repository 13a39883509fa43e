//! Drives the program over its pipes as a client does, and checks its messages with the types of
//! `acp_types`.
//!
//! `cfg(test)` lets Clippy treat helpers as tests.

#[cfg(test)]
mod client;
#[cfg(test)]
mod connection;
#[cfg(test)]
mod v2;
#[cfg(test)]
mod words;
