//! JSON-RPC 2.0 without IO, and the vocabulary of open, lossless wire types.
#![no_std]

extern crate alloc;

pub mod wire;
