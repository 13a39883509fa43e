//! Messages of the protocol: decoded with unknown parts, by method, leniently, and encoded again.
//!
//! `cargo run -p acp-types --example types`
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use acp_types::jsonrpc_core::Message;
use acp_types::jsonrpc_core::wire::{self, Mode};
use acp_types::v1::dispatch::AgentNotification;
use acp_types::v1::prompt_turn::{PromptResponse, SessionNotification, SessionUpdate, StopReason};

/// A line of an agent that is newer than this program: the kind of the tool call and a member are
/// unknown.
const LINE: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Think","kind":"ponder","depth":3}}}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The method selects the type of the parameters.
    let Message::Notification(line) = Message::decode(LINE)? else { return Ok(()) };
    let params = line.params.ok_or("no parameters")?;
    let notification = AgentNotification::decode(&line.method, Some(params))?;
    println!("method: {}", notification.method());

    // Known members are fields. Unknown ones are kept.
    let notification: SessionNotification = wire::decode(params.get())?;
    if let SessionUpdate::ToolCall(call) = &notification.update {
        println!("title: {}", call.title);
        println!("kind: {:?}", call.kind.as_ref().map(|kind| (kind.as_str(), kind.is_known())));
        println!("depth: {:?}", call.extra.get("depth").map(|depth| depth.as_str()));
    }
    assert_eq!(serde_json::to_string(&notification)?, params.get());

    // An invalid member is an error with its position, or is dropped with a diagnostic.
    let invalid = LINE.replace(r#""kind":"ponder""#, r#""kind":7"#);
    let Message::Notification(line) = Message::decode(&invalid)? else { return Ok(()) };
    let params = line.params.ok_or("no parameters")?.get();
    if let Err(error) = wire::decode::<SessionNotification>(params) {
        println!("strict: {error}");
    }
    let decoded = wire::decode_with::<SessionNotification>(params, Mode::SpecLenient)?;
    for diagnostic in &decoded.diagnostics {
        println!("lenient: {diagnostic}");
    }

    // Required members are parameters of `new`.
    println!("{}", serde_json::to_string(&PromptResponse::new(StopReason::EndTurn))?);
    Ok(())
}
