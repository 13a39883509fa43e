//! Prints the peak memory of a reader of an endless input, in bytes: the growth of resident memory,
//! and the allocated bytes.
//!
//! `held line`, `held codec-line`. A first run with a low limit loads the pages of the program,
//! which are not counted. Memory grows in place where possible, like with the system's allocator.
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
