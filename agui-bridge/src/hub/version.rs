//! Requests of a hub in the version of the agent.
use crate::conversation::{OpenSession, SessionOrigin, Setting};
use acp_types::client::{Call, Connection, Prompt, PromptContent, SessionSetupRequest};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::initialization::ProtocolVersion;
use acp_types::v1::session_config_options::{
    InitialSessionConfigOption, SessionConfigOptionValue, SetSessionConfigOptionRequest,
};
use acp_types::v1::session_modes::SetSessionModeRequest;
use acp_types::v1::session_setup::{
    ForkSessionRequest, LoadSessionRequest, McpServer, NewSessionRequest, ResumeSessionRequest,
    SessionOptionsRequest,
};
use acp_types::v1::system_prompt::{SystemPrompt, SystemPromptMode};
use acp_types::v2::content::{ContentBlock as ContentBlockV2, SkillReference};
use acp_types::v2::session_config_options as options_v2;
use acp_types::v2::session_setup as v2;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Raw, Wire};

/// Returns whether the agent speaks version 2.
pub(super) fn speaks_v2(connection: &Connection) -> bool {
    let version = connection.initialized().map(|initialized| initialized.version);
    version.is_some_and(|version| version != ProtocolVersion::V1)
}

/// Returns a prompt, in the agent's version. Version 1 has no skills.
pub(super) fn prompt(
    connection: &Connection,
    blocks: Vec<ContentBlock>,
    skill: Option<String>,
    meta: Option<Meta>,
) -> Prompt {
    let mut v2: Option<Vec<ContentBlockV2>> =
        speaks_v2(connection).then(|| in_v2(&blocks)).flatten();
    if let (Some(blocks), Some(skill)) = (&mut v2, skill) {
        blocks.insert(0, ContentBlockV2::Skill(SkillReference::new(skill)));
    }
    let mut prompt = Prompt::v1([]);
    prompt.content = v2.map_or(PromptContent::V1(blocks), PromptContent::V2);
    prompt.meta = meta;
    prompt
}

/// Returns the call that changes a setting, in the agent's version.
pub(super) fn set(session: &str, setting: Setting, is_v2: bool) -> Call {
    match setting {
        Setting::Mode(mode) => Call::new(&SetSessionModeRequest::new(session, mode)),
        Setting::ConfigOption(config, SessionConfigOptionValue::ValueId(value)) if is_v2 => {
            let value = options_v2::SessionConfigOptionValue::Id(value);
            let config = config.as_str();
            Call::new(&options_v2::SetSessionConfigOptionRequest::new(session, config, value))
        }
        // The values of other types have the same form in both versions.
        Setting::ConfigOption(config, value) => {
            Call::new(&SetSessionConfigOptionRequest::new(session, config, value))
        }
    }
}

/// Returns the call that asks for the settings of a session to come, in the agent's version.
pub(super) fn ask_options(cwd: &str, is_v2: bool) -> Call {
    if is_v2 {
        Call::new(&v2::SessionOptionsRequest::new(cwd))
    } else {
        Call::new(&SessionOptionsRequest::new(cwd))
    }
}

/// Returns the request for a session, in the agent's version.
pub(super) fn open_request(open: OpenSession, is_v2: bool) -> SessionSetupRequest {
    let OpenSession { origin, cwd, mcp_servers, system_prompt, config_options, meta } = open;
    let system_prompt = system_prompt
        .map(|text| Box::new(SystemPrompt::new(SystemPromptMode::Append, [text.into()])));
    // Version 2 writes servers and options in another form.
    let servers = if is_v2 { Vec::new() } else { mcp_servers.clone() };
    let options = (!is_v2 && !config_options.is_empty()).then(|| config_options.clone());
    let open = match origin {
        SessionOrigin::New => {
            let mut request = NewSessionRequest::new(cwd, servers);
            request.system_prompt = system_prompt;
            request.config_options = options;
            request.meta = meta;
            SessionSetupRequest::from(request)
        }
        SessionOrigin::Load(id) => {
            let mut request = LoadSessionRequest::new(id, cwd, servers);
            request.system_prompt = system_prompt;
            request.config_options = options;
            request.meta = meta;
            SessionSetupRequest::from(request)
        }
        SessionOrigin::Resume(id) => {
            let mut request = ResumeSessionRequest::new(id, cwd);
            request.mcp_servers = Some(servers);
            request.system_prompt = system_prompt;
            request.config_options = options;
            request.meta = meta;
            SessionSetupRequest::from(request)
        }
        SessionOrigin::Fork(id, cursor) => {
            let mut request = ForkSessionRequest::new(id, cwd);
            request.cursor_id = cursor;
            request.mcp_servers = Some(servers);
            request.system_prompt = system_prompt;
            request.config_options = options;
            request.meta = meta;
            SessionSetupRequest::from(request)
        }
    };
    if is_v2 { open_v2(open, &mcp_servers, &config_options) } else { open }
}

/// Returns the same request in version 2 with these servers, if it has an equivalent.
fn open_v2(
    open: SessionSetupRequest,
    servers: &[McpServer],
    options: &[InitialSessionConfigOption],
) -> SessionSetupRequest {
    let servers = || Some(servers.iter().filter_map(McpServer::in_v2).collect());
    let options =
        || (!options.is_empty()).then(|| options.iter().filter_map(option_in_v2).collect());
    let v2 = match &open {
        SessionSetupRequest::New(request) => {
            in_v2(&**request).map(|mut it: v2::NewSessionRequest| {
                it.mcp_servers = servers();
                it.config_options = options();
                SessionSetupRequest::NewV2(Box::new(it))
            })
        }
        SessionSetupRequest::Resume(request) => {
            in_v2(&**request).map(|mut it: v2::ResumeSessionRequest| {
                it.mcp_servers = servers();
                it.config_options = options();
                SessionSetupRequest::ResumeV2(Box::new(it))
            })
        }
        SessionSetupRequest::Fork(request) => {
            in_v2(&**request).map(|mut it: v2::ForkSessionRequest| {
                it.mcp_servers = servers();
                it.config_options = options();
                SessionSetupRequest::ForkV2(Box::new(it))
            })
        }
        _ => None,
    };
    v2.unwrap_or(open)
}

fn option_in_v2(
    option: &InitialSessionConfigOption,
) -> Option<options_v2::InitialSessionConfigOption> {
    let value = match &option.value {
        SessionConfigOptionValue::ValueId(value) => {
            options_v2::SessionConfigOptionValue::Id(value.clone())
        }
        SessionConfigOptionValue::Boolean(value) => {
            options_v2::SessionConfigOptionValue::Boolean(value.clone())
        }
        _ => return None,
    };
    Some(options_v2::InitialSessionConfigOption::new(option.config_id.as_str(), value))
}

/// Converts a value into the version 2 type with the same JSON text.
fn in_v2<T: Wire, U: Wire>(value: &T) -> Option<U> {
    Raw::of(value).decode().ok()
}
