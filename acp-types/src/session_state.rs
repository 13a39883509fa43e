//! What a session is at, out of what was said about it: one reducer for both versions of the protocol.
//!
//! Tell a [`SessionState`] what passes ([`handle`](SessionState::handle) takes updates and the few requests and results
//! that count), look at what it holds at any time, and take [`Change`]s for what is new. It does no IO, and needs no clock.
//!
//! What is held is in the types of version 2, the wider one; what only version 1 has is there too (modes, diffs with both
//! texts). So the same conversation gives the same state in either version. For somebody who knows one version only there
//! are [`view_v1`](SessionState::view_v1) and [`view_v2`](SessionState::view_v2): what an agent would tell if the client came
//! back to the session, with a list of what that version cannot say. What is on the wire is never converted.
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
//! assert_eq!((call.title(), call.is_over()), (Some("Read"), true));
//! assert_eq!(state.poll_change(), Some(Change::Message { entry: 0 }));
//! assert_eq!(state.poll_change(), Some(Change::Text { entry: 0, block: 0, from: 7 }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | is | rule |
//! |---|---|
//! | a chunk | goes to the message of its id; without one, to the message right before it, if that is of the same kind |
//! | text chunks | become one text, as long as they have no annotations |
//! | a tool call | is made by whatever names it first: an announcement, a change, a piece of content, a question for permission |
//! | a `tool_call` of version 1 for a call that is there | changes it, and never takes its status back |
//! | `null` in a `tool_call_update` of version 1 | leaves what was; in version 2 it clears |
//! | a prompt of version 1 | is a message of the user, unless the agent repeats it, which then counts |
//! | `session/cancel` in version 1 | open tool calls are `cancelled`, until the agent says otherwise |
//! | a text that does not fit [`Limits`], an update that is not known | is left out, and told as a [`Change`] |
//!
//! `_meta` of chunks, and of updates whose content replaces what was, is not part of the state.
use crate::v1;
use crate::v2::agent_plan::{PlanId, PlanUpdateContent};
use crate::v2::compaction::{CompactionId, CompactionUpdate};
use crate::v2::content::ContentBlock;
use crate::v2::notices::Notice;
use crate::v2::prompt_lifecycle::{MessageId, UsageUpdate};
use crate::v2::session_config_options::SessionConfigOption;
use crate::v2::session_list::SessionInfoUpdate;
use crate::v2::session_setup::SessionId;
use crate::v2::session_states::StateUpdate;
use crate::v2::slash_commands::AvailableCommand;
use crate::v2::subagents::{SessionMessage, SubagentUpdate};
use crate::v2::terminals::{TerminalId, TerminalUpdate};
use crate::v2::tool_calls::{
    ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Meta;

mod alike;
mod base64;
mod input_v1;
mod input_v2;
mod patch;
mod reduce;
mod view;
mod view_v1;
mod view_v2;

pub use view::{Loss, ViewV1, ViewV2};

/// How much a [`SessionState`] holds at most.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Messages, tool calls, compactions and messages between sessions, together. The oldest go first.
    pub entries: usize,
    /// Bytes of content in all of these. The oldest go first; the last one grows no further.
    pub bytes: usize,
    /// Blocks of content in one of these.
    pub blocks: usize,
    /// Bytes of each terminal's output; the end of it stays.
    pub terminal_output: usize,
    /// Terminals, plans, subagents, notices, commands, options: of each.
    pub names: usize,
    /// Changes that wait to be taken.
    pub changes: usize,
}

