//! A proxy between an editor and an ACP agent that turns what passes into OpenTelemetry spans.
//!
//! ```text
//!            ┌ relay ─ relay ┐   bytes, unchanged and at once
//! editor ⇄ ──┤               ├── ⇄ agent
//!            └──── tap ──────┘   a copy, while there is room
//!                   │
//!               observer         lines → tracker → spans
//!                │     │
//!         recording   exporter   a transcript; OTLP, in batches
//! ```

mod cli;
mod ending;
mod export;
mod launch;
mod line_file;
mod observe;
mod record;
mod relay;
mod session;
mod spans;
mod tap;
mod tracing;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(guard) = launch::Guard::requested(std::env::args_os()) {
        return guard.run();
    }
    session::run(&cli::Options::parse()).unwrap_or_else(|error| {
        eprintln!("acp-traces: {error}");
        ExitCode::FAILURE
    })
}
