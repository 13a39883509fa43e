//! Fuzzes [`spanwire_fuzz::hub`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::hub(data));
