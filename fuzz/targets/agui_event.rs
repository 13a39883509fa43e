//! Fuzzes [`spanwire_fuzz::agui_event`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::agui_event(data));
