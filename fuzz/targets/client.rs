//! Fuzzes [`spanwire_fuzz::client`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::client(data));
