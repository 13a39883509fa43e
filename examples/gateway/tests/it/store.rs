//! The stores, compared with each other.
//!
//! `cfg(test)` lets Clippy treat helpers as tests.

#[cfg(test)]
mod contract;
#[cfg(test)]
mod conversations;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod file;
#[cfg(test)]
mod history;
#[cfg(test)]
#[cfg(feature = "redis")]
mod redis;
#[cfg(test)]
mod shares;
