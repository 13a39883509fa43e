//! Fuzzes [`spanwire_fuzz::message`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::message(data));
