//! Conversions between types that are equal in both versions, or differ only in names.
//!
//! Types that are equal on the wire are converted by way of their JSON text, so that unknown
//! members are kept. Text content, which is most frequent, is converted directly.
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use jsonrpc_core::wire::Wire;
use jsonrpc_core::wire::{self, Presence};
use serde::Serialize;

/// Returns the value as a type of the other version, or `None` if that has no equivalent.
pub(crate) fn alike<A: Serialize, B: Wire>(value: &A) -> Option<B> {
    wire::decode(&serde_json::to_string(value).ok()?).ok()
}

/// Returns the values that the other version supports, and the number of the others.
pub(crate) fn all_alike<A: Serialize, B: Wire>(values: &[A]) -> (Vec<B>, usize) {
    let alike: Vec<B> = values.iter().filter_map(alike).collect();
    let dropped = values.len() - alike.len();
    (alike, dropped)
}

/// Converts content of a message.
pub(crate) fn content_to_v2(
    block: &v1::content::ContentBlock,
) -> Option<v2::content::ContentBlock> {
    match block {
        v1::content::ContentBlock::Text(text) => {
            Some(v2::content::ContentBlock::Text(text.clone()))
        }
        other => alike(other),
    }
}

impl v1::session_setup::McpServer {
    /// Returns the server for a session of version 2; `None` for server-sent events, which that
    /// version does not have.
    pub fn in_v2(&self) -> Option<v2::session_setup::McpServer> {
        use v2::session_setup::{self as to, McpServer as To};
        match self {
            Self::Stdio(server) => {
                let mut stdio = to::McpServerStdio::new(&*server.name, &*server.command);
                stdio.args = Some(server.args.clone());
                stdio.env = Some(server.env.clone());
                stdio.meta = server.meta.clone();
                Some(To::Stdio(stdio))
            }
            Self::Http(server) => {
                let mut http = to::McpServerHttp::new(&*server.name, &*server.url);
                http.headers = Some(server.headers.clone());
                http.meta = server.meta.clone();
                Some(To::Http(http))
            }
            Self::Acp(server) => Some(To::Acp(server.clone())),
            Self::Sse(_) => None,
            Self::Unknown(server) => Some(To::Unknown(server.clone())),
        }
    }
}

/// Converts a command of version 1 to version 2.
pub(crate) fn command_to_v2(
    command: &v1::slash_commands::AvailableCommand,
) -> v2::slash_commands::AvailableCommand {
    use v1::slash_commands::AvailableCommandInput as Input;
    let mut command_v2 = v2::slash_commands::Command::new(&*command.name, &*command.description);
    command_v2.input = match &command.input {
        Some(Input::Unstructured(input)) => {
            let mut text = v2::slash_commands::TextCommandInput::new(&*input.hint);
            text.meta = input.meta.clone();
            text.extra = input.extra.clone();
            Some(v2::slash_commands::AvailableCommandInput::Text(text))
        }
        _ => None,
    };
    command_v2.meta = command.meta.clone();
    command_v2.extra = command.extra.clone();
    v2::slash_commands::AvailableCommand::Command(command_v2)
}

macro_rules! config_option {
    ($name:ident, $from:ident { $id:ident, $group:ident }, $to:ident) => {
        /// Converts an option of a session.
        pub(crate) fn $name(
            option: &$from::session_config_options::SessionConfigOption,
        ) -> Option<$to::session_config_options::SessionConfigOption> {
            use $from::session_config_options as from;
            use $to::session_config_options as to;
            let kind = match &option.kind {
                from::SessionConfigKind::Select(select) => {
                    let options = match &select.options {
                        from::SessionConfigSelectOptions::Ungrouped(options) => {
                            to::SessionConfigSelectOptions::Ungrouped(all_alike(options).0)
                        }
                        from::SessionConfigSelectOptions::Grouped(groups) => {
                            let groups = groups.iter().map(|group| {
                                let mut converted_group = to::SessionConfigSelectGroup::new(
                                    group.$group.as_str(),
                                    &*group.name,
                                    all_alike(&group.options).0,
                                );
                                converted_group.meta = group.meta.clone();
                                converted_group.extra = group.extra.clone();
                                converted_group
                            });
                            to::SessionConfigSelectOptions::Grouped(groups.collect())
                        }
                    };
                    let mut converted_select =
                        to::SessionConfigSelect::new(select.current_value.as_str(), options);
                    converted_select.extra = select.extra.clone();
                    to::SessionConfigKind::Select(converted_select)
                }
                other => alike(other)?,
            };
            let mut converted_option =
                to::SessionConfigOption::new(option.$id.as_str(), &*option.name, kind);
            converted_option.description = option.description.clone();
            converted_option.category =
                option.category.as_ref().map(|category| category.as_str().into());
            converted_option.meta = option.meta.clone();
            Some(converted_option)
        }
    };
}

