//! `benches` prints what each path costs for each case, as `RESULTS.md` has it. It runs itself under callgrind, once for
//! each, and `allocations` beside itself.
use benches::corpus::{self, Case};
use benches::{measured, paths};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// What one path costs for one case, all lines together.
#[derive(Clone, Copy, Default)]
struct Cost {
    instructions: u64,
    allocations: u64,
    allocated: u64,
    peak: u64,
    time: Duration,
    /// Time over that of the first path, the median of the rounds.
    ratio: f64,
}

type Costs = BTreeMap<(&'static str, &'static str), Cost>;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [] => table(),
        // What callgrind looks at.
        [case, path] => {
            measured(&paths::path(path), &corpus::case(case), 1);
        }
        _ => panic!("expected nothing, or a case and a path"),
    }
}

fn table() {
    let mut costs = Costs::new();
    let mut sizes = BTreeMap::new();
    for (name, _) in corpus::CASES {
        let case = corpus::case(name);
        eprintln!("{name}");
        sizes.insert(*name, (case.lines.len(), case.bytes()));
        measure(&case, &mut costs);
    }
    let instructions = |cost: &Cost, lines| short(cost.instructions as f64 / lines);
    print(&costs, &sizes, "Instructions a message", &instructions);
    let time = |cost: &Cost, lines| {
        format!("{:.2} ({})", cost.ratio, short(cost.time.as_nanos() as f64 / lines))
    };
    print(&costs, &sizes, "Time over that of the first path (nanoseconds a message)", &time);
    let allocations = |cost: &Cost, lines: f64| {
        let (count, bytes) = (cost.allocations as f64 / lines, cost.allocated as f64 / lines);
        format!("{count:.3} / {}", short(bytes)).replace(".000", "")
    };
    print(&costs, &sizes, "Allocations / allocated bytes a message", &allocations);
    goals(&costs, &sizes);
}

fn measure(case: &Case, costs: &mut Costs) {
    let paths: Vec<_> = paths::paths().into_iter().filter(|path| (path.fits)(case)).collect();
    let mut times = vec![Vec::new(); paths.len()];
    // One warms up; the order changes with each round.
    for round in 0..10 {
        for at in 0..paths.len() {
            let at = (at + round) % paths.len();
            let from = Instant::now();
            let repeats = 1 + 300_000 / case.stream.len();
            measured(&paths[at], case, repeats);
            times[at].push(from.elapsed() / repeats as u32);
        }
    }
    for (path, times_of_path) in paths.iter().zip(&times) {
        let mut ratios: Vec<_> = (times_of_path.iter().zip(&times[0]).skip(1))
            .map(|(time, base)| time.as_secs_f64() / base.as_secs_f64())
            .collect();
        ratios.sort_by(f64::total_cmp);
        let mut sorted = times_of_path[1..].to_vec();
        sorted.sort();
        let [allocations, allocated, peak] = allocations(case.name, path.name);
        let cost = Cost {
            instructions: instructions(case.name, path.name),
            allocations,
            allocated,
            peak,
            time: sorted[sorted.len() / 2],
            ratio: ratios[ratios.len() / 2],
        };
        costs.insert((path.name, case.name), cost);
    }
}

fn instructions(case: &str, path: &str) -> u64 {
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=benches::measured*")
        .arg(std::env::current_exe().expect("a path"))
        .args([case, path])
        .output()
        .expect("valgrind");
    let said = String::from_utf8_lossy(&valgrind.stderr);
    assert!(valgrind.status.success(), "{said}");
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    collected.and_then(|(_, count)| count.trim().parse().ok()).expect("a count")
}

fn allocations(case: &str, path: &str) -> [u64; 3] {
    let program: PathBuf = std::env::current_exe().expect("a path").with_file_name("allocations");
    let output = Command::new(program).args([case, path]).output().expect("allocations");
    let said = String::from_utf8_lossy(&output.stdout);
    let counts: Vec<u64> = said.split_whitespace().flat_map(str::parse).collect();
    counts.try_into().expect("three counts")
}

type Sizes = BTreeMap<&'static str, (usize, usize)>;

