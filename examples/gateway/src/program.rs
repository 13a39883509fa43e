//! The program: its tasks, and the start and the end of the server.
use crate::agents::Agents;
use crate::cli::{Args, Task};
use crate::history::History;
use crate::hub::UserSettings;
use crate::log::{Log, say};
use crate::login::Logins;
use crate::settings::{Settings, SettingsError};
use crate::telemetry::Telemetry;
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
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
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
    let entrance = Entrance::new(&settings)?;
    let termination = process::termination()?;
    let default_agent = settings.agent_mut()?.0.to_owned();
    let isolations = settings.all_agents().map(|(_, agent)| agent.isolation);
    UserSettings::check(&settings.users, isolations).map_err(SettingsError::Users)?;
    let (gateway, listeners) = Gateway::start(&settings, default_agent, &entrance).await?;
    // Registered before the address is announced: without a handler the signal ends the program.
    #[cfg(unix)]
    let report_task = report_on_signal(gateway.threads.clone())?;
    #[cfg(unix)]
    crate::reload::on_hangup(args, entrance.access.clone(), entrance.tls.clone())?;
    entrance.announce(listeners.address, settings.auth.required);
    let tasks = ServerTasks::start(&settings, &gateway, listeners, entrance);
    termination.await;
    #[cfg(unix)]
    report_task.abort();
    tasks.shut_down(gateway).await;
    Ok(())
}

/// What each connection passes: encryption, and access control.
struct Entrance {
    access: Arc<Access>,
    /// A generated token, for the first user.
    token: Option<Secret>,
    tls: Option<Arc<Tls>>,
}

impl Entrance {
    fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let limits = settings.limits.of_user(&settings.auth);
        let (access, token) = Access::new(&settings.site, &settings.auth, limits, settings.listen)?;
        let access = Arc::new(access.with_session_limits(settings.times.of_sessions()));
        let SiteSettings { tls_cert, tls_key, .. } = settings.site.clone();
        let tls = Tls::load(tls_cert, tls_key).map_err(AccessError::from)?;
        tokio::spawn(access.clone().load_keys());
        Ok(Self { access, token, tls: tls.map(Arc::new) })
    }

    /// Prints where the gateway listens. The page opens with a generated token.
    fn announce(&self, address: SocketAddr, is_authenticated: bool) {
        if !is_authenticated {
            say(
                "WARNING: --no-auth: all users and programs of this machine can use the agents and approve requests",
            );
        }
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{address}");
        say(match &self.token {
            Some(token) => format!("listening on {url}\nopen {url}/?token={}", token.reveal()),
            None => format!("listening on {url}"),
        });
    }
}

/// The sockets of the gateway.
struct Listeners {
    public: TcpListener,
    address: SocketAddr,
    /// For local agents, in clear if the public one is encrypted: the certificate need not be valid
    /// for loopback.
    local: Option<TcpListener>,
}

impl Listeners {
    async fn bind(address: SocketAddr, is_encrypted: bool) -> Result<Self, Error> {
        let public = TcpListener::bind(address).await;
        let public = public.map_err(|error| Error::Listen { address, error })?;
        let address = public.local_addr()?;
        let local = match is_encrypted {
            true => Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?),
            false => None,
        };
        Ok(Self { public, address, local })
    }

    /// Returns the address for local agents.
    fn agent_address(&self) -> io::Result<SocketAddr> {
        self.local.as_ref().map_or(Ok(self.address), TcpListener::local_addr)
    }
}

/// What answers requests.
struct Gateway {
    threads: Arc<Threads>,
    logins: Arc<Logins>,
    history: Option<Arc<History>>,
    telemetry: Telemetry,
}

