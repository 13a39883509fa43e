//! One session: the agent, the relay in both directions, and their end.

use crate::cli::Options;
use crate::ending::{Action, Ending, Event};
use crate::export::{Destinations, Exporter};
use crate::launch::{cannot_run, launch};
use crate::line_file::LineFile;
use crate::observe;
use crate::relay::{Ended, discard, relay};
use crate::tap::Tap;
use core::sync::atomic::{AtomicBool, Ordering};
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::WaitStatus;
use nix::unistd::{Pid, dup2_stdout};
use semconv_map::{CloseReason, Direction};
use std::error::Error;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::{Child, ExitCode};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

/// Runs the agent and relays until it ends; gives its exit status.
///
/// # Errors
/// The operating system refuses what every session needs: threads, descriptors, signal handlers; or the exporter cannot be
/// made from these options.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let (exporter, transcript) = match set_up(options, &runtime) {
        Ok(outputs) => outputs,
        Err(error) => {
            eprintln!("acp-traces: {error}");
            return Ok(ExitCode::from(2));
        }
    };
    let (happened, events) = channel();
    forward_signals(&runtime, &happened)?;
    let Some((program, arguments)) = options.command.split_first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut agent = match launch(program, arguments) {
        Ok(agent) => agent,
        Err(error) => return Ok(cannot_run(program, &error)),
    };
    let tap = Arc::new(Tap::default());
    let holding = Arc::new(AtomicBool::new(false));
    relay_both(&mut agent, &tap, &holding, &happened)?;
    let observer = observe::start(Arc::clone(&tap), exporter, options.spans.policy(), transcript)?;
    let group = Pid::from_raw(i32::try_from(agent.id()).map_err(io::Error::other)?);
    watch_exit(group, happened)?;
    let (status, reason) = supervise(group, &events, &holding, Ending::new(options.grace));
    observer.finish(reason);
    runtime.shutdown_background();
    Ok(ExitCode::from(status))
}

/// Makes what the options ask for, before anything runs.
fn set_up(
    options: &Options,
    runtime: &Runtime,
) -> Result<(Exporter, Option<LineFile>), Box<dyn Error>> {
    let exporter = Exporter::new(Destinations::new(&options.spans, runtime.handle())?)?;
    let transcript = options.record.as_deref().map(LineFile::create).transpose()?;
    Ok((exporter, transcript))
}

/// Waits for what happens, does what follows, until the session is over.
fn supervise(
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
                        eprintln!("acp-traces: cannot send {signal} to the agent: {error}");
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

    let (to_agent, happened_there) = (Arc::clone(tap), happened.clone());
    thread::Builder::new().name("editor to agent".to_owned()).spawn(move || {
        let mut source = editor_in;
        let ended = relay(
            &mut source,
            agent_in,
            Direction::ClientToAgent,
            &to_agent,
            &AtomicBool::new(false),
        );
        if ended == Ended::Sink {
            discard(source);
        }
        // Nobody listens any more only when the session is over.
        let _ = happened_there.send(Event::EditorClosed);
    })?;

    let (to_editor, holding, happened) = (Arc::clone(tap), Arc::clone(holding), happened.clone());
    thread::Builder::new().name("agent to editor".to_owned()).spawn(move || {
        let ended = relay(agent_out, editor_out, Direction::AgentToClient, &to_editor, &holding);
        if ended == Ended::Sink {
            let _ = happened.send(Event::EditorClosed);
        }
        let _ = happened.send(Event::OutputEnded);
    })?;
    Ok(())
}

/// Tells of the agent's exit.
fn watch_exit(agent: Pid, happened: Sender<Event>) -> io::Result<()> {
    thread::Builder::new().name("exit".to_owned()).spawn(move || {
        let status = loop {
            match wait_for(agent) {
                Ok(WaitStatus::Exited(_, code)) => {
                    break u8::try_from(code & 0xff).unwrap_or(u8::MAX);
                }
                Ok(WaitStatus::Signaled(_, signal, _)) => break 128 + signal as u8,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => {
                    eprintln!("acp-traces: cannot wait for the agent: {error}");
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

fn forward_signals(runtime: &Runtime, happened: &Sender<Event>) -> io::Result<()> {
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