fn print(costs: &Costs, sizes: &Sizes, title: &str, show: &dyn Fn(&Cost, f64) -> String) {
    println!("## {title}\n");
    for cases in corpus::CASES.chunks(9) {
        let names: Vec<_> = cases.iter().map(|(name, _)| *name).collect();
        println!("| | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
        let bytes = names.iter().map(|name| {
            let (lines, bytes) = sizes[name];
            short(bytes as f64 / lines as f64)
        });
        println!("| bytes a message | {} |", bytes.collect::<Vec<_>>().join(" | "));
        for path in paths::paths() {
            let cells = names.iter().map(|name| {
                let lines = sizes[name].0 as f64;
                costs.get(&(path.name, name)).map_or("–".to_owned(), |cost| show(cost, lines))
            });
            println!("| {} | {} |", path.name, cells.collect::<Vec<_>>().join(" | "));
        }
        println!();
    }
}

fn short(number: f64) -> String {
    match number {
        ..1e3 => format!("{number:.0}"),
        ..1e4 => format!("{:.2}k", number / 1e3),
        ..1e6 => format!("{:.1}k", number / 1e3),
        _ => format!("{:.2}M", number / 1e6),
    }
}

/// The ratios that the project holds itself to.
fn goals(costs: &Costs, sizes: &Sizes) {
    let cost = |path, case| costs[&(path, case)];
    let instructions = |path, case| cost(path, case).instructions as f64;
    let over = |peer, ours| {
        let (peer, ours) = (cost(peer, "token_stream"), cost(ours, "token_stream"));
        let time = peer.time.as_secs_f64() / ours.time.as_secs_f64();
        (peer.instructions as f64 / ours.instructions as f64, time)
    };
    println!("## Ratios\n\n| what | instructions | time | must | target |\n|---|---|---|---|---|");
    let rows = [
        (
            "envelope: jsonrpsee-types over Message::decode",
            "jsonrpsee-types",
            "ours: Message::decode",
            "1.0",
            "1.5",
        ),
        (
            "envelope: lsp-server over Message::decode",
            "lsp-server",
            "ours: Message::decode",
            "6",
            "10",
        ),
        ("envelope: rmcp over Message::decode", "rmcp", "ours: Message::decode", "7", "12"),
        (
            "envelope: jsonrpc-core 18 over Message::decode",
            "jsonrpc-core 18",
            "ours: Message::decode",
            "9",
            "15",
        ),
        (
            "envelope: acp SDK frame over Message::decode",
            "acp SDK frame",
            "ours: Message::decode",
            "–",
            "–",
        ),
        ("peek: jsonrpsee-types over peek", "jsonrpsee-types", "ours: peek", "1.5", "–"),
        (
            "peek with three members: jsonrpsee-types over PeekCache",
            "jsonrpsee-types",
            "ours: PeekCache",
            "–",
            "5",
        ),
        (
            "three members: peek, then peek_member over peek_members",
            "ours: peek, then peek_member",
            "ours: peek_members",
            "–",
            "–",
        ),
        (
            "framing, 4 KiB reads: LinesCodec over Lines",
            "tokio-util: LinesCodec",
            "ours: Lines",
            "–",
            "–",
        ),
        (
            "framing, 4 KiB reads: LinesCodec over Lines, as bytes",
            "tokio-util: LinesCodec",
            "ours: Lines, as bytes",
            "2.5",
            "3",
        ),
    ];
    for (what, peer, ours, must, target) in rows {
        let (instructions, time) = over(peer, ours);
        println!("| {what} | {instructions:.2} | {time:.2} | {must} | {target} |");
    }
    let observing = instructions("ours: semconv-map's Tracker", "token_stream")
        / instructions("ours: peek", "token_stream");
    println!("\n| what | is | must | target |\n|---|---|---|---|");
    let lines = sizes["token_stream"].0 as f64;
    let frames = cost("ours: Lines", "token_stream").allocations as f64 / lines;
    println!("| framing: allocations a line of token_stream | {frames:.3} | 0.01 | 0.001 |");
    let a_byte = |case| instructions("ours: Lines", case) / sizes[case].1 as f64;
    let growth = a_byte("fs_read_16m") / a_byte("diff_200k");
    println!("| framing: instructions a byte, 16 MiB over 200 KB | {growth:.3} | 1.1 | 1.05 |");
    let (large, size) = (cost("ours: Lines, decode", "fs_read_16m"), sizes["fs_read_16m"].1 as f64);
    let (peak, all) = (large.peak as f64 / size, large.allocated as f64 / size);
    println!(
        "| frame and envelope of 16 MiB: peak over size, growing counted as a copy | {peak:.3} | – | – |"
    );
    println!("| frame and envelope of 16 MiB: allocated over size | {all:.3} | 2.2 | 2.05 |");
    println!(
        "| observing token_stream: Tracker over peek, instructions | {observing:.2} | 1.2 | 1.05 |"
    );
    let forward = cost("ours: Lines, peek, forward", "token_stream").allocations;
    println!(
        "| forwarding 1,000 lines unchanged: allocations, the output's one included | {forward} | – | – |"
    );
}
