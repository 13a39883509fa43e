//! The state of a session, reduced from its messages; one reducer for both versions of the
//! protocol.
//!
//! Pass messages to a [`SessionState`] ([`handle`](SessionState::handle) accepts updates, and the
//! few relevant requests and results). Read its contents at any time, and poll [`Change`]s. The
//! reducer performs no I/O and reads no clock.
//!
//! The contents have the types of version 2, the wider one, with additions for version 1 (modes,
//! diffs with both texts). The same conversation therefore has the same state in either version.
//!
//! ```
//! use acp_types::session_state::{Change, SessionState};
//! use acp_types::v1::prompt_turn::{PromptResponse, SessionUpdate, StopReason};
//! use jsonrpc_core::wire;
//!
//! let mut state = SessionState::default();
//! for update in [
//!     r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Let me "}}"#,
//!     r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"see."}}"#,
//!     r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"Read","status":"in_progress"}"#,
//!     r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}"#,
//! ] {
//!     state.handle(&wire::decode::<SessionUpdate>(update)?);
//! }
//! state.handle(&PromptResponse::new(StopReason::EndTurn));
//!
//! assert_eq!(state.messages().next().map(|message| message.text()), Some("Let me see.".into()));
//! let call = state.tool_call("c").ok_or("no call")?;
//! assert_eq!(call.title(), Some("Read"));
//! assert!(call.is_over());
//! assert_eq!(state.poll_change(), Some(Change::Message { entry: 0 }));
//! assert_eq!(state.poll_change(), Some(Change::Text { entry: 0, block: 0, from: 7 }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | input | rule |
//! |---|---|
//! | a chunk | is appended to the message with its id; without an id, to the message directly before it, if of the same kind |
//! | text chunks | are joined, unless they have annotations |
//! | a tool call | is created by its first message: an announcement, a change, content, or a permission request |
//! | a `tool_call` of version 1 for an existing call | changes it, but never reverts its status |
//! | `null` in a `tool_call_update` of version 1 | keeps the value; in version 2 it clears the value |
//! | a prompt of version 1 | becomes a user message, unless the agent repeats it; the repetition then counts |
//! | `session/cancel` in version 1 | marks open tool calls as `cancelled`, until the agent reports otherwise |
//! | a cursor | keeps its first anchor; it is removed with the entry that it is anchored to, and the oldest beyond [`StateLimits::names`] |
//! | suggestions | replace the earlier ones; a prompt does not remove them |
//! | a usage without a cost | keeps the cost |
//! | text beyond [`StateLimits`], an unknown update | is dropped and reported as a [`Change`] |
//!
//! `_meta` of chunks, and of updates that replace content, is not part of the state.
use crate::sorted_map::SortedMap;
use crate::v1;
use crate::v2::agent_plan::{PlanId, PlanUpdateContent};
use crate::v2::compaction::{CompactionId, CompactionUpdate};
use crate::v2::notices::Notice;
use crate::v2::prompt_lifecycle::UsageUpdate;
use crate::v2::prompt_suggestions::PromptSuggestion;
use crate::v2::session_config_options::SessionConfigOption;
use crate::v2::session_cursors::CursorUpdate;
use crate::v2::session_list::SessionInfoUpdate;
use crate::v2::session_setup::SessionId;
use crate::v2::session_states::StateUpdate;
use crate::v2::slash_commands::AvailableCommand;
use crate::v2::subagents::SubagentUpdate;
use crate::v2::terminals::TerminalId;
use crate::v2::tool_calls::ToolCallId;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

mod change;
mod entry;
mod input_v1;
mod input_v2;
mod patch;
mod reduce;
mod terminals;
mod weight;

pub use change::{Change, Loss};
pub use entry::{Entry, Message, MessageKind, ProducedContent, TerminalState, ToolCallState};

