//! Cost of a proxy between an editor and an agent: throughput, round trips, processor time, memory.
//!
//! `proxy ACP_TRACES` measures everything and prints the tables; `interop/proxy/run` writes them to
//! `RESULTS.md`. The other commands are the programs that it starts: agents (`flood`, `echo`) and
//! proxies for comparison (`copy`, `lines`, `official`).

mod agent;
mod chain;
mod corpus;
mod measure;
mod peer;

use chain::{Chain, Proxy};
use measure::{Goal, median, percentile};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Number of measurements of each kind, in turn.
const ROUNDS: usize = 9;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &words[..] {
        ["flood", case, size, bytes] => agent::flood(case, number(size), number(bytes)),
        ["echo"] => agent::echo(),
        ["copy", command @ ..] => peer::copy(command),
        ["lines", command @ ..] => peer::lines(command),
        ["official", command @ ..] => peer::official(command),
        [acp_traces] => all(acp_traces),
        _ => panic!("proxy ACP_TRACES"),
    }
}

fn number(text: &str) -> usize {
    text.parse().expect("a number")
}

fn all(acp_traces: &str) {
    let traced = Proxy::Traces { path: acp_traces, telemetry: true };
    let off = Proxy::Traces { path: acp_traces, telemetry: false };
    println!("## Throughput, agent to editor\n");
    println!(
        "MB/s, the median of {ROUNDS} rounds, and the median of the ratios to `agent | cat`, round by round.\n"
    );
    println!(
        "| | `cat` | line copy | official bridge | acp-traces | acp-traces, telemetry off |\n|---|---|---|---|---|---|"
    );
    let mut goals = Vec::new();
    for (name, case, size, megabytes) in [
        ("token_stream, a write a line", "token_stream", 0, 100),
        ("tool_heavy, a write a line", "tool_heavy", 0, 400),
        ("chunk, 64 KiB writes", "chunk", 64 << 10, 400),
        ("image_4m, a write a line", "image_4m", 0, 800),
    ] {
        let proxies = [Proxy::Cat, Proxy::Lines, Proxy::Official, traced, off];
        let rates = throughput(&proxies, case, size, megabytes << 20);
        let row: Vec<String> = rates.iter().map(Rate::to_string).collect();
        println!("| {name} | {} |", row.join(" | "));
        let [_, _, official, ours, off] = &rates[..] else { unreachable!("as many as proxies") };
        match name {
            "token_stream, a write a line" => {
                goals.push(Goal::least(
                    "P1 throughput, token_stream, over `cat`",
                    ours.ratio,
                    0.75,
                    0.9,
                ));
                goals.push(Goal::least(
                    "P3 the same, over the official bridge",
                    ours.rate / official.rate,
                    25.0,
                    40.0,
                ));
                goals.push(Goal::least(
                    "O2 the same, over telemetry off",
                    ours.ratio / off.ratio,
                    0.9,
                    0.95,
                ));
            }
            "tool_heavy, a write a line" => {
                goals.push(Goal::least(
                    "P2 throughput, tool_heavy, over `cat`",
                    ours.ratio,
                    0.9,
                    0.95,
                ));
            }
            "chunk, 64 KiB writes" => {
                goals.push(Goal::least(
                    "P2 throughput, 64 KiB writes, over `cat`",
                    ours.ratio,
                    0.4,
                    0.5,
                ));
            }
            _ => {}
        }
    }
    println!("\n## Round trips, all on one processor\n");
    println!(
        "Microseconds, of {PINGS} round trips of a line of 208 bytes, {PINGS_LONG} of one of 1 MB; the best of 3 runs.\n"
    );
    println!("| | p50 | p99 | 1 MB p50 |\n|---|---|---|---|");
    let mut trips = Vec::new();
    for proxy in [Proxy::None, Proxy::Cat, Proxy::Copy, Proxy::Lines, Proxy::Official, traced, off]
    {
        let trip = round_trip(&proxy);
        println!("| {} | {:.1} | {:.1} | {:.0} |", proxy.name(), trip.p50, trip.p99, trip.long);
        trips.push(trip);
    }
    let [_, cat, _, _, _, ours, _] = &trips[..] else { unreachable!("as many as proxies") };
    goals.push(Goal::most("P4 round trip, p50, over `cat`", ours.p50 / cat.p50, 1.1, 0.95));
    goals.push(Goal::most("P5 round trip, p99, over `cat`", ours.p99 / cat.p99, 2.0, 1.3));
    goals.push(Goal::most(
        "P8 round trip of 1 MB, p50, over `cat`",
        ours.long / cat.long,
        1.15,
        1.05,
    ));
    println!("\n## Processor time of the proxy a message, all on one processor\n");
    println!(
        "Nanoseconds, user and system and all threads, token_stream with a write a line; the median of 5 runs.\n"
    );
    println!("| copy | acp-traces | acp-traces, telemetry off |\n|---|---|---|");
    let [copy, ours_cpu, off_cpu] = [Proxy::Copy, traced, off].map(|proxy| cpu(&proxy));
    println!("| {copy:.0} | {ours_cpu:.0} | {off_cpu:.0} |");
    goals.push(Goal::most("P6 processor time a message, over a copy", ours_cpu / copy, 1.6, 1.35));
    println!("\n## Memory with a reader that has stopped, 64 MB to be sent\n");
    println!("| official bridge | acp-traces |\n|---|---|");
    let [official, ours_mb] = [Proxy::Official, traced].map(|proxy| stalled(&proxy));
    println!("| {official:.1} MB | {ours_mb:.1} MB |");
    goals.push(Goal::most("P7 memory with a stalled reader, MB", ours_mb, 16.0, 8.0));
    println!("\n## Goals\n\n| | measured | must | target | |\n|---|---|---|---|---|");
    goals.iter().for_each(|goal| println!("{goal}"));
}

