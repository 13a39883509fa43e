//! A gateway between AG-UI web pages and ACP agents.
//!
//! `server` has the routes and `page` the page; `threads` and `thread` the conversations, `run_log` what a run has said;
//! `agent`, `connection`, `sessions` and `transport` the way to the agent, `process` and `guard` its process.

mod agent;
mod cli;
mod connection;
mod guard;
mod page;
mod process;
mod run_log;
mod server;
mod sessions;
mod thread;
mod threads;
mod transport;

use agui_bridge::{Options, PermissionMode, Policy};
use clap::Parser;
use cli::{Args, Hidden, Permission};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use threads::Threads;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;
use transport::Address;

fn main() -> ExitCode {
    let args = Args::parse();
    match &args.hidden {
        Some(Hidden::DemoAgent) => return demo_agent::run_stdio(),
        Some(Hidden::Guard { parent, command }) => return guard::run(*parent, command),
        None => {}
    }
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
    match serve(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gateway: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How long clients may take to read what is left when the gateway ends.
const LINGER: Duration = Duration::from_secs(3);

/// Why the gateway cannot start.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot listen on {address}: {error}")]
    Listen { address: std::net::SocketAddr, error: io::Error },
    #[error("--agent: {0}")]
    Agent(String),
    #[error("--agent-url: expected ws://HOST:PORT/…, got `{0}`")]
    AgentUrl(String),
    #[error("--cwd: {0}")]
    Cwd(String),
    #[error(transparent)]
    Io(#[from] io::Error),
}

#[tokio::main]
async fn serve(args: Args) -> Result<(), Error> {
    let address = address(&args)?;
    let cwd = working_directory(args.cwd.as_deref())?;
    let mut options = Options::new();
    options.permission = match args.permission {
        Permission::Ask => PermissionMode::InStream,
        Permission::Allow => PermissionMode::Policy(Policy::allow_all()),
        Permission::Reject => PermissionMode::Policy(Policy::reject_all()),
    };
    let listener = tokio::net::TcpListener::bind(args.listen)
        .await
        .map_err(|error| Error::Listen { address: args.listen, error })?;
    let agents = agent::AgentPool::new(address, args.authenticate, args.times);
    let threads = Arc::new(Threads::new(agents, options, cwd, args.times.cancel_grace));
    eprintln!("listening on http://{}", listener.local_addr()?);

    let ending = CancellationToken::new();
    let server = axum::serve(listener, server::router(threads.clone()))
        .with_graceful_shutdown(ending.clone().cancelled_owned());
    let server = tokio::spawn(server.into_future());
    told_to_end().await;
    ending.cancel();
    threads.shut_down().await;
    // The streams have ended with their runs; who has not read them by then does not get the rest.
    if timeout(LINGER, server).await.is_err() {
        tracing::warn!("a connection is still open; leaving it");
    }
    Ok(())
}

/// Which agent to use. A command has to exist: better to hear it now than with the first message.
fn address(args: &Args) -> Result<Address, Error> {
    if let Some(url) = &args.agent_url {
        let is_socket =
            |url: &axum::http::Uri| url.scheme_str() == Some("ws") && url.host().is_some();
        if !url.parse().is_ok_and(|url| is_socket(&url)) {
            return Err(Error::AgentUrl(url.clone()));
        }
        return Ok(Address::Url(url.clone()));
    }
    let Some(agent) = &args.agent else {
        let own = std::env::current_exe()?.to_string_lossy().into_owned();
        return Ok(Address::Command(vec![own, "demo-agent".to_owned()]));
    };
    let command = shlex::split(agent)
        .ok_or_else(|| Error::Agent(format!("unbalanced quotes in `{agent}`")))?;
    let program = command.first().ok_or_else(|| Error::Agent("the command is empty".to_owned()))?;
    which::which(program).map_err(|_| Error::Agent(format!("command not found: {program}")))?;
    Ok(Address::Command(command))
}

/// The directory of sessions, as the absolute path that ACP wants.
fn working_directory(cwd: Option<&Path>) -> Result<String, Error> {
    let path = match cwd {
        Some(path) => std::path::absolute(path)?,
        None => std::env::current_dir()?,
    };
    if !path.is_dir() {
        return Err(Error::Cwd(format!("{} is not a directory", path.display())));
    }
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Error::Cwd(format!("{} is not UTF-8", path.display())))
}

/// Waits for SIGINT or SIGTERM.
async fn told_to_end() {
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(error) => {
                tracing::error!(%error, "cannot listen for SIGTERM");
                std::future::pending::<()>().await;
            }
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = terminated => {}
        interrupted = tokio::signal::ctrl_c() => if let Err(error) = interrupted {
            tracing::error!(%error, "cannot listen for SIGINT");
            std::future::pending::<()>().await;
        },
    }
}
