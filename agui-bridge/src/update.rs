//! An update of a session, in either version of ACP.
use crate::content::invocation;
use crate::tool_call::Change;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v2::content::ContentBlock as ContentBlockV2;
use acp_types::v2::prompt_lifecycle::{
    SessionUpdate as SessionUpdateV2, UpdateSessionNotification,
};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::RequestId;
use jsonrpc_core::wire::{Extra, Presence, Raw};
use serde::{Deserialize, Serialize};

/// A `session/update` of either version, the tool call of a permission request, or a notification
/// of an extension method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Update {
    V1(SessionNotification),
    V2(Box<UpdateSessionNotification>),
    /// The tool call of a permission request, as an update.
    Asked(RequestId, Box<Update>),
    Extension(Extension),
}

/// A notification of an extension method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Extension {
    pub(crate) method: String,
    pub(crate) params: Raw,
}

/// The subject of an update that replaces its whole value, so that a repetition has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Kind {
    Plan,
    Commands,
    Mode,
    ConfigOptions,
    Suggestions,
    SessionInfo,
    Usage,
}

/// The part of a conversation in an update, for comparison with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Text of the user.
    User(Cow<'a, str>),
    /// Text of the agent.
    Answer(Cow<'a, str>),
    /// A tool call. `begins` is `false` for an update that cannot begin one.
    Call {
        id: &'a str,
        begins: bool,
    },
    Other,
}

impl Update {
    /// Returns the part of the conversation.
    pub(crate) fn part(&self) -> Part<'_> {
        match self {
            Self::V1(notification) => match &notification.update {
                SessionUpdate::UserMessageChunk(chunk) => Part::User(text_of(&chunk.content)),
                SessionUpdate::AgentMessageChunk(chunk) => Part::Answer(text_of(&chunk.content)),
                SessionUpdate::ToolCall(call) => {
                    Part::Call { id: call.tool_call_id.as_str(), begins: true }
                }
                SessionUpdate::ToolCallUpdate(call) => {
                    Part::Call { id: call.tool_call_id.as_str(), begins: false }
                }
                _ => Part::Other,
            },
            Self::V2(notification) => match &notification.update {
                SessionUpdateV2::UserMessageChunk(chunk) => Part::User(text_of_v2(&chunk.content)),
                SessionUpdateV2::AgentMessageChunk(chunk) => {
                    Part::Answer(text_of_v2(&chunk.content))
                }
                SessionUpdateV2::UserMessage(message) => Part::User(texts_of(&message.content)),
                SessionUpdateV2::AgentMessage(message) => Part::Answer(texts_of(&message.content)),
                SessionUpdateV2::ToolCallUpdate(call) => {
                    Part::Call { id: call.tool_call_id.as_str(), begins: false }
                }
                SessionUpdateV2::ToolCallContentChunk(chunk) => {
                    Part::Call { id: chunk.tool_call_id.as_str(), begins: false }
                }
                _ => Part::Other,
            },
            Self::Asked(..) | Self::Extension(_) => Part::Other,
        }
    }

    /// Returns the session of the update.
    pub(crate) fn session(&self) -> Cow<'_, str> {
        match self {
            Self::V1(notification) => Cow::Borrowed(notification.session_id.as_str()),
            Self::V2(notification) => Cow::Borrowed(notification.session_id.as_str()),
            Self::Asked(_, update) => update.session(),
            Self::Extension(extension) => {
                let params = extension.params.decode::<Extra>().unwrap_or_default();
                let session = params.get("sessionId").and_then(|id| id.decode::<String>().ok());
                Cow::Owned(session.unwrap_or_default())
            }
        }
    }

    /// Returns the subject that the update replaces as a whole, if any.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self {
            Self::V1(notification) => match notification.update {
                SessionUpdate::Plan(_) => Some(Kind::Plan),
                SessionUpdate::AvailableCommandsUpdate(_) => Some(Kind::Commands),
                SessionUpdate::CurrentModeUpdate(_) => Some(Kind::Mode),
                SessionUpdate::ConfigOptionUpdate(_) => Some(Kind::ConfigOptions),
                SessionUpdate::PromptSuggestionsUpdate(_) => Some(Kind::Suggestions),
                SessionUpdate::UsageUpdate(_) => Some(Kind::Usage),
                _ => None,
            },
            Self::V2(notification) => match notification.update {
                SessionUpdateV2::AvailableCommandsUpdate(_) => Some(Kind::Commands),
                SessionUpdateV2::ConfigOptionUpdate(_) => Some(Kind::ConfigOptions),
                SessionUpdateV2::PromptSuggestionsUpdate(_) => Some(Kind::Suggestions),
                SessionUpdateV2::UsageUpdate(_) => Some(Kind::Usage),
                _ => None,
            },
            Self::Asked(..) | Self::Extension(_) => None,
        }
    }

    /// Returns whether the update is part of the conversation.
    pub(crate) fn is_conversation(&self) -> bool {
        let tag = match self {
            Self::V1(notification) => match &notification.update {
                SessionUpdate::AgentMessageChunk(_) | SessionUpdate::AgentThoughtChunk(_) => {
                    return true;
                }
                update => update.tag(),
            },
            Self::V2(notification) => match &notification.update {
                SessionUpdateV2::AgentMessageChunk(_) | SessionUpdateV2::AgentThoughtChunk(_) => {
                    return true;
                }
                update => update.tag(),
            },
            Self::Asked(..) => return true,
            Self::Extension(_) => return false,
        };
        let parts =
            ["message", "thought", "tool_call", "plan", "terminal", "compaction", "subagent"];
        parts.iter().any(|part| tag.contains(part))
    }

    /// Returns the change of a tool call, if the update is one.
    pub(crate) fn into_change(self) -> Option<Change> {
        match self {
            Self::V1(notification) => match notification.update {
                SessionUpdate::ToolCallUpdate(update) => Some(Change::from(*update)),
                _ => None,
            },
            Self::V2(notification) => match notification.update {
                SessionUpdateV2::ToolCallUpdate(update) => Some(Change::from(*update)),
                _ => None,
            },
            Self::Asked(..) | Self::Extension(_) => None,
        }
    }

    /// Returns whether the update concerns a tool call.
    pub(crate) fn is_tool_call(&self) -> bool {
        match self {
            Self::V1(notification) => notification.update.tag().starts_with("tool_call"),
            Self::V2(notification) => notification.update.tag().starts_with("tool_call"),
            Self::Asked(..) => true,
            Self::Extension(_) => false,
        }
    }
}

impl Kind {
    /// Returns the name of the custom event.
    pub(crate) fn event(self) -> &'static str {
        match self {
            Self::Plan => "acp.plan",
            Self::Commands => "acp.commands",
            Self::Mode => "acp.mode",
            Self::ConfigOptions => "acp.config_options",
            Self::Suggestions => "acp.suggestions",
            Self::SessionInfo => "acp.session_info",
            Self::Usage => "acp.usage",
        }
    }
}

/// Returns the text of a block; empty for other blocks.
pub(crate) fn text_of(block: &ContentBlock) -> Cow<'_, str> {
    match block {
        ContentBlock::Text(text) => Cow::Borrowed(&text.text),
        _ => Cow::Borrowed(""),
    }
}

fn text_of_v2(block: &ContentBlockV2) -> Cow<'_, str> {
    match block {
        ContentBlockV2::Text(text) => Cow::Borrowed(&text.text),
        ContentBlockV2::Skill(skill) => Cow::Owned(invocation(&skill.name)),
        _ => Cow::Borrowed(""),
    }
}

fn texts_of(blocks: &Presence<Vec<ContentBlockV2>>) -> Cow<'_, str> {
    blocks.value().into_iter().flatten().map(text_of_v2).collect::<String>().into()
}
