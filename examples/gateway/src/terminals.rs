//! Commands that an agent runs through the gateway, below a root.
use crate::process::Process;
use crate::settings::Access;
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

/// The most terminals of a session that may be there.
const MAX_IN_SESSION: usize = 16;

/// The most terminals of an agent.
const MAX_TERMINALS: usize = 256;

/// The most bytes of output that are kept of a terminal; the agent may want fewer.
const MAX_OUTPUT: usize = 1024 * 1024;

/// How long a command that has ended is listened to: what it started may hold its output open.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What a command finds in its environment of the gateway's, beside what the agent sets: no secrets.
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

/// Something of a terminal that a page may show.
#[derive(Debug)]
pub(crate) enum Shown {
    Terminal(Box<TerminalUpdate>),
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
    shared: Arc<Shared>,
    stop: DropGuard,
    /// The same, for one that is to stay.
    kill: CancellationToken,
}

#[derive(Debug)]
struct Shared {
    output: Mutex<Output>,
    exit: watch::Sender<Option<TerminalExitStatus>>,
}

/// The end of what a command has written.
#[derive(Debug)]
struct Output {
    bytes: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl Output {
    fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, truncated: false }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Not with each piece: what is kept moves.
        if self.bytes.len() > self.limit.saturating_mul(2).max(4096) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.limit);
        if surplus > 0 {
            self.bytes.drain(..surplus);
            self.truncated = true;
        }
    }

    /// At most so many bytes of text, and whether there was more. A character of which the rest may still come is left out
    /// until it has.
    fn text(&mut self, has_ended: bool) -> (String, bool) {
        self.cut();
        let whole = if has_ended { self.bytes.len() } else { whole_characters(&self.bytes) };
        let kept = self.bytes.get(..whole).unwrap_or_default();
        // What was cut in a character begins with the rest of it.
        let torn = kept.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        let kept = if self.truncated { kept.get(torn..).unwrap_or_default() } else { kept };
        let mut text = String::from_utf8_lossy(kept).into_owned();
        let surplus = text.len().saturating_sub(self.limit);
        if surplus > 0 {
            // Bytes that are no text are longer as text.
            let from = (surplus..=text.len()).find(|at| text.is_char_boundary(*at));
            text.drain(..from.unwrap_or(text.len()));
            self.truncated = true;
        }
        (text, self.truncated)
    }
}

/// How many bytes there are before a character at the end that is not whole.
fn whole_characters(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    let tail = bytes.get(from..).unwrap_or_default();
    let lead = tail.iter().rposition(|byte| *byte & 0xc0 == 0xc0);
    let torn = lead.and_then(|lead| Some((lead, str::from_utf8(tail.get(lead..)?).err()?)));
    match torn {
        Some((lead, error)) if error.error_len().is_none() => from + lead,
        _ => bytes.len(),
    }
}

