//! The program: its tasks, and the start and the end of the server.
use crate::agents::Agents;
use crate::cli::{Args, Task};
use crate::history::History;
use crate::hub::UserSettings;
use crate::log::{Log, say};
use crate::settings::SettingsError;
use crate::threads::Threads;
use crate::tools::{PageServers, Toolbox};
use clap::Parser;
use host::http::{Access, AccessError, Secret, SiteSettings, Tls, serve as serve_http};
use host::process::{self, Guard};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    if let Some(guard) = Guard::requested(std::env::args_os()) {
        return guard.run("gateway");
    }
    let args = Args::parse();
    match &args.task {
        Some(Task::DemoAgent) => return demo_agent::run_stdio(),
        Some(Task::McpShim) => return crate::tools::shim::run(),
        _ => {}
    }
    let mut log = Log::begin();
    let done = match &args.task {
        Some(Task::Agents(agents)) => agents.run().map_err(Error::from),
        _ => serve(args, &mut log),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("gateway: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Time for clients to read the rest of their responses at shutdown.
const LINGER: Duration = Duration::from_secs(3);

/// An error starting the gateway.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot listen on {address}: {error}")]
    Listen { address: SocketAddr, error: io::Error },
    #[error("audit-log: {path}: {error}")]
    Audit { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Agents(#[from] host::catalog::TaskError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

#[tokio::main]
async fn serve(args: Args, log: &mut Log) -> Result<(), Error> {
    let mut settings = args.clone().settings()?;
    if args.print_config {
        let settings = settings.printed()?;
        io::stdout().write_all(settings.as_bytes())?;
        return Ok(());
    }
    process::hide_memory()?;
    if let Some(path) = &settings.audit_log {
        let wrong = |error| Error::Audit { path: path.clone(), error };
        log.audit_to(path, settings.audit_content).map_err(wrong)?;
    }
    let limits = settings.limits.of_user(&settings.auth);
    let (access, token) = Access::new(&settings.site, &settings.auth, limits, settings.listen)
        .map_err(SettingsError::Access)?;
    let SiteSettings { tls_cert, tls_key, .. } = settings.site.clone();
    let tls = Tls::load(tls_cert, tls_key).map_err(AccessError::from);
    let tls = tls.map_err(SettingsError::Access)?.map(Arc::new);
    let access = Arc::new(access.with_session_limits(settings.times.of_sessions()));
    tokio::spawn(access.clone().load_keys());
    let terminated = process::termination()?;
    let default_agent = settings.agent_mut()?.0.to_owned();
    let isolations = settings.all_agents().map(|(_, agent)| agent.isolation);
    UserSettings::check(&settings.users, isolations).map_err(SettingsError::Users)?;
    let store = crate::replicas::open(&settings).await?;
    tokio::spawn(access.clone().watch_sessions(crate::replicas::sessions(&settings, &store)));
    let (sessions, clock) = crate::replicas::tool_sessions(&settings, &store).await?;
    let servers = crate::agents::offered_servers(&settings, &store)?;
    let toolbox = Arc::new(Toolbox::new(sessions, clock, servers.clone())?);
    let telemetry =
        settings.telemetry.telemetry(&Handle::current()).map_err(SettingsError::Telemetry)?;
    let (removed, removals) = mpsc::unbounded_channel();
    let agents = settings
        .all_agents()
        .map(|(name, agent)| {
            let agent = Agents::new(&settings, name, agent, &toolbox, &telemetry, &removed)?;
            Ok((name.clone(), agent))
        })
        .collect::<Result<_, SettingsError>>()?;
    let address = settings.listen;
    let listener =
        TcpListener::bind(address).await.map_err(|error| Error::Listen { address, error })?;
    let address = listener.local_addr()?;
    let logins = Arc::new(crate::agents::logins(&settings, &agents, servers, address)?);
    // Local agents reach the gateway in clear: the certificate need not be valid for loopback.
    let local = match &tls {
        Some(_) => Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?),
        None => None,
    };
    let for_agents = local.as_ref().map_or(Ok(address), TcpListener::local_addr)?;
    let SiteSettings { agents_url, hosts, .. } = settings.site.clone();
    let told = telemetry.clone();
    let at_work = settings.limits.of_connections(&settings.times).strangers;
    let servers = PageServers::new(agents_url, for_agents, hosts, toolbox, told, at_work);
    let replicas = crate::replicas::join(&settings, store.runs).await?;
    let agent = default_agent;
    let told = telemetry.clone();
    let threads = Threads::new(agents, agent, Arc::new(servers), replicas.clone(), &settings, told);
    let threads = Arc::new(threads);
    let history = |file| History::new(file, replicas, settings.limits.log(), threads.clone());
    let history = store.file.map(history).map(Arc::new);
    drop(removed);
    tokio::spawn(threads.clone().release_removed(removals));
    let left = CancellationToken::new();
    let serving = tokio::spawn(crate::server::serve_replica(threads.clone(), left.clone()));
    #[cfg(unix)]
    let telling = {
        // Registered before the address is announced: without a handler the signal ends the
        // program.
        let asked = signal(SignalKind::user_defined1())?;
        tokio::spawn(report_on_signal(asked, threads.clone()))
    };
    #[cfg(unix)]
    crate::reload::on_hangup(args, access.clone(), tls.clone())?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    announce(&format!("{scheme}://{address}"), token.as_ref(), settings.auth.required);
    let ending = CancellationToken::new();
    let router = crate::server::router(threads.clone(), logins, history, access);
    let limits = settings.limits.of_connections(&settings.times);
    if let Some(local) = local {
        tokio::spawn(serve_http(local, None, router.clone(), limits, ending.clone()));
    }
    let server = tokio::spawn(serve_http(listener, tls, router, limits, ending.clone()));
    terminated.await;
    ending.cancel();
    #[cfg(unix)]
    telling.abort();
    threads.shut_down().await;
    left.cancel();
    let _left = serving.await;
    threads.replicas().leave().await;
    // The streams have ended with their runs. Slow readers lose the rest.
    if timeout(LINGER, server).await.is_err() {
        tracing::warn!("a connection is still open; leaving it");
    }
    telemetry.shut_down().await;
    Ok(())
}

/// Prints where the gateway listens. The page opens with a generated token.
fn announce(url: &str, token: Option<&Secret>, is_authenticated: bool) {
    if !is_authenticated {
        say(
            "WARNING: --no-auth: all users and programs of this machine can use the agents and approve requests",
        );
    }
    say(match token {
        Some(token) => format!("listening on {url}\nopen {url}/?token={}", token.reveal()),
        None => format!("listening on {url}"),
    });
}

/// Logs the numbers of open objects for each SIGUSR1.
#[cfg(unix)]
async fn report_on_signal(mut signals: Signal, threads: Arc<Threads>) {
    while signals.recv().await.is_some() {
        let open = threads.open();
        let tasks = Handle::current().metrics().num_alive_tasks();
        say(format_args!("open: {open}, {tasks} tasks"));
    }
}
