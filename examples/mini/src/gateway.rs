//! A gateway: an ACP agent on standard input and output behind an AG-UI endpoint.
//!
//! ```console
//! $ cargo run -p mini --bin mini-gateway -- claude-code-acp
//! listening on http://127.0.0.1:4001
//! ```
//!
//! The [`Hub`] holds the conversations, and performs no I/O. The task of the process and the HTTP
//! handlers share one [`Hub`], and a [`RunLog`] for each run: each locks them, passes events in, and
//! wakes the others.
use acp_types::client::{CloseReason, Options, Reply};
use acp_types::v1::initialization::Implementation;
use agui_bridge::conversation::{Acceptance, ConversationOptions, RunRefused};
use agui_bridge::hub::{Hub, HubEvent, HubOptions, HubRefused, HubRunOutput};
use agui_bridge::{CancelReason, Failure, PermissionMode};
use agui_types::id::RunId;
use agui_types::input::RunAgentInput;
use agui_types::run_log::{LogRead, RunLog, RunLogLimits};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use clap::Parser;
use jsonrpc_core::ErrorCode;
use jsonrpc_core::framing::Lines;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Largest size of one chunk of a response, in bytes.
const MAX_BATCH: usize = 64 * 1024;

/// Serves an ACP agent at an AG-UI endpoint, for clients on this machine
///
/// The agent is started with the first run, and again after it has exited.
#[derive(Debug, Parser)]
#[command(name = "mini-gateway", version)]
struct Args {
    /// Address to listen on, of a loopback interface; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4001")]
    listen: SocketAddr,
    /// The command of the agent
    #[arg(required = true, trailing_var_arg = true, value_name = "AGENT")]
    agent: Vec<OsString>,
}

/// Largest number of runs that can be read.
const MAX_RUNS: usize = 1024;

/// Limits of the log of a run.
const LOG_LIMITS: RunLogLimits = RunLogLimits { events: 20_000, bytes: 8 << 20 };

/// Thread and id of a run.
type RunKey = (String, RunId);

/// The hub, and the logs of its runs.
struct Conversations {
    hub: Hub,
    logs: BTreeMap<RunKey, RunLog>,
}

/// The conversations, and their synchronization between tasks.
struct Gateway {
    conversations: Mutex<Conversations>,
    /// Signals new output of the hub.
    changed: watch::Sender<()>,
    /// Epoch of the hub's times.
    began: Instant,
    command: Vec<OsString>,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let args = Args::parse();
    if !args.listen.ip().is_loopback() {
        return Err(io::Error::other("--listen: expected a loopback address"));
    }
    let cwd = std::env::current_dir()?.display().to_string();
    let mut conversation = ConversationOptions::new(cwd);
    conversation.translator.permission = PermissionMode::Interrupt;
    // Clients before AG-UI 1.0 do not declare their support for interrupts.
    conversation.translator.legacy_interrupts = true;
    let gateway = Arc::new(Gateway {
        conversations: Mutex::new(Conversations {
            hub: Hub::new(HubOptions::new(conversation)),
            logs: BTreeMap::new(),
        }),
        changed: watch::Sender::new(()),
        began: Instant::now(),
        command: args.agent,
    });
    let app = Router::new().route("/", post(run)).route("/cancel", post(cancel));
    let app = app.layer(from_fn(local)).with_state(gateway);
    let listener = tokio::net::TcpListener::bind(args.listen).await?;
    eprintln!("listening on http://{}", listener.local_addr()?);
    tokio::select! {
        served = axum::serve(listener, app) => served,
        stopped = tokio::signal::ctrl_c() => stopped,
    }
}

impl Gateway {
    fn lock(&self) -> MutexGuard<'_, Conversations> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the hub, handles its events, and wakes the waiting tasks.
    fn with<T>(&self, handle: impl FnOnce(&mut Conversations, Duration) -> T) -> T {
        let now = self.began.elapsed();
        let mut conversations = self.lock();
        let handled = handle(&mut conversations, now);
        let Conversations { hub, logs } = &mut *conversations;
        while let Some(event) = hub.poll_event() {
            match event {
                // The agent was offered neither files nor terminals.
                HubEvent::Request { key, .. } => {
                    let _ = hub.reply(key, Reply::error(ErrorCode::METHOD_NOT_FOUND, "not here"));
                }
                HubEvent::Closed(reason) => eprintln!("the agent is gone: {reason}"),
                _ => {}
            }
        }
        while let Some(event) = hub.poll_run() {
            let run = (event.thread.to_string(), event.run_id.clone());
            let Some(log) = logs.get_mut(&run) else { continue };
            match &event.output {
                // The run waited, and does not begin.
                HubRunOutput::Refused(_) | HubRunOutput::Again(_) => log.end(),
                _ => {
                    // A full log takes the end of the run alone.
                    if event.append_to(log).is_err() || log.is_full() {
                        hub.handle_full(&run.0, &run.1, now);
                    }
                }
            }
        }
        drop(conversations);
        self.changed.send_replace(());
        handled
    }

    /// Begins a run. Returns the run to read, and whether it is a new one.
    fn begin(&self, input: RunAgentInput) -> Result<(RunKey, bool), (StatusCode, String)> {
        let key = (input.thread_id.to_string(), input.run_id.clone());
        self.with(|Conversations { hub, logs }, now| {
            if logs.len() >= MAX_RUNS {
                logs.retain(|_, log| !log.has_ended());
            }
            if logs.len() >= MAX_RUNS {
                let message = format!("{MAX_RUNS} runs are open, which is the limit");
                return Err((StatusCode::SERVICE_UNAVAILABLE, message));
            }
            // An answer may continue the interrupted run under its id.
            let last = logs.get(&key).map_or(0, RunLog::last);
            let log = RunLog::new(&input, LOG_LIMITS).with_last(last);
            match hub.handle_run(&key.0, input, now).map_err(refusal)? {
                Acceptance::Again(earlier) => Ok(((key.0, earlier), false)),
                _ => {
                    logs.insert(key.clone(), log);
                    Ok((key, true))
                }
            }
        })
    }

