//! Fuzzes [`spanwire_fuzz::agui_proto`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::agui_proto(data));
