//! The stores, compared with each other.
//!
//! `cfg(test)` lets Clippy treat helpers as tests.

#[cfg(test)]
#[cfg(feature = "redis")]
mod redis;
