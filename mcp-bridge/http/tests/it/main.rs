//! Integration tests. `cfg(test)` makes Clippy treat helpers as tests.

#[cfg(test)]
#[cfg(feature = "client")]
mod changes;
#[cfg(test)]
#[cfg(feature = "client")]
mod client;
#[cfg(test)]
#[cfg(feature = "dpop")]
mod dpop;
#[cfg(test)]
mod dropped;
#[cfg(test)]
mod endpoint;
#[cfg(test)]
#[cfg(feature = "client")]
mod hand_over;
#[cfg(test)]
#[cfg(feature = "client")]
mod replicas;
#[cfg(test)]
mod room;
#[cfg(test)]
#[cfg(feature = "client")]
mod sign_in;
#[cfg(test)]
mod world;
