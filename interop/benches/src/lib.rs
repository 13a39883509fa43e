//! Cost of reading JSON-RPC: [`corpus`] defines the cases, [`paths`] the readers of this project
//! and of others.
//!
//! `interop/benches/run` measures all of them and writes `RESULTS.md`.

pub mod acp_paths;
pub mod connections;
pub mod corpus;
pub mod measure;
pub mod paths;
pub mod translate_paths;

use std::hint::black_box;

/// The measured part: callgrind counts only during this function.
#[inline(never)]
pub fn measured(path: &paths::Path, case: &corpus::Case, rounds: usize) -> usize {
    (0..rounds).map(|_| (path.run)(black_box(case))).sum()
}