/// Memory limits of a [`SessionState`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StateLimits {
    /// Number of messages, tool calls, compactions and messages between sessions together; 10,000
    /// by default. The oldest are removed.
    pub entries: usize,
    /// Bytes of their content; 64 MiB by default. The oldest are removed; the last one stops
    /// growing.
    pub bytes: usize,
    /// Content blocks of one entry; 10,000 by default.
    pub blocks: usize,
    /// Bytes of a terminal's output, of which the end is kept; 1 MiB by default.
    pub terminal_output: usize,
    /// Number of terminals, plans, subagents, notices, commands, options, modes, cursors and
    /// suggestions, of each; 1,000 by default.
    pub names: usize,
    /// Unpolled changes; 4,096 by default.
    pub changes: usize,
}

impl Default for StateLimits {
    fn default() -> Self {
        Self {
            entries: 10_000,
            bytes: 64 << 20,
            blocks: 10_000,
            terminal_output: 1 << 20,
            names: 1_000,
            changes: 4_096,
        }
    }
}

/// Key in the `_meta` of a version 1 `session_info_update`, with the state of a version 2 session
/// that works without a prompt.
pub const STATE_META: &str = "spanwire/state";

/// The state of a session; see the [module documentation](self).
///
/// ```
/// use acp_types::session_state::SessionState;
/// use acp_types::v1::prompt_turn::{ContentChunk, SessionUpdate};
///
/// let mut state = SessionState::default();
/// for text in ["Hello", " world"] {
///     state.handle(&SessionUpdate::AgentMessageChunk(ContentChunk::new(text)));
/// }
/// let message = state.messages().next().ok_or("no message")?;
/// assert_eq!(message.text(), "Hello world");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SessionState {
    limits: StateLimits,
    entries: VecDeque<Entry>,
    /// Number of the first entry.
    first: u64,
    /// Bytes of content in the entries.
    held: usize,
    tool_calls: SortedMap<ToolCallId, Box<ToolCallState>>,
    compactions: SortedMap<CompactionId, Box<CompactionUpdate>>,
    terminals: SortedMap<TerminalId, Box<TerminalState>>,
    plans: SortedMap<Option<PlanId>, PlanUpdateContent>,
    modes: Option<v1::session_modes::SessionModeState>,
    config_options: Vec<SessionConfigOption>,
    commands: Vec<AvailableCommand>,
    info: SessionInfoUpdate,
    usage: Option<UsageUpdate>,
    notices: VecDeque<Notice>,
    subagents: SortedMap<SessionId, Box<SubagentUpdate>>,
    /// Oldest first.
    cursors: VecDeque<Box<CursorUpdate>>,
    suggestions: Vec<PromptSuggestion>,
    state: Option<StateUpdate>,
    /// Open prompts of version 1.
    prompts: usize,
    /// The entry of a prompt that the agent has not repeated.
    prompt_entry: Option<u64>,
    changes: VecDeque<Change>,
}

/// An input of a session; see [`SessionState::handle`].
pub trait Input: sealed::Input {}

impl<T: sealed::Input> Input for T {}

mod sealed {
    pub trait Input {
        fn apply(self, state: &mut super::SessionState);
    }
}

impl SessionState {
    /// Creates the state of a session without messages.
    pub fn new(limits: StateLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Handles a message. In both versions:
    ///
    /// - each `&SessionUpdate`, also during `session/load`
    /// - `&RequestPermissionRequest`, which describes its tool call
    /// - `&NewSessionResponse`, `&ResumeSessionResponse`, `&SetSessionConfigOptionResponse`
    ///
    /// In version 1, where updates are incomplete, also:
    ///
    /// - `&LoadSessionResponse`, and `&SetSessionModeRequest` after its response
    /// - `&PromptRequest`, and its `&PromptResponse` or `&ErrorObject`
    /// - `&CancelNotification`
    /// - pairs of terminal requests and responses: `(&CreateTerminalRequest,
    ///   &CreateTerminalResponse)`, `(&TerminalOutputRequest, &TerminalOutputResponse)`,
    ///   `(&WaitForTerminalExitRequest, &WaitForTerminalExitResponse)`
    pub fn handle(&mut self, input: impl Input) {
        input.apply(self);
    }

    /// Returns the next change, if any.
    pub fn poll_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// Returns the history in order. Each entry has a stable number.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (u64, &Entry)> {
        let last = self.first + u64::try_from(self.entries.len()).unwrap_or(u64::MAX);
        (self.first..last).filter_map(|number| Some((number, self.entry(number)?)))
    }

