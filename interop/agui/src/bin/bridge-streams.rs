//! Prints streams of agui-bridge, one for each line: `bridge-streams COUNT 1.0|legacy`.
use agui::bridge::bridged;
use agui_types::profile::Profile;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [count, profile] = &args[..] else { panic!("expected a count and a profile") };
    let profile = Profile::of((profile != "legacy").then_some(profile));
    for number in 0..count.parse().expect("a count") {
        println!("{}", bridged(number, profile).report());
    }
}
