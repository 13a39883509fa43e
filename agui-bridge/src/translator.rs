use crate::arguments::ArgsMode;
use crate::ids::{self, Ids};
use crate::json::Members;
use crate::limits::Limits;
use crate::permission::{PermissionMode, PermissionResponse, Permissions};
use crate::state::{Session, Waiting};
use crate::text::{Text, Voice};
use crate::tool_call::{Change, ToolCalls};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use agui_types::event::{ActivitySnapshotEvent, CustomEvent, Event, RunStartedEvent};
use agui_types::id::{MessageId, RunId, ThreadId, ToolCallId};
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use agui_types::profile::Profile;
use agui_types::{Metadata, PROTOCOL_VERSION};
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use jsonrpc_core::wire::Raw;

/// How a [`Translator`] works.
///
/// ```
/// use agui_bridge::{Options, PermissionMode, Policy};
///
/// let mut options = Options::new();
/// options.permission = PermissionMode::Policy(Policy::allow_all());
/// assert_eq!(options.profile, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What the client understands; when it is not given, what each run's `protocolVersion` says.
    pub profile: Option<Profile>,
    /// Who answers permission requests. The default rejects them.
    pub permission: PermissionMode,
    /// When tool calls' arguments go out.
    pub arguments: ArgsMode,
    /// What the ids of permission requests begin with, so that they are unique among the threads of a program; `int-`
    /// unless it is set.
    pub interrupt_prefix: String,
    /// What is kept and sent at most.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            profile: None,
            permission: PermissionMode::default(),
            arguments: ArgsMode::default(),
            interrupt_prefix: ids::INTERRUPT.to_owned(),
            limits: Limits::default(),
        }
    }
}

impl Options {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A run is open: it has to end before another begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thread has a run that has not ended")]
pub struct RunOpen;

/// Translates what an ACP v1 agent says in a session into AG-UI events, run after run.
///
/// It does no IO, and knows neither clock nor chance: the same input gives the same events. Tell it what happened
/// (`begin_run`, `handle_*`), then take what follows ([`poll_event`](Self::poll_event),
/// [`poll_response`](Self::poll_response)) until there is nothing left.
///
/// Whatever comes in, and in whatever order, each run is `RUN_STARTED`, then a body in which everything that is opened is
/// closed and each tool call gets one result, then one `RUN_FINISHED` or `RUN_ERROR`; then nothing, until the next
/// run. Identifiers are unique in the thread: never reused, never reopened.
///
/// What comes while no run is open waits for the head of the next one.
///
/// One translator serves one thread and its ACP session; how updates, tool calls, permissions and ends are mapped is
/// told in the [crate's documentation](crate).
#[derive(Clone, Debug)]
pub struct Translator {
    pub(crate) options: Options,
    pub(crate) profile: Profile,
    pub(crate) ids: Ids,
    pub(crate) run: Option<Run>,
    pub(crate) waiting: Waiting,
    pub(crate) text: Text,
    pub(crate) calls: ToolCalls,
    pub(crate) permissions: Permissions,
    pub(crate) session: Session,
    /// Names of the tools that the page offers, which no call of the agent's own may have.
    pub(crate) offered: BTreeSet<String>,
    pub(crate) responses: VecDeque<PermissionResponse>,
    /// How many runs began.
    pub(crate) runs: u64,
    /// The number of the run in which, or after which, what is being translated came.
    pub(crate) arriving_in: u64,
    events: VecDeque<Event>,
}

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) thread_id: ThreadId,
    pub(crate) run_id: RunId,
    pub(crate) cancelled: bool,
    /// The frontend calls that it showed.
    pub(crate) pending: Vec<ToolCallId>,
}

impl Translator {
    /// A thread without runs.
    pub fn new(options: Options) -> Self {
        Self {
            profile: options.profile.unwrap_or(Profile::V1),
            ids: Ids::new(options.limits.ids),
            options,
            run: None,
            waiting: Waiting::default(),
            text: Text::default(),
            calls: ToolCalls::default(),
            permissions: Permissions::default(),
            session: Session::default(),
            offered: BTreeSet::new(),
            responses: VecDeque::new(),
            runs: 0,
            arriving_in: 0,
            events: VecDeque::new(),
        }
    }

