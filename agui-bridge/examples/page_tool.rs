//! A tool of the page, called by an ACP agent: the run ends, and the next input has the result.
//!
//! The machines [`FrontendTools`] and [`Translator`] as a program drives them. A [`Conversation`]
//! contains both; this is for programs that have another one.
//!
//! [`Conversation`]: agui_bridge::conversation::Conversation
#![allow(clippy::print_stdout, reason = "the output of the program")]

use acp_types::v1::prompt_turn::{
    ContentChunk, PromptResponse, SessionNotification, SessionUpdate, StopReason,
};
use agui_bridge::frontend_tool::{
    Binding, CallOwner, FrontendToolOptions, FrontendTools, NewCall, Outcome,
};
use agui_bridge::jsonrpc_core::wire::{Raw, decode};
use agui_bridge::{Options, RunOpen, Translator};
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use core::time::Duration;
use std::error::Error;

/// Responds to the calls of the agent. An MCP server would send the responses.
struct Responses;

impl Binding for Responses {
    fn answer(&mut self, call_id: &ToolCallId, outcome: Outcome) {
        if let Outcome::Result(result) = outcome {
            println!("response to the agent's call {call_id}: {}", result.content.text());
        }
    }

    /// A result that is too late for the call becomes a part of the next prompt.
    fn prefix_prompt(&mut self, _: &ToolCallId, _: &str) {}
}

/// A thread of the page, with its agent.
struct Thread {
    translator: Translator,
    tools: FrontendTools,
}

impl Thread {
    /// Handles a run's input. A turn that waits for results of the page continues.
    fn handle_input(&mut self, input: &RunAgentInput, now: Duration) -> Result<(), RunOpen> {
        // The prompt for the agent, or what the run continues.
        let _begun = self.translator.begin_run(input, &[])?;
        let tools = input.tools.as_deref().unwrap_or_default();
        if self.tools.is_turn_open() {
            self.tools.resume_turn(tools, now);
            self.tools.handle_messages(&input.messages, now);
        } else {
            self.tools.begin_turn(tools, now);
        }
        Ok(())
    }

    /// Handles an update of the agent. Its reports of calls of the page's tools are left out.
    fn handle_update(&mut self, update: SessionNotification, now: Duration) {
        if self.tools.handle_update(&update, now) == CallOwner::Agent {
            self.translator.handle_notification(update);
        }
    }

    /// Handles the agent's response to the prompt.
    fn handle_response(&mut self, response: PromptResponse) {
        self.tools.handle_turn_end();
        self.translator.handle_prompt_response(Ok(response));
    }

    /// Prints the events for the page, and the responses to the agent.
    fn print(&mut self, now: Duration) -> Result<(), serde_json::Error> {
        self.tools.handle_timeout(now);
        self.tools.drive(&mut Responses, &mut self.translator);
        while let Some(event) = self.translator.poll_event() {
            println!("event for the page: {}", serde_json::to_string(&event)?);
        }
        Ok(())
    }
}

const INPUT: &str = r#"{
    "threadId": "thread-1",
    "runId": "run-1",
    "messages": [{"id": "m1", "role": "user", "content": "Paint the door."}],
    "tools": [{"name": "pick_colour", "description": "Lets the user pick a colour."}]
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let at = Duration::from_millis;
    let translator = Translator::new(Options::new());
    let tools = FrontendTools::new(FrontendToolOptions::new());
    let mut thread = Thread { translator, tools };

    let mut input: RunAgentInput = decode(INPUT)?;
    thread.handle_input(&input, at(0))?;
    // The agent calls the tool of its MCP server.
    let arguments = Raw::from_text(r#"{"of":"the door"}"#)?;
    let call = thread.tools.handle_call(NewCall::new("pick_colour", arguments), at(10))?;
    // Without other work the run ends, and the agent waits.
    thread.print(at(200))?;

    // The input of the next run has the result.
    input.run_id = "run-2".into();
    let result = format!(r#"{{"id":"m2","role":"tool","toolCallId":"{call}","content":"green"}}"#);
    input.messages.push(decode(&result)?);
    thread.handle_input(&input, at(1000))?;
    let text = SessionUpdate::AgentMessageChunk(ContentChunk::new("The door is green now."));
    thread.handle_update(SessionNotification::new("session-1", text), at(1010));
    thread.handle_response(PromptResponse::new(StopReason::EndTurn));
    thread.print(at(1020))?;
    Ok(())
}
