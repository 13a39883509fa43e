//! The program of the [gateway](gateway).
use std::process::ExitCode;

fn main() -> ExitCode {
    gateway::main()
}
