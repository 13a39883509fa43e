//! Compares the hub with a translator that is fed by hand, for the recordings in a folder:
//! `bridge-hub FOLDER`.
use agui::bridge::compare_hub;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).expect("a folder");
    ExitCode::from(u8::from(!compare_hub(Path::new(&folder))))
}
