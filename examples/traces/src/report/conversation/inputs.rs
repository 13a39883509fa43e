//! Messages of both versions as inputs of a session's state.

use super::Choice;
use acp_types::session_state::SessionState;
use acp_types::v1::terminals::{
    CreateTerminalRequest, CreateTerminalResponse, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use acp_types::{v1, v2};
use jsonrpc_core::peek_member;
use jsonrpc_core::wire::{Mode, Wire, decode_with};
use serde_json::Value;
use serde_json::value::RawValue;

/// Decodes parameters or a result, as tolerant as the specification permits.
fn decode<T: Wire>(json: &str) -> Option<T> {
    decode_with(json, Mode::SpecLenient).ok().map(|decoded| decoded.value)
}

/// Returns the text of a member of an object, as JSON.
pub(super) fn member<'a>(object: &'a RawValue, name: &str) -> Option<&'a str> {
    peek_member(object.get(), name).ok()?
}

/// Returns a member of an object that is a string.
pub(super) fn text(object: &RawValue, name: &str) -> Option<String> {
    serde_json::from_str(member(object, name)?).ok()
}

/// Returns the text of a prompt.
pub(super) fn prompt_text(params: &RawValue) -> String {
    let blocks = member(params, "prompt").and_then(|prompt| serde_json::from_str(prompt).ok());
    let blocks: Vec<Value> = blocks.unwrap_or_default();
    let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
    texts.collect::<Vec<_>>().join(" ")
}

/// Returns title and options of a permission request, in either version.
pub(super) fn question(params: &RawValue) -> (Option<String>, Vec<Choice>) {
    let call: Option<Value> =
        member(params, "toolCall").and_then(|call| serde_json::from_str(call).ok());
    let of_call = call.as_ref().and_then(|call| call.get("title")?.as_str());
    let title = text(params, "title").or_else(|| of_call.map(str::to_owned));
    let options = member(params, "options").into_iter().flat_map(jsonrpc_core::array_items);
    let options = options.filter_map(decode::<v1::tool_calls::PermissionOption>);
    let options = options.map(|option| Choice {
        id: option.option_id.to_string(),
        name: option.name.clone(),
        kind: option.kind.as_str().to_owned(),
        is_granted: option.kind.is_permission(),
    });
    (title, options.collect())
}

/// Returns the id of the option that a result selects.
pub(super) fn chosen(result: &RawValue) -> Option<String> {
    let response: v1::tool_calls::RequestPermissionResponse = decode(result.get())?;
    response.outcome.option_id().map(ToString::to_string)
}

/// Handles the parameters of a request or notification.
pub(super) fn handle_params(
    is_v2: bool,
    state: &mut SessionState,
    method: &str,
    params: &RawValue,
) {
    macro_rules! handle {
        ($type:ty $(, $member:ident)?) => {
            if let Some(message) = decode::<$type>(params.get()) {
                state.handle(&message $(. $member)?);
            }
        };
    }
    match (method, is_v2) {
        ("session/update", false) => handle!(v1::prompt_turn::SessionNotification, update),
        ("session/update", true) => {
            handle!(v2::prompt_lifecycle::UpdateSessionNotification, update);
        }
        ("session/request_permission", false) => handle!(v1::tool_calls::RequestPermissionRequest),
        ("session/request_permission", true) => handle!(v2::permissions::RequestPermissionRequest),
        ("session/prompt", false) => handle!(v1::prompt_turn::PromptRequest),
        ("session/cancel", false) => handle!(v1::prompt_turn::CancelNotification),
        _ => {}
    }
}

/// Handles the result of a request with the parameters `params`.
pub(super) fn handle_result(
    is_v2: bool,
    state: &mut SessionState,
    method: &str,
    params: Option<&RawValue>,
    result: &RawValue,
) {
    use v1::session_config_options as options1;
    use v2::session_config_options as options2;
    macro_rules! handle {
        ($type:ty) => {
            if let Some(message) = decode::<$type>(result.get()) {
                state.handle(&message);
            }
        };
        ($request:ty, $response:ty) => {
            let request = params.and_then(|params| decode::<$request>(params.get()));
            if let Some((request, response)) = request.zip(decode::<$response>(result.get())) {
                state.handle((&request, &response));
            }
        };
    }
    match (method, is_v2) {
        ("session/new", false) => handle!(v1::session_setup::NewSessionResponse),
        ("session/new", true) => handle!(v2::session_setup::NewSessionResponse),
        ("session/load", false) => handle!(v1::session_setup::LoadSessionResponse),
        ("session/resume", false) => handle!(v1::session_setup::ResumeSessionResponse),
        ("session/resume", true) => handle!(v2::session_setup::ResumeSessionResponse),
        ("session/prompt", false) => handle!(v1::prompt_turn::PromptResponse),
        ("session/set_config_option", false) => handle!(options1::SetSessionConfigOptionResponse),
        ("session/set_config_option", true) => handle!(options2::SetSessionConfigOptionResponse),
        ("session/set_mode", false) => {
            let request = params.and_then(|params| decode(params.get()));
            let request: Option<v1::session_modes::SetSessionModeRequest> = request;
            if let Some(request) = request {
                state.handle(&request);
            }
        }
        ("terminal/create", false) => {
            handle!(CreateTerminalRequest, CreateTerminalResponse);
        }
        ("terminal/output", false) => {
            handle!(TerminalOutputRequest, TerminalOutputResponse);
        }
        ("terminal/wait_for_exit", false) => {
            handle!(WaitForTerminalExitRequest, WaitForTerminalExitResponse);
        }
        _ => {}
    }
}
