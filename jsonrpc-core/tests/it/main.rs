//! Integration tests.

mod wire;
