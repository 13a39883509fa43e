//! An MCP server over Streamable HTTP with the tool `book_flight` and the tools of the official
//! conformance suite.

mod conformance;
mod context;
mod fixture;
mod task_tools;

use axum::Extension;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use clap::{Parser, ValueEnum};
use conformance::Conformance;
use demo_agent::book_flight::{self, FixedTip};
use host::http::{Connection, ConnectionLimits};
use host::key::Key;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{DefinitionError, MemoryStore, PluginHost, SessionStore, SuspendPolicy};
use mcp_bridge::seal::{SealedStates, StateKey};
use mcp_bridge::server::StateCodec;
use mcp_bridge_http::{
    Endpoint, EndpointOptions, PluginService, random_bytes, random_id, router, since_1970,
};
use std::error::Error;
use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tools::skills::read_skills;
use tracing_subscriber::EnvFilter;

/// Path of the endpoint.
const PATH: &str = "/mcp";

/// Lifetime of a state that a client carries.
const STATE_LIFETIME: Duration = Duration::from_secs(3600);

/// Prefix of the Redis keys.
#[cfg(feature = "redis")]
const REDIS_PREFIX: &str = "{mcp-http}";

/// Interval of removing ended sessions.
const SWEEP: Duration = Duration::from_secs(60);

/// Limits of connections.
const LIMITS: ConnectionLimits = ConnectionLimits {
    connections: 4096,
    strangers: 1024,
    header: Duration::from_secs(10),
    body: EndpointOptions::DEFAULT_BODY_TIME,
    idle: Duration::from_secs(75),
    write: Duration::from_secs(30),
};

/// An MCP server over Streamable HTTP, at /mcp, for clients of both generations.
#[derive(Debug, Parser)]
#[command(name = "mcp-http", version)]
struct Args {
    /// Address to listen on; port 0 selects a free port. For addresses of other machines, also set
    /// --host.
    #[arg(long, default_value = "127.0.0.1:8970")]
    listen: SocketAddr,
    /// How a tool waits for an answer.
    #[arg(long, value_enum, default_value = "replay")]
    suspend: Suspend,
    /// Key of tokens: 64 hexadecimal digits. A program with the same key, including this one after
    /// a restart, can resume the calls. The default is a random key. Other users of the machine may
    /// see options: prefer --key-file.
    #[arg(long, value_name = "HEX", conflicts_with = "key_file")]
    key: Option<Key>,
    /// File with the key of tokens: 64 hexadecimal digits. Other users must not have access to it.
    #[arg(long, value_name = "PATH")]
    key_file: Option<PathBuf>,
    /// Keeps sessions in Redis at redis://HOST:PORT, shared by several programs. Answers to parked
    /// calls are forwarded.
    #[cfg(feature = "redis")]
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
    /// URL by which the other programs at the same Redis reach this one. The default is the
    /// listening address.
    #[cfg(feature = "redis")]
    #[arg(long, value_name = "URL", requires = "redis")]
    own_url: Option<String>,
    /// Puts questions into results, for clients that show no forms: the model asks, and calls
    /// `answer_question`.
    #[arg(long)]
    ask_in_results: bool,
    /// Folder with skills: directories with a `SKILL.md`. They are read once, at the start.
    #[arg(long, value_name = "DIR")]
    skills: Option<PathBuf>,
    /// Additional host name of this server; may be repeated.
    #[arg(long)]
    host: Vec<String>,
    /// Origin with pages that may use the server, in addition to local ones; may be repeated.
    #[arg(long)]
    origin: Vec<String>,
}

