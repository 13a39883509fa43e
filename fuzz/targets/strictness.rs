//! Fuzzes [`spanwire_fuzz::strictness`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::strictness(data));
