//! The Agent Client Protocol as open, lossless Rust types.
#![no_std]

extern crate alloc;

pub mod v1;
