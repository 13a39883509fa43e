//! The Agent Client Protocol as open, lossless Rust types.
#![no_std]
