//! Translates one turn of an agent to the response of a page, without a hub.
use acp_types::v1::initialization::PromptCapabilities;
use agui_bridge::input::{Work, work};
use agui_bridge::jsonrpc_core::wire::decode;
use agui_bridge::{Options, Translator, TurnStart};
use agui_types::{input::RunAgentInput, sse};
use std::error::Error;
use std::io::{self, Write as _};

const POSTED: &str = r#"{
    "threadId": "thread-1",
    "runId": "run-1",
    "protocolVersion": "1.0",
    "messages": [{"id": "message-1", "role": "user", "content": "What is in notes.txt?"}]
}"#;

/// The parameters of the agent's `session/update` notifications.
const UPDATES: [&str; 3] = [
    r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Read notes.txt","kind":"read"}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":"Milk"}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"It says: milk."}}}"#,
];

fn main() -> Result<(), Box<dyn Error>> {
    let input: RunAgentInput = decode(POSTED)?;
    let Work::Prompt(prompt) = work(&input, &PromptCapabilities::new(), None)? else {
        return Err("the input has no new message".into());
    };

    let mut translator = Translator::new(Options::new());
    if translator.begin_run(&input, &prompt.blocks)? != TurnStart::Prompt {
        return Err("the run needs no prompt".into());
    }
    // A program sends `prompt.blocks` with `session/prompt` here.
    for params in UPDATES {
        translator.handle_notification(decode(params)?);
    }
    translator.handle_prompt_response(Ok(decode(r#"{"stopReason":"end_turn"}"#)?));

    let mut body = Vec::new();
    while let Some(event) = translator.poll_event() {
        sse::write_event(&mut body, &event)?;
    }
    io::stdout().write_all(&body)?;
    Ok(())
}
