//! Prints what the types of ACP cost, as the second part of `RESULTS.md` has it.
use acp_types::v1::borrowed::{ContentChunkRef, SessionNotificationRef, ToolCallRef};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{ContentChunk, SessionNotification, SessionUpdate};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::tool_calls::{ToolCall, ToolCallUpdate};
use agent_client_protocol_schema::v1 as official;
use benches::acp_paths::{
    BORROWED, BORROWED_ALL, BY_METHOD, CASES, OFFICIAL, OFFICIAL_WRITE, OWNED, SDK, WRITE,
    WRITE_BORROWED, paths,
};
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
            beside_the_goals(&figures);
        }
        // What callgrind looks at.
        [case, path] => run(case, path, 1),
        // What dhat looks at.
        [case, path, rounds] => run(case, path, rounds.parse().expect("a number")),
        _ => panic!("expected nothing, or a case, a path, and perhaps how often"),
    }
}

fn sizes_of_types() {
    println!(
        "## Sizes of types, in bytes\n\n| | ours | acp schema | ours, borrowed |\n|---|---|---|---|"
    );
    macro_rules! row {
        ($Type:ident $(, $Borrowed:ident)?) => {
            let borrowed: &[usize] = &[$(size_of::<$Borrowed<'_>>())?];
            let borrowed = borrowed.first().map_or("–".to_owned(), usize::to_string);
            println!("| `{}` | {} | {} | {borrowed} |", stringify!($Type), size_of::<$Type>(), size_of::<official::$Type>());
        };
    }
    row!(SessionNotification, SessionNotificationRef);
    row!(SessionUpdate);
    row!(ContentChunk, ContentChunkRef);
    row!(ContentBlock);
    row!(ToolCall, ToolCallRef);
    row!(ToolCallUpdate, ToolCallRef);
    row!(SessionId);
    println!();
}

/// Bytes copied over size, by path and case.
type Copies = BTreeMap<(&'static str, &'static str), f64>;

fn copies(sizes: &Sizes) -> Copies {
    let cases = ["chunk", "tool_call", "image_4m", "fs_read_1m"];
    println!(
        "## Bytes copied over size\n\n| | {} |\n|---|{}",
        cases.join(" | "),
        "---|".repeat(cases.len())
    );
    let mut copies = Copies::new();
    for path in paths().iter().filter(|path| [OFFICIAL, OWNED, BORROWED].contains(&path.name)) {
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

/// What is no goal, and somebody may want to know before they choose a way to read.
fn beside_the_goals(figures: &Figures) {
    println!("\nBeside the goals, instructions of acp schema over ours:\n");
    let all = figures.over(OFFICIAL, BORROWED_ALL, "tool_heavy").0;
    println!(
        "- tool_heavy, borrowed, and then all strings and lists made owned: {all:.2}. Who wants all of it reads it owned."
    );
    let (case, (is, _)) = figures.slowest(OFFICIAL, BY_METHOD);
    println!(
        "- Owned, the envelope first and the payload by its method after that: {is:.2} for the worst message, which is {case}."
    );
}

/// What was measured.
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
    let (stream, tools) = ("token_stream", "tool_heavy");
    for (what, peer, ours, case, must, target) in [
        ("D1: decode, owned, beside acp schema, token_stream", OFFICIAL, OWNED, stream, 1.7, 2.0),
        (
            "D2: decode, borrowed, beside acp schema, token_stream",
            OFFICIAL,
            BORROWED,
            stream,
            2.2,
            3.3,
        ),
        ("D2: the same, and all strings and lists read", OFFICIAL, BORROWED_ALL, stream, 2.2, 3.3),
        ("D3: decode, owned, beside acp SDK, token_stream", SDK, OWNED, stream, 7.0, 10.0),
        ("D3: decode, borrowed, beside acp SDK, token_stream", SDK, BORROWED, stream, 8.5, 14.0),
        ("D4: decode, owned, beside acp schema, tool_heavy", OFFICIAL, OWNED, tools, 1.15, 1.5),
        (
            "D4: decode, borrowed, beside acp schema, tool_heavy",
            OFFICIAL,
            BORROWED,
            tools,
            1.2,
            1.5,
        ),
    ] {
        Goal::ratio(what, figures.over(peer, ours, case), must, target).print();
    }
    let (case, is) = figures.slowest(OFFICIAL, OWNED);
    let what = format!("D5: decode, owned, the worst message, which is {case}");
    Goal::ratio(what.leak(), is, 1.0, 1.05).print();
    for (what, path) in [
        ("D6: owned, tags last over tags first", OWNED),
        ("D6: borrowed, tags last over tags first", BORROWED),
    ] {
        let is = figures.instructions(path, "chunk_taglast") / figures.instructions(path, "chunk");
        Goal::at_most(what, is, 1.15, 1.03).print();
    }
}

fn memory(figures: &Figures) {
    Goal::at_most(
        "A1: allocations of a chunk, borrowed",
        figures.allocations(BORROWED, "chunk"),
        0.0,
        0.0,
    )
    .print();
    Goal::at_most(
        "A1: allocations of a chunk, owned",
        figures.allocations(OWNED, "chunk"),
        2.0,
        2.0,
    )
    .print();
    Goal::at_most(
        "A2: allocations of a line of token_stream, borrowed",
        figures.allocations(BORROWED, "token_stream"),
        0.4,
        0.1,
    )
    .print();
    Goal::at_most(
        "A2: allocations of a line of token_stream, owned",
        figures.allocations(OWNED, "token_stream"),
        3.0,
        2.5,
    )
    .print();
    let (borrowed, owned) =
        (size_of::<SessionNotificationRef<'_>>(), size_of::<SessionNotification>());
    Goal::at_most("A3: bytes of a session notification, borrowed", borrowed as f64, 160.0, 136.0)
        .print();
    Goal::at_most("A3: bytes of a session notification, owned", owned as f64, 192.0, 144.0).print();
}

fn copying(copies: &Copies) {
    for (what, case, path, must, target) in [
        ("C1: bytes copied over size, a chunk, borrowed", "chunk", BORROWED, 6.0, 3.0),
        ("C1: the same of an image, borrowed", "image_4m", BORROWED, 0.01, 0.0),
        ("C1: the same of a file of 1 MB, owned", "fs_read_1m", OWNED, 2.0, 1.0),
    ] {
        Goal::at_most(what, copies[&(path, case)], must, target).print();
    }
}

fn encoding(figures: &Figures) {
    for (what, ours) in [
        ("E1: encode a chunk, beside acp schema", WRITE),
        ("E1: encode a chunk that is borrowed, beside acp schema", WRITE_BORROWED),
    ] {
        Goal::ratio(what, figures.over(OFFICIAL_WRITE, ours, "chunk"), 1.5, 4.0).print();
    }
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

    /// Instructions over instructions, and time over time.
    fn over(&self, peer: &'static str, ours: &'static str, case: &'static str) -> (f64, f64) {
        let time = |path| self.costs[&(path, case)].ratio;
        (self.instructions(peer, case) / self.instructions(ours, case), time(peer) / time(ours))
    }

    fn allocations(&self, path: &'static str, case: &'static str) -> f64 {
        self.costs[&(path, case)].allocations as f64 / self.sizes[case].0 as f64
    }

    /// The case with the lowest ratio of instructions.
    fn slowest(&self, peer: &'static str, ours: &'static str) -> (&'static str, (f64, f64)) {
        let cases = CASES.iter().map(|case| (*case, self.over(peer, ours, case)));
        cases.min_by(|(_, one), (_, other)| one.0.total_cmp(&other.0)).expect("a case")
    }
}
