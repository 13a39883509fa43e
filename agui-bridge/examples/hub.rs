//! A hub between two pages and an agent in the same process: prints the lines to the agent and the
//! events for the pages.
//!
//! In a server, the lines go through a pipe to the agent's process, and HTTP responses read the logs
//! of the runs.
#![allow(clippy::print_stdout, reason = "the output of the program")]

use acp_types::client::Options;
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use agui_bridge::conversation::ConversationOptions;
use agui_bridge::hub::{Hub, HubOptions};
use agui_bridge::jsonrpc_core::wire::decode;
use agui_types::input::RunAgentInput;
use agui_types::run_log::{LogRead, RunLog, RunLogLimits};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::time::Instant;

/// Limits of the log of a run.
const LIMITS: RunLogLimits = RunLogLimits { events: 20_000, bytes: 8 << 20 };

/// Largest size of one read from a log, in bytes.
const MAX_READ: usize = 64 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut hub = Hub::new(HubOptions::new(ConversationOptions::new("/work")));
    hub.connect(Options::v1(InitializeRequest::new(ProtocolVersion::V1)), start.elapsed());

    let mut logs = BTreeMap::new();
    for (thread, text) in [("thread-1", "Hi"), ("thread-2", "Good morning")] {
        let posted = json!({
            "threadId": thread,
            "runId": "run-1",
            "messages": [{"id": "message-1", "role": "user", "content": text}],
        });
        let input: RunAgentInput = decode(&posted.to_string())?;
        logs.insert(thread.to_owned(), RunLog::new(&input, LIMITS));
        hub.handle_run(thread, input, start.elapsed())?;
    }

    let mut agent = VecDeque::new();
    loop {
        while let Some(transmit) = hub.poll_transmit() {
            println!("to the agent: {}", String::from_utf8_lossy(&transmit.line));
            agent.extend(respond(&serde_json::from_slice(&transmit.line)?));
        }
        while let Some(event) = hub.poll_run() {
            if let Some(log) = logs.get_mut(&*event.thread) {
                event.append_to(log)?;
            }
        }
        let Some(line) = agent.pop_front() else { break };
        hub.handle_line(Ok(&line), start.elapsed());
    }
    for (thread, log) in &logs {
        let mut after = 0;
        while let LogRead::Frames(frames) = log.read(after, MAX_READ) {
            println!("to the page of {thread}:");
            print!("{}", String::from_utf8_lossy(&frames.bytes));
            after = frames.last;
        }
    }
    Ok(())
}

/// The lines with which an agent answers a request: it repeats each prompt.
fn respond(request: &Value) -> Vec<String> {
    let id = &request["id"];
    let response =
        |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    match request["method"].as_str() {
        Some("initialize") => {
            vec![response(json!({"protocolVersion": 1, "agentCapabilities": {}}))]
        }
        Some("session/new") => vec![response(json!({"sessionId": format!("session-{id}")}))],
        Some("session/prompt") => {
            let params = &request["params"];
            let update = json!({
                "sessionUpdate": "agent_message_chunk",
                "content": params.pointer("/prompt/0"),
            });
            let params = json!({"sessionId": params["sessionId"], "update": update});
            let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
            vec![update.to_string(), response(json!({"stopReason": "end_turn"}))]
        }
        _ => Vec::new(),
    }
}