impl Gateway {
    /// Opens the store, and starts the agents and tools.
    async fn start(
        settings: &Settings,
        default_agent: String,
        entrance: &Entrance,
    ) -> Result<(Self, Listeners), Error> {
        let store = crate::replicas::open(settings).await?;
        let sign_ins = crate::replicas::sessions(settings, &store);
        tokio::spawn(entrance.access.clone().watch_sessions(sign_ins));
        let (calls, clock) = crate::replicas::tool_sessions(settings, &store).await?;
        let servers = crate::agents::offered_servers(settings, &store)?;
        let toolbox = Arc::new(Toolbox::new(calls, clock, servers.clone())?);
        let telemetry = settings.telemetry.telemetry(&Handle::current());
        let telemetry = telemetry.map_err(SettingsError::Telemetry)?;
        let (removed, removals) = mpsc::unbounded_channel();
        let agents = settings
            .all_agents()
            .map(|(name, agent)| {
                let agent = Agents::new(settings, name, agent, &toolbox, &telemetry, &removed)?;
                Ok((name.clone(), agent))
            })
            .collect::<Result<_, SettingsError>>()?;
        // The agents have senders of their own.
        drop(removed);

        let listeners = Listeners::bind(settings.listen, entrance.tls.is_some()).await?;
        let logins = crate::agents::logins(settings, &agents, servers, listeners.address)?;
        let page_servers = page_servers(settings, &listeners, toolbox, telemetry.clone())?;
        let replicas = crate::replicas::join(settings, store.runs).await?;
        let threads = Arc::new(Threads::new(
            agents,
            default_agent,
            Arc::new(page_servers),
            replicas.clone(),
            settings,
            telemetry.clone(),
        ));
        tokio::spawn(threads.clone().release_removed(removals));
        let history =
            |file| Arc::new(History::new(file, replicas, settings.limits.log(), threads.clone()));
        let history = store.file.map(history);
        Ok((Self { threads, logins: Arc::new(logins), history, telemetry }, listeners))
    }
}

/// Returns the MCP servers with which agents call the tools of pages.
fn page_servers(
    settings: &Settings,
    listeners: &Listeners,
    toolbox: Arc<Toolbox>,
    telemetry: Telemetry,
) -> io::Result<PageServers> {
    let address = listeners.agent_address()?;
    let SiteSettings { agents_url, hosts, .. } = settings.site.clone();
    let max_calls = settings.limits.of_connections(&settings.times).strangers;
    Ok(PageServers::new(agents_url, address, hosts, toolbox, telemetry, max_calls))
}

/// The tasks that serve requests.
struct ServerTasks {
    /// Ends the connections.
    ending: CancellationToken,
    public: JoinHandle<()>,
    /// Ends the answers to other gateways.
    leaving: CancellationToken,
    replica: JoinHandle<()>,
}

impl ServerTasks {
    fn start(
        settings: &Settings,
        gateway: &Gateway,
        listeners: Listeners,
        entrance: Entrance,
    ) -> Self {
        let leaving = CancellationToken::new();
        let requests = crate::server::serve_replica(gateway.threads.clone(), leaving.clone());
        let replica = tokio::spawn(requests);
        let threads = gateway.threads.clone();
        let logins = gateway.logins.clone();
        let history = gateway.history.clone();
        let router = crate::server::router(threads, logins, history, entrance.access);
        let limits = settings.limits.of_connections(&settings.times);
        let ending = CancellationToken::new();
        if let Some(local) = listeners.local {
            tokio::spawn(serve_http(local, None, router.clone(), limits, ending.clone()));
        }
        let public = serve_http(listeners.public, entrance.tls, router, limits, ending.clone());
        let public = tokio::spawn(public);
        Self { ending, public, leaving, replica }
    }

    /// Ends the runs, then the connections that read them.
    async fn shut_down(self, gateway: Gateway) {
        self.ending.cancel();
        gateway.threads.shut_down().await;
        self.leaving.cancel();
        // A task that has failed has ended as well.
        let _ = self.replica.await;
        gateway.threads.replicas().leave().await;
        // The streams have ended with their runs. Slow readers lose the rest.
        if timeout(LINGER, self.public).await.is_err() {
            tracing::warn!("a connection is still open; leaving it");
        }
        gateway.telemetry.shut_down().await;
    }
}

/// Logs the numbers of open objects for each SIGUSR1, from now on.
#[cfg(unix)]
fn report_on_signal(threads: Arc<Threads>) -> io::Result<JoinHandle<()>> {
    let mut signals = signal(SignalKind::user_defined1())?;
    Ok(tokio::spawn(async move {
        while signals.recv().await.is_some() {
            let open = threads.open();
            let tasks = Handle::current().metrics().num_alive_tasks();
            say(format_args!("open: {open}, {tasks} tasks"));
        }
    }))
}
