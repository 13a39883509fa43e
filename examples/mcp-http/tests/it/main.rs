//! Integration tests. `cfg(test)` makes Clippy treat helpers as tests.

#[cfg(test)]
mod book_flight;
#[cfg(test)]
mod client;
#[cfg(test)]
mod dropped;
#[cfg(test)]
mod endpoint;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod key;
#[cfg(test)]
#[cfg(feature = "redis")]
mod redis;
#[cfg(test)]
mod sign_in;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod world;
