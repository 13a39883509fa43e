//! Adapts tools and results to protocol versions.
use crate::mcp::base::{Era, ProtocolVersion, ResultType};
use crate::mcp::content::{ContentBlock, TextContent};
use crate::mcp::tools::{CallToolResult, Tool};
use alloc::string::String;
use jsonrpc_core::wire::{Extra, Presence, Raw};

/// Adapts a tool to the version of a client. Clients up to 2025-11-25 reject a whole list that contains an output
/// schema other than an object, and newer versions do not define `execution`.
pub(super) fn tool_for(tool: &Tool, version: &ProtocolVersion) -> Tool {
    let mut tool = tool.clone();
    match version.era() {
        Some(Era::Legacy) => tool.output_schema = tool.output_schema.filter(is_object_schema),
        _ => tool.execution = None,
    }
    tool
}

/// Adapts a result to the version of a client.
pub(super) fn result_for(mut result: CallToolResult, version: &ProtocolVersion) -> CallToolResult {
    if version.era() != Some(Era::Legacy) {
        result.result_type = Some(ResultType::Complete);
        return result;
    }
    result.result_type = None;
    let is_object = |value: &Raw| value.as_str().starts_with('{');
    let odd = result.structured_content.value().filter(|value| !is_object(value)).cloned();
    if odd.is_none() && result.structured_content != Presence::Null {
        return result;
    }
    result.structured_content = Presence::Absent;
    if let ([], Some(odd)) = (&result.content[..], odd) {
        result.content.push(ContentBlock::Text(TextContent::new(odd.as_str())));
    }
    result
}

fn is_object_schema(schema: &Raw) -> bool {
    let schema = schema.decode::<Extra>().ok();
    let kind = schema.as_ref().and_then(|schema| schema.get("type")).map(Raw::decode::<String>);
    kind.is_some_and(|kind| kind.is_ok_and(|kind| kind == "object"))
}
