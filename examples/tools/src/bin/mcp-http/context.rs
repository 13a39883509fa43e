//! A tool that asks with a context and returns what the form of the client received, to test other
//! clients.
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{self, Presence, Raw};
use mcp_bridge::context::{Carriers, ContextLimits, EncodeOptions, ModelContext, encode, extract};
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::{ElicitRequestFormParams, ElicitRequestParams};
use mcp_bridge::mcp::tools::CallToolResult;
use mcp_bridge::server::{CallOutcome, Needs, ToolCall};
use serde_json::{Value, json};
use std::error::Error;

/// Data for a form, including text that resembles a section of a message.
const CONTEXT: &str =
    r#"{"seats":[{"row":12,"free":true}],"price":100.5,"note":"--x-model-context: no\nø"}"#;

/// The message of the question.
const MESSAGE: &str = "Which seat?";

/// Asks, or returns the answer: the request that the handler of the client received, as text in the
/// field `seen`.
pub(crate) fn answer(call: &ToolCall) -> CallOutcome {
    let answered = match call.response("context") {
        Some(Ok(answer)) => judge(answer),
        Some(Err(error)) => return CallOutcome::Failed(error.clone()),
        None => return asked(call).unwrap_or_else(|error| failed(&*error)),
    };
    answered.map_or_else(|error| failed(&*error), CallOutcome::from)
}

fn failed(error: &dyn Error) -> CallOutcome {
    CallOutcome::Failed(ErrorObject::new(
        jsonrpc_core::ErrorCode::INVALID_PARAMS,
        error.to_string(),
    ))
}

fn asked(call: &ToolCall) -> Result<CallOutcome, Box<dyn Error>> {
    let arguments: Value = call.arguments.decode()?;
    let mut carriers = Carriers::NONE;
    match arguments.get("carrier").and_then(Value::as_str) {
        Some("meta") => carriers.meta = true,
        Some("schema") => carriers.schema = true,
        Some("message") => carriers.message = true,
        Some("auto") => carriers = Carriers::for_peer(&call.capabilities),
        _ => return Err("expected a carrier".into()),
    }
    let schema = r#"{"type":"object","properties":{"seen":{"type":"string"}},"required":["seen"]}"#;
    let form = ElicitRequestFormParams::new(MESSAGE, Raw::from_text(schema)?);
    let mut question = ElicitRequestParams::Form(Box::new(form));
    encode(&mut question, &ModelContext::from_text(CONTEXT)?, &EncodeOptions::new(carriers))?;
    let question = ServerRequest::Elicit(Box::new(question));
    Ok(CallOutcome::Needs(Needs::new([("context", question)])))
}

fn judge(answer: &Raw) -> Result<CallToolResult, Box<dyn Error>> {
    let answer: Value = answer.decode()?;
    let seen = answer.pointer("/content/seen").and_then(Value::as_str);
    let seen: ElicitRequestParams = wire::decode(seen.ok_or("expected the field `seen`")?)?;
    let found = extract(&seen, &ContextLimits::default());
    let expected: Value = serde_json::from_str(CONTEXT)?;
    let context = found.context.as_ref().map(ModelContext::decode::<Value>).transpose()?;
    let verdict = json!({
        "arrived": context.is_some_and(|context| context == expected),
        "source": found.source.map(|source| format!("{source:?}").to_lowercase()),
        "isMessageClean": found.request.message() == Some(MESSAGE),
    });
    let text = TextContent::new(verdict.to_string());
    let mut result = CallToolResult::new([ContentBlock::Text(text)]);
    result.structured_content = Presence::Value(Raw::from_value(&verdict)?);
    Ok(result)
}
