//! Prints how many bytes what never ends makes a reader hold at its height: how many more the system held for the program,
//! and how many were allocated.
//!
//! `held line`, `held codec-line`. What the program holds of itself does not count: all that runs has run
//! before, with a limit that is soon reached. Memory grows as with the system's allocator: where it is, if it can.
use benches::measure::resident;
use benches::paths::{ENDLESS, Endless, endless};
use jsonrpc_core::framing::Lines;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

fn main() {
    let what = match std::env::args().nth(1).as_deref() {
        Some("line") => Endless::Line,
        Some("codec-line") => Endless::CodecLine,
        _ => panic!("expected what never ends"),
    };
    let piece = vec![b'a'; 64 * 1024];
    let run = |limit, size| endless(what, limit, size, &piece);
    run(64 * 1024, 4 * 1024 * 1024);
    let resident = resident(|| run(Lines::DEFAULT_LIMIT, ENDLESS));
    let profiler = dhat::Profiler::builder().testing().build();
    run(Lines::DEFAULT_LIMIT, ENDLESS);
    let allocated = dhat::HeapStats::get().max_bytes;
    drop(profiler);
    println!("{resident} {allocated}");
}
