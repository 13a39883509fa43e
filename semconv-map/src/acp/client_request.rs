//! Requests of the agent for files and terminals of the client.
//!
//! | | [`Profile::V1_41`](crate::Profile::V1_41) | [`Profile::V1_39`](crate::Profile::V1_39) |
//! |---|---|---|
//! | name | the method | `execute_tool {method}` |
//! | kind | SERVER | INTERNAL |
//! | attributes | as in [`lifecycle`] | `gen_ai.operation.name` = `execute_tool`, `gen_ai.tool.name` = method, `gen_ai.tool.type` = `function`, `gen_ai.tool.call.id` = the request id, absent for `null` |
//! | content capture | | `gen_ai.tool.call.arguments` = `params`, `gen_ai.tool.call.result` = `result` |
//! | parent | the tool call if exactly one is running in the session's turn, else the turn | the same |
//!
//! `acp.fs.path` is subject to [`Policy::paths`](crate::Policy::paths), `acp.terminal.command` to
//! [`Policy::content`](crate::Policy::content).
//! `terminal/wait_for_exit` ends with `process.exit.code`.
//!
//! Spec: [File System](https://agentclientprotocol.com/protocol/v1/file-system),
//! [Terminals](https://agentclientprotocol.com/protocol/v1/terminals)
use super::lifecycle::{self, Peers, RequestCall};
use crate::attribute::{Attributes, clip, cut};
use crate::content::{ContentKind, Gate};
use crate::details::Details;
use crate::keys;
use crate::messages::{MAX_PATH_BYTES, tool_content};
use crate::policy::{ClientTools, Policy};
use crate::span::SpanKind;
use acp_types::v1::terminals::CreateTerminalRequest;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::transcript::Direction;
use serde::Deserialize;

/// Returns whether a request of the agent concerns files or terminals of the client.
pub(crate) fn is_client_tool(call: &RequestCall<'_>) -> bool {
    let is_one = |method: &str| method.starts_with("fs/") || method.starts_with("terminal/");
    call.direction == Direction::Received && call.known.is_some_and(is_one)
}

/// Returns name, kind and attributes of the span of such a request.
pub(crate) fn start(
    policy: &Policy,
    peers: &Peers,
    call: RequestCall<'_>,
) -> (Cow<'static, str>, SpanKind, Attributes) {
    match policy.profile.client_tools {
        ClientTools::Protocol => {
            let (name, attributes) = lifecycle::start(policy, peers, call, Attributes::of_span());
            (name, lifecycle::span_kind(call.direction), attributes)
        }
        ClientTools::ExecuteTool => as_tool(policy, peers, call),
    }
}

fn as_tool(
    policy: &Policy,
    peers: &Peers,
    call: RequestCall<'_>,
) -> (Cow<'static, str>, SpanKind, Attributes) {
    let mut attributes = Attributes::of_span();
    peers.set_gen_ai("execute_tool", call.session, &mut attributes);
    attributes.set(keys::GEN_AI_TOOL_NAME, clip(call.method));
    attributes.set(keys::GEN_AI_TOOL_TYPE, "function");
    attributes.set_some(keys::GEN_AI_TOOL_CALL_ID, call.id.map(clip));
    lifecycle::set_call(&mut attributes, policy, peers, call);
    (format!("execute_tool {}", clip(call.method)).into(), SpanKind::Internal, attributes)
}

/// Returns whether the result of such a request is recorded.
pub(crate) fn has_result(policy: &Policy) -> bool {
    policy.profile.client_tools == ClientTools::ExecuteTool && policy.records_content()
}

/// Returns the content attributes of the result of such a request.
pub(crate) fn result(policy: &Policy, result: &str) -> Details {
    let mut details = Details::default();
    let result = tool_content(policy, ContentKind::ToolResult, result);
    details.set_json(policy, keys::GEN_AI_TOOL_CALL_RESULT, result);
    details
}

/// Returns the content attributes of such a request.
pub(crate) fn details(policy: &Policy, method: &str, params: &str) -> Details {
    let mut details = Details::default();
    if has_result(policy) {
        let arguments = tool_content(policy, ContentKind::ToolArguments, params);
        details.set_json(policy, keys::GEN_AI_TOOL_CALL_ARGUMENTS, arguments);
    }
    if method.starts_with("fs/") && policy.records(policy.paths) {
        if let Ok(params) = serde_json::from_str::<Path>(params) {
            let path = cut(&params.path, MAX_PATH_BYTES).into();
            let path = policy.redacted(ContentKind::Path, path);
            details.set(policy, policy.paths, keys::ACP_FS_PATH, path);
        }
    } else if method == "terminal/create"
        && policy.records_content()
        && let Ok(request) = serde_json::from_str::<CreateTerminalRequest>(params)
    {
        let command = policy.redacted(ContentKind::Command, command(&request));
        details.set(policy, Gate::WithContent, keys::ACP_TERMINAL_COMMAND, command);
    }
    details
}

/// Members that both file requests have.
#[derive(Deserialize)]
struct Path {
    path: String,
}

fn command(request: &CreateTerminalRequest) -> String {
    let args = request.args.iter().flatten().map(String::as_str);
    let mut line = String::new();
    for word in core::iter::once(request.command.as_str()).chain(args) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(cut(word, MAX_PATH_BYTES.saturating_sub(line.len())));
    }
    line
}
