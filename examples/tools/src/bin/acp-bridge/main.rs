//! A bridge between an editor and an agent that speak different versions of the Agent Client
//! Protocol.
//!
//! ```text
//!                  ┌ lines ─ Bridge ─ lines ┐   one version each
//! editor, stdio ⇄ ─┤                        ├─ ⇄ agent, a process
//!                  └──────── bytes ─────────┘   the same version, unchanged
//! ```

mod cli;
mod relay;
mod report;

use clap::Parser;
use host::catalog::{Catalog, Launch, LaunchError, Programs};
use host::process::Guard;
use host::transport::Address;
use std::collections::BTreeMap;
use std::io;
use std::process::ExitCode;
use tokio::runtime::Builder;

/// Name of the program, used in its messages.
const NAME: &str = "acp-bridge";

/// Exit status if the agent cannot be started, as in shells.
const CANNOT_START: u8 = 127;

fn main() -> ExitCode {
    if let Some(guard) = Guard::requested(std::env::args_os()) {
        return guard.run(NAME);
    }
    let options = cli::Options::parse();
    let address = match address(&options) {
        Ok(address) => address,
        Err(error) => {
            eprintln!("{NAME}: {error}");
            return ExitCode::from(CANNOT_START);
        }
    };
    match run(&options, &address) {
        Ok(status) => {
            // A blocked read of standard input does not end with the runtime.
            std::process::exit(status)
        }
        Err(error) => {
            eprintln!("{NAME}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the command of the agent, which may be the name of a known one.
fn address(options: &cli::Options) -> Result<Address, Box<dyn std::error::Error>> {
    let catalog = Catalog::load(options.agents.as_deref())?;
    if let Some(warning) = catalog.warning() {
        eprintln!("{NAME}: {warning}");
    }
    let words = options.command.clone();
    let (words, variables) = match catalog.launch_words(words, &Programs::of_environment()) {
        // The system has its own error for it.
        Err(LaunchError::NotFound { hint: None, .. }) => (options.command.clone(), BTreeMap::new()),
        Err(error) => return Err(error.into()),
        Ok(Launch { words, variables, agent, is_downloaded, .. }) => {
            if let (Some(agent), true) = (&agent, is_downloaded) {
                eprintln!("{NAME}: {agent} is not installed; running {}", words.join(" "));
            }
            (words, variables)
        }
    };
    Ok(Address::Command { words, secrets: Vec::new(), variables })
}

fn run(options: &cli::Options, address: &Address) -> io::Result<i32> {
    // The agent is started on a thread that lives as long as the program.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(relay::run(options, address));
    runtime.shutdown_background();
    ended
}
