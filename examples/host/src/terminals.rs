//! Commands that an agent runs on this machine, below a root.
use crate::files::Root;
use crate::process::Process;
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::terminals::{
    CreateTerminalRequest, TerminalExitStatus, TerminalId, TerminalOutputResponse,
};
use acp_types::v2::terminals::{
    TerminalExitStatus as ShownExit, TerminalOutputChunk, TerminalUpdate,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonrpc_core::{ErrorCode, ErrorObject};
use output::Output;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

mod output;

/// Maximum number of terminals of a session.
const MAX_IN_SESSION: usize = 16;

/// Maximum number of terminals of an agent.
const MAX_TERMINALS: usize = 256;

/// Maximum number of bytes that are kept of a terminal's output; the agent may ask for fewer.
const MAX_OUTPUT: usize = 1024 * 1024;

/// How long the output of an ended command is read: a process that it started may hold the pipe
/// open.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Variables that a command inherits, in addition to those of the agent. None holds a secret.
const ENVIRONMENT: &[&str] = &[
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "SHELL",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERPROFILE",
];

/// A change of a terminal, for display.
#[derive(Debug)]
pub enum TerminalEvent {
    /// The terminal was created, or its command has ended.
    Update(Box<TerminalUpdate>),
    /// The command wrote output.
    Output(TerminalOutputChunk),
}

/// The terminals of an agent.
#[derive(Debug, Default)]
pub(crate) struct Terminals {
    open: BTreeMap<TerminalId, Terminal>,
    begun: u64,
    tasks: TaskTracker,
}

/// A terminal, which ends when it is dropped.
#[derive(Debug)]
struct Terminal {
    session: SessionId,
    shared: Arc<TerminalState>,
    stop: DropGuard,
    /// Ends the command; the terminal stays.
    kill: CancellationToken,
}

#[derive(Debug)]
struct TerminalState {
    output: Mutex<Output>,
    exit: watch::Sender<Option<TerminalExitStatus>>,
}

impl Terminals {
    /// Runs a command below a root, and sends its changes to `shows`.
    pub(crate) fn create(
        &mut self,
        root: &Root,
        request: &CreateTerminalRequest,
        shows: mpsc::Sender<(SessionId, TerminalEvent)>,
    ) -> Result<TerminalId, ErrorObject> {
        let session = &request.session_id;
        let of_session = self.open.values().filter(|open| open.session == *session).count();
        if of_session >= MAX_IN_SESSION || self.open.len() >= MAX_TERMINALS {
            let message = "too many terminals; release some";
            return Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, message));
        }
        let cwd = root.directory(request.cwd.as_deref())?;
        let (process, stdout) = spawn(request, &cwd)?;
        self.begun += 1;
        let id = TerminalId::from(format!("terminal-{}", self.begun));
        let asked =
            request.output_byte_limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let limit = asked.unwrap_or(MAX_OUTPUT).min(MAX_OUTPUT);
        let shared = Arc::new(TerminalState {
            output: Mutex::new(Output::new(limit)),
            exit: watch::Sender::new(None),
        });
        let kill = CancellationToken::new();
        let mut shown = TerminalUpdate::new(id.as_str());
        let words = [&request.command].into_iter().chain(request.args.iter().flatten());
        let words = words.map(|word| shlex::try_quote(word).unwrap_or_default());
        shown.command = words.collect::<Vec<_>>().join(" ").into();
        shown.cwd =
            acp_types::v2::session_setup::AbsolutePath::from(&*cwd.to_string_lossy()).into();
        let screen = Screen { session: session.clone(), id: id.clone(), shows };
        let serving = serve(process, stdout, shared.clone(), kill.clone(), screen, shown);
        self.tasks.spawn(serving);
        let terminal =
            Terminal { session: session.clone(), shared, stop: kill.clone().drop_guard(), kill };
        self.open.insert(id.clone(), terminal);
        Ok(id)
    }

    /// Returns the output of a terminal of the session, and how its command has ended.
    pub(crate) fn output(
        &self,
        session: &SessionId,
        id: &TerminalId,
    ) -> Result<TerminalOutputResponse, ErrorObject> {
        let shared = &self.find(session, id)?.shared;
        let exit = shared.exit.borrow().clone();
        let (output, truncated) = shared.output().text(exit.is_some());
        let mut response = TerminalOutputResponse::new(output, truncated);
        response.exit_status = exit;
        Ok(response)
    }

    /// Waits until the command has ended.
    pub(crate) fn exit(
        &self,
        session: &SessionId,
        id: &TerminalId,
    ) -> Result<impl Future<Output = TerminalExitStatus> + Send + use<>, ErrorObject> {
        let mut exit = self.find(session, id)?.shared.exit.subscribe();
        Ok(async move {
            let ended = exit.wait_for(Option::is_some).await;
            ended.ok().and_then(|exit| exit.clone()).unwrap_or_else(TerminalExitStatus::new)
        })
    }

    /// Ends the command; the terminal stays.
    pub(crate) fn kill(&self, session: &SessionId, id: &TerminalId) -> Result<(), ErrorObject> {
        self.find(session, id)?.kill.cancel();
        Ok(())
    }

    /// Ends the command and the terminal.
    pub(crate) fn release(
        &mut self,
        session: &SessionId,
        id: &TerminalId,
    ) -> Result<(), ErrorObject> {
        self.find(session, id)?;
        if let Some(Terminal { stop, .. }) = self.open.remove(id) {
            drop(stop);
        }
        Ok(())
    }

    /// Ends the terminals of a session.
    pub(crate) fn end_session(&mut self, session: &SessionId) {
        self.open.retain(|_, terminal| terminal.session != *session);
    }

    /// Ends all terminals, and waits for that.
    pub(crate) async fn end(mut self) {
        self.open.clear();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn find(&self, session: &SessionId, id: &TerminalId) -> Result<&Terminal, ErrorObject> {
        self.open.get(id).filter(|terminal| terminal.session == *session).ok_or_else(|| {
            let message = format!("terminalId: the session has no terminal `{id}`");
            ErrorObject::new(ErrorCode::INVALID_PARAMS, message)
        })
    }
}

