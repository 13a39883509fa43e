//! The command line.
use crate::history::StorePlace;
use crate::settings::{Permission, Seconds, Settings, SettingsError, WhenBusy};
use clap::{Parser, Subcommand};
use host::catalog::AgentsCommand;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Serves a chat page, and AG-UI over HTTP, in front of an ACP agent.
///
/// Without an agent it runs the built-in demo agent. Each setting can also be set in a file or an
/// environment variable; `--print-config` shows all settings.
#[derive(Clone, Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// A file of settings, as TOML.
    #[arg(long, value_name = "FILE", env = "GATEWAY_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// Print the resulting settings, and exit.
    #[arg(long)]
    pub(crate) print_config: bool,

    /// Address to listen on; port 0 selects a free port [default: 127.0.0.1:8787].
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,

    /// Accept every client without a token. All users and programs of this machine, including the
    /// agents, can then use the agents and approve their requests.
    #[arg(long)]
    no_auth: bool,

    /// Accept connections of other machines in clear text, for example behind a TLS proxy on
    /// another machine.
    #[arg(long)]
    clear_text: bool,

    /// An ACP agent: the name of a known agent, see `gateway agents`, or a command, split into
    /// words like a shell.
    #[arg(long, value_name = "NAME|COMMAND", conflicts_with = "agent_url")]
    agent: Option<String>,

    /// A document of the official agent registry, with agents in addition to the known ones.
    #[arg(long, value_name = "FILE")]
    agents: Option<PathBuf>,

    /// URL of an ACP agent: a WebSocket (ws://…, wss://…) or Streamable HTTP (http://…, https://…).
    #[arg(long, value_name = "URL")]
    agent_url: Option<String>,

    /// Working directory of sessions [default: that of the gateway].
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Where conversations are kept: `none` for memory, a file, or `redis://…` [default: a file of
    /// the user].
    #[arg(long, value_name = "none|FILE|URL", value_parser = |place: &str| Ok::<_, Infallible>(StorePlace::from(place.to_owned())))]
    store: Option<StorePlace>,

    /// How to answer permission requests of the agent [default: ask].
    #[arg(long, value_enum)]
    permission: Option<Permission>,

    /// Authentication method, if the agent requires one.
    #[arg(long, value_name = "METHOD_ID")]
    authenticate: Option<String>,

    /// Versions of ACP that the agent is offered: `auto`, `1` or `2` [default: auto].
    #[arg(long, value_name = "VERSION", env = "GATEWAY_ACP_VERSION")]
    acp_version: Option<crate::hub::AcpVersion>,

    /// How to handle a run in a thread with an active run [default: reject].
    #[arg(long, value_enum)]
    when_busy: Option<WhenBusy>,

    #[command(flatten)]
    times: TimeArgs,

    #[command(subcommand)]
    pub(crate) task: Option<Task>,
}

/// Timeouts, in seconds.
#[derive(clap::Args, Clone, Copy, Debug)]
struct TimeArgs {
    /// Timeout for the start of the agent, and for responses except to prompts [default: 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    answer_time: Option<Seconds>,

    /// Maximum duration of a turn [default: 1800].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    turn_time: Option<Seconds>,

    /// Timeout for the end of a cancelled turn [default: 10].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    cancel_grace: Option<Seconds>,

    /// Time for the agent to exit after the end of its input, before it is terminated [default: 4].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    exit_grace: Option<Seconds>,

    /// Time for which a run continues without readers [default: 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    disconnect_grace: Option<Seconds>,
}

impl Args {
    /// Returns the settings of the file and the environment, overridden by these arguments.
    pub(crate) fn settings(self) -> Result<Settings, SettingsError> {
        let mut settings = Settings::load(self.config)?;
        let own = |set: &mut Seconds, over: Option<Seconds>| *set = over.unwrap_or(*set);
        let times = &mut settings.times;
        own(&mut times.answer, self.times.answer_time);
        own(&mut times.turn, self.times.turn_time);
        own(&mut times.cancel_grace, self.times.cancel_grace);
        own(&mut times.exit_grace, self.times.exit_grace);
        own(&mut times.disconnect_grace, self.times.disconnect_grace);
        settings.agents_file = self.agents.or(settings.agents_file);
        settings.listen = self.listen.unwrap_or(settings.listen);
        settings.cwd = self.cwd.or(settings.cwd);
        settings.store = self.store.or(settings.store);
        settings.auth.required &= !self.no_auth;
        settings.site.clear_text |= self.clear_text;
        settings.permission = self.permission.unwrap_or(settings.permission);
        settings.when_busy = self.when_busy.unwrap_or(settings.when_busy);
        settings.name_agent(self.agent, self.agent_url);
        let (_, agent) = settings.agent_mut()?;
        agent.authenticate = self.authenticate.or(agent.authenticate.take());
        agent.version = self.acp_version.unwrap_or(agent.version);
        Ok(settings)
    }
}

fn seconds(text: &str) -> Result<Seconds, String> {
    let seconds = text.parse().unwrap_or(f64::NAN);
    Seconds::try_from(seconds).map_err(str::to_owned)
}

/// Tasks other than serving.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Task {
    /// List the known agents: whether each is installed or how it is, and how it is logged in to;
    /// or install one.
    Agents(AgentsCommand),
    /// The demo agent, on stdio.
    #[command(hide = true)]
    DemoAgent,
    /// The page's tools, as an MCP server on stdio.
    #[command(hide = true)]
    McpShim,
}
