//! Fuzzes [`spanwire_fuzz::agui_run_log`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spanwire_fuzz::agui_run_log(data));
