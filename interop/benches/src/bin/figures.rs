//! Prints the instructions of the paths that programs take, a line each, for the comparison with
//! their limits. Counts are those of one message.
use benches::acp_paths::{OWNED, WRITE};
use benches::connections::connection;
use benches::corpus;
use benches::measure::{callgrind, instructions, run};
use benches::translate_paths::{HUB, TYPED};

/// Name, case and path of each figure.
const PATHS: [(&str, &str, &str); 9] = [
    ("envelope", "token_stream", "ours: Message::decode"),
    ("peek", "token_stream", "ours: peek"),
    ("forward", "token_stream", "ours: Lines, peek, forward"),
    ("observe", "token_stream", "ours: semconv-map's Tracker"),
    ("read-types", "tool_heavy", OWNED),
    ("read-large-type", "fs_read_1m", OWNED),
    ("write-types", "tool_heavy", WRITE),
    ("translate-line", "token_stream", HUB),
    ("translate-types", "token_stream", TYPED),
];

/// Name and exchange of a figure of two connected programs.
const CONNECTION: (&str, &str) = ("round-trip", "ours: round trips");

/// Numbers of exchanged messages. The difference excludes the setup of a connection.
const FEW: usize = 500;
const MANY: usize = 3 * FEW;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [] => print_all(),
        // Runs under callgrind.
        [word, name, count] if word == "connection" => {
            let (_, exchange) = connection(name).expect("a connection");
            exchange(count.parse().expect("a number"));
        }
        [case, path] => run(case, path, 1),
        _ => panic!("expected nothing, `connection` with its arguments, or a case and a path"),
    }
}

fn print_all() {
    for (name, case, path) in PATHS {
        let lines = corpus::case(case).lines.len() as u64;
        println!("{name} {}", instructions(case, path) / lines);
    }
    let (name, exchange) = CONNECTION;
    let of_run = |count: usize| callgrind(&["connection", exchange, &count.to_string()]);
    println!("{name} {}", (of_run(MANY) - of_run(FEW)) / (MANY - FEW) as u64);
}
