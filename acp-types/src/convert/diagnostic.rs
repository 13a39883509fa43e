//! Diagnostics of the bridge, and the error of a negotiation without a common version.
use super::side::Side;
use crate::v1::initialization::ProtocolVersion;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::ErrorObject;

/// What the bridge decided, tolerated or lost; for logs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BridgeDiagnostic {
    /// Both sides are initialized, in these versions.
    Spoken {
        /// The version of the editor.
        editor: ProtocolVersion,
        /// The version of the agent, by the shape of its response.
        agent: ProtocolVersion,
        /// The version that the agent's response names.
        claimed: ProtocolVersion,
    },
    /// A part of a message has no equivalent in the other version. The text is its id, or its name
    /// on the wire; `ID: NAME` for a part of a message, tool call, plan or permission request with
    /// an id.
    Lost(BridgeLoss, String),
    /// The bridge answered a request of this side with an error, because the version of the other
    /// side has no equivalent.
    Refused(Side, String, ErrorObject),
    /// A line of this side that is not a valid message was dropped, for this reason.
    Unreadable(Side, String),
    /// An invalid part of a message of this side was replaced, as the specification permits.
    Tolerated(Side, String),
    /// A message beyond a limit was refused or dropped.
    Full(Side, &'static str),
    /// The sides have no common version. The editor has received the error.
    Unsupported(UnsupportedAgent),
}

impl fmt::Display for BridgeDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spoken { editor, agent, claimed } => {
                write!(f, "the editor speaks version {}, the agent version {}", editor.0, agent.0)?;
                if claimed == agent { Ok(()) } else { write!(f, " (it names {})", claimed.0) }
            }
            Self::Lost(loss, detail) => write!(f, "lost {loss}: {detail}"),
            Self::Refused(side, method, error) => {
                write!(f, "refused `{method}` of the {side}: {error}")
            }
            Self::Unreadable(side, problem) => write!(f, "dropped a line of the {side}: {problem}"),
            Self::Tolerated(side, deviation) => write!(f, "tolerated of the {side}: {deviation}"),
            Self::Full(side, limit) => write!(f, "a message of the {side} exceeds {limit}"),
            Self::Unsupported(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Editor => "editor",
            Self::Agent => "agent",
        })
    }
}

/// An error: the agent speaks no version that the bridge supports.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnsupportedAgent {
    /// The version that was offered to the agent.
    pub offered: ProtocolVersion,
    /// The version that the agent's response names, if it has responded without an error.
    pub answered: Option<ProtocolVersion>,
    /// The version in the agent's response as JSON, if it is not a version number; at most
    /// [`MAX_MESSAGE`](crate::client::UnsupportedVersion::MAX_MESSAGE) characters.
    pub unread: Option<String>,
    /// The versions that the agent's error names.
    pub supported: Vec<ProtocolVersion>,
}

impl fmt::Display for UnsupportedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offered = self.offered.0;
        write!(f, "no common version of the protocol: version {offered} was offered, ")?;
        match (self.answered, &self.unread) {
            (Some(answered), _) => write!(f, "and the agent answered version {}. ", answered.0)?,
            (None, Some(unread)) => write!(f, "and the agent answered version {unread}. ")?,
            (None, None) if self.supported.is_empty() => {
                f.write_str("and the agent refused it without naming its own. ")?;
            }
            (None, None) => {
                let names: Vec<_> = self.supported.iter().map(|it| it.0.to_string()).collect();
                write!(f, "and the agent supports only {}. ", names.join(", "))?;
            }
        }
        let newest = ProtocolVersion::V2;
        match self.supported.iter().filter(|it| **it <= newest && it.0 > 0).max() {
            Some(other) => write!(f, "Offer the agent version {}.", other.0),
            None => f.write_str(
                "Versions 1 and 2 are supported: use a release of the agent that speaks one of them.",
            ),
        }
    }
}

impl core::error::Error for UnsupportedAgent {}

macro_rules! losses {
    ($( $(#[$attr:meta])* $BridgeLoss:ident = $name:literal, )+) => {
        /// A part of a message without an equivalent in the other version; the table in the [module
        /// documentation](super) has the replacements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum BridgeLoss {
            $( $(#[$attr])* $BridgeLoss, )+
        }

        impl BridgeLoss {
            /// All losses.
            pub const ALL: &[Self] = &[$( Self::$BridgeLoss, )+];

            /// Returns the name, as in the table.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$BridgeLoss => $name, )+ }
            }
        }
    };
}

losses! {
    /// The user message of a prompt, which a version 1 editor has already.
    PromptMessage = "prompt-message",
    /// The replacement of sent content.
    Rewrite = "rewrite",
    /// Metadata of a whole message, or of one that repeats the prompt.
    MessageMeta = "message-meta",
    /// A message without a `messageId`, which got one.
    MessageId = "message-id",
    /// A state that is not the start or end of a prompt's turn.
    State = "state",
    /// The start and end of work without a prompt, which a version 1 agent does not report.
    OwnTurn = "own-turn",
    /// Work in the background.
    Background = "background",
    /// A stop reason that version 1 does not have.
    StopReason = "stop-reason",
    /// Content that version 1 does not have, or a member of it.
    Content = "content",
    /// The title of a tool call, which got one.
    ToolTitle = "tool-title",
    /// A status or a kind of a tool call that the other version does not have, or that the agent
    /// has not reported.
    ToolStatus = "tool-status",
    /// The removal of a value.
    Cleared = "cleared",
    /// Operations on tool calls and terminals.
    Controls = "controls",
    /// A change of files that is not the whole text of one file: hunks, several files, a move or a
    /// deletion, or no patch.
    Diff = "diff",
    /// A terminal, which became text.
    Terminal = "terminal",
    /// The identifier of a plan.
    PlanId = "plan-id",
    /// A plan that is not a list of entries.
    PlanKind = "plan-kind",
    /// A status of a plan entry that version 1 does not have.
    PlanStatus = "plan-status",
    /// A cursor beside a message that a version 1 editor has without its identifier.
    Cursor = "cursor",
    /// A command, or an input of one, that the other version does not have.
    Command = "command",
    /// An option of a session that the editor does not support.
    ConfigOption = "config-option",
    /// Modes, which became an option.
    Modes = "modes",
    /// A mode that a version 1 session did not announce when it started.
    Mode = "mode",
    /// Title, description or subject of a permission request.
    Permission = "permission",
    /// An update or another message that the editor has not announced.
    NotAnnounced = "not-announced",
    /// An update that version 1 does not have, or of a closed session.
    Update = "update",
    /// A capability or name in `initialize`.
    Initialize = "initialize",
    /// An authentication method that version 1 does not have.
    AuthMethod = "auth-method",
    /// An MCP server with a transport that the other version does not have.
    McpServer = "mcp-server",
    /// The replay of a session.
    Replay = "replay",
    /// A list of sessions, which a version 1 agent does not have.
    SessionList = "session-list",
}

impl fmt::Display for BridgeLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
