//! Fuzzes [`spanwire_fuzz::mcp_context`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::mcp_context(data));
