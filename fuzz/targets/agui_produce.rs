//! Fuzzes [`spanwire_fuzz::agui_produce`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::agui_produce(data));
