//! Tests of connections over sockets.
//!
//! `cfg(test)` tells Clippy that helpers are tests too.

#[cfg(test)]
mod connections;
#[cfg(test)]
mod oidc;
#[cfg(test)]
mod oidc_provider;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod tls;
