//! One session: the agent, the relay in both directions, and their end.

use super::answers::{SharedInput, answers};
use super::ending::{Action, Event, Shutdown};
use super::insertion::InputEnd;
use super::pass::{PassMode, Progress, RelayEnd, discard, relay};
use super::{Observer, Tap};
use crate::process::launch::{cannot_run, launch};
use crate::system::{ProcessGroup, Signal, editor_ends, forward_signals, second_end};
use core::time::Duration;
use jsonrpc_core::transcript::Direction;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::process::{Child, ExitCode};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;
use tokio::runtime::Handle;

/// A running agent, with standard input and output as its editor.
#[derive(Debug)]
pub struct Session {
    name: &'static str,
    agent: ProcessGroup,
    tap: Arc<Tap>,
    progress: Arc<Progress>,
    events: Receiver<Event>,
}

/// A session could not start.
#[derive(Debug)]
pub enum StartError {
    /// The command cannot be run, as reported on standard error; has the exit status that shells
    /// use.
    CannotRun(ExitCode),
    /// The operating system refuses threads, descriptors or signal handlers.
    Io(io::Error),
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// Exit status of the agent, for [`std::process::exit`]: on Windows it exceeds an [`ExitCode`].
    pub status: i32,
    /// Whether the editor or a signal ended the session; otherwise the agent exited by itself.
    pub is_client_closed: bool,
}

impl Session {
    /// Starts the agent and the relay. `name` is this program's, for its messages; `variables` are
    /// set for the agent; signals are awaited on `runtime`. Standard output belongs to the relay
    /// from now on.
    ///
    /// # Errors
    /// The command cannot be run, or the operating system refuses something.
    pub fn start(
        name: &'static str,
        command: &[OsString],
        variables: &BTreeMap<String, String>,
        runtime: &Handle,
        watching: Observer,
    ) -> Result<Self, StartError> {
        let (happened, events) = channel();
        let tell = happened.clone();
        forward_signals(runtime, move |signal| tell.send(Event::Signal(signal)).is_ok())?;
        let (program, arguments) =
            command.split_first().ok_or(io::ErrorKind::InvalidInput).map_err(io::Error::from)?;
        let mut agent = launch(program, arguments, variables)
            .map_err(|error| StartError::CannotRun(cannot_run(name, program, &error)))?;
        let process = ProcessGroup::of_std(&mut agent)?;
        let tap = Arc::new(Tap::default());
        let progress = Arc::new(Progress::default());
        relay_both(&mut agent, &tap, watching, &progress, &happened)?;
        watch_exit(name, agent, process.clone(), happened)?;
        Ok(Self { name, agent: process, tap, progress, events })
    }

    /// Returns the tap with the forwarded bytes.
    pub fn tap(&self) -> &Arc<Tap> {
        &self.tap
    }

    /// Waits for the end of the session. After the editor has gone, the agent has `grace` to end by
    /// itself.
    pub fn supervise(&self, grace: Duration) -> SessionEnd {
        supervise(self.name, &self.agent, &self.events, &self.progress, Shutdown::new(grace))
    }
}

/// Handles events until the end of the session.
fn supervise(
    name: &str,
    agent: &ProcessGroup,
    events: &Receiver<Event>,
    progress: &Progress,
    mut ending: Shutdown,
) -> SessionEnd {
    loop {
        let now = Instant::now();
        while let Some(action) = ending.poll(now, progress.count()) {
            match action {
                Action::Signal(signal) => {
                    if let Err(error) = agent.signal(signal) {
                        eprintln!("{name}: cannot send {signal:?} to the agent: {error}");
                    }
                }
                Action::Finish(status) => {
                    // The group may be empty.
                    let _ = agent.signal(Signal::Kill);
                    return SessionEnd { status, is_client_closed: ending.is_wanted() };
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
    watching: Observer,
    progress: &Arc<Progress>,
    happened: &Sender<Event>,
) -> io::Result<()> {
    let (Some(agent_in), Some(agent_out)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err(io::Error::other("the agent has no pipes"));
    };
    let (editor_in, editor_out) = editor_ends()?;

    let input = SharedInput::default();
    let (answers, to_write) = answers();
    if matches!(watching, Observer::Inserts(_)) {
        let input = input.clone();
        let sink = second_end(&agent_in)?;
        thread::Builder::new()
            .name("answers to agent".to_owned())
            .spawn(move || input.write_answers(&to_write, sink))?;
    }
    let tap_there = Arc::clone(tap);
    let happened_there = happened.clone();
    let watching_there = watching.clone();
    let last_answer = answers.clone();
    thread::Builder::new().name("editor to agent".to_owned()).spawn(move || {
        let mut source = editor_in;
        let ends = InputEnd::Editor(input.clone());
        let before = PassMode::of(watching_there, Direction::Sent, &tap_there, ends);
        let ended = relay(&mut source, agent_in, before, &Progress::default());
        if ended == RelayEnd::Sink {
            discard(source);
        }
        // The receiver is dropped only at the end of the session.
        let _ = happened_there.send(Event::InputEnded);
        // The agent's input ends when its second end is closed as well. An answer that the agent
        // does not read delays that.
        input.close();
        let _ = last_answer.send(None);
    })?;

    let tap = Arc::clone(tap);
    let progress = Arc::clone(progress);
    let happened = happened.clone();
    thread::Builder::new().name("agent to editor".to_owned()).spawn(move || {
        let before = PassMode::of(watching, Direction::Received, &tap, InputEnd::Agent(answers));
        let ended = relay(agent_out, editor_out, before, &progress);
        if ended == RelayEnd::Sink {
            let _ = happened.send(Event::EditorGone);
        }
        let _ = happened.send(Event::OutputEnded);
    })?;
    Ok(())
}

/// Reports the agent's exit.
fn watch_exit(
    name: &'static str,
    mut agent: Child,
    process: ProcessGroup,
    happened: Sender<Event>,
) -> io::Result<()> {
    thread::Builder::new().name("exit".to_owned()).spawn(move || {
        let status = process.wait(&mut agent).unwrap_or_else(|error| {
            eprintln!("{name}: cannot wait for the agent: {error}");
            1
        });
        let _ = happened.send(Event::AgentExited(status));
    })?;
    Ok(())
}
