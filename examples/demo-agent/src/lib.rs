//! An ACP agent on standard input and output, without a model.
//!
//! Its behaviour is scripted and deterministic: a word in the prompt selects it, and `help` lists
//! the words. It covers what a client must handle, from streamed text to a crash, and is an example
//! of an agent on `jsonrpc_core` and `acp_types`:
//!
//! | module | holds |
//! |---|---|
//! | `agent`, `agent_v2` | the methods of both versions: the traits `LocalAgent` of `acp_types::connection` |
//! | `turns`, `session`, `cursors` | running turns, and places to fork sessions at |
//! | `client`, `updates` | updates and requests of the agent, in the version of the connection |
//! | `stdio`, `output` | reading, writing, the runtime |
//! | [`book_flight`] | a tool of MCP that asks its user, for servers with it |
//! | `script` | the steps of a turn |
//! | `words`, `talk`, `tools`, `terminal`, `page`, `news` | the script |
//! | `page_tools`, `page_call` | the tools of the client's page, and calls of them |

mod agent;
mod agent_v2;
pub mod book_flight;
mod client;
mod cursors;
mod forms;
mod news;
mod output;
mod page;
mod page_call;
mod page_tools;
mod script;
mod session;
mod stdio;
mod talk;
mod terminal;
mod tools;
mod turns;
mod updates;
mod words;

use core::time::Duration;
use std::env;
use std::process::ExitCode;

/// The environment variable that sets the pause between two updates, in milliseconds.
pub const PAUSE_VARIABLE: &str = "DEMO_AGENT_PAUSE_MS";

/// The default pause between two updates, see [`PAUSE_VARIABLE`].
pub const DEFAULT_PAUSE: Duration = Duration::from_millis(15);

/// Runs the agent on standard input and output until the input ends.
///
/// The status is 0 after the end of the input, 3 after the word `crash`, 1 if the runtime cannot be
/// created or standard input cannot be read, 2 if [`PAUSE_VARIABLE`] is not a number.
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
