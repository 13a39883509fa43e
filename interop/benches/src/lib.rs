//! What reading JSON-RPC costs: [`corpus`] has the cases, [`paths`] the ways to read them, ours and those of peers.
//!
//! `interop/benches/run` measures all of them and writes `RESULTS.md`.

pub mod acp_paths;
pub mod connections;
pub mod corpus;
pub mod measure;
pub mod paths;
pub mod translate_paths;

use std::hint::black_box;

/// What is measured, and nothing else: callgrind counts while this runs.
#[inline(never)]
pub fn measured(path: &paths::Path, case: &corpus::Case, rounds: usize) -> usize {
    (0..rounds).map(|_| (path.run)(black_box(case))).sum()
}