impl Default for Limits {
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

/// What a session is at; see the [module](self).
#[derive(Clone, Debug, Default)]
pub struct SessionState {
    limits: Limits,
    entries: VecDeque<Entry>,
    /// The number of the first entry.
    first: u64,
    /// Bytes of content in the entries.
    held: usize,
    tool_calls: BTreeMap<ToolCallId, ToolCall>,
    compactions: BTreeMap<CompactionId, CompactionUpdate>,
    terminals: BTreeMap<TerminalId, Terminal>,
    plans: BTreeMap<Option<PlanId>, PlanUpdateContent>,
    modes: Option<v1::session_modes::SessionModeState>,
    config_options: Vec<SessionConfigOption>,
    commands: Vec<AvailableCommand>,
    info: SessionInfoUpdate,
    usage: Option<UsageUpdate>,
    notices: VecDeque<Notice>,
    subagents: BTreeMap<SessionId, SubagentUpdate>,
    state: Option<StateUpdate>,
    /// Prompts of version 1 that are open.
    prompts: usize,
    /// The entry of a prompt that the agent has not repeated.
    prompt_entry: Option<u64>,
    changes: VecDeque<Change>,
}

/// What happened in a session, one after the other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Entry {
    /// Somebody said or thought something.
    Message(Message),
    /// The model asked for a tool: see [`SessionState::tool_call`].
    ToolCall(ToolCallId),
    /// The context was made smaller: see [`SessionState::compaction`].
    Compaction(CompactionId),
    /// One session said something to another.
    SessionMessage(SessionMessage),
}

/// Something that was said or thought.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// By whom.
    pub kind: MessageKind,
    /// Its id, where the agent gives one.
    pub message_id: Option<MessageId>,
    /// What was said; text that came in pieces is one text.
    pub content: Vec<ContentBlock>,
    /// What peers agreed on outside the protocol.
    pub meta: Option<Meta>,
}

impl Message {
    /// All of its text.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageKind {
    /// The user.
    User,
    /// The agent.
    Agent,
    /// The agent, to itself.
    Thought,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// What is known of it, as the one update that would make it; without its content.
    pub update: ToolCallUpdate,
    /// What it has produced.
    pub content: Vec<Produced>,
}

impl ToolCall {
    /// What it is doing, for people to read.
    pub fn title(&self) -> Option<&str> {
        self.update.title.value().map(String::as_str)
    }

    /// What kind of tool it is; one that is absent or unknown is `other`.
    pub fn kind_or_other(&self) -> &ToolKind {
        self.update.kind_or_other().unwrap_or(&ToolKind::Other)
    }

    /// How it stands: one that is absent is `pending`, one that is unknown `in_progress`.
    pub fn status(&self) -> &ToolCallStatus {
        self.update.status_or_in_progress().unwrap_or(&ToolCallStatus::Pending)
    }

    /// Whether it has ended, in whatever way.
    pub fn is_over(&self) -> bool {
        use ToolCallStatus::{Cancelled, Completed, Failed};
        matches!(self.status(), Completed | Failed | Cancelled)
    }
}

/// What a tool call has produced.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Produced {
    /// Content as version 2 has it.
    Content(ToolCallContent),
    /// A change to a file as version 1 has it: its texts.
    Texts(v1::tool_calls::Diff),
}

/// A terminal that an agent shows, or, in version 1, asked the client for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Terminal {
    /// What is known of it, as the one update that would make it; without its output.
    pub update: TerminalUpdate,
    /// The end of its output.
    pub output: Vec<u8>,
    /// Whether output before that is gone.
    pub is_truncated: bool,
}

/// What is new. Look at the state for what it is now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// An entry that is a message began, or changed otherwise than by text at its end.
    Message {
        /// The number of the entry.
        entry: u64,
    },
    /// Text was added to a message.
    Text {
        /// The number of the entry.
        entry: u64,
        /// The block of its content that grew.
        block: usize,
        /// Where the new text begins in that, in bytes.
        from: usize,
    },
    /// A tool call began or changed.
    ToolCall(ToolCallId),
    /// A terminal began or changed.
    Terminal(TerminalId),
    /// A plan came, changed or went; that of version 1 has no id.
    Plan(Option<PlanId>),
    /// Modes, or the current one.
    Modes,
    /// Options, or their values.
    ConfigOptions,
    /// Commands.
    Commands,
    /// What a list of sessions shows of this one.
    Info,
    /// How full the context is, and the cost.
    Usage,
    /// A notice came.
    Notice,
    /// A compaction began or changed.
    Compaction(CompactionId),
    /// A session that this one owns came or changed.
    Subagent(SessionId),
    /// A message between sessions came or changed.
    SessionMessage {
        /// The number of the entry.
        entry: u64,
    },
    /// What the session is at.
    State,
    /// An entry was forgotten for the [`Limits`].
    Forgotten {
        /// The number of the entry.
        entry: u64,
    },
    /// Something could not be held.
    Lost(Loss),
    /// More changed than [`Limits::changes`]: look at everything.
    Missed,
}

