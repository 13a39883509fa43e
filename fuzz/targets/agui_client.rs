//! Fuzzes [`spanwire_fuzz::agui_client`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::agui_client(data));
