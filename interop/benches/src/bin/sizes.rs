//! Prints the cost of ordinary and hostile lines of 20 KB to 8 MB, for the third part of
//! `RESULTS.md`.
use acp_types::lint::Linter;
use acp_types::v1::prompt_turn::SessionNotification;
use agui_bridge::{Options, Translator};
use allocation_counter::{AllocationInfo, measure};
use benches::corpus::update;
use benches::measure::Goal;
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::wire::{self, Mode};
use jsonrpc_core::{Message, peek};
use semconv_map::content::Capture;
use semconv_map::{Policy, Tracker};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Sizes of a line, in bytes.
const SIZES: [usize; 4] = [20_000, 200_000, 2_000_000, 8_000_000];

/// Maximum time, relative to strict reading of an ordinary line of the same size.
const MOST_TIME: f64 = 5.0;

/// Maximum of allocated memory, relative to the size of the line.
const MOST_MEMORY: f64 = 4.0;

/// A name, and a function that returns a line of a size.
type Shape = (&'static str, fn(usize) -> String);

/// Lines that repeat one part.
const SHAPES: [Shape; 6] = [
    ("a plan", |size| {
        let entry = r#"{"content":"Keep the number","priority":"high","status":"pending"}"#;
        repeated(r#"{"sessionUpdate":"plan","entries":["#, entry, size)
    }),
    ("a text", |size| {
        let start = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#;
        update(&format!("{start}{}\"}}}}", "the parser keeps it ".repeat(size / 20)))
    }),
    ("a plan of `{\"type\":7}`", |size| {
        repeated(r#"{"sessionUpdate":"plan","entries":["#, r#"{"type":7}"#, size)
    }),
    ("an unknown list of `1`", |size| {
        repeated(
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"x":["#,
            "1",
            size,
        )
    }),
    ("raw input of `1`", |size| {
        repeated(
            r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","rawInput":["#,
            "1",
            size,
        )
    }),
    ("a list of `7` for a text", |size| {
        repeated(r#"{"sessionUpdate":"agent_message_chunk","content":["#, "7", size)
    }),
];

/// A line with an update that ends in a list of one repeated item.
fn repeated(start: &str, item: &str, size: usize) -> String {
    let items = vec![item; size / (item.len() + 1)];
    update(&format!("{start}{}]}}", items.join(",")))
}

/// A name, and a reader of a line.
type Reader = (&'static str, fn(&str));

/// Readers of a line. Times are relative to the first.
const READERS: [Reader; 9] = [
    ("types, strict", |line| types(line, Mode::Strict)),
    ("types, lenient", |line| types(line, Mode::SpecLenient)),
    ("types, preserving", |line| types(line, Mode::Preserve)),
    ("`peek`", |line| {
        let _ = black_box(peek(line.as_bytes()));
    }),
    ("`Message::decode`", |line| drop(black_box(Message::decode(line)))),
    ("`Tracker`", |line| track(line, Policy::default())),
    ("`Tracker` with content", |line| {
        let mut policy = Policy::default();
        policy.content = Capture::SpanAndEvent;
        track(line, policy);
    }),
    ("`Linter`", lint),
    ("`Translator`", translate),
];

/// Returns the params of a line. Framing is not measured here.
fn params(line: &str) -> &str {
    jsonrpc_core::find_member(line, &["params"]).expect("params")
}

fn types(line: &str, mode: Mode) {
    let _ = black_box(wire::decode_with::<SessionNotification>(params(line), mode));
}

fn track(line: &str, policy: Policy) {
    let mut tracker = Tracker::new(policy);
    tracker.handle_line(Direction::Received, Duration::ZERO, line.as_bytes());
    black_box(tracker.poll());
}

thread_local! {
    /// A linter with its schemas built.
    static LINTER: Linter = {
        let mut linter = Linter::default();
        linter.handle_line(Direction::Received, SHAPES[0].1(500).as_bytes());
        linter.fresh()
    };
}

fn lint(line: &str) {
    let mut linter = LINTER.with(Linter::fresh);
    linter.handle_line(Direction::Received, line.as_bytes());
    black_box(linter.poll_finding());
}

/// Translates one line, and writes its events.
fn translate(line: &str) {
    let mut translator = Translator::new(Options::new());
    let input =
        wire::decode(r#"{"threadId":"t","runId":"r","protocolVersion":"1.0","messages":[]}"#);
    let begun = translator.begin_run(&input.expect("an input"), &[]);
    let _ = begun.expect("no run is open");
    let Ok(update) = wire::decode::<SessionNotification>(params(line)) else { return };
    translator.handle_notification(update);
    while let Some(event) = translator.poll_event() {
        black_box(event);
    }
}

/// Returns the time of one read in seconds: the minimum of several, since other programs run.
fn time(read: fn(&str), line: &str) -> f64 {
    let rounds = (40_000_000 / line.len()).clamp(3, 200);
    let times = (0..rounds).map(|_| {
        let from = Instant::now();
        read(black_box(line));
        from.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Returns the peak of allocated bytes.
fn held(read: fn(&str), line: &str) -> u64 {
    let mut info = AllocationInfo::default();
    info += measure(|| read(line));
    info.bytes_max
}

fn main() {
    println!(
        "Cells: time over strict reading of a plan of the same size, and peak bytes over the size.\n"
    );
    let [(_, ordinary), ..] = SHAPES;
    let [(_, strict), ..] = READERS;
    let mut most = READERS.map(|(name, _)| (name, 0.0_f64, 0.0_f64));
    for (shape, line) in SHAPES {
        let sizes = SIZES.map(|size| format!("{} KB", size / 1000));
        println!("## {shape}\n\n| | {} |\n|---|{}", sizes.join(" | "), "---|".repeat(SIZES.len()));
        let lines = SIZES.map(|size| (line(size), time(strict, &ordinary(size))));
        for ((name, read), most) in READERS.iter().zip(&mut most) {
            let cells = lines.iter().map(|(line, base)| {
                // Memory that is allocated once does not count.
                read(line);
                let time = time(*read, line) / base;
                let held = held(*read, line);
                let held = held as f64 / line.len() as f64;
                (most.1, most.2) = (most.1.max(time), most.2.max(held));
                format!("{time:.2} / {held:.2}")
            });
            println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        println!();
    }
    println!(
        "## Goals\n\n| what | is | time | must | target | reached |\n|---|---|---|---|---|---|"
    );
    for (name, time, held) in most {
        let what = format!("{name}: time over strict reading, the most");
        Goal::at_most(what.leak(), time, MOST_TIME, MOST_TIME).print();
        let what = format!("{name}: bytes held over size, the most");
        Goal::at_most(what.leak(), held, MOST_MEMORY, MOST_MEMORY).print();
    }
}
