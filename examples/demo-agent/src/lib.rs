//! An ACP agent on standard input and output, with no model behind it.
//!
//! What it does is scripted and always the same; a word in the prompt chooses it, and `help` lists the words. It shows all
//! that a client may have to deal with, from streamed text to a process that dies, and how an agent is put together from
//! `jsonrpc_core` and `acp_types`:
//!
//! | module | holds |
//! |---|---|
//! | `agent` | the methods: the trait `LocalAgent` of `acp_types::connection` |
//! | `turns`, `session` | the turns that are running |
//! | `client` | what the agent tells and asks |
//! | `stdio` | reading, writing, the runtime |
//! | `words`, `talk`, `tools`, `terminal`, `page` | the script |

mod agent;
mod client;
mod forms;
mod page;
mod script;
mod session;
mod stdio;
mod talk;
mod terminal;
mod tools;
mod turns;
mod words;

use core::time::Duration;
use std::env;
use std::process::ExitCode;

/// The environment variable that sets the pause between two updates, in milliseconds.
pub const PAUSE_VARIABLE: &str = "DEMO_AGENT_PAUSE_MS";

/// The pause between two updates unless [`PAUSE_VARIABLE`] says otherwise.
pub const DEFAULT_PAUSE: Duration = Duration::from_millis(15);

/// Runs the agent on standard input and output until the input ends.
///
/// The status is 0 when the input ended, 3 after the word `crash`, 1 when there is no runtime to be had
/// or standard input cannot be read, 2 when [`PAUSE_VARIABLE`] is no number.
pub fn run_stdio() -> ExitCode {
    let pause = match env::var(PAUSE_VARIABLE).ok().filter(|value| !value.is_empty()) {
        None => DEFAULT_PAUSE,
        Some(value) => match value.parse() {
            Ok(milliseconds) => Duration::from_millis(milliseconds),
            Err(_) => {
                eprintln!("demo-agent: {PAUSE_VARIABLE}: expected milliseconds, got {value:?}");
                return ExitCode::from(2);
            }
        },
    };
    stdio::run(pause).unwrap_or_else(|error| {
        eprintln!("demo-agent: {error}");
        ExitCode::FAILURE
    })
}
