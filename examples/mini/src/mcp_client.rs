//! An MCP client for a terminal: it lists tools, or calls one, and answers its questions.
//!
//! ```console
//! $ cargo run -p mini --bin mini-mcp-client -- \
//!     --call add --arguments '{"a":1,"b":2}' -- target/debug/mini-mcp-server
//! ```
//!
//! [`McpClient`] has one interface for servers of both generations, over HTTP and over the pipes of
//! a process, which [`start`] connects. [`Terminal`] answers what a tool asks its user.
use async_trait::async_trait;
use clap::Parser;
use futures::stream::unfold;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::{CallParams, ClientOptions};
use mcp_bridge::mcp::capabilities::{ClientCapabilities, ElicitationCapability, Implementation};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::{
    ElicitAction, ElicitRequestFormParams, ElicitRequestParams, ElicitResult,
    PrimitiveSchemaDefinition,
};
use mcp_bridge_http::{Handler, McpClient};
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines, Stdin};
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

/// Largest number of bytes that are read at once.
const MAX_READ: usize = 64 * 1024;
/// Largest number of lines that wait for the server to read them.
const MAX_LINES: usize = 256;
/// Time for the server to exit after its input has ended.
const EXIT_TIME: Duration = Duration::from_secs(5);

/// Lists the tools of an MCP server, or calls one
///
/// The result is written to standard output, questions of the tool to standard error. They are
/// answered on standard input, a line for each field of the form; the end of the input cancels a
/// question.
#[derive(Debug, Parser)]
#[command(name = "mini-mcp-client", version)]
struct Args {
    /// Calls this tool; otherwise the tools are listed
    #[arg(long, value_name = "TOOL")]
    call: Option<String>,
    /// The arguments of the call, a JSON object
    #[arg(long, value_name = "JSON", requires = "call", default_value = "{}", value_parser = json)]
    arguments: Raw,
    /// Connects to a server over HTTP
    #[arg(long, required_unless_present = "server", conflicts_with = "server")]
    url: Option<String>,
    /// The command of the server
    #[arg(last = true, value_name = "SERVER")]
    server: Vec<OsString>,
}

fn json(text: &str) -> Result<Raw, String> {
    let raw = Raw::from_text(text).map_err(|error| error.to_string())?;
    if raw.as_str().starts_with('{') { Ok(raw) } else { Err("expected an object".to_owned()) }
}

#[tokio::main]
async fn main() {
    let code = match run(Args::parse()).await {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            eprintln!("mini-mcp-client: {error}");
            1
        }
    };
    // A read from standard input cannot be cancelled, so the runtime would wait for the user.
    std::process::exit(code);
}

/// Connects, and lists the tools or calls one. Returns whether the call has succeeded.
async fn run(args: Args) -> Result<bool, Box<dyn Error>> {
    let mut capabilities = ClientCapabilities::new();
    capabilities.elicitation = Some(ElicitationCapability::new());
    let info = Implementation::new("mini-mcp-client", env!("CARGO_PKG_VERSION"));
    let options = ClientOptions::new(info, capabilities);
    let handler = Arc::new(Terminal::new());
    let Some(url) = &args.url else {
        let (client, mut process) = start(&args.server, options, handler).await?;
        let result = act(&client, &args).await;
        // Closes the input of the server, which then exits.
        drop(client);
        if timeout(EXIT_TIME, process.wait()).await.is_err() {
            process.kill().await?;
        }
        return result;
    };
    // The HTTP client needs a provider of cryptography for `https` URLs.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = McpClient::connect(reqwest::Client::new(), url, options, handler, None).await?;
    act(&client, &args).await
}

/// Starts a server, and connects to its standard input and output.
async fn start(
    command: &[OsString],
    options: ClientOptions,
    handler: Arc<Terminal>,
) -> Result<(McpClient, Child), Box<dyn Error>> {
    let Some((program, arguments)) = command.split_first() else { return Err("no server".into()) };
    let mut process = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let stdout = process.stdout.take().ok_or("the server has no output")?;
    let mut stdin = process.stdin.take().ok_or("the server has no input")?;

    let incoming = unfold(stdout, |mut stdout| async move {
        let mut buffer = vec![0; MAX_READ];
        match stdout.read(&mut buffer).await {
            Ok(0) => None,
            Ok(length) => {
                buffer.truncate(length);
                Some((Ok(buffer), stdout))
            }
            Err(error) => Some((Err(error), stdout)),
        }
    });
    // The client does not wait for the server to read, so a task writes the lines.
    let (lines, mut queued) = mpsc::channel::<Vec<u8>>(MAX_LINES);
    tokio::spawn(async move {
        while let Some(line) = queued.recv().await {
            stdin.write_all(&line).await?;
            stdin.flush().await?;
        }
        Ok::<_, io::Error>(())
    });
    let send = move |line| lines.try_send(line).map_err(io::Error::other);
    let client = McpClient::connect_pipes(incoming, send, options, handler).await?;
    Ok((client, process))
}

/// Lists the tools, or calls one.
async fn act(client: &McpClient, args: &Args) -> Result<bool, Box<dyn Error>> {
    let mut output = io::stdout().lock();
    let Some(name) = &args.call else {
        let list = client.tools().await?;
        for tool in &list.tools {
            let description = tool.description.as_deref().unwrap_or_default();
            writeln!(output, "{}: {description}", tool.name)?;
        }
        return Ok(true);
    };
    let result = client.call(CallParams::new(name, args.arguments.clone())).await?;
    writeln!(output, "{}", result.to_text())?;
    Ok(result.is_error != Some(true))
}

/// Answers requests of the server with lines of the user.
struct Terminal {
    /// The lock keeps concurrent questions apart.
    lines: Mutex<Lines<BufReader<Stdin>>>,
}

impl Terminal {
    fn new() -> Self {
        Self { lines: Mutex::new(BufReader::new(tokio::io::stdin()).lines()) }
    }

    /// Asks for each field of a form. Returns `None` at the end of the input.
    async fn fill(&self, form: &ElicitRequestFormParams) -> Option<ElicitResult> {
        let schema = form.schema().ok()?;
        let mut lines = self.lines.lock().await;
        eprintln!("{}", form.message);
        let mut result = ElicitResult::new(ElicitAction::Accept);
        let content = result.content.get_or_insert_default();
        for (name, field) in schema.fields() {
            eprintln!("{name}:");
            let line = lines.next_line().await.ok().flatten()?;
            // An empty line leaves an optional field out.
            if line.is_empty() && !schema.is_required(name) {
                continue;
            }
            let value = match field {
                Ok(PrimitiveSchemaDefinition::String(_)) => Raw::from_value(&line).ok()?,
                _ => Raw::from_text(line.as_str()).or_else(|_| Raw::from_value(&line)).ok()?,
            };
            content.insert(name, value);
        }
        Some(result)
    }
}

#[async_trait]
impl Handler for Terminal {
    async fn answer(&self, request: &ServerRequest) -> Result<Raw, ErrorObject> {
        let form = match request {
            ServerRequest::Elicit(elicitation) => match &**elicitation {
                ElicitRequestParams::Form(form) => Some(form),
                _ => None,
            },
            _ => None,
        };
        let form = form.ok_or_else(|| {
            ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "only forms are supported")
        })?;
        let result = self.fill(form).await;
        Ok(Raw::of(&result.unwrap_or_else(|| ElicitResult::new(ElicitAction::Cancel))))
    }
}
