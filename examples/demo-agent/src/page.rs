//! Words that call tools of the client's page: from the session's MCP server named `ui`, or from its `_meta`.

use crate::script::{Question, Scene, Step};
use crate::talk::{say, words};
use crate::tools::{failed, raw, start, status, update};
use acp_types::v1::session_setup::{McpServer, McpServerStdio, NewSessionRequest};
use acp_types::v1::tool_calls::{ToolCall, ToolCallStatus};
use acp_types::v2;
use core::fmt;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::{Meta, Raw};
use mcp_bridge::client::{CallParams, Client, ClientEvent, ClientOptions};
use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
use mcp_bridge::mcp::content::ContentBlock;
use serde_json::{Value, json};
use std::io;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::time::{Instant, sleep_until};

/// The server with the page's tools.
const SERVER: &str = "ui";

/// Jaeger's members for contextual tools, and the method for their calls.
const META_KEY: &str = "jaegertracing.io/contextual-tools";
const METHOD: &str = "_meta/jaegertracing.io/tools/call";
const PREFIX: &str = "ui_";

/// The way to call the page's tools.
#[derive(Clone, Debug, Default)]
pub(crate) enum PageTools {
    #[default]
    None,
    /// An MCP server to start.
    Server(Box<McpServerStdio>),
    /// An extension method.
    Extension,
}

impl PageTools {
    /// Returns the way that a session's params offer.
    pub(crate) fn of(request: &NewSessionRequest) -> Self {
        let server = request.mcp_servers.iter().find_map(|server| match server {
            McpServer::Stdio(server) if server.name == SERVER => Some(server.clone()),
            _ => None,
        });
        Self::offered(server, request.meta.as_ref())
    }

    /// As [`of`](Self::of), in version 2.
    pub(crate) fn of_v2(request: &v2::session_setup::NewSessionRequest) -> Self {
        let server = request.mcp_servers.iter().flatten().find_map(|server| match server {
            v2::session_setup::McpServer::Stdio(server) if server.name == SERVER => {
                let (args, env) = (server.args.clone(), server.env.clone());
                let (args, env) = (args.unwrap_or_default(), env.unwrap_or_default());
                Some(McpServerStdio::new(SERVER, server.command.as_str(), args, env))
            }
            _ => None,
        });
        Self::offered(server, request.meta.as_ref())
    }

    fn offered(server: Option<McpServerStdio>, meta: Option<&Meta>) -> Self {
        match server {
            Some(server) => Self::Server(Box::new(server)),
            None if meta.is_some_and(|meta| meta.get(META_KEY).is_some()) => Self::Extension,
            None => Self::None,
        }
    }
}

/// A call of a tool of the page.
pub(crate) struct PageCall {
    pub(crate) server: Box<McpServerStdio>,
    id: String,
    tool: &'static str,
    arguments: Value,
    pub(crate) then: Box<dyn FnOnce(Result<String, String>) -> Vec<Step>>,
}

impl fmt::Debug for PageCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageCall").field("tool", &self.tool).finish_non_exhaustive()
    }
}

/// Asks the user to choose.
pub(crate) fn ask(scene: &mut Scene) -> Vec<Step> {
    let arguments = json!({ "question": "Tea or coffee?", "options": ["tea", "coffee"] });
    call(scene, "choose", arguments, "Your page")
}

/// Makes the page dark.
pub(crate) fn dark(scene: &mut Scene) -> Vec<Step> {
    call(scene, "set_theme", json!({ "theme": "dark" }), "Your page")
}

/// Sets the title of the conversation.
pub(crate) fn title(scene: &mut Scene) -> Vec<Step> {
    call(scene, "set_title", json!({ "title": "A conversation with a name" }), "Your page")
}

/// Books a flight with a tool that asks its user.
pub(crate) fn book(scene: &mut Scene) -> Vec<Step> {
    let arguments = json!({ "from": "Oslo", "destination": "Lisbon" });
    call(scene, "book_flight", arguments, "The tool")
}

