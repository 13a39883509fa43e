//! The Model Context Protocol as open, lossless Rust types, and the tools that a bridge offers.
#![no_std]
