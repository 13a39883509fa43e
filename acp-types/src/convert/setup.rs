//! Parts of session setup: MCP servers, system prompts, options, modes and commands.
//!
//! Spec: [Session Setup](https://agentclientprotocol.com/protocol/v1/session-setup),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/session-setup)
use super::BridgeLoss;
use super::content::{blocks_to_v1, blocks_to_v2};
use super::outbox::Outbox;
use crate::alike::{command_to_v2, option_to_v1, option_to_v2};
use crate::capabilities::v1::Capabilities;
use crate::v1::session_modes::{SessionMode, SessionModeState};
use crate::v2::session_config_options::{
    SessionConfigId, SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigSelect, SessionConfigSelectOption, SessionConfigSelectOptions,
};
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) fn servers_to_v2(
    servers: &[v1::session_setup::McpServer],
    out: &mut Outbox,
) -> Vec<v2::session_setup::McpServer> {
    let each = servers.iter().filter_map(|server| {
        let server_v2 = server.in_v2();
        if let (None, v1::session_setup::McpServer::Sse(server)) = (&server_v2, server) {
            out.lose(BridgeLoss::McpServer, &*server.name);
        }
        server_v2
    });
    each.collect()
}

pub(super) fn servers_to_v1(
    servers: &[v2::session_setup::McpServer],
    out: &mut Outbox,
) -> Vec<v1::session_setup::McpServer> {
    use v1::session_setup::{self as to, McpServer as To};
    use v2::session_setup::McpServer as From;
    let each = servers.iter().filter_map(|server| match server {
        From::Stdio(server) => {
            let args = server.args.clone();
            let env = server.env.clone();
            let mut stdio = to::McpServerStdio::new(
                &*server.name,
                server.command.as_str(),
                args.unwrap_or_default(),
                env.unwrap_or_default(),
            );
            stdio.meta = server.meta.clone();
            Some(To::Stdio(stdio))
        }
        From::Http(server) => {
            let headers = server.headers.clone().unwrap_or_default();
            let mut http = to::McpServerHttp::new(&*server.name, &*server.url, headers);
            http.meta = server.meta.clone();
            Some(To::Http(http))
        }
        From::Acp(server) => Some(To::Acp(server.clone())),
        From::Unknown(server) => {
            out.lose(BridgeLoss::McpServer, server.tag());
            None
        }
    });
    each.collect()
}

pub(super) fn system_prompt_to_v2(
    prompt: Option<&v1::system_prompt::SystemPrompt>,
    out: &mut Outbox,
) -> Option<Box<v2::system_prompt::SystemPrompt>> {
    let prompt = prompt?;
    let content = blocks_to_v2("systemPrompt", &prompt.content, out);
    let mut prompt_v2 = v2::system_prompt::SystemPrompt::new(prompt.mode.clone(), content);
    prompt_v2.meta = prompt.meta.clone();
    Some(Box::new(prompt_v2))
}

pub(super) fn system_prompt_to_v1(
    prompt: Option<&v2::system_prompt::SystemPrompt>,
    out: &mut Outbox,
) -> Option<Box<v1::system_prompt::SystemPrompt>> {
    let prompt = prompt?;
    let content = blocks_to_v1("systemPrompt", &prompt.content, out);
    let mut prompt_v1 = v1::system_prompt::SystemPrompt::new(prompt.mode.clone(), content);
    prompt_v1.meta = prompt.meta.clone();
    Some(Box::new(prompt_v1))
}

/// Converts the value of an option, which version 2 tags with its type.
pub(super) fn value_to_v2(
    value: v1::session_config_options::SessionConfigOptionValue,
) -> v2::session_config_options::SessionConfigOptionValue {
    use v1::session_config_options::SessionConfigOptionValue as From;
    use v2::session_config_options::SessionConfigOptionValue as To;
    match value {
        From::ValueId(value) => To::Id(value),
        From::Boolean(value) => To::Boolean(value),
        From::Unknown(value) => To::Unknown(value),
    }
}

pub(super) fn value_to_v1(
    value: v2::session_config_options::SessionConfigOptionValue,
) -> v1::session_config_options::SessionConfigOptionValue {
    use v1::session_config_options::SessionConfigOptionValue as To;
    use v2::session_config_options::SessionConfigOptionValue as From;
    match value {
        From::Id(value) => To::ValueId(value),
        From::Boolean(value) => To::Boolean(value),
        From::Unknown(value) => To::Unknown(value),
    }
}

/// Converts initial values of options.
pub(super) fn initial_to_v2(
    options: Option<Vec<v1::session_config_options::InitialSessionConfigOption>>,
) -> Option<Vec<v2::session_config_options::InitialSessionConfigOption>> {
    let convert = |option: v1::session_config_options::InitialSessionConfigOption| {
        let value = value_to_v2(option.value);
        let mut option_v2 =
            v2::session_config_options::InitialSessionConfigOption::new(option.config_id, value);
        option_v2.meta = option.meta;
        option_v2
    };
    options.map(|options| options.into_iter().map(convert).collect())
}

pub(super) fn initial_to_v1(
    options: Option<Vec<v2::session_config_options::InitialSessionConfigOption>>,
) -> Option<Vec<v1::session_config_options::InitialSessionConfigOption>> {
    let convert = |option: v2::session_config_options::InitialSessionConfigOption| {
        let value = value_to_v1(option.value);
        let mut option_v1 =
            v1::session_config_options::InitialSessionConfigOption::new(option.config_id, value);
        option_v1.meta = option.meta;
        option_v1
    };
    options.map(|options| options.into_iter().map(convert).collect())
}

