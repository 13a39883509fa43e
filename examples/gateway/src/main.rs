//! A gateway between AG-UI web pages and agents: ACP agents, and models with tools.
//!
//! | module | is about |
//! |---|---|
//! | `cli`, `settings` | the command line, the file of settings and the environment |
//! | `listener`, `server`, `page`, `socket`, `session` | connections, routes, the page, the chat over a WebSocket, settings of sessions |
//! | `access` | callers and pages that may use the gateway |
//! | `agents` | the agents of the settings: ACP agents behind a hub, and models |
//! | `threads`, `thread`, `run`, `model` | threads and their runs, and the threads of models |
//! | `replicas` | other gateways that serve the same threads |
//! | `log` | standard error |

mod access;
mod agents;
mod cli;
mod listener;
mod log;
mod model;
mod page;
mod replicas;
mod run;
mod server;
mod session;
mod settings;
mod socket;
mod thread;
mod threads;

use access::Site;
use acp_host::process::{self, Guard};
use agent_tools::{PageServers, Toolbox};
use agents::Agents;
use clap::Parser;
use cli::{Args, Task};
use listener::Listener;
use log::Log;
use settings::{SettingsError, SiteSettings};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use threads::Threads;
use tokio::runtime::Handle;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    if let Some(guard) = Guard::requested(std::env::args_os()) {
        return guard.run("gateway");
    }
    let args = Args::parse();
    let _log = Log::begin();
    let done = match &args.task {
        Some(Task::DemoAgent) => return demo_agent::run_stdio(),
        Some(Task::McpShim) => return agent_tools::shim::run(),
        Some(Task::Agents { agents }) => list_agents(agents.as_deref()),
        None => serve(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::say(format_args!("gateway: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// How long clients may take to read what is left when the gateway ends.
const LINGER: Duration = Duration::from_secs(3);

/// Why the gateway does not run.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot listen on {address}: {error}")]
    Listen { address: SocketAddr, error: io::Error },
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Prints the known agents.
fn list_agents(registry: Option<&Path>) -> Result<(), Error> {
    let table = agent_catalog::table_of_environment(registry).map_err(SettingsError::Catalog)?;
    Ok(io::stdout().write_all(table.as_bytes())?)
}

#[tokio::main]
async fn serve(args: Args) -> Result<(), Error> {
    let print = args.print_config;
    let mut settings = args.settings()?;
    if print {
        let settings = toml::to_string_pretty(&settings).map_err(SettingsError::Write)?;
        io::stdout().write_all(settings.as_bytes())?;
        return Ok(());
    }
    let site = Arc::new(Site::new(&settings.site, &settings.auth)?);
    if !settings.listen.ip().is_loopback() && !site.asks() {
        return Err(SettingsError::Open(settings.listen).into());
    }
    let terminated = process::termination()?;
    let default_agent = settings.agent_mut()?.0.to_owned();
    let (sessions, clock) = replicas::tool_sessions(&settings.replicas).await?;
    let toolbox = Arc::new(Toolbox::new(sessions, clock)?);
    let telemetry =
        settings.telemetry.telemetry(&Handle::current()).map_err(SettingsError::Telemetry)?;
    let (removed, removals) = mpsc::unbounded_channel();
    let agents = settings
        .agents
        .iter()
        .map(|(name, agent)| {
            let agent = Agents::new(&settings, name, agent, &toolbox, &telemetry, &removed)?;
            Ok((name.clone(), agent))
        })
        .collect::<Result<_, SettingsError>>()?;
    let address = settings.listen;
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .map_err(|error| Error::Listen { address, error })?;
    let address = listener.local_addr()?;
    let SiteSettings { agents_url, hosts, .. } = settings.site.clone();
    let servers = Arc::new(PageServers::new(agents_url, address, hosts, toolbox.clone()));
    let replicas = Arc::new(replicas::join(&settings.replicas, settings.times.keep.0).await?);
    let (agent, told) = (default_agent, telemetry.clone());
    let threads = Threads::new(agents, agent, toolbox, servers, replicas, &settings, told);
    let threads = Arc::new(threads);
    drop(removed);
    tokio::spawn(threads.clone().release_removed(removals));
    let left = CancellationToken::new();
    let serving = tokio::spawn(replicas::serve(threads.clone(), left.clone()));
    #[cfg(unix)]
    let telling = {
        // Registered before the address is announced: without a handler the signal ends the program.
        let asked = signal(SignalKind::user_defined1())?;
        tokio::spawn(tell_when_asked(asked, threads.clone()))
    };
    log::say(format_args!("listening on http://{address}"));

    let ending = CancellationToken::new();
    let listener = Listener { listener, write_time: settings.times.write.0 };
    let server = axum::serve(listener, server::router(threads.clone(), site))
        .with_graceful_shutdown(ending.clone().cancelled_owned());
    let server = tokio::spawn(server.into_future());
    terminated.await;
    ending.cancel();
    #[cfg(unix)]
    telling.abort();
    threads.shut_down().await;
    left.cancel();
    let _left = serving.await;
    threads.replicas().leave().await;
    // The streams have ended with their runs; slow readers lose the rest.
    if timeout(LINGER, server).await.is_err() {
        tracing::warn!("a connection is still open; leaving it");
    }
    telemetry.shut_down().await;
    Ok(())
}

/// Says how much is open, for each SIGUSR1.
#[cfg(unix)]
async fn tell_when_asked(mut asked: Signal, threads: Arc<Threads>) {
    while asked.recv().await.is_some() {
        let (open, tasks) = (threads.open(), Handle::current().metrics().num_alive_tasks());
        log::say(format_args!("open: {open}, {tasks} tasks"));
    }
}
