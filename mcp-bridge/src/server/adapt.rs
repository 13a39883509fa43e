//! Adapts tools and results to protocol versions.
use crate::mcp::base::{Era, ProtocolVersion, ResultType};
use crate::mcp::content::{ContentBlock, TextContent};
use crate::mcp::dispatch::ClientRequest;
use crate::mcp::error::RESOURCE_NOT_FOUND;
use crate::mcp::tools::{CallToolResult, Tool};
use alloc::string::String;
use jsonrpc_core::wire::{Extra, Presence, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};

/// Members of results since 2026-07-28: the type, the time and the scope of caches.
const NEW: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// Adapts a tool to the version of a client. Clients up to 2025-11-25 reject a whole list that
/// contains an output schema other than an object, and newer versions do not define `execution`.
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

/// Adapts the outcome of a request that a server of another version answered, for a client of
/// `era`.
///
/// | outcome | for a client up to 2025-11-25 | for a client since 2026-07-28 |
/// |---|---|---|
/// | result | without `resultType`, `ttlMs` and `cacheScope` | with `resultType` |
/// | list, contents of a resource | | with `ttlMs`, 0 if absent, and `cacheScope`, `private` if absent |
/// | missing resource | error -32002 | error -32602 |
///
/// All other members are kept.
///
/// Spec: [Error
/// Handling](https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling)
///
/// # Errors
/// Returns the adapted error of the outcome.
pub fn adapt_outcome(
    request: &ClientRequest,
    outcome: Result<Raw, ErrorObject>,
    era: Era,
) -> Result<Raw, ErrorObject> {
    match outcome {
        Ok(result) => Ok(adapt_members(request, &result, era).unwrap_or(result)),
        Err(mut error) => {
            error.code = match (request, era, error.code) {
                (ClientRequest::ReadResource(_), Era::Modern, RESOURCE_NOT_FOUND) => {
                    ErrorCode::INVALID_PARAMS
                }
                (ClientRequest::ReadResource(_), Era::Legacy, ErrorCode::INVALID_PARAMS)
                    if names_resource(&error) =>
                {
                    RESOURCE_NOT_FOUND
                }
                (.., code) => code,
            };
            Err(error)
        }
    }
}

/// Returns the members of a result for a client, or `None` if the result is no object.
fn adapt_members(request: &ClientRequest, result: &Raw, era: Era) -> Option<Raw> {
    let mut members: Extra = result.decode().ok()?;
    if era == Era::Legacy {
        let mut kept = Extra::new();
        for (name, value) in members.into_members().filter(|(name, _)| !NEW.contains(&&**name)) {
            kept.insert(name, value);
        }
        return Some(Raw::of(&kept));
    }
    let is_cacheable = matches!(
        request,
        ClientRequest::ListTools(_)
            | ClientRequest::ListPrompts(_)
            | ClientRequest::ListResources(_)
            | ClientRequest::ListResourceTemplates(_)
            | ClientRequest::ReadResource(_)
            | ClientRequest::ListSkills(_)
            | ClientRequest::GetSkill(_)
            | ClientRequest::ReadResourceDirectory(_)
    );
    let [kind, time, scope] = NEW;
    let defaults = [(kind, r#""complete""#), (time, "0"), (scope, r#""private""#)];
    for (name, default) in defaults {
        if members.get(name).is_none() && (is_cacheable || name == kind) {
            members.insert(name, Raw::from_text(default).ok()?);
        }
    }
    Some(Raw::of(&members))
}

/// Returns whether an error is about a resource, which it names.
fn names_resource(error: &ErrorObject) -> bool {
    let data = error.data.as_ref().and_then(|data| data.decode::<Extra>().ok());
    data.is_some_and(|data| data.get("uri").is_some())
}

fn is_object_schema(schema: &Raw) -> bool {
    let schema = schema.decode::<Extra>().ok();
    let kind = schema.as_ref().and_then(|schema| schema.get("type")).map(Raw::decode::<String>);
    kind.is_some_and(|kind| kind.is_ok_and(|kind| kind == "object"))
}
