//! Processor time of the gateway for a flood of token chunks, compared with a plain relay of the
//! same lines.
//!
//! `flood GATEWAY` measures both programs in turn and prints the tables of `FLOOD.md`. `flood
//! instructions GATEWAY LIBRARY` prints the instructions of the gateway for one chunk. The other
//! commands are the programs that it starts: `agent`, and `relay COMMAND...`.

mod agent;
mod folder;
mod instructions;
mod program;
mod relay;

use program::{Program, Sample};

/// Number of rounds; each measures all programs once.
const ROUNDS: usize = 7;

/// Number of token chunks of a run. It is large, so that the start of a run is negligible.
const CHUNKS: usize = 200_000;

/// Ratio of the gateway's processor time to that of the relay: the limit, and the target.
const GOAL: (f64, f64) = (12.0, 8.0);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &words[..] {
        ["agent"] => agent::serve(),
        ["relay", command @ ..] => relay::serve(command),
        ["instructions", gateway, library] => {
            println!("{:.0}", instructions::of_chunk(gateway, library));
        }
        [gateway] => compare(gateway),
        _ => panic!("expected the path of the gateway"),
    }
}

fn compare(gateway: &str) {
    let own = own_path();
    let agent = format!("{own} agent");
    let served = program::gateway(gateway, &agent);
    let off: &[_] = &[("OTEL_SDK_DISABLED", "true"), ("GATEWAY_TELEMETRY_TIMELINE", "false")];
    let mut programs = [
        Program::start("relay", &[&own, "relay", &own, "agent"], &[], "text"),
        Program::start("gateway", &served, &[], "delta"),
        Program::start("gateway, telemetry off", &served, off, "delta"),
    ];
    // The first run opens the session and fills caches. It is not counted.
    for program in &mut programs {
        program.run(CHUNKS);
    }
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(programs.each_mut().map(|program| program.run(CHUNKS)));
    }
    println!(
        "| | CPU µs a chunk | over the relay | chunks a second | bytes a chunk | peak MiB |\n|---|---|---|---|---|---|"
    );
    for (index, program) in programs.iter().enumerate() {
        let of =
            |figure: fn(&Sample) -> f64| median(rounds.iter().map(|round| figure(&round[index])));
        println!(
            "| {} | {:.3} | {:.1} | {:.0} | {:.0} | {} |",
            program.name,
            of(|sample| sample.cpu.as_secs_f64() * 1e6 / CHUNKS as f64),
            ratio(&rounds, index),
            of(|sample| CHUNKS as f64 / sample.time.as_secs_f64()),
            of(|sample| sample.bytes as f64 / CHUNKS as f64),
            program.peak_mebibytes(),
        );
    }
    let (measured, (limit, target)) = (ratio(&rounds, 1), GOAL);
    let verdict = match measured {
        measured if measured <= target => "target",
        measured if measured <= limit => "must",
        _ => "missed",
    };
    println!("\n| goal | measured | must | target | |\n|---|---|---|---|---|");
    println!(
        "| processor time of a chunk, gateway over relay | {measured:.1} | ≤ {limit} | ≤ {target} | {verdict} |"
    );
}

/// Returns the path of this program.
fn own_path() -> String {
    let own = std::env::current_exe().expect("the path of this program");
    own.into_os_string().into_string().expect("a path in UTF-8")
}

/// The median over the rounds of the ratio of a program's processor time to that of the relay.
fn ratio(rounds: &[[Sample; 3]], index: usize) -> f64 {
    median(rounds.iter().map(|round| round[index].cpu.as_secs_f64() / round[0].cpu.as_secs_f64()))
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
