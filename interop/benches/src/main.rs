//! `benches` prints what each path costs for each case, as `RESULTS.md` has it. It runs itself under callgrind, once for
//! each, and `allocations` beside itself.
use benches::connections::{self, CONNECTIONS};
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
        [connection, name, count] if connection == "connection" => {
            let (_, exchange) = connections::connection(name).expect("a connection");
            exchange(count.parse().expect("a number"));
        }
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
        let [allocations, allocated, peak] = allocations(&[case.name, path.name]);
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
    let only = ["--collect-atstart=no", "--toggle-collect=benches::measured*"];
    callgrind_with(&only, &[case, path])
}

/// The instructions of the whole program.
fn callgrind(args: &[&str]) -> u64 {
    callgrind_with(&[], args)
}

fn callgrind_with(options: &[&str], args: &[&str]) -> u64 {
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(options)
        .arg(std::env::current_exe().expect("a path"))
        .args(args)
        .output()
        .expect("valgrind");
    let said = String::from_utf8_lossy(&valgrind.stderr);
    assert!(valgrind.status.success(), "{said}");
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    collected.and_then(|(_, count)| count.trim().parse().ok()).expect("a count")
}

/// How often something allocates, how many bytes, and how many were held at its height.
fn allocations(args: &[&str]) -> [u64; 3] {
    let program: PathBuf = std::env::current_exe().expect("a path").with_file_name("allocations");
    let output = Command::new(program).args(args).output().expect("allocations");
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

/// What the project holds itself to.
struct Goal {
    what: &'static str,
    is: f64,
    /// Time over time, where that is measured in one program.
    time: Option<f64>,
    must: f64,
    target: f64,
    /// Whether more is better.
    is_ratio: bool,
}

impl Goal {
    fn ratio(what: &'static str, (is, time): (f64, f64), must: f64, target: f64) -> Self {
        Self { what, is, time: Some(time), must, target, is_ratio: true }
    }

    fn at_most(what: &'static str, is: f64, must: f64, target: f64) -> Self {
        Self { what, is, time: None, must, target, is_ratio: false }
    }

    fn print(&self) {
        let reaches = |aim: f64| if self.is_ratio { self.is >= aim } else { self.is <= aim };
        let reached = match (reaches(self.must), reaches(self.target)) {
            (_, true) => "target",
            (true, false) => "must",
            (false, false) => "**no**",
        };
        let sign = if self.is_ratio { "≥" } else { "≤" };
        let number = |number: f64| match number {
            0.0 => "0".to_owned(),
            0.01.. => format!("{number:.2}"),
            _ => format!("{number:.4}"),
        };
        let time = self.time.map_or("–".to_owned(), |time| format!("{time:.2}"));
        let (what, is) = (self.what, number(self.is));
        let (must, target) = (number(self.must), number(self.target));
        println!("| {what} | {is} | {time} | {sign} {must} | {sign} {target} | {reached} |");
    }
}

fn goals(costs: &Costs, sizes: &Sizes) {
    println!("## Goals\n");
    println!(
        "Ratios are the peer's instructions over ours, with the time over time beside them, for token_stream.\n"
    );
    println!("| what | is | time | must | target | reached |\n|---|---|---|---|---|---|");
    let cost = |path, case| costs[&(path, case)];
    let over = |peer, ours| {
        let (peer, ours) = (cost(peer, "token_stream"), cost(ours, "token_stream"));
        let time = peer.time.as_secs_f64() / ours.time.as_secs_f64();
        (peer.instructions as f64 / ours.instructions as f64, time)
    };
    let decode = "ours: Message::decode";
    for (what, peer, ours, must, target) in [
        ("envelope, beside jsonrpsee-types", "jsonrpsee-types", decode, 1.0, 1.5),
        ("envelope, beside lsp-server", "lsp-server", decode, 6.0, 10.0),
        ("envelope, beside rmcp", "rmcp", decode, 7.0, 12.0),
        ("envelope, beside jsonrpc-core 18", "jsonrpc-core 18", decode, 9.0, 15.0),
        ("peek, checked, beside jsonrpsee-types", "jsonrpsee-types", "ours: peek", 1.5, 1.5),
        (
            "peek at method, id, session and kind with shapes, beside jsonrpsee-types",
            "jsonrpsee-types",
            "ours: PeekCache",
            1.5,
            5.0,
        ),
        (
            "lines in reads of 4 KiB, beside LinesCodec",
            "tokio-util: LinesCodec",
            "ours: Lines, as bytes",
            2.5,
            3.0,
        ),
        (
            "messages with a length, read and decoded, beside lsp-server's",
            "lsp-server: read",
            "ours: ContentLength, decode",
            5.0,
            8.0,
        ),
    ] {
        Goal::ratio(what, over(peer, ours), must, target).print();
    }
    framing(costs, sizes);
    connection_goals();
    let observing = cost("ours: semconv-map's Tracker", "token_stream").instructions as f64
        / cost("ours: peek", "token_stream").instructions as f64;
    Goal::at_most("Tracker over peek, instructions", observing, 1.2, 1.05).print();
}

fn framing(costs: &Costs, sizes: &Sizes) {
    let cost = |path, case| costs[&(path, case)];
    let lines = sizes["token_stream"].0 as f64;
    let frames = cost("ours: Lines", "token_stream").allocations as f64 / lines;
    Goal::at_most("allocations a line", frames, 0.01, 0.001).print();
    let a_byte = |case| cost("ours: Lines", case).instructions as f64 / sizes[case].1 as f64;
    let growth = a_byte("fs_read_16m") / a_byte("fs_read_256k");
    Goal::at_most("a line of 16 MiB over one of 256 KiB, instructions a byte", growth, 1.1, 1.05)
        .print();
    let (large, size) = (cost("ours: Lines, decode", "fs_read_16m"), sizes["fs_read_16m"].1 as f64);
    let (peak, all) = (large.peak as f64 / size, large.allocated as f64 / size);
    Goal::at_most("a line of 16 MiB, framed and decoded: most held over size", peak, 1.1, 1.05)
        .print();
    Goal::at_most("the same: allocated over size", all, 2.2, 2.05).print();
    let kibibytes = |what| {
        let [.., peak] = allocations(&["endless", what]);
        peak as f64 / 1024.0
    };
    let limit = jsonrpc_core::framing::Lines::DEFAULT_LIMIT as f64 / 1024.0;
    let line = kibibytes("line") - limit;
    Goal::at_most("1 GiB without a line end: KiB held beyond the limit", line, 256.0, 256.0)
        .print();
    let length = kibibytes("length") - limit;
    Goal::at_most("a length of 10^12: KiB held beyond the limit", length, 256.0, 256.0).print();
    let [forwarded, ..] = allocations(&["forward", "token_stream"]);
    Goal::at_most("1,000 lines forwarded, bytes the same: allocations", forwarded as f64, 0.0, 0.0)
        .print();
}

/// How many messages are exchanged; what a connection costs once does not count.
const FEW: usize = 500;
const MANY: usize = 3 * FEW;

fn connection_goals() {
    for (what, (ours, our_exchange), (theirs, their_exchange)) in CONNECTIONS {
        let a_message = |few: u64, many: u64| (many - few) as f64 / (MANY - FEW) as f64;
        let instructions = |name: &str| {
            let run = |count: usize| callgrind(&["connection", name, &count.to_string()]);
            a_message(run(FEW), run(MANY))
        };
        let allocated = |name: &str| {
            let run = |count: usize| allocations(&["connection", name, &count.to_string()]);
            let ([few, ..], [many, ..]) = (run(FEW), run(MANY));
            a_message(few, many)
        };
        let time = |exchange: fn(usize)| {
            let from = Instant::now();
            exchange(MANY);
            from.elapsed().as_secs_f64()
        };
        let mut ratios: Vec<_> =
            (0..9).map(|_| time(their_exchange) / time(our_exchange)).collect();
        ratios.sort_by(f64::total_cmp);
        let (our_count, their_count) = (instructions(ours), instructions(theirs));
        let is_round_trip = what == "a round trip";
        let (must, target) = if is_round_trip { (8.0, 10.0) } else { (6.0, 8.0) };
        let what_is = format!(
            "{what} between typed programs, beside acp SDK ({} instructions)",
            short(our_count)
        );
        let is = (their_count / our_count, ratios[ratios.len() / 2]);
        Goal::ratio(what_is.leak(), is, must, target).print();
        let (must, target) = if is_round_trip { (10.0, 10.0) } else { (8.0, 5.0) };
        let what_is = format!("the same: allocations (acp SDK {:.0})", allocated(theirs));
        Goal::at_most(what_is.leak(), allocated(ours), must, target).print();
    }
}
