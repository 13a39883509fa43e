//! Fuzzes [`spanwire_fuzz::transcript`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::transcript(data));
