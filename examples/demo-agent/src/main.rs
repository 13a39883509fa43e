//! The demo agent as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    demo_agent::run_stdio()
}
