//! Integration tests.

mod fixtures;
mod law;