impl TerminalState {
    fn output(&self) -> std::sync::MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn spawn(
    request: &CreateTerminalRequest,
    cwd: &Path,
) -> Result<(Process, ChildStdout), ErrorObject> {
    let environment = request.env.iter().flatten();
    let set: Vec<_> = environment.map(|variable| (&*variable.name, &*variable.value)).collect();
    let path = set.iter().rfind(|(name, _)| *name == "PATH").map(|(_, path)| path.into());
    let path = path.or_else(|| std::env::var_os("PATH"));
    let program = which::which_in(&request.command, path, cwd).map_err(|_| {
        let message = format!("command: command not found: {}", request.command);
        ErrorObject::new(ErrorCode::INVALID_PARAMS, message)
    })?;
    let failed = |error: &dyn std::fmt::Display| {
        let message = format!("cannot run {}: {error}", request.command);
        ErrorObject::new(ErrorCode::INTERNAL_ERROR, message)
    };
    let program = program.into_os_string().into_string();
    let program = program.map_err(|_| failed(&"its path is not UTF-8"))?;
    let arguments = request.args.iter().flatten().cloned();
    let words: Vec<_> = [program].into_iter().chain(arguments).collect();
    let own = ENVIRONMENT.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let spawned = Process::spawn_merged(&words, |command| {
        command.current_dir(cwd).env_clear().envs(own).envs(set.iter().copied());
    });
    spawned.map_err(|error| failed(&error))
}

/// Where the changes of a terminal go.
struct Screen {
    session: SessionId,
    id: TerminalId,
    shows: mpsc::Sender<(SessionId, TerminalEvent)>,
}

impl Screen {
    async fn show(&self, shown: TerminalEvent) {
        // A receiver that is gone misses nothing that is kept.
        let _ = self.shows.send((self.session.clone(), shown)).await;
    }

    async fn output(&self, bytes: &[u8]) {
        let chunk = TerminalOutputChunk::new(self.id.as_str(), STANDARD.encode(bytes));
        self.show(TerminalEvent::Output(chunk)).await;
    }
}

/// Reads the output of a command until it ends, or `kill` ends it.
async fn serve(
    mut process: Process,
    mut stdout: ChildStdout,
    shared: Arc<TerminalState>,
    kill: CancellationToken,
    screen: Screen,
    begun: TerminalUpdate,
) {
    tokio::select! {
        () = screen.show(TerminalEvent::Update(Box::new(begun))) => {}
        () = kill.cancelled() => {}
    }
    let mut buffer = vec![0; 16 * 1024];
    let mut reads = true;
    loop {
        tokio::select! {
            read = stdout.read(&mut buffer), if reads => match read {
                Ok(count @ 1..) => {
                    let read = buffer.get(..count).unwrap_or_default();
                    shared.output().push(read);
                    // A full channel does not keep a command from being ended.
                    tokio::select! {
                        () = screen.output(read) => {}
                        () = kill.cancelled() => break,
                    }
                }
                _ => reads = false,
            },
            () = process.exited() => break,
            () = kill.cancelled() => break,
        }
    }
    let last_words = async {
        while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
            shared.output().push(buffer.get(..count).unwrap_or_default());
        }
    };
    // Output during the end is kept, but does not delay it.
    let (ended, _) = tokio::join!(process.stop(), timeout(LAST_WORDS, last_words));
    let exit = match ended {
        Ok(status) => exit_status(status),
        Err(error) => {
            tracing::warn!(%error, "the exit status of a command is unknown");
            TerminalExitStatus::new()
        }
    };
    let mut shown = TerminalUpdate::new(screen.id.as_str());
    let mut shown_exit = ShownExit::new();
    shown_exit.exit_code = exit.exit_code.map(i64::from);
    shown_exit.signal = exit.signal.clone();
    shown.exit_status = shown_exit.into();
    let all =
        acp_types::v2::terminals::TerminalOutput::new(STANDARD.encode(shared.output().bytes()));
    shown.output = all.into();
    shared.exit.send_replace(Some(exit));
    screen.show(TerminalEvent::Update(Box::new(shown))).await;
}

/// The exit status of a command: after a signal as shells have it, unless the signal ended its
/// guard as well.
fn exit_status(status: ExitStatus) -> TerminalExitStatus {
    let mut exit = TerminalExitStatus::new();
    exit.exit_code = status.code().and_then(|code| u32::try_from(code).ok());
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        let signal =
            status.signal().and_then(|signal| nix::sys::signal::Signal::try_from(signal).ok());
        exit.signal = signal.map(|signal| signal.as_str().to_owned());
    }
    exit
}
