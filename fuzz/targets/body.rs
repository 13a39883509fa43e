//! Fuzzes [`spanwire_fuzz::body`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::body(data));
