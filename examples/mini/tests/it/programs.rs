//! Runs programs with bounded waits, and ends them with their handles.
use std::ffi::OsStr;
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

pub(crate) const AGENT: &str = env!("CARGO_BIN_EXE_mini-agent");
pub(crate) const AGUI_CLIENT: &str = env!("CARGO_BIN_EXE_mini-agui-client");
pub(crate) const AGUI_SERVER: &str = env!("CARGO_BIN_EXE_mini-agui-server");
pub(crate) const CLIENT: &str = env!("CARGO_BIN_EXE_mini-client");
pub(crate) const EDITOR_AGENT: &str = env!("CARGO_BIN_EXE_mini-editor-agent");
pub(crate) const GATEWAY: &str = env!("CARGO_BIN_EXE_mini-gateway");
pub(crate) const MCP_CLIENT: &str = env!("CARGO_BIN_EXE_mini-mcp-client");
pub(crate) const MCP_SERVER: &str = env!("CARGO_BIN_EXE_mini-mcp-server");
pub(crate) const PROXY: &str = env!("CARGO_BIN_EXE_mini-proxy");

/// Limit of each wait.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn command(program: &str, words: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(program);
    command.args(words).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a program with an input until it ends.
pub(crate) async fn run(program: &str, words: &[impl AsRef<OsStr>], input: &[u8]) -> Output {
    let mut child = command(program, words).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("an input");
    let input = input.to_vec();
    let written = tokio::spawn(async move {
        // The program may end without its input.
        let _ = stdin.write_all(&input).await;
    });
    let ended = timeout(PATIENCE, child.wait_with_output()).await;
    written.await.expect("the input is written");
    ended.expect("the program ends in time").expect("an output")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Asserts success, and returns what the program has printed.
pub(crate) fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}: {}", output.status, stderr(output));
    stdout(output)
}

/// A program that listens. It is ended with this handle.
pub(crate) struct Server {
    pub(crate) url: String,
    _stderr: BufReader<ChildStderr>,
    _child: Child,
}

impl Server {
    /// Starts a program on a free port, and waits until it listens.
    pub(crate) async fn start(program: &str, words: &[&str]) -> Self {
        let listen = ["--listen", "127.0.0.1:0"];
        let words = [&listen[..], words].concat();
        let mut child = command(program, &words).spawn().expect("the program starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("an error output"));
        let mut line = String::new();
        let read = timeout(PATIENCE, stderr.read_line(&mut line)).await;
        read.expect("the program listens in time").expect("a line");
        let url = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
        Self { url, _stderr: stderr, _child: child }
    }
}
