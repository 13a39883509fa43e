//! Fuzzes [`spanwire_fuzz::lines`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::lines(data));
