//! Prints the cost of each path for each case, for `RESULTS.md`.
use benches::connections::{self, CONNECTIONS};
use benches::measure::{Costs, Goal, Sizes, allocations, callgrind, held, run, short, table};
use benches::{corpus, paths};
use jsonrpc_core::framing::Lines;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [] => all_of(|_| true),
        // Only these cases. The goals require token_stream, fs_read_256k and fs_read_16m.
        [of, names @ ..] if of == "of" => all_of(|case| names.iter().any(|name| name == case)),
        // Runs under callgrind.
        [connection, name, count] if connection == "connection" => {
            let (_, exchange) = connections::connection(name).expect("a connection");
            exchange(count.parse().expect("a number"));
        }
        [case, path] => run(case, path, 1),
        _ => panic!("expected nothing, `of` and cases, or a case and a path"),
    }
}

fn all_of(is_wanted: impl Fn(&str) -> bool) {
    let cases = corpus::CASES.iter().map(|(name, _)| *name).filter(|name| is_wanted(name));
    let (costs, sizes) = table(&cases.collect::<Vec<_>>(), &paths::paths());
    goals(&costs, &sizes);
}

fn goals(costs: &Costs, sizes: &Sizes) {
    println!("## Goals\n");
    println!(
        "Ratios are the peer's instructions over ours, with the time over time beside them, for token_stream.\n"
    );
    println!("| what | is | time | must | target | reached |\n|---|---|---|---|---|---|");
    let cost = |path, case| costs[&(path, case)];
    let over = |peer, ours| {
        let peer = cost(peer, "token_stream");
        let ours = cost(ours, "token_stream");
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
            "lines in reads of 4 KiB, beside LinesCodec",
            "tokio-util: LinesCodec",
            "ours: Lines, as bytes",
            2.5,
            3.0,
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
    let large = cost("ours: Lines, decode", "fs_read_16m");
    let size = sizes["fs_read_16m"].1 as f64;
    let peak = large.peak as f64 / size;
    let all = large.allocated as f64 / size;
    Goal::at_most("a line of 16 MiB, framed and decoded: most held over size", peak, 1.1, 1.05)
        .print();
    Goal::at_most("the same: allocated over size", all, 2.2, 2.05).print();
    let limit = Lines::DEFAULT_LIMIT as f64;
    for (what, resident, allocated) in [
        (
            "line",
            "1 GiB without a line end: KiB resident beyond the limit",
            "the same: KiB allocated beyond it",
        ),
        (
            "codec-line",
            "1 GiB without a line end, through the codec: KiB resident beyond the limit",
            "the same: KiB allocated beyond it",
        ),
    ] {
        let most = held(what).map(|bytes| ((bytes as f64 - limit) / 1024.0).max(0.0));
        Goal::at_most(resident, most[0], 256.0, 256.0).print();
        Goal::at_most(allocated, most[1], 256.0, 256.0).print();
    }
    let [forwarded, ..] = allocations(&["forward", "token_stream"]);
    Goal::at_most("1,000 lines forwarded, bytes the same: allocations", forwarded as f64, 0.0, 0.0)
        .print();
}

/// Numbers of exchanged messages. The difference excludes the setup of a connection.
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
        let our_count = instructions(ours);
        let their_count = instructions(theirs);
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
