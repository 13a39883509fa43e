//! Fuzzes [`spanwire_fuzz::content_length`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::content_length(data));
