//! Fuzzes [`spanwire_fuzz::conversation`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::conversation(data));
