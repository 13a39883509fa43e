//! The proxy as a child process.

use std::env::{self, consts::EXE_SUFFIX};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A port without a listener, which refuses connections immediately.
pub(crate) const NO_COLLECTOR: &str = "http://127.0.0.1:1";

/// Time limit for expected events.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A running proxy.
pub(crate) struct Proxy {
    pub(crate) child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    /// Standard error, once the proxy, the agent and their children have closed it.
    stderr: Receiver<String>,
}

/// Result of a proxy.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// A command of the proxy without a collector in the environment.
pub(crate) fn acp_traces(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acp-traces"));
    command.args(arguments);
    for (name, _) in env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"OTEL_") {
            command.env_remove(name);
        }
    }
    command.env(demo_agent::PAUSE_VARIABLE, "0");
    command
}

/// Returns the test agents of `examples/test-agent.rs`, which are built with the tests.
pub(crate) fn test_agent() -> PathBuf {
    let tests = env::current_exe().unwrap();
    let folder = tests.parent().and_then(|deps| deps.parent()).unwrap();
    let agent = folder.join("examples").join(format!("test-agent{EXE_SUFFIX}"));
    assert!(agent.exists(), "{} is built by `cargo test -p traces`", agent.display());
    agent
}

impl Proxy {
    /// Starts the proxy without a collector and with a test agent.
    pub(crate) fn start(agent: &[&str]) -> Self {
        Self::with_options(&["--otlp-endpoint", NO_COLLECTOR], agent)
    }

    pub(crate) fn with_options(options: &[&str], agent: &[&str]) -> Self {
        let mut command = acp_traces(options);
        command.arg("--").arg(test_agent()).args(agent);
        Self::spawn(command)
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut from = child.stderr.take().unwrap();
        let (send, stderr) = channel();
        thread::spawn(move || {
            let mut text = String::new();
            from.read_to_string(&mut text).map(|_| send.send(text))
        });
        Self { child, stdout: Some(stdout), stderr }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.child.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }

    pub(crate) fn read_byte(&mut self) -> u8 {
        let mut byte = [0];
        self.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
        byte[0]
    }

    /// Closes the input of the proxy.
    pub(crate) fn close(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Closes the reader of the proxy's output.
    pub(crate) fn hang_up(&mut self) {
        drop(self.stdout.take());
    }

    /// Writes a line each second until the proxy exits, with its input open. A process that another
    /// test starts at the same time has the closed output for a moment, so that a first line may
    /// still find a reader.
    pub(crate) fn exit_status_of_writes(mut self, line: &[u8]) -> Option<i32> {
        let mut stdin = self.child.stdin.take().unwrap();
        let start = Instant::now();
        let mut written = 0;
        while start.elapsed() < PATIENCE {
            if start.elapsed().as_secs() >= written {
                let _ended = stdin.write_all(line);
                written += 1;
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("the proxy does not exit");
    }

    /// Waits for the proxy to exit, with its input and output open.
    pub(crate) fn exit_status(mut self) -> Option<i32> {
        let stdin = self.child.stdin.take();
        let status = self.child.wait().unwrap().code();
        drop(stdin);
        status
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(self.child.id().try_into().unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    /// Waits for the proxy, the agent and their children to exit.
    pub(crate) fn wait(mut self) -> End {
        let mut stdout = Vec::new();
        self.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
        let status = self.child.wait().unwrap().code();
        let stderr = self.stderr.recv_timeout(PATIENCE).expect("a process was left behind");
        End { status, stdout, stderr }
    }

    /// Closes the input of the proxy and waits. Returns the duration as well.
    pub(crate) fn finish(mut self) -> (End, Duration) {
        let start = Instant::now();
        self.close();
        let end = self.wait();
        (end, start.elapsed())
    }
}

impl Drop for Proxy {
    /// Kills the proxy if the test fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
