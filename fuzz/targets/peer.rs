//! Fuzzes [`spanwire_fuzz::peer`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::peer(data));
