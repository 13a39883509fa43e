//! A client and a tool server in one program: the client lists the tools and calls one.
//!
//! ```text
//! cargo run -p mcp-bridge --example call_tool
//! ```
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use mcp_bridge::client::{CallParams, Client, ClientEvent, ClientOptions};
use mcp_bridge::jsonrpc_core::wire::{self, Raw};
use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::{CallOutcome, Server, ServerEvent, ServerOptions};
use serde::Deserialize;
use std::error::Error;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let add: Tool = wire::decode(
        r#"{
            "name": "add",
            "description": "Adds two integers",
            "inputSchema": {
                "type": "object",
                "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
                "required": ["a", "b"]
            }
        }"#,
    )?;
    let options = ServerOptions::new(Implementation::new("calculator", "1.0.0"), [add]);
    let mut server = Server::new(options);

    let info = Implementation::new("example", "1.0.0");
    let mut client = Client::new(ClientOptions::new(info, ClientCapabilities::new()));
    client.start(Duration::ZERO);
    loop {
        exchange(&mut client, &mut server)?;
        match client.poll_event().ok_or("the server did not respond")? {
            ClientEvent::Ready(description) => {
                println!("connected, protocol version {}", description.version.as_str());
                client.list_tools()?;
            }
            ClientEvent::Tools(list) => {
                for tool in &list.tools {
                    println!(
                        "tool `{}`: {}",
                        tool.name,
                        tool.description.as_deref().unwrap_or("-")
                    );
                }
                client.call(CallParams::new("add", Raw::from_text(r#"{"a":1,"b":2}"#)?))?;
            }
            ClientEvent::Done { result, .. } => {
                for block in &result.content {
                    if let ContentBlock::Text(text) = block {
                        println!("1 + 2 = {}", text.text);
                    }
                }
                return Ok(());
            }
            event => return Err(format!("unexpected event: {event:?}").into()),
        }
    }
}

/// Exchanges messages until both sides are idle. A real program has a transport in between.
fn exchange(client: &mut Client, server: &mut Server) -> Result<(), Box<dyn Error>> {
    loop {
        while let Some(message) = client.poll_outgoing() {
            server.handle_message(message.as_message());
        }
        while let Some(event) = server.poll_event() {
            if let ServerEvent::Call(call) = event {
                server.complete(call.id, add(&call.arguments), None)?;
            }
        }
        let Some(outgoing) = server.poll_outgoing() else { return Ok(()) };
        client.handle_message(outgoing.message.as_message(), None);
    }
}

#[derive(Deserialize)]
struct AddArguments {
    a: i64,
    b: i64,
}

fn add(arguments: &Raw) -> CallOutcome {
    let sum = arguments.decode_serde().map(|AddArguments { a, b }| a.checked_add(b));
    match sum {
        Ok(Some(sum)) => {
            let text = ContentBlock::Text(TextContent::new(sum.to_string()));
            CallOutcome::Done(Box::new(CallToolResult::new([text])))
        }
        Ok(None) => CallOutcome::failed("the sum is out of range"),
        Err(error) => CallOutcome::failed(&error.to_string()),
    }
}
