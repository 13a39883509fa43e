//! Fuzzes [`spanwire_fuzz::agent`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::agent(data));
