//! One session: the agent, the relay in both directions, and their end.

use crate::ending::{Action, Ending, Event};
use crate::insertion::Inserting;
use crate::launch::{cannot_run, launch};
use crate::relay::{Before, Ended, discard, relay};
use crate::{CloseReason, Insert, Tap};
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use jsonrpc_core::transcript::Direction;
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::WaitStatus;
use nix::unistd::{Pid, dup2_stdout};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::{Child, ExitCode};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};

/// An agent that runs, with our standard input and output as its editor.
#[derive(Debug)]
pub struct Session {
    name: &'static str,
    group: Pid,
    tap: Arc<Tap>,
    holding: Arc<AtomicBool>,
    events: Receiver<Event>,
}

/// A session has not begun.
#[derive(Debug)]
pub enum NotStarted {
    /// The command cannot be run, which was said on standard error; the exit status that shells use for it.
    CannotRun(ExitCode),
    /// The operating system refuses what every session needs: threads, descriptors, signal handlers.
    Io(io::Error),
}

impl From<io::Error> for NotStarted {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Session {
    /// Starts the agent and begins to relay. `name` is the program's own, for its messages; signals are waited for on
    /// `runtime`. From now on standard output is the relay's alone. With `insert`, lines go through that instead of being
    /// copied to the [tap](Self::tap).
    ///
    /// # Errors
    /// The command cannot be run, or the operating system refuses something.
    pub fn start(
        name: &'static str,
        command: &[OsString],
        runtime: &Handle,
        insert: Option<&Arc<dyn Insert>>,
    ) -> Result<Self, NotStarted> {
        let (happened, events) = channel();
        forward_signals(runtime, &happened)?;
        let (program, arguments) =
            command.split_first().ok_or(io::ErrorKind::InvalidInput).map_err(io::Error::from)?;
        let mut agent = launch(program, arguments)
            .map_err(|error| NotStarted::CannotRun(cannot_run(name, program, &error)))?;
        let (tap, holding) = (Arc::new(Tap::default()), Arc::new(AtomicBool::new(false)));
        relay_both(&mut agent, &tap, insert, &holding, &happened)?;
        let group = Pid::from_raw(i32::try_from(agent.id()).map_err(io::Error::other)?);
        watch_exit(name, group, happened)?;
        Ok(Self { name, group, tap, holding, events })
    }

    /// Where the copy of what passes is.
    pub fn tap(&self) -> &Arc<Tap> {
        &self.tap
    }

    /// Waits until the session is over; gives the agent's exit status, and why it is over. Once the editor has gone, the
    /// agent may take as long as `grace` to end by itself.
    pub fn supervise(&self, grace: Duration) -> (u8, CloseReason) {
        supervise(self.name, self.group, &self.events, &self.holding, Ending::new(grace))
    }
}

/// Waits for what happens, does what follows, until the session is over.
fn supervise(
    name: &str,
    group: Pid,
    events: &Receiver<Event>,
    holding: &AtomicBool,
    mut ending: Ending,
) -> (u8, CloseReason) {
    loop {
        let now = Instant::now();
        while let Some(action) = ending.poll(now, holding.load(Ordering::SeqCst)) {
            match action {
                Action::Signal(signal) => {
                    if let Err(error) = killpg(group, signal) {
                        eprintln!("{name}: cannot send {signal} to the agent: {error}");
                    }
                }
                Action::Finish(status) => {
                    // There may be nobody left.
                    let _ = killpg(group, Signal::SIGKILL);
                    let wanted = ending.is_wanted();
                    let reason =
                        if wanted { CloseReason::ClientClosed } else { CloseReason::AgentExited };
                    return (status, reason);
                }
            }
        }
        let event = match ending.poll_timeout(now) {
            Some(at) => events.recv_timeout(at.saturating_duration_since(now)),
            None => events.recv().map_err(RecvTimeoutError::from),
        };
        if let Ok(event) = event {
            ending.handle(event, Instant::now());
        }
    }
}

fn relay_both(
    agent: &mut Child,
    tap: &Arc<Tap>,
    insert: Option<&Arc<dyn Insert>>,
    holding: &Arc<AtomicBool>,
    happened: &Sender<Event>,
) -> io::Result<()> {
    let (Some(agent_in), Some(agent_out)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err(io::Error::other("the agent has no pipes"));
    };
    let editor_in = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let editor_out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    // Now it is ours alone: the editor sees its end when the agent ends it, and nothing else can write to it.
    dup2_stdout(File::options().write(true).open("/dev/null")?)?;

    let (tap_there, happened_there) = (Arc::clone(tap), happened.clone());
    let inserting = |direction| insert.map(|it| Inserting::new(Arc::clone(it), direction));
    let to_agent = inserting(Direction::Sent);
    thread::Builder::new().name("editor to agent".to_owned()).spawn(move || {
        let mut source = editor_in;
        let copy = Before::Copy(Direction::Sent, &tap_there);
        let before = to_agent.map_or(copy, Before::Insert);
        let ended = relay(&mut source, agent_in, before, &AtomicBool::new(false));
        if ended == Ended::Sink {
            discard(source);
        }
        // Nobody listens any more only when the session is over.
        let _ = happened_there.send(Event::EditorClosed);
    })?;

    let (tap, holding, happened) = (Arc::clone(tap), Arc::clone(holding), happened.clone());
    let to_editor = inserting(Direction::Received);
    thread::Builder::new().name("agent to editor".to_owned()).spawn(move || {
        let copy = Before::Copy(Direction::Received, &tap);
        let before = to_editor.map_or(copy, Before::Insert);
        let ended = relay(agent_out, editor_out, before, &holding);
        if ended == Ended::Sink {
            let _ = happened.send(Event::EditorClosed);
        }
        let _ = happened.send(Event::OutputEnded);
    })?;
    Ok(())
}

/// Tells of the agent's exit.
fn watch_exit(name: &'static str, agent: Pid, happened: Sender<Event>) -> io::Result<()> {
    thread::Builder::new().name("exit".to_owned()).spawn(move || {
        let status = loop {
            match wait_for(agent) {
                Ok(WaitStatus::Exited(_, code)) => {
                    break u8::try_from(code & 0xff).unwrap_or(u8::MAX);
                }
                Ok(WaitStatus::Signaled(_, signal, _)) => break 128 + signal as u8,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => {
                    eprintln!("{name}: cannot wait for the agent: {error}");
                    break 1;
                }
            }
        };
        let _ = happened.send(Event::AgentExited(status));
    })?;
    Ok(())
}

/// Waits for the agent's exit and does not reap it, so that its process group keeps its number.
#[cfg(target_os = "linux")]
fn wait_for(agent: Pid) -> nix::Result<WaitStatus> {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    waitid(Id::Pid(agent), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)
}

/// Waits for the agent's exit. It is reaped, so its group keeps its number only while somebody else is in it.
#[cfg(not(target_os = "linux"))]
fn wait_for(agent: Pid) -> nix::Result<WaitStatus> {
    nix::sys::wait::waitpid(agent, None)
}

fn forward_signals(runtime: &Handle, happened: &Sender<Event>) -> io::Result<()> {
    let _context = runtime.enter();
    for (kind, number) in [
        (SignalKind::terminate(), Signal::SIGTERM),
        (SignalKind::interrupt(), Signal::SIGINT),
        (SignalKind::hangup(), Signal::SIGHUP),
    ] {
        let (mut arrived, happened) = (signal(kind)?, happened.clone());
        runtime.spawn(async move {
            while arrived.recv().await.is_some() && happened.send(Event::Signal(number)).is_ok() {}
        });
    }
    Ok(())
}
