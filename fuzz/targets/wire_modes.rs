//! Fuzzes [`spanwire_fuzz::wire_modes`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::wire_modes(data));
