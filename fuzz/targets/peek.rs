//! Fuzzes [`spanwire_fuzz::peek`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::peek(data));
