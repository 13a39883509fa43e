//! Prints the cost of translating ACP lines to AG-UI events, for `TRANSLATE.md`.
use benches::corpus;
use benches::measure::{Costs, Goal, allocations, callgrind, run, table};
use benches::translate_paths::{
    CASES, HUB, OFFICIAL, SDK, TURN_TEXT, TYPED, Turn, paths, said, turn,
};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [] => {
            for (name, _) in CASES {
                agree(name);
            }
            let cases: Vec<_> =
                CASES.iter().map(|(name, _)| *name).chain(["token_stream"]).collect();
            let (costs, sizes) = table(&cases, &paths());
            goals(&costs, |name| sizes[name].0 as f64);
        }
        // Runs under callgrind.
        [word, path, pieces] if word == "turn" => {
            turn(path, pieces.parse().expect("a number"));
        }
        [case, path] => run(case, path, 1),
        _ => panic!("expected nothing, or a case and a path"),
    }
}

/// Asserts that all paths write the same text.
fn agree(name: &str) {
    let case = corpus::case(name);
    let expected = said(&case, Turn::official);
    assert_eq!(expected.len(), case.lines.len());
    for take in [Turn::sdk, Turn::typed, Turn::hub] {
        assert_eq!(said(&case, take), expected, "{name}");
    }
}

fn goals(costs: &Costs, lines: impl Fn(&'static str) -> f64) {
    println!("## Goals\n");
    println!(
        "Ratios are the peer's instructions over ours, with the time over time beside them.\n"
    );
    println!("| what | is | time | must | target | reached |\n|---|---|---|---|---|---|");
    let over = |peer, ours, case| {
        let peer = costs[&(peer, case)];
        let ours = costs[&(ours, case)];
        (peer.instructions as f64 / ours.instructions as f64, peer.ratio / ours.ratio)
    };
    for (what, peer, ours, case, must, target) in [
        (
            "T1: a piece, with a number, beside acp schema",
            OFFICIAL,
            HUB,
            "pieces_numbered",
            2.5,
            5.0,
        ),
        ("T1: a piece, without a number", OFFICIAL, HUB, "pieces", 2.5, 20.0),
        ("T1: the same, with escapes", OFFICIAL, HUB, "pieces_esc", 2.5, 20.0),
        ("T1: a piece of a thought", OFFICIAL, HUB, "pieces_thought", 2.5, 20.0),
        ("a piece, typed, beside acp schema", OFFICIAL, TYPED, "pieces", 1.0, 2.5),
        ("T2: a piece of 2 KB, beside acp schema", OFFICIAL, HUB, "pieces_2k", 4.0, 9.0),
        ("T3: a piece, with a number, beside acp SDK", SDK, HUB, "pieces_numbered", 8.0, 16.0),
        ("T3: a piece, without a number", SDK, HUB, "pieces", 8.0, 16.0),
    ] {
        Goal::ratio(what, over(peer, ours, case), must, target).print();
    }
    for (case, _) in CASES {
        let what = format!("a line, line in, numbered frame out: instructions, {case}");
        let piece = costs[&(HUB, *case)].instructions as f64 / lines(case);
        Goal::at_most(what.leak(), piece, 5_000.0, 2_000.0).print();
    }
    for path in ["typed", "hub"] {
        long_turn(path);
    }
}

/// Chunks of the long turn, and of each compared part of it.
const LONG: usize = 100_000;
const PART: usize = 10_000;

fn long_turn(path: &'static str) {
    let instructions = |pieces: usize| callgrind(&["turn", path, &pieces.to_string()]);
    let first = instructions(2 * PART) - instructions(PART);
    let last = instructions(LONG) - instructions(LONG - PART);
    let what = format!(
        "a turn of {LONG} pieces, {path}: instructions of the last {PART} over those of the second {PART}"
    );
    Goal::at_most(what.leak(), last as f64 / first as f64, 1.05, 1.01).print();
    let held = |pieces: usize| {
        let [.., peak] = allocations(&["turn", path, &pieces.to_string()]);
        peak as f64 / 1024.0
    };
    // The log of the run stores the text for later readers.
    let text = if path == "hub" { ((LONG - PART) * TURN_TEXT) as f64 / 1024.0 } else { 0.0 };
    let what = format!(
        "the same: KiB held beyond those of a turn of {PART}, and beyond the text in the log"
    );
    Goal::at_most(what.leak(), (held(LONG) - held(PART) - text).max(0.0), 256.0, 64.0).print();
}