    /// Returns the entry with this number, unless it was removed.
    pub fn entry(&self, number: u64) -> Option<&Entry> {
        let at = number.checked_sub(self.first)?;
        self.entries.get(usize::try_from(at).ok()?)
    }

    /// Returns messages and reasoning, in order.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Message(message) => Some(message),
            _ => None,
        })
    }

    /// Returns a tool call.
    pub fn tool_call(&self, id: &str) -> Option<&ToolCallState> {
        self.tool_calls.get(id).map(Box::as_ref)
    }

    /// Returns the tool calls, by id. The [entries](Self::entries) have their order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCallState> {
        self.tool_calls.iter().map(|(_, call)| &**call)
    }

    /// Returns a compaction of the context, as a single update that would create it.
    pub fn compaction(&self, id: &str) -> Option<&CompactionUpdate> {
        self.compactions.get(id).map(Box::as_ref)
    }

    /// Returns a terminal.
    pub fn terminal(&self, id: &str) -> Option<&TerminalState> {
        self.terminals.get(id).map(Box::as_ref)
    }

    /// Returns the plans, by id; a plan of version 1 has no id.
    pub fn plans(&self) -> impl Iterator<Item = (Option<&PlanId>, &PlanUpdateContent)> {
        self.plans.iter().map(|(id, plan)| (id.as_ref(), plan))
    }

    /// Version 1: returns the modes, and the current mode.
    pub fn modes(&self) -> Option<&v1::session_modes::SessionModeState> {
        self.modes.as_ref()
    }

    /// Returns the configuration options with their values.
    pub fn config_options(&self) -> &[SessionConfigOption] {
        &self.config_options
    }

    /// Returns the commands.
    pub fn commands(&self) -> &[AvailableCommand] {
        &self.commands
    }

    /// Returns title and time, as a single update that would create them.
    pub fn info(&self) -> &SessionInfoUpdate {
        &self.info
    }

    /// Returns context usage and cost.
    pub fn usage(&self) -> Option<&UsageUpdate> {
        self.usage.as_ref()
    }

    /// Returns the latest notices. They are transient.
    pub fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.notices.iter()
    }

    /// Returns the owned sessions, each as a single update that would create it.
    pub fn subagents(&self) -> impl Iterator<Item = &SubagentUpdate> {
        self.subagents.iter().map(|(_, subagent)| &**subagent)
    }

    /// **Unstable.** Returns a cursor, as a single update that would create it.
    pub fn cursor(&self, id: &str) -> Option<&CursorUpdate> {
        self.cursors().find(|cursor| cursor.cursor_id.as_str() == id)
    }

    /// **Unstable.** Returns the cursors, oldest first, each as a single update that would create
    /// it.
    pub fn cursors(&self) -> impl Iterator<Item = &CursorUpdate> {
        self.cursors.iter().map(Box::as_ref)
    }

    /// **Unstable.** Returns the suggestions for the next prompt, the most likely one first.
    pub fn suggestions(&self) -> &[PromptSuggestion] {
        &self.suggestions
    }

    /// Returns the state of the session: in version 2 as reported by the agent, in version 1
    /// derived from prompts and their responses; `None` before either.
    pub fn state(&self) -> Option<&StateUpdate> {
        self.state.as_ref()
    }

    fn change(&mut self, change: Change) {
        match (self.changes.back(), &change) {
            (Some(Change::Missed), _) => return,
            // A later change of the same text is covered by the earlier one.
            (Some(Change::Text { entry, block, .. }), Change::Text { entry: e, block: b, .. })
                if (entry, block) == (e, b) =>
            {
                return;
            }
            (Some(last), change) if last == change && !matches!(change, Change::Lost(_)) => return,
            _ => {}
        }
        if self.changes.len() >= self.limits.changes {
            self.changes.clear();
            self.changes.push_back(Change::Missed);
        } else {
            self.changes.push_back(change);
        }
    }

    fn lost(&mut self, pointer: impl Into<String>, problem: impl Into<String>) {
        self.change(Change::Lost(Loss { pointer: pointer.into(), problem: problem.into() }));
    }
}
