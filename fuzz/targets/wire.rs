//! Fuzzes [`spanwire_fuzz::wire`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::wire(data));
