//! The command line.
use clap::{Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Serves a chat page, and AG-UI over HTTP, in front of an ACP agent.
///
/// Without `--agent` or `--agent-url` it runs the demo agent that is built in.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Where to listen; port 0 picks a free one.
    #[arg(
        long,
        value_name = "ADDR:PORT",
        default_value = "127.0.0.1:8787",
        env = "GATEWAY_LISTEN"
    )]
    pub(crate) listen: SocketAddr,

    /// An ACP agent to run, talking over its stdin and stdout; split into words as a shell would, run without one.
    #[arg(long, value_name = "COMMAND", conflicts_with = "agent_url", env = "GATEWAY_AGENT")]
    pub(crate) agent: Option<String>,

    /// An ACP agent to reach over a WebSocket (ws://…).
    #[arg(long, value_name = "URL", env = "GATEWAY_AGENT_URL")]
    pub(crate) agent_url: Option<String>,

    /// The working directory of sessions [default: where the gateway runs].
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// What to do when the agent asks for permission.
    #[arg(long, value_enum, default_value_t = Permission::Ask)]
    pub(crate) permission: Permission,

    /// The authentication method to use when the agent wants one.
    #[arg(long, value_name = "METHOD_ID")]
    pub(crate) authenticate: Option<String>,

    #[command(flatten)]
    pub(crate) times: Times,

    #[command(subcommand)]
    pub(crate) hidden: Option<Hidden>,
}

/// How long things may take.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Times {
    /// How long the agent may take to start, and to answer anything but a prompt.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) answer_time: Duration,

    /// How long a turn may take.
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = seconds)]
    pub(crate) turn_time: Duration,

    /// How long the agent may take to end a turn that was cancelled.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) cancel_grace: Duration,

    /// How long the agent may take to exit after the end of its input, before it is terminated.
    #[arg(long, value_name = "SECONDS", default_value = "4", value_parser = seconds)]
    pub(crate) exit_grace: Duration,
}

/// The longest time that can be set: a year.
const MAX_SECONDS: f64 = 366.0 * 24.0 * 3600.0;

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected a number of seconds, from 0 to a year".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Permission {
    /// Ask the person at the page.
    Ask,
    /// Allow once, whatever it is.
    Allow,
    /// Reject once, whatever it is.
    Reject,
}

/// What the gateway runs itself as.
#[derive(Debug, Subcommand)]
pub(crate) enum Hidden {
    /// The demo agent, on stdio.
    #[command(hide = true)]
    DemoAgent,
    /// A command that ends when the gateway does.
    #[command(hide = true)]
    Guard {
        /// The gateway's process id.
        parent: u32,
        /// The command and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}
