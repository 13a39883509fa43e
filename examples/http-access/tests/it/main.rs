//! Tests of connections over sockets.
//!
//! `cfg(test)` tells Clippy that helpers are tests too.

#[cfg(test)]
mod connections;
#[cfg(test)]
mod tls;