/// Something that a session is told; see [`SessionState::handle`].
pub trait Input: sealed::Input {}

impl<T: sealed::Input> Input for T {}

mod sealed {
    pub trait Input {
        fn apply(self, state: &mut super::SessionState);
    }
}

impl SessionState {
    /// Nothing has happened yet.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Takes in what passed. In either version:
    ///
    /// - `&SessionUpdate`, each of them, also during `session/load`
    /// - `&RequestPermissionRequest`, which tells about its tool call
    /// - `&NewSessionResponse`, `&ResumeSessionResponse`, `&SetSessionConfigOptionResponse`
    ///
    /// and in version 1, where updates do not tell everything:
    ///
    /// - `&LoadSessionResponse`, `&SetSessionModeRequest` when it was answered
    /// - `&PromptRequest`, and `&PromptResponse` or the `&ErrorObject` that answers it
    /// - `&CancelNotification`
    /// - a request and its answer for terminals: `(&CreateTerminalRequest, &CreateTerminalResponse)`,
    ///   `(&TerminalOutputRequest, &TerminalOutputResponse)`, `(&WaitForTerminalExitRequest, &WaitForTerminalExitResponse)`
    pub fn handle(&mut self, input: impl Input) {
        input.apply(self);
    }

    /// The next change; nothing when all is told.
    pub fn poll_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// What happened, in order, each with its number, which stays.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (u64, &Entry)> {
        let last = self.first + u64::try_from(self.entries.len()).unwrap_or(u64::MAX);
        (self.first..last).filter_map(|number| Some((number, self.entry(number)?)))
    }

    /// The entry of this number, unless it is forgotten.
    pub fn entry(&self, number: u64) -> Option<&Entry> {
        let at = number.checked_sub(self.first)?;
        self.entries.get(usize::try_from(at).ok()?)
    }

    /// What was said and thought, in order.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Message(message) => Some(message),
            _ => None,
        })
    }

    /// A tool call.
    pub fn tool_call(&self, id: &str) -> Option<&ToolCall> {
        self.tool_calls.get(id)
    }

    /// Tool calls, by id; the [entries](Self::entries) have their order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.tool_calls.values()
    }

    /// A compaction of the context, as the one update that would make it.
    pub fn compaction(&self, id: &str) -> Option<&CompactionUpdate> {
        self.compactions.get(id)
    }

    /// A terminal.
    pub fn terminal(&self, id: &str) -> Option<&Terminal> {
        self.terminals.get(id)
    }

    /// Plans, by id; that of version 1 has none.
    pub fn plans(&self) -> impl Iterator<Item = (Option<&PlanId>, &PlanUpdateContent)> {
        self.plans.iter().map(|(id, plan)| (id.as_ref(), plan))
    }

    /// Version 1: the modes, and the current one.
    pub fn modes(&self) -> Option<&v1::session_modes::SessionModeState> {
        self.modes.as_ref()
    }

    /// The options and their values.
    pub fn config_options(&self) -> &[SessionConfigOption] {
        &self.config_options
    }

    /// The commands.
    pub fn commands(&self) -> &[AvailableCommand] {
        &self.commands
    }

    /// Title and time, as the one update that would make them.
    pub fn info(&self) -> &SessionInfoUpdate {
        &self.info
    }

    /// How full the context is, and the cost.
    pub fn usage(&self) -> Option<&UsageUpdate> {
        self.usage.as_ref()
    }

    /// The last notices. They are of the moment: no view has them.
    pub fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.notices.iter()
    }

    /// Sessions that this one owns, each as the one update that would make it.
    pub fn subagents(&self) -> impl Iterator<Item = &SubagentUpdate> {
        self.subagents.values()
    }

    /// What the session is at: in version 2 as the agent says, in version 1 as prompts and their answers do; nothing
    /// before either.
    pub fn state(&self) -> Option<&StateUpdate> {
        self.state.as_ref()
    }

    fn change(&mut self, change: Change) {
        match (self.changes.back(), &change) {
            (Some(Change::Missed), _) => return,
            // What comes behind it in the same text is read with it.
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
