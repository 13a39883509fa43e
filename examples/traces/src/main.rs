//! A proxy between an editor and an ACP agent, or between a client and an MCP server, that converts
//! the messages into OpenTelemetry spans.
//!
//! ```text
//!            ┌ relay ─ relay ┐   bytes, unchanged and at once
//! editor ⇄ ──┤               ├── ⇄ agent
//!            └──── tap ──────┘   what passed, while there is room
//!                   │
//!               observer         lines → tracker → spans
//!                │     │
//!         recording   exporter   a transcript; OTLP, in batches
//! ```

mod agent;
mod cli;
mod conventions;
mod editor;
mod editors;
mod export;
mod line_file;
mod observe;
mod record;
mod replay;
mod report;
mod session;
mod summary;
mod table;
mod transcript;
mod view;

use clap::Parser;
use host::process::Guard;
use std::process::ExitCode;
use traces::otlp::Program;

/// The traced program.
const PROGRAM: Program = Program {
    name: "acp-traces",
    version: env!("CARGO_PKG_VERSION"),
    warn: |wrong| eprintln!("acp-traces: {wrong}"),
};

fn main() -> ExitCode {
    if let Some(guard) = Guard::requested(std::env::args_os()) {
        return guard.run("acp-traces");
    }
    let options = cli::Options::parse();
    let ended = match &options.task {
        Some(cli::Task::Replay(options)) => replay::run(options),
        Some(cli::Task::Report(options)) => report::run(options),
        Some(cli::Task::View(options)) => view::run(options),
        Some(cli::Task::Sessions(options)) => summary::list_sessions(options),
        Some(cli::Task::Stats(options)) => summary::write_stats(options),
        Some(cli::Task::Setup(options)) => editors::run(options),
        Some(cli::Task::Completions { shell }) => cli::complete(*shell),
        Some(cli::Task::Man { folder }) => cli::write_manual(folder),
        None => session::run(&options),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("acp-traces: {error}");
        ExitCode::FAILURE
    })
}
