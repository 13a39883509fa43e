//! Prints the output of agui-bridge for the recordings in a folder, one session for each line:
//! `bridge-recorded FOLDER 1.0|legacy`.
use agui::bridge::recorded;
use agui_types::profile::Profile;
use std::path::Path;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, profile] = &args[..] else { panic!("expected a folder and a profile") };
    let profile = Profile::of((profile != "legacy").then_some(profile));
    for (name, bridged) in recorded(Path::new(folder), profile) {
        let mut report = bridged.report();
        report["name"] = name.into();
        println!("{report}");
    }
}
