//! Integration tests.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper that panics fails its test, as it should"
)]

mod affix;
mod batch;
#[cfg(feature = "codec")]
mod codec;
mod composition;
mod id;
mod json;
mod lenient;
mod lines;
mod member_reader;
mod message;
mod message_buf;
mod odd_input;
mod peek;
mod peer;
mod pointer;
mod probes;
#[cfg(feature = "schemars")]
mod schema;
mod specification;
mod text;
mod text_policy;
mod too_long;
mod transcript;
mod wire;
