//! Calls of tools of the client's page, by its MCP server.

use crate::script::PageCall;
use crate::tools::raw;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::{Meta, Raw};
use mcp_bridge::client::{CallParams, Client, ClientEvent, ClientOptions};
use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
use mcp_bridge::mcp::content::ContentBlock;
use serde_json::json;
use std::io;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::time::{Instant, sleep_until};

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
