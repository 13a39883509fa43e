//! Drives the program as a client does, over its pipes, and checks what it says with the types of `acp_types`.
//!
//! `cfg(test)` tells Clippy that helpers are tests too.

#[cfg(test)]
mod client;
#[cfg(test)]
mod connection;
#[cfg(test)]
mod words;
