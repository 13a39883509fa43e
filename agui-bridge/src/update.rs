//! An update of a session, in either version of ACP.
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v2::prompt_lifecycle::{
    SessionUpdate as SessionUpdateV2, UpdateSessionNotification,
};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// A `session/update` of either version, or a notification of an extension method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Update {
    V1(SessionNotification),
    V2(Box<UpdateSessionNotification>),
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
    SessionInfo,
    Usage,
}

impl Update {
    /// Returns the session of the update.
    pub(crate) fn session(&self) -> Cow<'_, str> {
        match self {
            Self::V1(notification) => Cow::Borrowed(notification.session_id.as_str()),
            Self::V2(notification) => Cow::Borrowed(notification.session_id.as_str()),
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
                SessionUpdate::UsageUpdate(_) => Some(Kind::Usage),
                _ => None,
            },
            Self::V2(notification) => match notification.update {
                SessionUpdateV2::AvailableCommandsUpdate(_) => Some(Kind::Commands),
                SessionUpdateV2::ConfigOptionUpdate(_) => Some(Kind::ConfigOptions),
                SessionUpdateV2::UsageUpdate(_) => Some(Kind::Usage),
                _ => None,
            },
            Self::Extension(_) => None,
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
            Self::Extension(_) => return false,
        };
        let parts =
            ["message", "thought", "tool_call", "plan", "terminal", "compaction", "subagent"];
        parts.iter().any(|part| tag.contains(part))
    }

    /// Returns whether the update concerns a tool call.
    pub(crate) fn is_tool_call(&self) -> bool {
        match self {
            Self::V1(notification) => notification.update.tag().starts_with("tool_call"),
            Self::V2(notification) => notification.update.tag().starts_with("tool_call"),
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
            Self::SessionInfo => "acp.session_info",
            Self::Usage => "acp.usage",
        }
    }
}
