//! The stores, held against each other.
//!
//! `cfg(test)` tells Clippy that helpers are tests too.

#[cfg(test)]
#[cfg(feature = "redis")]
mod redis;
