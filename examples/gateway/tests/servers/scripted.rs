//! A server over stdin and stdout that fails in every way that a test needs.
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::{Needs, Server, ServerEvent, ServerOptions, ToolCall};
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};
use std::process::{ExitCode, exit, id};

mod asking;

/// Serves until the end of stdin. With `silent`, nothing is answered; with `broken`, the server
/// ends at once; with `legacy`, it is one up to 2025-11-25; with `asking`, one that asks in an
/// order of its own.
pub(crate) fn serve(mode: &str) -> ExitCode {
    if mode == "broken" {
        eprintln!("the licence has expired");
        return ExitCode::from(3);
    }
    let mut tools = Vec::new();
    let info = Implementation::new("scripted", "1");
    for name in ["echo", "large", "die", "hang", "ask", "add", "process"] {
        tools.push(tool(name));
    }
    let mut server = Server::new(ServerOptions::new(info, tools.clone()));
    let mut asking = asking::AskingCalls::default();
    for line in io::stdin().lock().lines() {
        let line = line.expect("text");
        if mode == "asking" {
            asking.handle(&line);
            continue;
        }
        match mode {
            "silent" => continue,
            "legacy" if line.contains(r#""server/discover""#) => {
                let id = &serde_json::from_str::<Value>(&line).expect("JSON")["id"];
                let error = json!({ "code": -32601, "message": "unknown method" });
                println!("{}", json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                continue;
            }
            _ => server.handle_line(Ok::<_, FrameError>(&line)),
        }
        while let Some(event) = server.poll_event() {
            if let ServerEvent::Call(call) = event {
                handle(&mut server, &mut tools, &call);
            }
        }
        let mut written = Vec::new();
        while let Some(outgoing) = server.poll_outgoing() {
            outgoing.message.as_message().to_line(&mut written);
        }
        io::stdout().write_all(&written).expect("a reader");
        io::stdout().flush().expect("a reader");
    }
    ExitCode::SUCCESS
}

fn handle(server: &mut Server, tools: &mut Vec<Tool>, call: &ToolCall) {
    let arguments: Value = call.arguments.decode().expect("JSON");
    let text = match &*call.name {
        "echo" => arguments["text"].as_str().unwrap_or_default().to_owned(),
        "large" => "x".repeat(arguments["bytes"].as_u64().expect("a number") as usize),
        "die" => exit(7),
        "process" => id().to_string(),
        "hang" => return,
        "add" => {
            tools.push(tool(arguments["name"].as_str().expect("a name")));
            server.set_tools(tools.clone());
            "added".to_owned()
        }
        "ask" => match call.response("name") {
            None => {
                let request = ServerRequest::decode("elicitation/create", Some(form().as_ref()));
                let needs = Needs::new([("name", request.expect("a form"))]);
                return server.ask(call.id, needs, None).expect("a client that can be asked");
            }
            Some(answer) => {
                let answer: Value = answer.as_ref().expect("an answer").decode().expect("JSON");
                format!("{} {}", answer["action"], answer["content"]["name"])
            }
        },
        _ => "new".to_owned(),
    };
    let result = CallToolResult::new([ContentBlock::Text(TextContent::new(text))]);
    server.finish(call.id, result).expect("an open call");
}

fn form() -> Raw {
    let properties = json!({ "name": { "type": "string" } });
    let schema = json!({ "type": "object", "properties": properties, "required": ["name"] });
    Raw::from_value(&json!({ "message": "Your name?", "requestedSchema": schema })).expect("JSON")
}

fn tool(name: &str) -> Tool {
    let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
    wire::decode(&tool.to_string()).expect("a tool")
}
