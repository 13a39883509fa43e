//! A model with a tool of the program and a tool of the page as an AG-UI agent, without ACP.
//!
//! The first run pauses for the page. The second has the page's result among its messages.
#![allow(clippy::print_stdout, reason = "the output of the program")]

use agui_bridge::hybrid_tools::{BackendTool, HybridLoop, LoopOptions, ModelEvent, Step};
use agui_bridge::jsonrpc_core::wire::decode;
use std::error::Error;

const FIRST: &str = r#"{
    "threadId": "thread-1",
    "runId": "run-1",
    "messages": [{"id": "m1", "role": "user", "content": "Paint the door."}],
    "tools": [{"name": "pick_colour", "description": "Lets the user pick a colour."}]
}"#;

const SECOND: &str = r#"{
    "threadId": "thread-1",
    "runId": "run-2",
    "messages": [
        {"id": "m1", "role": "user", "content": "Paint the door."},
        {"id": "m2", "role": "assistant", "toolCalls": [
            {"id": "c2", "type": "function", "function": {"name": "pick_colour", "arguments": "{}"}}
        ]},
        {"id": "m3", "role": "tool", "toolCallId": "c2", "content": "red"}
    ],
    "tools": [{"name": "pick_colour", "description": "Lets the user pick a colour."}]
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    for posted in [FIRST, SECOND] {
        let backend = [BackendTool::new("stock", "Returns the colours in stock.")];
        let mut run = HybridLoop::begin(&decode(posted)?, &backend, LoopOptions::new());
        loop {
            match run.step() {
                Step::AskModel => {
                    for event in ask(&run) {
                        run.handle_model(event);
                    }
                    run.handle_model_end();
                }
                Step::RunTools(calls) => {
                    for call in calls {
                        run.handle_tool_result(&call.id, Ok("red and blue".into()));
                    }
                }
                _ => break,
            }
        }
        while let Some(event) = run.poll_event() {
            println!("{}", serde_json::to_string(&event)?);
        }
    }
    Ok(())
}

/// Stands for a request to a model with `run.history()` and `run.tools()`.
fn ask(run: &HybridLoop) -> Vec<ModelEvent> {
    match run.history().last() {
        Some(result) if result.tool_call_id.is_some() => {
            vec![ModelEvent::Text(format!("The door is {} now.", result.text()))]
        }
        _ => {
            vec![ModelEvent::call("c1", "stock", "{}"), ModelEvent::call("c2", "pick_colour", "{}")]
        }
    }
}
