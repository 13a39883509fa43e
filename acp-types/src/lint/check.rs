//! Checks of a single message against types and capabilities.
use super::report::Report;
use super::rule::{self, Rule};
use super::value::{Json, is_text, items};
use crate::capabilities::{self, Reason, Refusal};
use crate::methods::{MethodKind, Receiver};
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::wire::DecodeError;
use serde_json::value::RawValue;

/// Announced capabilities of both sides.
#[derive(Clone, Debug, Default)]
pub(super) enum Capabilities {
    #[default]
    Unknown,
    V1(Box<capabilities::v1::Capabilities>),
    V2(Box<capabilities::v2::Capabilities>),
}

impl Capabilities {
    /// Reads the `initialize` pair, if it is valid in `version`.
    pub(super) fn new(version: u16, params: &str, result: &str) -> Self {
        use jsonrpc_core::wire::decode;
        if version == 2 {
            let (Ok(request), Ok(response)) = (decode(params), decode(result)) else {
                return Self::Unknown;
            };
            return Self::V2(Box::new(capabilities::v2::Capabilities::new(&request, &response)));
        }
        let (Ok(request), Ok(response)) = (decode(params), decode(result)) else {
            return Self::Unknown;
        };
        Self::V1(Box::new(capabilities::v1::Capabilities::new(&request, &response)))
    }

    fn v1<'a>(
        &self,
        pointer: impl Into<String>,
        subject: impl Into<capabilities::v1::Subject<'a>>,
        report: &mut Report,
    ) {
        if let Self::V1(capabilities) = self {
            refuse(capabilities.allows(subject), pointer, report);
        }
    }

    fn v2<'a>(
        &self,
        pointer: impl Into<String>,
        subject: impl Into<capabilities::v2::Subject<'a>>,
        report: &mut Report,
    ) {
        if let Self::V2(capabilities) = self {
            refuse(capabilities.allows(subject), pointer, report);
        }
    }

    /// Checks that the method may be sent to the receiver of `direction`.
    pub(super) fn method(&self, direction: Direction, name: &str, report: &mut Report) {
        let subject = (Receiver::of(direction), name);
        self.v1("/method", subject, report);
        self.v2("/method", subject, report);
    }
}

fn refuse(allowed: Result<(), Refusal>, pointer: impl Into<String>, report: &mut Report) {
    if let Err(refusal) = allowed
        && matches!(refusal.reason, Reason::NotAnnounced(_))
    {
        report.add(&rule::NOT_ANNOUNCED, pointer, refusal.to_string());
    }
}

fn invalid(at: &str, rule: &'static Rule, error: &DecodeError, report: &mut Report) {
    report.add(rule, format!("{at}{}", error.pointer()), error.problem());
}

/// Decodes parameters, and checks the capabilities that they require.
pub(super) fn params(
    version: u16,
    direction: Direction,
    kind: MethodKind,
    method: &str,
    params: Option<&RawValue>,
    capabilities: &Capabilities,
    report: &mut Report,
) {
    use MethodKind::{Notification, Request};
    let read = match (version, direction, kind) {
        (2, Direction::Sent, Request) => {
            v2::dispatch::ClientRequest::decode(method, params).map(|request| {
                client_request_v2(&request, capabilities, report);
                skills(&request, capabilities, report);
            })
        }
        (2, Direction::Received, Request) => v2::dispatch::AgentRequest::decode(method, params)
            .map(|request| agent_request_v2(&request, capabilities, report)),
        (2, Direction::Sent, Notification) => {
            v2::dispatch::ClientNotification::decode(method, params).map(|_| ())
        }
        (2, Direction::Received, Notification) => {
            v2::dispatch::AgentNotification::decode(method, params).map(|notification| {
                if let v2::dispatch::AgentNotification::UpdateSessionNotification(notification) =
                    notification
                {
                    capabilities.v2("/params/update", &notification.update, report);
                }
            })
        }
        (_, Direction::Sent, Request) => v1::dispatch::ClientRequest::decode(method, params)
            .map(|request| client_request_v1(&request, capabilities, report)),
        (_, Direction::Received, Request) => v1::dispatch::AgentRequest::decode(method, params)
            .map(|request| agent_request_v1(&request, capabilities, report)),
        (_, Direction::Sent, Notification) => {
            v1::dispatch::ClientNotification::decode(method, params).map(|_| ())
        }
        (_, Direction::Received, Notification) => {
            v1::dispatch::AgentNotification::decode(method, params).map(|notification| {
                if let v1::dispatch::AgentNotification::SessionNotification(notification) =
                    notification
                {
                    capabilities.v1("/params/update", &notification.update, report);
                }
            })
        }
    };
    if let Err(error) = read {
        invalid("/params", &rule::INVALID_PARAMS, &error, report);
    }
}

