//! AG-UI 1.0 as open, lossless Rust types, with SSE encoding and a verifier of event order.
#![no_std]
