//! Reports protocol violations in a conversation between an editor and an ACP agent, recorded or
//! live.

mod cli;
mod formats;
mod live;
mod output;
mod severities;
mod transcript;

use clap::Parser;
use host::process::Guard;
use std::process::ExitCode;

/// Name of the program, used in its messages.
const NAME: &str = "acp-lint";

fn main() -> ExitCode {
    if let Some(guard) = Guard::requested(std::env::args_os()) {
        return guard.run(NAME);
    }
    let options = cli::Options::parse();
    if options.rules {
        return output::print_rules();
    }
    let ended =
        if options.command.is_empty() { transcript::run(&options) } else { live::run(&options) };
    ended.unwrap_or_else(|error| {
        eprintln!("{NAME}: {error}");
        ExitCode::from(cli::UNREADABLE)
    })
}
