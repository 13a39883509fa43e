//! The gateway as a child process.
use crate::run::Run;
use reqwest::{Client, ClientBuilder, StatusCode};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::future::Future;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::rustls::crypto::ring::default_provider;

/// Time limit of each wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for an event that must occur.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(PATIENCE, what).await.expect("it did not come")
}

/// A running gateway.
pub(crate) struct Gateway {
    pub(crate) child: Child,
    pub(crate) address: String,
    pub(crate) client: Client,
    /// The lines of standard error, which ends when all processes that inherited it have ended: the
    /// gateway and the guards of its agents.
    stderr: mpsc::UnboundedReceiver<String>,
    /// Value of [`MARK`] in the environment of the gateway and its processes.
    #[cfg(target_os = "linux")]
    mark: String,
}

/// Variable of the environment that identifies the processes of one gateway.
#[cfg(target_os = "linux")]
const MARK: &str = "TEST_OF_GATEWAY";

/// Returns whether a process with this mark is left.
#[cfg(target_os = "linux")]
fn is_left(mark: &str) -> bool {
    let mark = format!("{MARK}={mark}").into_bytes();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    // Files of processes that end meanwhile cannot be read.
    let environments = processes.filter_map(|it| std::fs::read(it.path().join("environ")).ok());
    environments.into_iter().any(|it| it.split(|byte| *byte == 0).any(|variable| variable == mark))
}

/// The gateway under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_gateway");

/// A command line of the gateway.
pub(crate) fn command(arguments: &[&str]) -> Command {
    command_of(PROGRAM, arguments)
}

/// The same for a gateway at another path.
pub(crate) fn command_of(program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env(demo_agent::PAUSE_VARIABLE, "0").kill_on_drop(true);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["GATEWAY_", "OTEL_"].iter().any(|prefix| text.starts_with(prefix)) || text == "RUST_LOG"
        {
            command.env_remove(name);
        }
    }
    // Tests keep no conversations of the user.
    command.env("GATEWAY_STORE", "none");
    command
}

/// The command that runs an agent of `tests/agents`.
pub(crate) fn script(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents").join(name);
    format!("sh '{}.sh'", path.display())
}

/// Input of a 1.0 client with `text` as the only message.
pub(crate) fn input(thread: &str, run: &str, text: &str) -> Value {
    json!({
        "protocolVersion": "1.0", "threadId": thread, "runId": run,
        "messages": [{ "id": format!("{run}-user"), "role": "user", "content": text }],
    })
}

/// Returns a builder of HTTP clients, which panic without a default provider of TLS.
pub(crate) fn http() -> ClientBuilder {
    let _ = default_provider().install_default();
    Client::builder().no_proxy()
}

impl Gateway {
    /// Starts a gateway with the demo agent.
    pub(crate) async fn demo(arguments: &[&str]) -> Self {
        Self::start(arguments, &[]).await
    }

    /// Starts a gateway with the demo agent and questions in the stream.
    pub(crate) async fn asking_in_stream() -> Self {
        Self::demo(&["--permission", "ask-in-stream"]).await
    }

    /// Starts a gateway with environment variables.
    pub(crate) async fn with_environment(variables: &[(&str, &str)]) -> Self {
        Self::start(&[], variables).await
    }