pub(super) fn paths<A: AsRef<str>, B: for<'a> From<&'a str>>(
    paths: Option<&Vec<A>>,
) -> Option<Vec<B>> {
    paths.map(|paths| paths.iter().map(|path| B::from(path.as_ref())).collect())
}

/// Converts options for an editor of version 1, which may not support all.
pub(super) fn options_to_v1(
    options: &[SessionConfigOption],
    capabilities: &Capabilities,
    out: &mut Outbox,
) -> Vec<v1::session_config_options::SessionConfigOption> {
    let each = options.iter().filter_map(|option| {
        let option_v1 = option_to_v1(option).filter(|option_v1| {
            option_v1.kind.is_known() && capabilities.allows(option_v1).is_ok()
        });
        if option_v1.is_none() {
            out.lose(BridgeLoss::ConfigOption, option.config_id.as_str());
        }
        option_v1
    });
    each.collect()
}

pub(super) fn options_to_v2(
    options: &[v1::session_config_options::SessionConfigOption],
) -> Vec<SessionConfigOption> {
    options.iter().filter_map(option_to_v2).collect()
}

/// The option with the modes of a session.
#[derive(Clone, Debug)]
pub(super) struct ModeOption {
    pub(super) config_id: SessionConfigId,
    pub(super) modes: SessionModeState,
}

/// Returns the modes that the options describe.
pub(super) fn modes_of(options: &[SessionConfigOption]) -> Option<ModeOption> {
    let is_mode =
        |option: &&SessionConfigOption| option.category == Some(SessionConfigOptionCategory::Mode);
    let option = options.iter().find(is_mode)?;
    let SessionConfigKind::Select(select) = &option.kind else { return None };
    let values: Vec<&SessionConfigSelectOption> = match &select.options {
        SessionConfigSelectOptions::Ungrouped(values) => values.iter().collect(),
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|group| &group.options).collect()
        }
    };
    let modes = values.into_iter().map(|value| {
        let mut mode = SessionMode::new(value.value.as_str(), &*value.name);
        mode.description = value.description.clone();
        mode
    });
    let modes = SessionModeState::new(select.current_value.as_str(), modes.collect::<Vec<_>>());
    Some(ModeOption { config_id: option.config_id.clone(), modes })
}

/// Identifier of the option that stands for the modes of a version 1 session.
pub(super) const MODE_OPTION: &str = "mode";

/// Returns the option that stands for modes.
pub(super) fn option_of(modes: &SessionModeState) -> SessionConfigOption {
    let options = modes.available_modes.iter().map(|mode| {
        let mut option = SessionConfigSelectOption::new(mode.id.as_str(), &*mode.name);
        option.description = mode.description.clone();
        option
    });
    let options = SessionConfigSelectOptions::Ungrouped(options.collect());
    let select = SessionConfigSelect::new(modes.current_mode_id.as_str(), options);
    let kind = SessionConfigKind::Select(select);
    let mut option = SessionConfigOption::new(MODE_OPTION, "Mode", kind);
    option.category = Some(SessionConfigOptionCategory::Mode);
    option
}

pub(super) fn commands_to_v1(
    commands: &[v2::slash_commands::AvailableCommand],
    out: &mut Outbox,
) -> Vec<v1::slash_commands::AvailableCommand> {
    let each = commands.iter().filter_map(|command| {
        let command_v1 = command_to_v1(command);
        let has_input = matches!(
            command,
            v2::slash_commands::AvailableCommand::Command(command) if command.input.is_some()
        );
        if command_v1.as_ref().is_none_or(|command_v1| has_input && command_v1.input.is_none()) {
            out.lose(BridgeLoss::Command, command.name().map_or(String::new(), Into::into));
        }
        command_v1
    });
    each.collect()
}

pub(super) fn commands_to_v2(
    commands: &[v1::slash_commands::AvailableCommand],
    out: &mut Outbox,
) -> Vec<v2::slash_commands::AvailableCommand> {
    // Version 2 permits no white space in a name.
    let each = commands.iter().filter(|command| {
        let is_name = !command.name.contains(char::is_whitespace);
        if !is_name {
            out.lose(BridgeLoss::Command, &*command.name);
        }
        is_name
    });
    each.map(command_to_v2).collect()
}

/// Converts a command of version 2 to version 1; `None` for other kinds of commands.
fn command_to_v1(
    command: &v2::slash_commands::AvailableCommand,
) -> Option<v1::slash_commands::AvailableCommand> {
    let v2::slash_commands::AvailableCommand::Command(command) = command else { return None };
    let mut command_v1 =
        v1::slash_commands::AvailableCommand::new(&*command.name, &*command.description);
    if let Some(input) = &command.input
        && let v2::slash_commands::AvailableCommandInput::Text(text) = input
    {
        let mut hint = v1::slash_commands::UnstructuredCommandInput::new(&*text.hint);
        hint.meta = text.meta.clone();
        hint.extra = text.extra.clone();
        command_v1.input = Some(v1::slash_commands::AvailableCommandInput::Unstructured(hint));
    }
    command_v1.meta = command.meta.clone();
    command_v1.extra = command.extra.clone();
    Some(command_v1)
}
