//! Fuzzes [`spanwire_fuzz::skim`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::skim(data));
