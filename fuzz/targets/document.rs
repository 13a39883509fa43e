//! Fuzzes [`spanwire_fuzz::document`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::document(data));
