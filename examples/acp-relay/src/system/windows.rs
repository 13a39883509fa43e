use super::{Ready, Signal};
use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle;
use std::process::{Child, Command, Stdio};
use tokio::runtime::Handle;
use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

/// An end of a pipe.
pub(crate) trait End {}

impl<T> End for T {}

/// Pipes of Windows do not say that they would block: there is nothing to wait for.
pub(crate) fn wait_ready(_: &impl End, _: Ready) -> io::Result<()> {
    Err(io::ErrorKind::WouldBlock.into())
}

/// Pipes of Windows hold what they were made for.
pub(crate) fn widen(_: &impl End) {}

/// Starts a process. It stays in the group of the console, from which it gets Ctrl-C as this program does.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Takes over standard input and output. Nothing else in this program writes there.
pub(crate) fn editor_ends() -> io::Result<(File, File)> {
    let stdin = File::from(io::stdin().as_handle().try_clone_to_owned()?);
    let stdout = File::from(io::stdout().as_handle().try_clone_to_owned()?);
    Ok((stdin, stdout))
}

/// The agent and what it started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentProcess(u32);

impl AgentProcess {
    pub(crate) fn of(child: &Child) -> io::Result<Self> {
        Ok(Self(child.id()))
    }

    /// Kills the tree of processes; the rest they hear from the console.
    pub(crate) fn signal(self, signal: Signal) -> io::Result<()> {
        if signal != Signal::Kill {
            return Ok(());
        }
        let mut command = Command::new("taskkill");
        command.args(["/T", "/F", "/PID"]).arg(self.0.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        Ok(())
    }
}

/// Waits for the agent's exit; gives the low byte of its status, for more does not go on.
pub(crate) fn wait_for(agent: &mut Child) -> io::Result<u8> {
    let status = agent.wait()?.code().unwrap_or(1);
    Ok(u8::try_from(status).unwrap_or(u8::MAX))
}

/// Tells each event of the console that asks this program to end.
pub(crate) fn forward_signals(
    runtime: &Handle,
    tell: impl Fn(Signal) -> bool + Clone + Send + 'static,
) -> io::Result<()> {
    let _context = runtime.enter();
    macro_rules! forward {
        ($event:expr, $signal:expr) => {
            let (mut arrived, tell) = ($event?, tell.clone());
            runtime.spawn(async move { while arrived.recv().await.is_some() && tell($signal) {} });
        };
    }
    forward!(ctrl_c(), Signal::Interrupt);
    forward!(ctrl_break(), Signal::Terminate);
    forward!(ctrl_close(), Signal::Hangup);
    forward!(ctrl_shutdown(), Signal::Terminate);
    Ok(())
}

/// Nobody asks for it here.
pub(crate) fn become_agent(_: &str, _: u32, _: &mut Command) -> io::Error {
    io::ErrorKind::Unsupported.into()
}
