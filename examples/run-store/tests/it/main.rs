//! The stores, compared with each other.
//!
//! `cfg(test)` lets Clippy treat helpers as tests.

#[cfg(test)]
#[cfg(any(feature = "file", feature = "redis"))]
mod contract;
#[cfg(test)]
#[cfg(any(feature = "file", feature = "redis"))]
mod conversations;
#[cfg(test)]
#[cfg(feature = "file")]
mod crashes;
#[cfg(test)]
#[cfg(feature = "file")]
mod file;
#[cfg(test)]
#[cfg(feature = "file")]
mod history;
#[cfg(test)]
#[cfg(feature = "redis")]
mod redis;
#[cfg(test)]
#[cfg(feature = "file")]
mod shares;