/// Calls a tool, and reports its result under a name.
fn call(scene: &mut Scene, tool: &'static str, arguments: Value, who: &'static str) -> Vec<Step> {
    let (id, name) = (scene.tool_call_id(), scene.message_id());
    let ended = id.clone();
    let then = move |result: Result<String, String>| {
        let (end, said) = match result {
            Ok(text) => {
                let mut done = status(&ended, ToolCallStatus::Completed);
                done.raw_output = raw(&json!(text)).map_or(Default::default(), Into::into);
                (done, format!("{who} says: {text}. "))
            }
            Err(error) => (failed(&ended, &error), format!("{who} does not do it: {error}. ")),
        };
        let mut steps = vec![update(end)];
        steps.extend(words(&name, &said));
        steps
    };
    let title = match &scene.page {
        PageTools::None => return say(scene, "I was given no tools of a page. "),
        PageTools::Server(_) => format!("mcp__{SERVER}__{tool}"),
        PageTools::Extension => format!("{PREFIX}{tool}"),
    };
    let mut announced = ToolCall::new(id.clone(), title);
    announced.status = Some(ToolCallStatus::InProgress);
    announced.raw_input = raw(&arguments);
    let step = match &scene.page {
        PageTools::Server(server) => Step::CallPage(PageCall {
            server: server.clone(),
            id: id.to_string(),
            tool,
            arguments,
            then: Box::new(then),
        }),
        _ => {
            let name = format!("{PREFIX}{tool}");
            let session = &scene.session_id;
            let params = json!({ "sessionId": session, "name": name, "args": arguments });
            let Some(params) = raw(&params) else { return Vec::new() };
            let then = Box::new(move |answer: Result<Raw, _>| match answer {
                Ok(_) => then(Ok("it was told".to_owned())),
                Err(error) => {
                    let error: jsonrpc_core::ErrorObject = error;
                    then(Err(error.message))
                }
            });
            Step::Ask(Question { method: METHOD, params, then })
        }
    };
    vec![start(announced), step]
}

impl PageCall {
    /// Starts the server, makes the call, and ends the server.
    pub(crate) async fn make(&self) -> Result<String, String> {
        self.talk().await.unwrap_or_else(|error| Err(format!("the server: {error}")))
    }

    async fn talk(&self) -> io::Result<Result<String, String>> {
        let environment = self.server.env.iter().map(|variable| (&variable.name, &variable.value));
        let mut child = Command::new(&self.server.command)
            .args(&self.server.args)
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let mut lines = BufReader::new(stdout).lines();
        let info = Implementation::new("demo-agent", env!("CARGO_PKG_VERSION"));
        let mut client = Client::new(ClientOptions::new(info, ClientCapabilities::new()));
        let began = Instant::now();
        client.start(Duration::ZERO);
        loop {
            while let Some(event) = client.poll_event() {
                match event {
                    ClientEvent::Ready(_) => {
                        client.call(self.params()?).map_err(io::Error::other)?;
                    }
                    ClientEvent::Done { result, .. } => {
                        let texts = result.content.iter().filter_map(|block| match block {
                            ContentBlock::Text(text) => Some(text.text.as_str()),
                            _ => None,
                        });
                        let text = texts.collect::<Vec<_>>().join("\n");
                        let failed = result.is_error.unwrap_or_default();
                        return Ok(if failed { Err(text) } else { Ok(text) });
                    }
                    ClientEvent::Failed { error, .. } => return Ok(Err(error.to_string())),
                    ClientEvent::Unusable(error) => return Ok(Err(error.to_string())),
                    _ => {}
                }
            }
            while let Some(message) = client.poll_outgoing() {
                let mut line = Vec::new();
                message.as_message().to_line(&mut line);
                stdin.write_all(&line).await?;
            }
            let due = client.poll_timeout().map(|at| began + at);
            tokio::select! {
                line = lines.next_line() => match line? {
                    Some(line) => client.handle_line(Ok::<_, FrameError>(&line), None),
                    None => return Ok(Err("the server has ended".to_owned())),
                },
                () = sleep_until(due.unwrap_or(began)), if due.is_some() => {
                    client.handle_timeout(began.elapsed());
                }
            }
        }
    }

    fn params(&self) -> io::Result<CallParams> {
        let arguments = Raw::from_value(&self.arguments).map_err(io::Error::other)?;
        let mut params = CallParams::new(self.tool, arguments);
        // The id joins the client's and the agent's report of the call.
        params.meta = raw(&json!({ "callId": self.id })).map(Meta::from);
        params.wants_progress = true;
        Ok(params)
    }
}
