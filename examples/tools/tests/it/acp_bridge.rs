//! Integration tests: the tests act as the editor of the bridge.
//!
//! `cfg(test)` makes Clippy treat helpers as tests.

#[cfg(test)]
mod observed;
#[cfg(test)]
mod sessions;
