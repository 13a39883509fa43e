//! Prints the cost of the ACP types, for the second part of `RESULTS.md`.
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{ContentChunk, SessionNotification, SessionUpdate};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::tool_calls::{ToolCall, ToolCallUpdate};
use agent_client_protocol_schema::v1 as official;
use benches::acp_paths::{CASES, OFFICIAL, OFFICIAL_WRITE, OWNED, SDK, WRITE, paths};
use benches::corpus::case;
use benches::measure::{Costs, Goal, Sizes, copied, run, table};
use std::collections::BTreeMap;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [] => {
            let (costs, sizes) = table(CASES, &paths());
            sizes_of_types();
            let copies = copies(&sizes);
            let figures = Figures { costs, sizes, copies };
            goals(&figures);
        }
        // Runs under callgrind.
        [case, path] => run(case, path, 1),
        // Runs under dhat.
        [case, path, rounds] => run(case, path, rounds.parse().expect("a number")),
        _ => panic!("expected nothing, or a case, a path, and perhaps how often"),
    }
}

fn sizes_of_types() {
    println!("## Sizes of types, in bytes\n\n| | ours | acp schema |\n|---|---|---|");
    macro_rules! row {
        ($Type:ident) => {
            println!(
                "| `{}` | {} | {} |",
                stringify!($Type),
                size_of::<$Type>(),
                size_of::<official::$Type>()
            );
        };
    }
    row!(SessionNotification);
    row!(SessionUpdate);
    row!(ContentChunk);
    row!(ContentBlock);
    row!(ToolCall);
    row!(ToolCallUpdate);
    row!(SessionId);
    println!();
}

/// Copied bytes relative to the size, by path and case.
type Copies = BTreeMap<(&'static str, &'static str), f64>;

fn copies(sizes: &Sizes) -> Copies {
    let cases = ["chunk", "tool_call", "image_4m", "fs_read_1m"];
    println!(
        "## Bytes copied over size\n\n| | {} |\n|---|{}",
        cases.join(" | "),
        "---|".repeat(cases.len())
    );
    let mut copies = Copies::new();
    for path in paths().iter().filter(|path| [OFFICIAL, OWNED].contains(&path.name)) {
        let cells = cases.map(|name| {
            if !(path.fits)(&case(name)) {
                return "–".to_owned();
            }
            let over_size = copied(name, path.name) as f64 / sizes[name].1 as f64;
            copies.insert((path.name, name), over_size);
            format!("{over_size:.2}")
        });
        println!("| {} | {} |", path.name, cells.join(" | "));
    }
    println!();
    copies
}

/// Measured costs.
struct Figures {
    costs: Costs,
    sizes: Sizes,
    copies: Copies,
}

fn goals(figures: &Figures) {
    println!("## Goals\n");
    println!(
        "Ratios are the peer's instructions over ours, with the time over time beside them.\n"
    );
    println!("| what | is | time | must | target | reached |\n|---|---|---|---|---|---|");
    decoding(figures);
    memory(figures);
    copying(&figures.copies);
    encoding(figures);
}

fn decoding(figures: &Figures) {
    let stream = "token_stream";
    let tools = "tool_heavy";
    for (what, peer, ours, case, must, target) in [
        ("D1: decode, beside acp schema, token_stream", OFFICIAL, OWNED, stream, 1.7, 2.0),
        ("D3: decode, beside acp SDK, token_stream", SDK, OWNED, stream, 7.0, 10.0),
        ("D4: decode, beside acp schema, tool_heavy", OFFICIAL, OWNED, tools, 1.15, 1.5),
    ] {
        Goal::ratio(what, figures.over(peer, ours, case), must, target).print();
    }
    let (case, is) = figures.slowest(OFFICIAL, OWNED);
    let what = format!("D5: decode, the worst message, which is {case}");
    Goal::ratio(what.leak(), is, 1.0, 1.05).print();
    let is = figures.instructions(OWNED, "chunk_taglast") / figures.instructions(OWNED, "chunk");
    Goal::at_most("D6: tags last over tags first", is, 1.15, 1.03).print();
}

fn memory(figures: &Figures) {
    let chunk = figures.allocations(OWNED, "chunk");
    Goal::at_most("A1: allocations of a chunk", chunk, 2.0, 2.0).print();
    let stream = figures.allocations(OWNED, "token_stream");
    Goal::at_most("A2: allocations of a line of token_stream", stream, 3.0, 2.5).print();
    let size = size_of::<SessionNotification>();
    Goal::at_most("A3: bytes of a session notification", size as f64, 192.0, 144.0).print();
}

fn copying(copies: &Copies) {
    let file = copies[&(OWNED, "fs_read_1m")];
    Goal::at_most("C1: bytes copied over size, a file of 1 MB", file, 2.0, 1.0).print();
}

fn encoding(figures: &Figures) {
    let chunk = figures.over(OFFICIAL_WRITE, WRITE, "chunk");
    Goal::ratio("E1: encode a chunk, beside acp schema", chunk, 1.5, 4.0).print();
    Goal::at_most(
        "E1: allocations of 100 chunks, the buffer's own included",
        figures.allocations(WRITE, "chunk") * 100.0,
        1.0,
        1.0,
    )
    .print();
    let (case, is) = figures.slowest(OFFICIAL_WRITE, WRITE);
    let what = format!("E2: encode, the worst message, which is {case}");
    Goal::ratio(what.leak(), is, 1.0, 1.2).print();
}

impl Figures {
    fn instructions(&self, path: &'static str, case: &'static str) -> f64 {
        self.costs[&(path, case)].instructions as f64
    }

    /// Returns the ratio of instructions and the ratio of times.
    fn over(&self, peer: &'static str, ours: &'static str, case: &'static str) -> (f64, f64) {
        let time = |path| self.costs[&(path, case)].ratio;
        (self.instructions(peer, case) / self.instructions(ours, case), time(peer) / time(ours))
    }

    fn allocations(&self, path: &'static str, case: &'static str) -> f64 {
        self.costs[&(path, case)].allocations as f64 / self.sizes[case].0 as f64
    }

    /// Returns the case with the lowest ratio of instructions.
    fn slowest(&self, peer: &'static str, ours: &'static str) -> (&'static str, (f64, f64)) {
        let cases = CASES.iter().map(|case| (*case, self.over(peer, ours, case)));
        cases.min_by(|(_, one), (_, other)| one.0.total_cmp(&other.0)).expect("a case")
    }
}
