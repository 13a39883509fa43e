//! Changes of a session.
#[cfg(doc)]
use super::StateLimits;
use crate::v2::agent_plan::PlanId;
use crate::v2::compaction::CompactionId;
use crate::v2::session_cursors::CursorId;
use crate::v2::session_setup::SessionId;
use crate::v2::terminals::TerminalId;
use crate::v2::tool_calls::ToolCallId;
use alloc::string::String;
use core::fmt;

/// A part of a message that could not be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The affected part of the session, as a path: `/toolCalls/call-1/status`.
    pub pointer: String,
    /// Description of the loss.
    pub problem: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.pointer, self.problem)
    }
}

/// A change of the state. Read the state for current values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// A message entry was added, or changed other than by appended text.
    Message {
        /// Number of the entry.
        entry: u64,
    },
    /// Text was appended to a message.
    Text {
        /// Number of the entry.
        entry: u64,
        /// Index of the content block.
        block: usize,
        /// Start of the new text within the block, in bytes.
        from: usize,
    },
    /// A tool call began or changed.
    ToolCall(ToolCallId),
    /// A terminal began or changed.
    Terminal(TerminalId),
    /// A plan was added, changed or removed; a plan of version 1 has no id.
    Plan(Option<PlanId>),
    /// The modes, or the current mode.
    Modes,
    /// The configuration options, or their values.
    ConfigOptions,
    /// The commands.
    Commands,
    /// The session's entry in session lists.
    Info,
    /// Context usage and cost.
    Usage,
    /// A notice was added.
    Notice,
    /// A compaction began or changed.
    Compaction(CompactionId),
    /// An owned session was added or changed.
    Subagent(SessionId),
    /// A message between sessions was added or changed.
    SessionMessage {
        /// Number of the entry.
        entry: u64,
    },
    /// **Unstable.** A cursor was added, changed or removed.
    Cursor(CursorId),
    /// **Unstable.** The suggestions for the next prompt.
    Suggestions,
    /// The state of the session.
    State,
    /// An entry was removed because of the [`StateLimits`].
    Forgotten {
        /// Number of the entry.
        entry: u64,
    },
    /// A part of a message could not be stored.
    Lost(Loss),
    /// More than [`StateLimits::changes`] changes occurred: read the whole state.
    Missed,
}