    /// Begins the run that `input` asks for, with `prompt` about to be sent to the agent. What came since the last run
    /// follows at once.
    ///
    /// Identifiers of the input's messages and tool calls are not given out again. What the agent repeats of the
    /// prompt as the user's words is left out.
    ///
    /// # Errors
    /// The last run has not ended.
    pub fn begin_run(
        &mut self,
        input: &RunAgentInput,
        prompt: &[ContentBlock],
    ) -> Result<(), RunOpen> {
        if self.run.is_some() {
            return Err(RunOpen);
        }
        self.profile =
            self.options.profile.unwrap_or_else(|| Profile::of(input.protocol_version.as_deref()));
        for message in &input.messages {
            self.reserve(message);
        }
        self.offered = input.tools.iter().flatten().map(|tool| tool.name.clone()).collect();
        let run = Run {
            thread_id: input.thread_id.clone(),
            run_id: input.run_id.clone(),
            cancelled: false,
            pending: Vec::new(),
        };
        let mut started = RunStartedEvent::new(run.thread_id.clone(), run.run_id.clone());
        started.protocol_version = Some(PROTOCOL_VERSION.into());
        self.emit(started);
        self.run = Some(run);
        self.text.begin(prompt);
        self.session = Session::default();
        self.runs += 1;
        self.catch_up();
        self.arriving_in = self.runs;
        Ok(())
    }

    /// Takes in a `session/update`.
    pub fn handle_notification(&mut self, notification: SessionNotification) {
        if let SessionUpdate::UserMessageChunk(chunk) = &notification.update
            && self.text.is_echo(chunk)
        {
            return;
        }
        if self.run.is_some() {
            self.translate(notification);
        } else {
            self.waiting.push(notification, &self.options.limits);
        }
    }

    /// Takes the next event of the stream.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether a run has begun and not ended.
    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    fn translate(&mut self, notification: SessionNotification) {
        match notification.update {
            SessionUpdate::UserMessageChunk(chunk) => self.chunk(Voice::User, chunk),
            SessionUpdate::AgentMessageChunk(chunk) => self.chunk(Voice::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => self.chunk(Voice::Thought, chunk),
            SessionUpdate::ToolCall(call) => self.tool_call(Change::from(*call)),
            SessionUpdate::ToolCallUpdate(update) => self.tool_call(Change::from(*update)),
            SessionUpdate::Plan(plan) => self.plan(&notification.session_id, &plan),
            other => self.tell(&other),
        }
    }

    /// Translates what waited for a run.
    fn catch_up(&mut self) {
        let waiting = mem::take(&mut self.waiting);
        if waiting.dropped > 0 {
            self.custom("acp.dropped", Members::new().with("updates", &waiting.dropped).into_raw());
        }
        for notification in waiting.into_updates() {
            self.translate(notification);
        }
    }

    fn reserve(&mut self, message: &Message) {
        if let Some(id) = message.id() {
            self.ids.reserve(id.as_str());
        }
        if let Message::Assistant(message) = message {
            for call in message.tool_calls.iter().flatten() {
                self.ids.reserve(call.id.as_str());
            }
        }
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.profile != Profile::Legacy
    }

    pub(crate) fn emit(&mut self, event: impl Into<Event>) {
        self.events.push_back(event.into());
    }

    pub(crate) fn custom(&mut self, name: &'static str, value: Raw) {
        self.emit(CustomEvent::new(name, value));
    }

    /// Shows an activity, in place of what it showed before.
    pub(crate) fn activity(
        &mut self,
        id: impl Into<MessageId>,
        kind: &'static str,
        content: Members,
    ) {
        self.close_text();
        let mut snapshot = ActivitySnapshotEvent::new(id, kind, content.into_extra());
        snapshot.replace = Some(true);
        self.emit(snapshot);
    }

    /// The metadata of an event, for clients that take any: what ACP says beyond AG-UI, under the key `acp`.
    pub(crate) fn metadata(&self, acp: Members) -> Option<Metadata> {
        let wanted = self.is_modern() && !acp.is_empty();
        wanted.then(|| Members::new().with("acp", &acp.into_extra()).into_extra())
    }
}
