//! The stores, held against each other.

#[cfg(all(test, feature = "redis"))]
mod redis;
