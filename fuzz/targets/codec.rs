//! Fuzzes [`spanwire_fuzz::codec`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::codec(data));