/// How a tool waits for an answer.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Suspend {
    /// In memory.
    Park,
    /// In memory, and replayed in other programs.
    ParkOrReplay,
    /// In a store, and replayed.
    Replay,
    /// In a token carried by the client, and replayed.
    Token,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
    match serve(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp-http: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Creates the codec that seals states with a key.
fn states(key: &Key) -> impl StateCodec + Send + Sync + use<> {
    let key = StateKey::new(1, key.0);
    let nonce = |nonce: &mut [u8; 12]| match random_bytes() {
        Ok(bytes) => *nonce = bytes,
        Err(error) => {
            // A repeated nonce would compromise the key.
            tracing::error!(%error, "no randomness");
            std::process::abort();
        }
    };
    SealedStates::new(key, STATE_LIFETIME, since_1970, nonce)
}

fn host(
    policy: SuspendPolicy,
    store: Arc<dyn SessionStore>,
    owner: &str,
) -> Result<Arc<PluginHost>, DefinitionError> {
    let clock = Arc::new(since_1970);
    let tools = task_tools::task_tools()?.into_iter().chain([book_flight::tool()?]);
    Ok(Arc::new(PluginHost::new(tools, policy, store, owner, clock)))
}

/// Creates the programs that share sessions.
#[cfg(feature = "redis")]
fn replicas(
    program: String,
    directory: Arc<dyn mcp_bridge_http::Directory>,
) -> reqwest::Result<mcp_bridge_http::Replicas> {
    // The client panics without a default provider if another package of the build enables TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    Ok(mcp_bridge_http::Replicas::new(program, directory, http))
}

/// Creates the tools that ask, with sessions in memory or in Redis. With Redis, sessions of the
/// endpoint are forwarded.
async fn plugins(
    args: &Args,
    policy: SuspendPolicy,
    address: SocketAddr,
    options: &mut EndpointOptions,
) -> Result<PluginService, Box<dyn Error>> {
    let me = Implementation::new("mcp-http", env!("CARGO_PKG_VERSION"));
    let owner = random_id()?;
    #[cfg(feature = "redis")]
    if let Some(url) = &args.redis {
        let store = mcp_bridge_http::RedisStore::connect(url, REDIS_PREFIX).await?;
        let host = host(policy, Arc::new(store), &owner)?;
        let lifetime = mcp_bridge_http::RedisOwner::DEFAULT_LIFETIME;
        let own_url = args.own_url.clone().unwrap_or_else(|| format!("http://{address}{PATH}"));
        let program = mcp_bridge_http::RedisOwner::start(
            url,
            REDIS_PREFIX,
            &*owner,
            own_url,
            Arc::clone(&host),
            lifetime,
        );
        let program = Arc::new(program.await?);
        options.replicas = Some(replicas(owner, Arc::clone(&program) as Arc<_>)?);
        let service = PluginService::new(host, me).with_forwarder(program);
        return Ok(service.with_sampler(Arc::new(FixedTip)));
    }
    #[cfg(not(feature = "redis"))]
    let _ = (args, address, options);
    let host = host(policy, Arc::new(MemoryStore::default()), &owner)?;
    Ok(PluginService::new(host, me).with_sampler(Arc::new(FixedTip)))
}

#[tokio::main]
async fn serve(args: Args) -> Result<(), Box<dyn Error>> {
    let key = match (&args.key, &args.key_file) {
        (Some(key), _) => key.clone(),
        (None, Some(path)) => Key::read(path)?,
        (None, None) => Key::random()?,
    };
    let policy = match args.suspend {
        Suspend::Park => SuspendPolicy::Park,
        Suspend::ParkOrReplay => SuspendPolicy::ParkOrReplay,
        Suspend::Replay => SuspendPolicy::Replay,
        Suspend::Token => {
            SuspendPolicy::Token { codec: Arc::new(states(&key)), is_single_use: true }
        }
    };
    let listener = tokio::net::TcpListener::bind(args.listen).await?;
    let address = listener.local_addr()?;
    let limits = LIMITS.within_open_files();
    let mut options = EndpointOptions::default();
    // Room for clients without a session or an open request is left.
    options.max_connections = options.max_connections.min((limits.connections / 2).max(1));
    options.body_time = limits.body;
    let mut plugins = plugins(&args, policy, address, &mut options).await?;
    if args.ask_in_results {
        plugins = plugins.with_questions_in_results();
    }
    let skills = args.skills.as_deref().map(read_skills).transpose()?.map(Arc::new);
    let service = Arc::new(Conformance::new(plugins, Box::new(states(&key)), skills)?);

    options.hosts = args.host;
    options.origins = args.origin;
    let endpoint = Endpoint::new(Arc::clone(&service) as Arc<_>, options);
    service.serve_at(&endpoint);
    let swept = Arc::clone(&service);
    tokio::spawn(async move { swept.plugins().sweep(SWEEP).await });
    eprintln!("listening on http://{address}{PATH}");
    let ending = CancellationToken::new();
    let router = router(PATH, endpoint.clone()).layer(from_fn(identify));
    let serving = host::http::serve(listener, None, router, limits, ending.clone());
    let end = async {
        shutdown_signal().await;
        endpoint.close();
        ending.cancel();
    };
    tokio::join!(serving, end);
    Ok(())
}

/// Passes the address of the client to the endpoint. A connection with a request is not closed in
/// favour of one without.
async fn identify(
    Extension(connection): Extension<Connection>,
    mut request: Request,
    next: Next,
) -> Response {
    connection.authenticated();
    request.extensions_mut().insert(ConnectInfo(connection.peer()));
    next.run(request).await
}

/// Waits for SIGINT or SIGTERM.
async fn shutdown_signal() {
    let terminate = tokio::signal::unix::SignalKind::terminate();
    match tokio::signal::unix::signal(terminate) {
        Ok(mut terminated) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
        }
        Err(_) => {
            // Without signal handling, the server runs until it is killed.
            let _no_signals = tokio::signal::ctrl_c().await;
        }
    }
}