/// A throughput.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// In MB/s.
    rate: f64,
    /// Relative to the first.
    ratio: f64,
}

impl core::fmt::Display for Rate {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:.0} ({:.2})", self.rate, self.ratio)
    }
}

fn throughput(proxies: &[Proxy<'_>], case: &str, size: usize, bytes: usize) -> Vec<Rate> {
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); proxies.len()];
    for _ in 0..ROUNDS {
        for (proxy, rates) in proxies.iter().zip(&mut rounds) {
            let bytes = bytes / if proxy.is_slow() { 20 } else { 1 };
            rates.push(one_throughput(proxy, case, size, bytes));
        }
    }
    let base = rounds[0].clone();
    let ratio = |rates: &[f64]| median(rates.iter().zip(&base).map(|(rate, base)| rate / base));
    rounds.iter().map(|it| Rate { rate: median(it.iter().copied()), ratio: ratio(it) }).collect()
}

fn one_throughput(proxy: &Proxy<'_>, case: &str, size: usize, bytes: usize) -> f64 {
    let agent = ["flood", case, &size.to_string(), &bytes.to_string()].map(str::to_owned);
    let mut chain = Chain::start(proxy, &agent);
    let mut buffer = vec![0; 1 << 20];
    // The agent announces the number of bytes and waits, so that its start is not measured.
    let total = chain.read_number();
    chain.stdin.write_all(agent::GO).expect("the agent listens");
    let begun = Instant::now();
    let mut left = total;
    while left > 0 {
        let length = chain.stdout.read(&mut buffer).expect("bytes come");
        assert!(length > 0, "{left} of {total} bytes are missing behind {}", proxy.name());
        left -= length.min(left);
    }
    total as f64 / 1e6 / begun.elapsed().as_secs_f64()
}

/// Number of round trips of a short line, and of a long one.
const PINGS: usize = 6_000;
const PINGS_LONG: usize = 200;

/// A round trip in microseconds.
struct Trip {
    p50: f64,
    p99: f64,
    long: f64,
}

fn round_trip(proxy: &Proxy<'_>) -> Trip {
    let runs: Vec<Trip> = (0..3)
        .map(|_| {
            let _pinned = chain::Pinned::new();
            let mut chain = Chain::start(proxy, &["echo".to_owned()]);
            let short = times(&mut chain, 208, PINGS);
            let long = times(&mut chain, 1 << 20, PINGS_LONG);
            Trip {
                p50: percentile(&short, 50),
                p99: percentile(&short, 99),
                long: percentile(&long, 50),
            }
        })
        .collect();
    let best = |of: fn(&Trip) -> f64| runs.iter().map(of).fold(f64::INFINITY, f64::min);
    Trip { p50: best(|it| it.p50), p99: best(|it| it.p99), long: best(|it| it.long) }
}

fn times(chain: &mut Chain, length: usize, count: usize) -> Vec<Duration> {
    let line = agent::line(length);
    let mut heard = vec![0; line.len()];
    let mut once = || {
        let begun = Instant::now();
        // Longer than the buffer of a pipe: reading and writing are concurrent.
        std::thread::scope(|scope| {
            if line.len() > 1 << 15 {
                scope.spawn(|| chain.stdin.write_all(&line).expect("the agent listens"));
            } else {
                chain.stdin.write_all(&line).expect("the agent listens");
            }
            chain.stdout.read_exact(&mut heard).expect("an answer");
        });
        begun.elapsed()
    };
    // Warm-up.
    for _ in 0..count / 10 {
        once();
    }
    (0..count).map(|_| once()).collect()
}

fn cpu(proxy: &Proxy<'_>) -> f64 {
    let bytes = 40 << 20;
    let of_run = || {
        let _pinned = chain::Pinned::new();
        let agent = ["flood", "token_stream", "0", &bytes.to_string()].map(str::to_owned);
        let mut chain = Chain::start(proxy, &agent);
        let total = chain.read_number();
        let before = chain.settled_cpu();
        chain.stdin.write_all(agent::GO).expect("the agent listens");
        let mut passed = Vec::with_capacity(total);
        (&mut chain.stdout).take(total as u64).read_to_end(&mut passed).expect("bytes come");
        let messages = passed.iter().filter(|byte| **byte == b'\n').count();
        (chain.settled_cpu() - before).as_nanos() as f64 / messages as f64
    };
    median((0..5).map(|_| of_run()))
}

fn stalled(proxy: &Proxy<'_>) -> f64 {
    let bytes = 64 << 20;
    let agent = ["flood", "token_stream", "0", &bytes.to_string()].map(str::to_owned);
    let mut chain = Chain::start(proxy, &agent);
    chain.read_number();
    chain.stdin.write_all(agent::GO).expect("the agent listens");
    chain.settled_cpu();
    chain.resident_megabytes()
}
