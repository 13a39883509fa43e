//! Mapping of the Model Context Protocol to spans, performed by [`RpcTracker`](crate::RpcTracker).
//!
//! | property | value |
//! |---|---|
//! | name | `{method} {target}`, where the target is the tool or the prompt; the method without a target; `mcp` if the method is not [known](METHODS) |
//! | kind | CLIENT for messages sent by the observed side, SERVER for messages it receives |
//! | parent | the context in the `_meta` of the request; else the only open request, if it has the opposite direction; else none |
//! | `mcp.method.name` | the method; `_OTHER` with `rpc.method_original` if it is unknown |
//! | `gen_ai.operation.name`, `gen_ai.tool.name` | `tools/call`: `execute_tool`, the tool |
//! | `gen_ai.prompt.name` | `prompts/get`, and `completion/complete` for a prompt |
//! | `mcp.resource.uri` | `resources/read`, `/subscribe`, `/unsubscribe`, `notifications/resources/updated`; subject to [`Policy::paths`] |
//! | `jsonrpc.request.id` | requests: the id without quotes |
//! | `mcp.protocol.version` | the version in the response to `initialize`; else in the `_meta` of the request |
//! | `mcp.session.id` | set by [`RpcTracker::set_session_id`](crate::RpcTracker::set_session_id) |
//! | `network.transport` | [`Policy::network_transport`] |
//! | content capture | `tools/call`: `gen_ai.tool.call.arguments`, `gen_ai.tool.call.result` |
//!
//! | end | status, `error.type` |
//! |---|---|
//! | a result | unset |
//! | a tool result with `isError` | Error, `tool_error` |
//! | a JSON-RPC error | Error, the code, also as `rpc.response.status_code`; the message with content capture |
//! | one of [`CLIENT_ERRORS`] on a SERVER span, in [`Profile::GENAI_DEV`](crate::Profile::GENAI_DEV) | unset, without `error.type`; the code as `rpc.response.status_code` |
//! | `notifications/cancelled` from the sender | unset, `jsonrpc.request.end` = `cancelled`, and the event `mcp.cancelled` |
//! | the connection ends | Error, `connection_closed` |
//!
//! Metrics: `mcp.client.operation.duration` of CLIENT spans, `mcp.server.operation.duration` of
//! SERVER spans, and from `initialize` to the end `mcp.client.session.duration` or
//! `mcp.server.session.duration`, depending on the observed side.
//!
//! Spec: [MCP,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/mcp.md),
//! [Model Context Protocol, 2025-11-25](https://modelcontextprotocol.io/specification/2025-11-25),
//! [2026-07-28](https://modelcontextprotocol.io/specification/2026-07-28)
use crate::attribute::{Attributes, clip, cut};
use crate::content::ContentKind;
use crate::json::string;
use crate::keys;
use crate::messages::MAX_PATH_BYTES;
use crate::policy::Policy;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::{ErrorCode, find_member};

/// Methods that may be part of a span name: those of the versions 2025-11-25 and 2026-07-28 and of
/// the extension for tasks, in both directions.
pub const METHODS: &[&str] = &[
    "completion/complete",
    "elicitation/create",
    "initialize",
    "logging/setLevel",
    "notifications/cancelled",
    "notifications/elicitation/complete",
    "notifications/initialized",
    "notifications/message",
    "notifications/progress",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/roots/list_changed",
    "notifications/subscriptions/acknowledged",
    "notifications/tasks",
    "notifications/tasks/status",
    "notifications/tools/list_changed",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "roots/list",
    "sampling/createMessage",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// JSON-RPC error codes for requests that the server could not serve because of its client: parse
/// error, invalid request, method not found, invalid params, resource not found. In the development
/// version of the conventions, they are no errors of SERVER spans.
///
/// Spec: [MCP server](https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md#server)
pub const CLIENT_ERRORS: &[ErrorCode] = &[
    ErrorCode::PARSE_ERROR,
    ErrorCode::INVALID_REQUEST,
    ErrorCode::METHOD_NOT_FOUND,
    ErrorCode::INVALID_PARAMS,
    ErrorCode(-32002),
];

/// Sets the attributes of a request and returns the span name. The id is text, and absent for
/// `null`.
pub(crate) fn set_call(
    policy: &Policy,
    attributes: &mut Attributes,
    method: &str,
    id: Option<&str>,
    params: &str,
) -> Cow<'static, str> {
    let known = METHODS.iter().find(|known| **known == method).copied();
    attributes.set(keys::MCP_METHOD_NAME, known.unwrap_or("_OTHER"));
    if known.is_none() {
        attributes.set(keys::RPC_METHOD_ORIGINAL, clip(method));
    }
    let target = set_target(policy, attributes, method, params);
    attributes.set_some(keys::JSONRPC_REQUEST_ID, id.map(clip));
    let name = known.unwrap_or("mcp");
    target.map_or(name.into(), |target| format!("{name} {target}").into())
}

/// Sets the attributes of the request's target. Returns the part that may be used in the span name.
fn set_target(
    policy: &Policy,
    attributes: &mut Attributes,
    method: &str,
    params: &str,
) -> Option<String> {
    let member = |object, name| find_member(object, &[name]);
    let text = |object, name| member(object, name).and_then(string).map(|text| clip(&text));
    let (key, name) = match method {
        "tools/call" => {
            attributes.set(keys::GEN_AI_OPERATION_NAME, "execute_tool");
            (keys::GEN_AI_TOOL_NAME, text(params, "name")?)
        }
        "prompts/get" => (keys::GEN_AI_PROMPT_NAME, text(params, "name")?),
        "completion/complete" => {
            let reference = member(params, "ref")?;
            let is_prompt = text(reference, "type")? == "ref/prompt";
            (keys::GEN_AI_PROMPT_NAME, text(reference, "name").filter(|_| is_prompt)?)
        }
        "resources/read"
        | "resources/subscribe"
        | "resources/unsubscribe"
        | "notifications/resources/updated" => {
            let (on_span, _) = policy.places(policy.paths);
            let uri = member(params, "uri").filter(|_| on_span).and_then(string)?;
            let uri = policy.redacted(ContentKind::Uri, cut(&uri, MAX_PATH_BYTES).into());
            attributes.set(keys::MCP_RESOURCE_URI, uri);
            return None;
        }
        _ => return None,
    };
    attributes.set(key, name.clone());
    Some(name)
}

/// Returns whether a result reports a tool failure.
pub(crate) fn is_tool_error(result: &str) -> bool {
    find_member(result, &["isError"]) == Some("true")
}

/// Returns the protocol version that a request declares.
pub(crate) fn requested_version(meta: &str) -> Option<String> {
    let version = find_member(meta, &["io.modelcontextprotocol/protocolVersion"])?;
    string(version).map(|version| clip(&version))
}