config_option!(option_to_v2, v1 { id, group }, v2);
config_option!(option_to_v1, v2 { config_id, group_id }, v1);

/// Converts a change of a tool call, without its content. `null` of version 1 keeps the value.
pub(crate) fn call_to_v2(
    update: &v1::tool_calls::ToolCallUpdate,
) -> v2::tool_calls::ToolCallUpdate {
    fn unless_null<A, B>(
        value: &Presence<A>,
        convert: impl FnOnce(&A) -> Option<B>,
    ) -> Presence<B> {
        value.value().and_then(convert).map_or(Presence::Absent, Presence::Value)
    }
    let mut update_v2 = v2::tool_calls::ToolCallUpdate::new(update.tool_call_id.as_str());
    update_v2.title = unless_null(&update.title, |title| Some(title.clone()));
    update_v2.name = unless_null(&update.name, |name| Some(name.clone()));
    update_v2.kind = unless_null(&update.kind, |kind| Some(kind.as_str().into()));
    update_v2.status = unless_null(&update.status, |status| Some(status.as_str().into()));
    update_v2.locations = unless_null(&update.locations, alike);
    update_v2.raw_input = unless_null(&update.raw_input, |input| Some(input.clone()));
    update_v2.raw_output = unless_null(&update.raw_output, |output| Some(output.clone()));
    update_v2.meta = update.meta.clone().map_or(Presence::Absent, Presence::Value);
    update_v2.extra = update.extra.clone();
    update_v2
}

/// Converts an announcement of a tool call to a change.
pub(crate) fn announced(call: &v1::tool_calls::ToolCall) -> v1::tool_calls::ToolCallUpdate {
    fn set<T: Clone>(value: &Option<T>) -> Presence<T> {
        value.clone().map_or(Presence::Absent, Presence::Value)
    }
    let mut update = v1::tool_calls::ToolCallUpdate::new(call.tool_call_id.clone());
    update.title = call.title.clone().into();
    update.name = set(&call.name);
    update.kind = set(&call.kind);
    update.status = set(&call.status);
    update.content = set(&call.content);
    update.locations = set(&call.locations);
    update.raw_input = set(&call.raw_input);
    update.raw_output = set(&call.raw_output);
    update.meta = call.meta.clone();
    update.extra = call.extra.clone();
    update
}

/// Returns the state that follows the end of a version 1 turn.
pub(crate) fn idle(
    reason: v2::session_states::StopReason,
    usage: Option<&v1::prompt_turn::Usage>,
) -> v2::session_states::StateUpdate {
    let mut idle = v2::session_states::IdleStateUpdate::new(reason);
    idle.usage = usage.and_then(alike).map(Box::new);
    v2::session_states::StateUpdate::Idle(Box::new(idle))
}

/// Converts a stop reason of version 1 to version 2.
pub(crate) fn reason_to_v2(
    reason: &v1::prompt_turn::StopReason,
) -> Option<v2::session_states::StopReason> {
    let text = serde_json::to_string(reason.as_str()).ok()?;
    wire::decode(&["{\"stopReason\":".to_string(), text, "}".to_string()].concat()).ok()
}
