//! Requests and notifications of the Model Context Protocol; an [`RpcTracker`](crate::RpcTracker) makes spans of them.
//!
//! | what | value |
//! |---|---|
//! | name | `{method} {target}`, the target being the tool or the prompt; the method without one; `mcp` for a method that is not [known](METHODS) |
//! | kind | CLIENT for what the observed side sends, SERVER for what it receives |
//! | parent | what the `_meta` of the request names; else, for a request that comes while the only open one goes the other way, that one; else none |
//! | `mcp.method.name` | the method; `_OTHER` with `rpc.method_original` for one that is not known |
//! | `gen_ai.operation.name`, `gen_ai.tool.name` | of `tools/call`: `execute_tool`, the tool |
//! | `gen_ai.prompt.name` | of `prompts/get`, and of `completion/complete` for a prompt |
//! | `mcp.resource.uri` | of `resources/read`, `/subscribe`, `/unsubscribe`, `notifications/resources/updated`; behind the gate of paths |
//! | `jsonrpc.request.id` | of requests; the id without quotes |
//! | `mcp.protocol.version` | what the server answered to `initialize`; else what the request's `_meta` says |
//! | `mcp.session.id` | what [`RpcTracker::set_session_id`](crate::RpcTracker::set_session_id) was told |
//! | `network.transport` | what the policy says |
//! | content capture | of `tools/call`: `gen_ai.tool.call.arguments`, `gen_ai.tool.call.result` |
//!
//! | end | status, `error.type` |
//! |---|---|
//! | a result | unset |
//! | a tool's result with `isError` | Error, `tool_error` |
//! | a JSON-RPC error | Error, the code, also as `rpc.response.status_code`; the message with content capture |
//! | `notifications/cancelled` of the sender | unset, `jsonrpc.request.end` = `cancelled`, and the event `mcp.cancelled` |
//! | the connection ends | Error, `connection_closed` |
//!
//! Metrics: `mcp.client.operation.duration` of CLIENT spans, `mcp.server.operation.duration` of SERVER spans, and from
//! `initialize` to the end `mcp.client.session.duration` or `mcp.server.session.duration`, by the side that is observed.
//!
//! The conventions want no second span where a tool call has one already: its owner adds [`call_attributes`] to that.
//!
//! Spec: [MCP, v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/mcp.md),
//! [Model Context Protocol, 2025-11-25](https://modelcontextprotocol.io/specification/2025-11-25),
//! [2026-07-28](https://modelcontextprotocol.io/specification/2026-07-28)
use crate::attribute::{Attribute, Attributes, clip, cut};
use crate::content::ContentKind;
use crate::keys;
use crate::messages::MAX_PATH_BYTES;
use crate::policy::Policy;
use crate::tracker::string;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::{RequestId, find_member};

/// The methods that may stand in the name of a span: those of the versions 2025-11-25 and 2026-07-28 and of the extension
/// for tasks, in both directions.
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

/// The attributes of a request, or of a notification where there is no `id`: for a span that stands for it already.
///
/// `params` is JSON text. What is not what the method says is left out.
///
/// ```
/// use semconv_map::{Attribute, Policy, keys, mcp};
///
/// let params = r#"{"name":"weather","arguments":{"city":"Paris"}}"#;
/// let attributes = mcp::call_attributes(&Policy::default(), "tools/call", Some(&7.into()), params);
/// assert_eq!(attributes, [
///     Attribute::new(keys::MCP_METHOD_NAME, "tools/call"),
///     Attribute::new(keys::GEN_AI_OPERATION_NAME, "execute_tool"),
///     Attribute::new(keys::GEN_AI_TOOL_NAME, String::from("weather")),
///     Attribute::new(keys::JSONRPC_REQUEST_ID, String::from("7")),
/// ]);
/// ```
pub fn call_attributes(
    policy: &Policy,
    method: &str,
    id: Option<&RequestId>,
    params: &str,
) -> Vec<Attribute> {
    let mut attributes = Attributes::default();
    let id = id.filter(|id| !id.is_null()).map(ToString::to_string);
    set_call(policy, &mut attributes, method, id.as_deref(), params);
    attributes.0
}

/// Sets those attributes, and gives the name of the span; the id is text, and none for `null`.
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

/// What the request is about; gives what of that may stand in the name of a span.
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

/// Whether a result says that the tool failed.
pub(crate) fn is_tool_error(result: &str) -> bool {
    find_member(result, &["isError"]) == Some("true")
}

/// The version that a request names for itself.
pub(crate) fn requested_version(meta: &str) -> Option<String> {
    let version = find_member(meta, &["io.modelcontextprotocol/protocolVersion"])?;
    string(version).map(|version| clip(&version))
}