impl Terminals {
    /// Runs a command; what it says goes to `shows` as well.
    pub(crate) fn create(
        &mut self,
        access: &Access,
        request: &CreateTerminalRequest,
        shows: mpsc::Sender<(SessionId, Shown)>,
    ) -> Result<TerminalId, ErrorObject> {
        let session = &request.session_id;
        let of_session = self.open.values().filter(|open| open.session == *session).count();
        if of_session >= MAX_IN_SESSION || self.open.len() >= MAX_TERMINALS {
            let message = "too many terminals; release some";
            return Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, message));
        }
        let cwd = access.root.directory(request.cwd.as_deref())?;
        let (process, stdout) = spawn(request, &cwd)?;
        self.begun += 1;
        let id = TerminalId::from(format!("terminal-{}", self.begun));
        let asked =
            request.output_byte_limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let limit = asked.unwrap_or(MAX_OUTPUT).min(MAX_OUTPUT);
        let shared = Arc::new(Shared {
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

    /// What a terminal of the session has said, and how it has ended.
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

    /// Ends what the session has.
    pub(crate) fn end_session(&mut self, session: &SessionId) {
        self.open.retain(|_, terminal| terminal.session != *session);
    }

    /// Ends all, and waits for that.
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

impl Shared {
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

/// Where a terminal is shown.
struct Screen {
    session: SessionId,
    id: TerminalId,
    shows: mpsc::Sender<(SessionId, Shown)>,
}

impl Screen {
    async fn show(&self, shown: Shown) {
        // Whoever does not look any more misses nothing that is kept.
        let _ = self.shows.send((self.session.clone(), shown)).await;
    }

    async fn output(&self, bytes: &[u8]) {
        let chunk = TerminalOutputChunk::new(self.id.as_str(), STANDARD.encode(bytes));
        self.show(Shown::Output(chunk)).await;
    }
}

/// Reads what a command says until it has ended, or is to.
async fn serve(
    mut process: Process,
    mut stdout: ChildStdout,
    shared: Arc<Shared>,
    kill: CancellationToken,
    screen: Screen,
    begun: TerminalUpdate,
) {
    tokio::select! {
        () = screen.show(Shown::Terminal(Box::new(begun))) => {}
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
                    // One that nobody looks at is ended all the same.
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
    // What it says while it is ended is kept, and does not keep it.
    let (ended, _) = tokio::join!(process.stop(), timeout(LAST_WORDS, last_words));
    let exit = match ended {
        Ok(status) => exit_status(status),
        Err(error) => {
            tracing::warn!(%error, "how a command ended is not known");
            TerminalExitStatus::new()
        }
    };
    let mut shown = TerminalUpdate::new(screen.id.as_str());
    let mut shown_exit = ShownExit::new();
    (shown_exit.exit_code, shown_exit.signal) =
        (exit.exit_code.map(i64::from), exit.signal.clone());
    shown.exit_status = shown_exit.into();
    let all =
        acp_types::v2::terminals::TerminalOutput::new(STANDARD.encode(&shared.output().bytes));
    shown.output = all.into();
    shared.exit.send_replace(Some(exit));
    screen.show(Shown::Terminal(Box::new(shown))).await;
}

/// A command that a signal has ended has the status that shells give it, unless its guard was ended with it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_character_that_is_not_whole_is_left_out_until_it_is() {
        let mut output = Output::new(100);
        output.push("h\u{e9}".as_bytes());
        output.push(&"\u{20ac}".as_bytes()[..2]);
        assert_eq!(output.text(false), ("h\u{e9}".to_owned(), false));
        assert_eq!(output.text(true), ("h\u{e9}\u{fffd}".to_owned(), false));
        output.push(&"\u{20ac}".as_bytes()[2..]);
        assert_eq!(output.text(false), ("h\u{e9}\u{20ac}".to_owned(), false));
        output.push(b"\xff");
        assert_eq!(output.text(false), ("h\u{e9}\u{20ac}\u{fffd}".to_owned(), false));
    }

    proptest! {
        /// The output is the end of what was written, cut between characters, and no longer than the limit.
        #[test]
        fn output_is_the_end_of_what_was_written(
            text in "[a-z\u{e9}\u{20ac}\u{1f600}]{0,60}",
            piece in 1..9_usize,
            limit in 0..80_usize,
        ) {
            let mut output = Output::new(limit);
            for piece in text.as_bytes().chunks(piece) {
                output.push(piece);
                let _so_far = output.text(false);
            }
            let (kept, truncated) = output.text(true);
            prop_assert!(kept.len() <= limit);
            prop_assert!(text.ends_with(&kept));
            prop_assert_eq!(truncated, kept.len() < text.len());
            // Not a character more could be kept.
            let before = text.strip_suffix(&kept).and_then(|before| before.chars().next_back());
            prop_assert!(before.is_none_or(|before| kept.len() + before.len_utf8() > limit));
        }

        /// Bytes that are no text do not make more of it than the limit.
        #[test]
        fn what_is_no_text_is_bounded(bytes in prop::collection::vec(any::<u8>(), 0..200), limit in 0..80_usize) {
            let mut output = Output::new(limit);
            bytes.chunks(7).for_each(|piece| output.push(piece));
            prop_assert!(output.text(false).0.len() <= limit);
            prop_assert!(output.text(true).0.len() <= limit);
        }
    }
}
