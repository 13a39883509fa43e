//! Fuzzes [`spanwire_fuzz::convert`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::convert(data));