    /// Starts the agent, unless it runs.
    fn start_agent(self: &Arc<Self>) {
        let hub = &mut self.lock().hub;
        let now = self.began.elapsed();
        let [program, arguments @ ..] = &self.command[..] else { return };
        if hub.is_connected() {
            return;
        }
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        match command.spawn() {
            Ok(child) => {
                hub.connect(Options::new(Implementation::new("mini-gateway", "0.1.0")), now);
                tokio::spawn(serve_agent(self.clone(), child));
            }
            Err(error) => {
                let message = format!("{}: {error}", program.display());
                hub.handle_unavailable(Failure::AgentUnavailable, &message, now);
            }
        }
    }
}

/// Moves lines between the hub and the agent until the agent exits.
async fn serve_agent(gateway: Arc<Gateway>, mut child: Child) {
    let ended = talk(&gateway, &mut child).await;
    let why = ended.map_or_else(|error| error.to_string(), |()| "its output ended".to_owned());
    gateway.with(|it, now| it.hub.handle_closed(CloseReason::AgentClosed(why), now));
}

async fn talk(gateway: &Gateway, child: &mut Child) -> io::Result<()> {
    let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let mut changed = gateway.changed.subscribe();
    let mut lines = Lines::default();
    let mut buffer = vec![0; MAX_BATCH];
    let mut unsent = Vec::new();
    loop {
        changed.mark_unchanged();
        let timeout = {
            let hub = &mut gateway.lock().hub;
            while let Some(transmit) = hub.poll_transmit() {
                unsent.extend(transmit.line);
            }
            hub.poll_timeout().map(|timeout| gateway.began + timeout)
        };
        tokio::select! {
            written = stdin.write(&unsent), if !unsent.is_empty() => drop(unsent.drain(..written?)),
            length = stdout.read(&mut buffer) => {
                let bytes = buffer.get(..length?).unwrap_or_default();
                if bytes.is_empty() {
                    return Ok(());
                }
                lines.push(bytes);
                gateway.with(|it, now| {
                    while let Some(line) = lines.next() {
                        it.hub.handle_line(line, now);
                    }
                });
            }
            () = sleep_until(timeout.unwrap_or(gateway.began)), if timeout.is_some() => {
                gateway.with(|it, now| it.hub.handle_timeout(now));
            }
            _ = changed.changed() => {}
        }
    }
}

/// `POST /`: runs an input, or follows the run that the same input has begun.
async fn run(
    State(gateway): State<Arc<Gateway>>,
    Json(input): Json<RunAgentInput>,
) -> Result<Response, (StatusCode, String)> {
    gateway.start_agent();
    let (key, cancels) = gateway.begin(input)?;
    let changed = gateway.changed.subscribe();
    let reader = Reader { gateway, changed, key, after: 0, cancels };
    let frames = futures::stream::unfold(reader, |mut reader| async move {
        loop {
            reader.changed.mark_unchanged();
            let log =
                |it: &Conversations| Some(it.logs.get(&reader.key)?.read(reader.after, MAX_BATCH));
            let read = log(&reader.gateway.lock());
            match read {
                Some(LogRead::Frames(frames)) => {
                    reader.after = frames.last;
                    return Some((Ok::<_, io::Error>(frames.bytes), reader));
                }
                Some(LogRead::Pending) => reader.changed.changed().await.ok()?,
                // The run has ended, or the client is slower than the log allows.
                _ => return None,
            }
        }
    });
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    Ok((headers, Body::from_stream(frames)).into_response())
}

/// A response that follows a run. The run is cancelled when its client disconnects.
struct Reader {
    gateway: Arc<Gateway>,
    changed: watch::Receiver<()>,
    key: RunKey,
    after: u64,
    cancels: bool,
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.cancels {
            let (thread, run_id) = &self.key;
            self.gateway
                .with(|it, now| it.hub.handle_cancel(thread, run_id, CancelReason::NoReader, now));
        }
    }
}

/// A run to cancel.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancel {
    thread_id: String,
    run_id: RunId,
}

/// `POST /cancel`: cancels a run.
async fn cancel(State(gateway): State<Arc<Gateway>>, Json(run): Json<Cancel>) -> StatusCode {
    let found = gateway
        .with(|it, now| it.hub.handle_cancel(&run.thread_id, &run.run_id, CancelReason::User, now));
    if found { StatusCode::ACCEPTED } else { StatusCode::NOT_FOUND }
}

/// Accepts local clients only.
async fn local(request: Request, next: Next) -> Response {
    if !is_local(request.headers()) {
        return (StatusCode::FORBIDDEN, "this server is for local clients").into_response();
    }
    next.run(request).await
}

/// Returns whether a request is for this address. A page of another site may use a name that
/// resolves to it, or send a request without reading the response.
fn is_local(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_own = match headers.get(header::ORIGIN) {
        Some(origin) => origin.to_str().ok() == Some(&*format!("http://{host}")),
        None => true,
    };
    is_own && ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

fn refusal(refused: HubRefused) -> (StatusCode, String) {
    let status = match &refused {
        HubRefused::Run(RunRefused::Input(error)) => error.status(),
        HubRefused::Run(_) => 409,
        _ => 503,
    };
    (StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), refused.to_string())
}
