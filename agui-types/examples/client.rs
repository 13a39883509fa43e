//! Queries an agent twice: the first run calls a tool of the application, the second receives its
//! result.
//!
//! In an application, `post` sends the request over HTTP.
#![allow(clippy::print_stdout, reason = "the output of the program")]

use agui_types::client::{Agent, Request, Response};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::jsonrpc_core::wire;
use agui_types::message::{Message, ToolMessage, UserMessage};
use agui_types::tool::Tool;
use agui_types::{produce::Run, sse};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut agent = Agent::new("thread-1");
    agent.tools.push(Tool::new("pick_colour", "Lets the user pick a colour."));
    agent.messages.push(Message::User(UserMessage::new("message-1", "Paint the door.")));

    let request = agent.request("run-1", Vec::new())?;
    let response = read(&request)?;
    let pending: Vec<_> = response.pending_tool_call_ids().into_iter().cloned().collect();
    agent.take(response);

    for call in pending {
        let result = ToolMessage::new(format!("result-{call}"), "red", call);
        agent.messages.push(Message::Tool(result));
    }
    let request = agent.request("run-2", Vec::new())?;
    agent.take(read(&request)?);

    println!("The conversation has {} messages.", agent.messages.len());
    Ok(())
}

/// Reads the response to a request, and prints its events as they arrive.
fn read(request: &Request) -> Result<Response, Box<dyn Error>> {
    let mut response = request.response(200, Some(sse::CONTENT_TYPE));
    for piece in post(request)?.chunks(100) {
        response.push(piece);
        while let Some(received) = response.poll() {
            print(&received?.event);
        }
    }
    response.finish();
    while let Some(received) = response.poll() {
        print(&received?.event);
    }
    Ok(response)
}

fn print(event: &Event) {
    match event {
        Event::TextMessageContent(text) => println!("text: {}", text.delta),
        Event::ToolCallStart(call) => println!("call: {}", call.tool_call_name),
        other => println!("({})", other.tag()),
    }
}

/// An agent in the same process.
fn post(request: &Request) -> Result<Vec<u8>, Box<dyn Error>> {
    let input: RunAgentInput = wire::decode(std::str::from_utf8(&request.body)?)?;
    let mut run = Run::begin(&input, Vec::new());
    if let Some(Message::Tool(colour)) = input.messages.last() {
        let message = run.new_message_id();
        run.text(&message, &format!("The door is {} now.", colour.content.text()))?;
    } else {
        let call = run.new_tool_call_id();
        run.tool_call(&call, "pick_colour", None)?;
    }
    run.finish()?;

    let mut body = Vec::new();
    for event in run.sink() {
        sse::write_event(&mut body, event)?;
    }
    Ok(body)
}