    /// Starts a gateway with options and environment variables.
    pub(crate) async fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = command(arguments);
        command.envs(variables.iter().copied());
        Self::listening(command).await
    }

    /// Starts a gateway without an option for its address.
    ///
    /// Authentication is off, unless the settings or the environment configure it.
    pub(crate) async fn listening(mut command: Command) -> Self {
        if !configures_users(&command) {
            command.arg("--no-auth");
        }
        #[cfg(target_os = "linux")]
        let mark = tempfile::NamedTempFile::new().unwrap().path().display().to_string();
        #[cfg(target_os = "linux")]
        command.env(MARK, &mark);
        let mut child = command
            .args(["--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (send, mut stderr) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                eprintln!("gateway: {line}");
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let address = loop {
            let line = soon(stderr.recv()).await.expect("the gateway does not start");
            if let Some((_, address)) =
                line.split_once("listening on http").and_then(|(_, it)| it.split_once("://"))
            {
                break address.to_owned();
            }
        };
        let client = http().build().unwrap();
        Self {
            child,
            address,
            client,
            stderr,
            #[cfg(target_os = "linux")]
            mark,
        }
    }

    /// Starts a gateway with a file of settings.
    pub(crate) async fn configured(settings: &str) -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), settings).unwrap();
        // The gateway has read the file before it listens.
        Self::demo(&["--config", file.path().to_str().unwrap()]).await
    }

    /// Starts a gateway with an agent of `tests/agents`.
    pub(crate) async fn script(name: &str, arguments: &[&str]) -> Self {
        Self::demo(&[&["--agent", &script(name)], arguments].concat()).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Posts an input, and returns the response.
    pub(crate) async fn chat(&self, input: &Value) -> reqwest::Response {
        soon(self.client.post(self.url("/api/ai/chat")).json(input).send()).await.unwrap()
    }

    /// Starts a run, which must succeed.
    pub(crate) async fn run(&self, input: &Value) -> Run {
        let response = self.chat(input).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-cache, no-transform");
        Run::new(input, response)
    }

    /// Starts a run in a thread, with one message.
    pub(crate) async fn ask(&self, thread: &str, run: &str, text: &str) -> Run {
        self.run(&input(thread, run, text)).await
    }

    /// Follows a run, from after the event with this id.
    pub(crate) async fn follow(&self, run: &str, after: Option<&str>) -> reqwest::Response {
        let request = self.client.get(self.url(&format!("/api/ai/chat/runs/{run}/events")));
        let request = match after {
            Some(id) => request.header("Last-Event-ID", id),
            None => request,
        };
        soon(request.send()).await.unwrap()
    }

    /// Posts to an endpoint of a run.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> (StatusCode, String) {
        let url = self.url(&format!("/api/ai/chat/{path}"));
        refusal(soon(self.client.post(url).json(body).send()).await.unwrap()).await
    }

    /// The next line of standard error; `None` at its end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        soon(self.stderr.recv()).await
    }

    /// Waits for a line of standard error that contains the text.
    pub(crate) async fn says(&mut self, text: &str) -> String {
        loop {
            let line = self.line().await.expect(text);
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Waits for one line of standard error for each text, in any order: the lines of the agent
    /// and those of the gateway come from two pipes.
    pub(crate) async fn says_all(&mut self, texts: impl IntoIterator<Item = &str>) {
        let mut awaited: Vec<&str> = texts.into_iter().collect();
        while !awaited.is_empty() {
            let line = self.line().await.unwrap_or_else(|| panic!("not said: {awaited:?}"));
            if let Some(found) = awaited.iter().position(|text| line.contains(text)) {
                awaited.remove(found);
            }
        }
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
    }

    /// Waits until the gateway, its agent and their children have ended.
    pub(crate) async fn ended(mut self) -> ExitStatus {
        let status = soon(self.child.wait()).await.unwrap();
        soon(async { while self.stderr.recv().await.is_some() {} }).await;
        #[cfg(target_os = "linux")]
        soon(async {
            while is_left(&self.mark) {
                tokio::task::yield_now().await;
            }
        })
        .await;
        status
    }
}

/// Whether a file of settings or a variable is about authentication.
fn configures_users(command: &Command) -> bool {
    let mut arguments = command.as_std().get_args();
    arguments.by_ref().find(|argument| *argument == "--config");
    let file = arguments.next().and_then(|file| std::fs::read_to_string(file).ok());
    let mut variables = command.as_std().get_envs();
    file.is_some_and(|file| file.contains("[auth"))
        || variables.any(|(name, value)| name == "GATEWAY_TOKEN" && value.is_some())
}

/// The status and the message of a response that is not a stream.
pub(crate) async fn refusal(response: reqwest::Response) -> (StatusCode, String) {
    let status = response.status();
    let body = soon(response.text()).await.unwrap();
    if status.is_success() {
        return (status, body);
    }
    let error: Value = serde_json::from_str(&body).expect(&body);
    (status, error["error"].as_str().expect(&body).to_owned())
}
