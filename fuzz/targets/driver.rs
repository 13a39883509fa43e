//! Fuzzes [`spanwire_fuzz::driver`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::driver(data));
