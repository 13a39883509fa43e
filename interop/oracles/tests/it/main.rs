//! `acp-types` beside the official Rust types, over sessions of real agents and over what could have been said instead.

mod mutation;
mod official;
mod transcript;
