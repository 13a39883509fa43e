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
    let lost = values.len() - alike.len();
    (alike, lost)
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
                let mut same = to::McpServerStdio::new(&*server.name, &*server.command);
                same.args = Some(server.args.clone());
                same.env = Some(server.env.clone());
                same.meta = server.meta.clone();
                Some(To::Stdio(same))
            }
            Self::Http(server) => {
                let mut same = to::McpServerHttp::new(&*server.name, &*server.url);
                same.headers = Some(server.headers.clone());
                same.meta = server.meta.clone();
                Some(To::Http(same))
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
    let mut same = v2::slash_commands::Command::new(&*command.name, &*command.description);
    same.input = match &command.input {
        Some(Input::Unstructured(input)) => {
            let mut text = v2::slash_commands::TextCommandInput::new(&*input.hint);
            text.meta = input.meta.clone();
            text.extra = input.extra.clone();
            Some(v2::slash_commands::AvailableCommandInput::Text(text))
        }
        _ => None,
    };
    same.meta = command.meta.clone();
    same.extra = command.extra.clone();
    v2::slash_commands::AvailableCommand::Command(same)
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
                                let mut same = to::SessionConfigSelectGroup::new(
                                    group.$group.as_str(),
                                    &*group.name,
                                    all_alike(&group.options).0,
                                );
                                same.meta = group.meta.clone();
                                same.extra = group.extra.clone();
                                same
                            });
                            to::SessionConfigSelectOptions::Grouped(groups.collect())
                        }
                    };
                    let mut same =
                        to::SessionConfigSelect::new(select.current_value.as_str(), options);
                    same.extra = select.extra.clone();
                    to::SessionConfigKind::Select(same)
                }
                other => alike(other)?,
            };
            let mut same = to::SessionConfigOption::new(option.$id.as_str(), &*option.name, kind);
            same.description = option.description.clone();
            same.category = option.category.as_ref().map(|category| category.as_str().into());
            same.meta = option.meta.clone();
            Some(same)
        }
    };
}

config_option!(option_to_v2, v1 { id, group }, v2);
config_option!(option_to_v1, v2 { config_id, group_id }, v1);

/// Converts a change of a tool call, without its content. `null` of version 1 keeps the value.
pub(crate) fn call_to_v2(
    update: &v1::tool_calls::ToolCallUpdate,
) -> v2::tool_calls::ToolCallUpdate {
    fn unless_null<A, B>(value: &Presence<A>, same: impl FnOnce(&A) -> Option<B>) -> Presence<B> {
        value.value().and_then(same).map_or(Presence::Absent, Presence::Value)
    }
    let mut same = v2::tool_calls::ToolCallUpdate::new(update.tool_call_id.as_str());
    same.title = unless_null(&update.title, |title| Some(title.clone()));
    same.name = unless_null(&update.name, |name| Some(name.clone()));
    same.kind = unless_null(&update.kind, |kind| Some(kind.as_str().into()));
    same.status = unless_null(&update.status, |status| Some(status.as_str().into()));
    same.locations = unless_null(&update.locations, alike);
    same.raw_input = unless_null(&update.raw_input, |input| Some(input.clone()));
    same.raw_output = unless_null(&update.raw_output, |output| Some(output.clone()));
    same.meta = update.meta.clone().map_or(Presence::Absent, Presence::Value);
    same.extra = update.extra.clone();
    same
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
