//! Fuzzes [`spanwire_fuzz::conductor`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::conductor(data));
