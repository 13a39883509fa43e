//! Instructions of the gateway for one token chunk, counted by callgrind.
use crate::folder::Folder;
use crate::program::{self, Program};
use std::fs;

/// Number of token chunks of the shorter run; the longer one has twice as many. The log of the run
/// is compacted in both, each time by the same number of events, so that the difference has a whole
/// number of compactions.
const CHUNKS: usize = 40_000;

/// Number of rounds. Counts differ by less than 1 %, but for rounds in which the store of the
/// gateway waits.
const ROUNDS: usize = 3;

/// Settings of the C library, so that large copies are loops of vector instructions. Otherwise they
/// are one instruction, which callgrind counts once for each byte, so that a figure would depend on
/// the sizes of copies more than on their sum.
const COPIES: &str = "glibc.cpu.x86_rep_movsb_threshold=1000000000:\
    glibc.cpu.x86_rep_stosb_threshold=1000000000:\
    glibc.cpu.x86_non_temporal_threshold=1000000000";

/// Returns the instructions of all threads of the gateway for one chunk, without those of a run's
/// begin and end: the difference of two runs. `library` makes the gateway start its agent under
/// valgrind.
pub fn of_chunk(gateway: &str, library: &str) -> f64 {
    let [shorter, longer] = [CHUNKS, 2 * CHUNKS]
        .map(|chunks| crate::median((0..ROUNDS).map(|_| of_run(gateway, library, chunks) as f64)));
    (longer - shorter) / CHUNKS as f64
}

/// Returns the instructions of a gateway, from its start to its end, that serves one run.
fn of_run(gateway: &str, library: &str, chunks: usize) -> u64 {
    let folder = Folder::new();
    let counts = folder.path().join("counts");
    let counts_to = format!("--callgrind-out-file={}", counts.display());
    let agent = format!("{} agent", crate::own_path());
    let valgrind = ["valgrind", "--tool=callgrind", &counts_to];
    let command = [&valgrind[..], &program::gateway(gateway, &agent)].concat();
    let environment =
        [("LD_PRELOAD", library), ("OWN_PROGRAM", gateway), ("GLIBC_TUNABLES", COPIES)];
    let mut program = Program::start("gateway", &command, &environment, "delta");
    program.run(chunks);
    drop(program);
    let counts = fs::read_to_string(counts).expect("counts");
    let total = counts.lines().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|total| total.trim().parse().ok()).expect("a number")
}
