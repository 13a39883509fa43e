//! An ACP client for a terminal: it starts an agent, sends a prompt, and prints the answer.
//!
//! ```console
//! $ cargo run -p mini --bin mini-client -- what is in this folder -- claude-code-acp
//! ```
//!
//! [`converse`] has the life of a connection. [`Terminal`] handles what the agent sends: updates of
//! the session, and requests for permission, which the user answers with a number.
use acp_types::client::{Prompt, TurnEnd};
use acp_types::connection::{
    ConnectionOptions, Context, Peer, Result, Sessions, async_trait, framed, v1,
};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::initialization::{Implementation, InitializeRequest, ProtocolVersion};
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate, StopReason};
use acp_types::v1::session_setup::NewSessionRequest;
use acp_types::v1::tool_calls::{
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome,
};
use clap::Parser;
use jsonrpc_core::wire::Extra;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Time for the agent to answer `initialize`.
const START_TIME: Duration = Duration::from_secs(30);
/// Time for the agent to exit after its input has ended, and to end a cancelled turn.
const EXIT_TIME: Duration = Duration::from_secs(5);

/// Starts an ACP agent, sends it a prompt, and prints its answer
///
/// The answer is written to standard output, tool calls and questions to standard error.
/// Permissions are asked for on standard input; an empty line or its end cancels the turn. So does
/// Ctrl-C.
#[derive(Debug, Parser)]
#[command(name = "mini-client", version)]
struct Args {
    /// The words of the prompt
    #[arg(required = true, value_name = "WORD")]
    prompt: Vec<String>,
    /// The command of the agent
    #[arg(required = true, last = true, value_name = "AGENT")]
    agent: Vec<OsString>,
}

#[tokio::main]
async fn main() {
    let code = match run(Args::parse()).await {
        Ok(StopReason::EndTurn) => 0,
        Ok(reason) => {
            eprintln!("mini-client: the turn ended with {}", reason.as_str());
            1
        }
        Err(error) => {
            eprintln!("mini-client: {error}");
            1
        }
    };
    // A read from standard input cannot be cancelled, so the runtime would wait for the user.
    std::process::exit(code);
}

/// Runs the agent for one turn, and returns the reason for its end.
async fn run(args: Args) -> Result<StopReason, Box<dyn Error>> {
    let Some((program, arguments)) = args.agent.split_first() else {
        return Err("no agent".into());
    };
    let mut agent = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let output = agent.stdout.take().ok_or("the agent has no output")?;
    let input = agent.stdin.take().ok_or("the agent has no input")?;

    let (reader, writer) = framed(output, input);
    let mut initialize = InitializeRequest::new(ProtocolVersion::V1);
    initialize.client_info = Some(Implementation::new("mini-client", env!("CARGO_PKG_VERSION")));
    let options = ConnectionOptions::default();
    let terminal = Terminal::new();
    let (connection, sessions) = v1::connect_client(terminal, reader, writer, initialize, options);
    let connection = tokio::spawn(connection);
    let end = converse(&sessions, args.prompt.join(" ")).await;

    // Dropping the connection closes the input of the agent, which then exits.
    connection.abort();
    if timeout(EXIT_TIME, agent.wait()).await.is_err() {
        agent.kill().await?;
    }
    end
}

/// Opens a session, and sends the prompt.
async fn converse(sessions: &Sessions, prompt: String) -> Result<StopReason, Box<dyn Error>> {
    let cwd = std::env::current_dir().unwrap_or_default().display().to_string();
    // The request `initialize` is sent first, without a call. A program that is no agent answers
    // nothing.
    let started = timeout(START_TIME, sessions.initialized()).await;
    started.map_err(|_| {
        format!("no response to `initialize` within {START_TIME:?}: is it an ACP agent?")
    })??;
    let session = sessions.open(NewSessionRequest::new(cwd, [])).await?;
    let turn = session.prompt(Prompt::v1([prompt.into()]));
    tokio::pin!(turn);
    let end = tokio::select! {
        end = &mut turn => end?,
        _ = tokio::signal::ctrl_c() => {
            session.cancel();
            match timeout(EXIT_TIME, turn).await {
                Ok(end) => end?,
                Err(_) => return Ok(StopReason::Cancelled),
            }
        }
    };
    // The last updates may still wait for their handler.
    sessions.peer().caught_up().await;
    print("\n");
    match end.value {
        TurnEnd::V1(response) => Ok(response.stop_reason),
        // The client offers only version 1.
        _ => Ok(StopReason::from("unknown")),
    }
}

/// The user's side of the connection.
struct Terminal {
    /// Lines of the user. The lock keeps concurrent questions apart.
    lines: Mutex<Lines<BufReader<Stdin>>>,
}

impl Terminal {
    fn new() -> Self {
        Self { lines: Mutex::new(BufReader::new(tokio::io::stdin()).lines()) }
    }
}

#[async_trait]
impl v1::Client for Terminal {
    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        context: Context,
    ) -> Result<RequestPermissionResponse> {
        let mut lines = self.lines.lock().await;
        let call = &request.tool_call;
        let title = call.title.value().map_or(call.tool_call_id.as_str(), |title| title);
        eprintln!("\nThe agent asks for permission: {title}");
        for (number, option) in (1..).zip(&request.options) {
            eprintln!("  {number}  {}", option.name);
        }
        let line = tokio::select! {
            line = lines.next_line() => line.ok().flatten().unwrap_or_default(),
            // The turn was cancelled.
            () = context.cancelled() => String::new(),
        };
        let number = line.trim().parse::<usize>().ok();
        let option = number.and_then(|number| request.options.get(number.checked_sub(1)?));
        let outcome = match option {
            Some(option) => {
                let selected = SelectedPermissionOutcome::new(option.option_id.clone());
                RequestPermissionOutcome::Selected(selected)
            }
            None => RequestPermissionOutcome::Cancelled(Extra::new()),
        };
        Ok(RequestPermissionResponse::new(outcome))
    }

    async fn session_update(&self, notification: SessionNotification, _: Peer) {
        match notification.update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                if let ContentBlock::Text(text) = chunk.content {
                    print(&text.text);
                }
            }
            SessionUpdate::ToolCall(call) => {
                eprintln!("\n[{}] {}", call.status_or_pending().as_str(), call.title);
            }
            SessionUpdate::ToolCallUpdate(change) => {
                if let Some(status) = change.status.value() {
                    eprintln!("[{}] {}", status.as_str(), change.tool_call_id.as_str());
                }
            }
            SessionUpdate::Plan(plan) => {
                for entry in plan.entries {
                    eprintln!("[plan] {}: {}", entry.status.as_str(), entry.content);
                }
            }
            _ => {}
        }
    }
}

/// Prints a piece of text at once. The reader of the output may be gone.
fn print(text: &str) {
    let mut output = io::stdout().lock();
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}