/// Decodes the result of a request in direction `asked`.
pub(super) fn result(
    version: u16,
    direction: Direction,
    method: &str,
    result: &RawValue,
    report: &mut Report,
) {
    if result.get() == "null" {
        report.add(&rule::INVALID_RESULT, "/result", "expected an object, got null");
        return;
    }
    let read = match (version, direction) {
        (2, Direction::Sent) => v2::dispatch::AgentResponse::decode(method, result).map(|_| ()),
        (2, Direction::Received) => {
            v2::dispatch::ClientResponse::decode(method, result).map(|_| ())
        }
        (_, Direction::Sent) => v1::dispatch::AgentResponse::decode(method, result).map(|_| ()),
        (_, Direction::Received) => {
            v1::dispatch::ClientResponse::decode(method, result).map(|_| ())
        }
    };
    if let Err(error) = read {
        invalid("/result", &rule::INVALID_RESULT, &error, report);
    }
}

/// Checks the authentication methods of an `initialize` pair against the client's capabilities.
///
/// Clients announced terminal methods by `_meta.terminal-auth` before the protocol defined a
/// capability.
pub(super) fn auth_methods(
    params: Json<'_>,
    result: Json<'_>,
    capabilities: &Capabilities,
    report: &mut Report,
) {
    let announced =
        ["/clientCapabilities/_meta/terminal-auth", "/capabilities/_meta/terminal-auth"];
    let takes_terminals = announced
        .iter()
        .filter_map(|pointer| params.pointer(pointer))
        .any(|value| !matches!(value.as_text(), "null" | "false"));
    let methods = items(result, "authMethods").enumerate();
    for (index, method) in
        methods.filter(|(_, method)| !takes_terminals || !is_text(*method, "type", "terminal"))
    {
        let pointer = format!("/result/authMethods/{index}");
        let text = method.as_text();
        if let Ok(method) = jsonrpc_core::wire::decode::<v1::authentication::AuthMethod>(text) {
            capabilities.v1(pointer.clone(), &method, report);
        }
        if let Ok(method) = jsonrpc_core::wire::decode::<v2::authentication::AuthMethod>(text) {
            capabilities.v2(pointer, &method, report);
        }
    }
}

/// Reports boolean options that the client does not support.
pub(super) fn options<'a>(
    options: impl Iterator<Item = Json<'a>>,
    capabilities: &Capabilities,
    report: &mut Report,
) {
    for (index, option) in options.enumerate() {
        let text = option.as_text();
        if let Ok(option) =
            jsonrpc_core::wire::decode::<v1::session_config_options::SessionConfigOption>(text)
        {
            capabilities.v1(format!("/result/configOptions/{index}"), &option, report);
        }
    }
}

/// Reports commands that the client does not support.
pub(super) fn commands<'a>(
    commands: impl Iterator<Item = Json<'a>>,
    capabilities: &Capabilities,
    report: &mut Report,
) {
    for (index, command) in commands.enumerate() {
        let text = command.as_text();
        if let Ok(command) =
            jsonrpc_core::wire::decode::<v2::slash_commands::AvailableCommand>(text)
        {
            capabilities.v2(format!("/result/availableCommands/{index}"), &command, report);
        }
    }
}

