//! Fuzzes [`spanwire_fuzz::peek_members`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::peek_members(data));
