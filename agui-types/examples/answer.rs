//! Answers the request of a page: prints the body of a `text/event-stream` response.
//!
//! In a server, `posted` is the body of the request and the printed text is the body of the
//! response.
use agui_types::input::RunAgentInput;
use agui_types::jsonrpc_core::wire;
use agui_types::message::Message;
use agui_types::{produce::Run, sse};
use std::error::Error;
use std::io::{self, Write as _};

fn main() -> Result<(), Box<dyn Error>> {
    let posted = r#"{
        "threadId": "thread-1",
        "runId": "run-1",
        "messages": [{"id": "message-1", "role": "user", "content": "Paint the door."}],
        "tools": [{"name": "pick_colour", "description": "Lets the user pick a colour."}]
    }"#;
    io::stdout().write_all(&answer(posted)?)?;
    Ok(())
}

/// Repeats the last message of the user, then calls a tool of the page.
fn answer(posted: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let input: RunAgentInput = wire::decode(posted)?;
    let mut run = Run::begin(&input, Vec::new());

    if let Some(Message::User(last)) = input.messages.last() {
        let message = run.new_message_id();
        run.text(&message, "You wrote: ")?;
        run.text(&message, &last.content.text())?;
    }
    let call = run.new_tool_call_id();
    run.tool_call(&call, "pick_colour", None)?;
    run.arguments(&call, "{}")?;
    run.finish()?;

    let mut body = Vec::new();
    for event in run.sink() {
        sse::write_event(&mut body, event)?;
    }
    Ok(body)
}
