//! Results of tools, and answers to servers, in the forms that peers accept.
use crate::mcp::base::ResultType;
use crate::mcp::tools::CallToolResult;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{DecodeError, Extra, Raw};
use serde_json::json;

/// Decodes the result of a tool. Some servers leave out `content`, which then is empty.
pub(super) fn read_result(raw: &Raw) -> Result<CallToolResult, DecodeError> {
    raw.decode().or_else(|error| with_content(raw).ok_or(error))
}

/// Returns a complete result without `content` with an empty one.
fn with_content(raw: &Raw) -> Option<CallToolResult> {
    let mut members: Extra = raw.decode().ok()?;
    let is_null = |name| members.get(name).is_none_or(|it| it.as_str() == "null");
    let kind = members.get("resultType").map(Raw::decode::<ResultType>);
    if !is_null("content") || kind.is_some_and(|kind| kind != Ok(ResultType::Complete)) {
        return None;
    }
    members.insert("content", Raw::from_text("[]").ok()?);
    Raw::of(&members).decode().ok()
}

/// Returns the value that represents an error where none can be transported.
pub(super) fn without_error(method: &str, error: ErrorObject) -> Result<Raw, ErrorObject> {
    let is_question = method == "elicitation/create";
    let cancelled = is_question.then(|| Raw::from_value(&json!({ "action": "cancel" })).ok());
    cancelled.flatten().ok_or(error)
}
