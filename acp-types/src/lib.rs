//! The Agent Client Protocol as open, lossless Rust types.
#![no_std]

extern crate alloc;

pub mod methods;
pub mod v1;