/// Checks the places of skills in a prompt.
fn skills(request: &v2::dispatch::ClientRequest, capabilities: &Capabilities, report: &mut Report) {
    let v2::dispatch::ClientRequest::PromptRequest(request) = request else { return };
    let Capabilities::V2(capabilities) = capabilities else { return };
    if capabilities.allows_inline_skills() {
        return;
    }
    for (index, block) in request.prompt.iter().enumerate().skip(1) {
        if let v2::content::ContentBlock::Skill(_) = block {
            let pointer = format!("/params/prompt/{index}");
            report.add(&rule::SKILL_PLACE, pointer, "expected the skill as the first content");
        }
    }
}

/// Checks capabilities of the agent that require others.
pub(super) fn capability_pairs(result: Json<'_>, report: &mut Report) {
    let sessions = "/agentCapabilities/sessionCapabilities";
    let has = |name: &str| {
        let value = result.pointer(sessions).and_then(|sessions| sessions.get(name));
        value.is_some_and(Json::is_object)
    };
    if has("archive") && !has("list") {
        let pointer = format!("/result{sessions}/archive");
        report.add(&rule::CAPABILITY_PAIR, pointer, "`archive` needs `list`");
    }
}

/// Returns the requirements of session setup and prompts.
macro_rules! client_request {
    ($check:ident, $version:ident, [$($Whole:ident)*], [$($Optional:ident)*]) => {
        fn $check(
            request: &$version::dispatch::ClientRequest,
            capabilities: &Capabilities,
            report: &mut Report,
        ) {
            use $version::dispatch::ClientRequest as Request;
            let (servers, has_folders, prompt, has_options) = match request {
                $( Request::$Whole(it) => {
                    let has_folders = has(&it.additional_directories);
                    (&*it.mcp_servers, has_folders, &it.system_prompt, has(&it.config_options))
                } )*
                $( Request::$Optional(it) => {
                    let servers = it.mcp_servers.as_deref().unwrap_or_default();
                    let has_folders = has(&it.additional_directories);
                    (servers, has_folders, &it.system_prompt, has(&it.config_options))
                } )*
                Request::PromptRequest(request) => {
                    for (index, block) in request.prompt.iter().enumerate() {
                        capabilities.$version(format!("/params/prompt/{index}"), block, report);
                    }
                    return;
                }
                _ => return,
            };
            for (index, server) in servers.iter().enumerate() {
                capabilities.$version(format!("/params/mcpServers/{index}"), server, report);
            }
            if has_folders {
                let folders = capabilities::$version::Subject::AdditionalDirectories;
                capabilities.$version("/params/additionalDirectories", folders, report);
            }
            if has_options {
                let options = capabilities::$version::Subject::InitialConfigOptions;
                capabilities.$version("/params/configOptions", options, report);
            }
            if let Some(prompt) = prompt {
                capabilities.$version("/params/systemPrompt", &prompt.mode, report);
            }
        }
    };
}

client_request! {
    client_request_v1, v1,
    [NewSessionRequest LoadSessionRequest], [ResumeSessionRequest ForkSessionRequest]
}
client_request! {
    client_request_v2, v2,
    [], [NewSessionRequest ResumeSessionRequest ForkSessionRequest]
}

fn has<T>(folders: &Option<alloc::vec::Vec<T>>) -> bool {
    folders.as_ref().is_some_and(|folders| !folders.is_empty())
}

fn agent_request_v1(
    request: &v1::dispatch::AgentRequest,
    capabilities: &Capabilities,
    report: &mut Report,
) {
    if let v1::dispatch::AgentRequest::CreateElicitationRequest(request) = request {
        capabilities.v1("/params/mode", &request.mode, report);
    }
}

fn agent_request_v2(
    request: &v2::dispatch::AgentRequest,
    capabilities: &Capabilities,
    report: &mut Report,
) {
    if let v2::dispatch::AgentRequest::CreateElicitationRequest(request) = request {
        capabilities.v2("/params/mode", &request.mode, report);
    }
}
