use crate::compaction::Compactions;
use crate::ids::Ids;
use crate::interrupt::{Begun, Parked, Resumed};
use crate::json::Members;
use crate::options::Options;
use crate::projection::Projection;
use crate::question::{Questions, Response};
use crate::state::{Session, Update, Waiting};
use crate::subagent::{self, Subagents};
use crate::terminal::Terminals;
use crate::text::{Text, Voice};
use crate::tool_call::{Change, ToolCalls};
use crate::whole_message::{History, Written};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{ContentChunk, SessionNotification, SessionUpdate};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::subagents::SessionMessage;
use agui_types::event::{ActivitySnapshotEvent, CustomEvent, Event, RunStartedEvent};
use agui_types::id::{MessageId, RunId, SubagentRunId, ThreadId, ToolCallId};
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use agui_types::profile::Profile;
use agui_types::{Metadata, PROTOCOL_VERSION};
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;
use jsonrpc_core::wire::{Presence, Raw};
use serde::{Deserialize, Serialize};

/// A run is open: it has to end before another begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thread has a run that has not ended")]
pub struct RunOpen;

/// Translates what an ACP agent says in a session into AG-UI events, run after run.
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Translator {
    pub(crate) options: Options,
    pub(crate) profile: Profile,
    pub(crate) ids: Ids,
    pub(crate) run: Option<Run>,
    /// The turn of the last run, when that was interrupted.
    pub(crate) parked: Option<Parked>,
    pub(crate) resumed: Option<Resumed>,
    pub(crate) waiting: Waiting,
    pub(crate) text: Text,
    /// Who speaks: the session of a subagent, or empty for the agent itself.
    pub(crate) lane: String,
    /// Whose the events are.
    pub(crate) owner: Option<SubagentRunId>,
    pub(crate) subagents: Subagents,
    pub(crate) terminals: Terminals,
    pub(crate) compactions: Compactions,
    pub(crate) written: Written,
    /// Whether messages may come again.
    pub(crate) remembers: bool,
    pub(crate) history: Option<History>,
    pub(crate) projection: Projection,
    /// Translates a session that is told again.
    pub(crate) replay: Option<Box<Translator>>,
    /// The conversation that was told again, for the next run.
    pub(crate) told_again: Option<Vec<Message>>,
    pub(crate) calls: ToolCalls,
    pub(crate) questions: Questions,
    pub(crate) session: Session,
    /// Names of the tools that the page offers, which no call of the agent's own may have.
    pub(crate) offered: BTreeSet<String>,
    pub(crate) responses: VecDeque<Response>,
    /// How many runs began.
    pub(crate) runs: u64,
    /// How many turns began.
    pub(crate) turns: u64,
    /// Whether the agent has begun with the turn; only v2 says so.
    pub(crate) busy: bool,
    /// The number of the turn in which, or after which, what is being translated came.
    pub(crate) arriving_in: u64,
    /// The last time that was told.
    pub(crate) now: Option<Duration>,
    /// When the open run is interrupted.
    pub(crate) collecting: Option<Duration>,
    pub(crate) prompt_due: bool,
    events: VecDeque<Event>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) thread_id: ThreadId,
    pub(crate) run_id: RunId,
    pub(crate) cancelled: bool,
    /// The frontend calls that it showed.
    pub(crate) pending: Vec<ToolCallId>,
    /// A turn that has to end before the run's own begins.
    pub(crate) before: Option<Before>,
    /// How long it was open while nobody was asked.
    pub(crate) working: Duration,
    /// How much of that the agent has been silent for.
    pub(crate) quiet: Duration,
}

/// A turn that has to end before the run's own, and the prompt that waits for that.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Before {
    pub(crate) prompt: Vec<ContentBlock>,
    pub(crate) cancelled: bool,
}

impl Translator {
    /// A thread without runs.
    pub fn new(options: Options) -> Self {
        Self {
            profile: options.profile.unwrap_or(Profile::V1),
            ids: Ids::new(options.limits.ids),
            options,
            run: None,
            parked: None,
            resumed: None,
            waiting: Waiting::default(),
            text: Text::default(),
            lane: String::new(),
            owner: None,
            subagents: Subagents::default(),
            terminals: Terminals::default(),
            compactions: Compactions::default(),
            written: Written::default(),
            remembers: false,
            history: None,
            projection: Projection::default(),
            replay: None,
            told_again: None,
            calls: ToolCalls::default(),
            questions: Questions::default(),
            session: Session::default(),
            offered: BTreeSet::new(),
            responses: VecDeque::new(),
            runs: 0,
            turns: 0,
            busy: false,
            arriving_in: 0,
            now: None,
            collecting: None,
            prompt_due: false,
            events: VecDeque::new(),
        }
    }

    /// Begins the run that `input` asks for, with `prompt` for the agent; none where the input has
    /// [nothing](crate::input::Work::Nothing) new. What came since the last run follows at once.
    ///
    /// Identifiers of the input's messages and tool calls are not given out again. What the agent repeats of the
    /// prompt as the user's words is left out.
    ///
    /// When the run before was interrupted, its turn goes on:
    ///
    /// | the input | follows |
    /// |---|---|
    /// | answers each question | [`Begun::Resumed`]; with a prompt [`Begun::Wait`], for the turn has to end first |
    /// | answers some, or wrongly | `RUN_ERROR` `RESUME_MISMATCH`, `RESUME_INVALID`, `EDIT_UNSUPPORTED`, `INTERRUPT_EXPIRED`; the questions stay open |
    /// | answers none, without a prompt | the same interrupts again |
    /// | answers none, with a prompt | what [`Options::unanswered`] says |
    /// | … and all were settled otherwise | as if it answered them |
    /// | any, when the turn has ended meanwhile | that end; with a prompt [`Begun::Prompt`] |
    /// | any, when the agent is gone | `RUN_ERROR` `AGENT_LOST`; with a prompt a `CUSTOM` `acp.notice` and [`Begun::Prompt`] |
    ///
    /// A question is answered by an entry of [`resume`](RunAgentInput::resume): a permission request by `{"optionId":…}`,
    /// `{"approved":true}`, `{"approved":false}`, or either as a plain boolean; a form by its content, by
    /// `{"content":{…}}`, or by `{"action":"decline"}`; a page by `{}`, or by such an action. `cancelled` answers any.
    /// Entries for questions that are not open are left out, with a `CUSTOM` `acp.notice`.
    ///
    /// # Errors
    /// The last run has not ended.
    pub fn begin_run(
        &mut self,
        input: &RunAgentInput,
        prompt: &[ContentBlock],
    ) -> Result<Begun, RunOpen> {
        if self.run.is_some() {
            return Err(RunOpen);
        }
        self.end_replay();
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
            before: None,
            working: Duration::ZERO,
            quiet: Duration::ZERO,
        };
        let mut started = RunStartedEvent::new(run.thread_id.clone(), run.run_id.clone());
        started.protocol_version = Some(PROTOCOL_VERSION.into());
        let limit = self.options.limits.history;
        self.history = self.options.history.then(|| History::new(&input.messages, limit));
        self.emit(started);
        self.run = Some(run);
        self.runs += 1;
        let whole = self.told_again.is_some();
        self.say_again(input);
        self.begin_state(input, whole);
        self.prompt_due = false;
        let answers = input.resume.as_deref().unwrap_or_default();
        if let Some(parked) = self.parked.take() {
            return Ok(self.go_on(parked, answers, prompt));
        }
        self.text.end_turn();
        self.session = Session::default();
        self.catch_up();
        self.close_texts();
        if !answers.is_empty() {
            if prompt.is_empty() {
                self.close_run(false);
                self.fail_run("RESUME_MISMATCH", "No question is open.", None, None);
                return Ok(Begun::Ended);
            }
            self.warn("The answers are to questions that are not open.");
        }
        self.begin_turn(prompt);
        Ok(Begun::Prompt)
    }

    /// Begins the turn of a prompt.
    pub(crate) fn begin_turn(&mut self, prompt: &[ContentBlock]) {
        self.text.begin_turn(prompt);
        self.busy = false;
        self.turns += 1;
        self.arriving_in = self.turns;
    }

    /// Takes in a `session/update`.
    pub fn handle_notification(&mut self, notification: SessionNotification) {
        self.heard();
        if let SessionUpdate::UserMessageChunk(chunk) = &notification.update
            && self.replay.is_none()
            && self.text.is_echo(&chunk.content)
        {
            return;
        }
        self.take(Update::V1(notification));
    }

    /// Translates an update, or keeps it for the next run.
    pub(crate) fn take(&mut self, update: Update) {
        let Some(update) = self.tell_again(update) else { return };
        if self.run.is_some() {
            self.translate(update);
        } else {
            self.waiting.push(update, &self.options.limits);
        }
    }

    /// Notes that something came from the agent.
    pub(crate) fn heard(&mut self) {
        if let Some(run) = &mut self.run {
            run.quiet = Duration::ZERO;
        }
    }

    /// Whether the turn is being cancelled.
    pub(crate) fn is_cancelling(&self) -> bool {
        let before = |run: &Run| run.before.as_ref().is_some_and(|before| before.cancelled);
        self.run.as_ref().is_some_and(|run| run.cancelled || before(run))
            || self.parked.as_ref().is_some_and(|parked| parked.cancelled)
    }

    /// Whether the agent works for a run that is open, or that will follow.
    pub(crate) fn has_turn(&self) -> bool {
        self.run.is_some() || self.parked.as_ref().is_some_and(|parked| parked.end.is_none())
    }

    /// Takes the next event of the stream.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether all events were taken.
    pub(crate) fn is_flushed(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether a run has begun and not ended.
    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    fn translate(&mut self, update: Update) {
        let lane = self.subagents.lane(&update.session());
        if update.is_conversation() {
            self.begin_subagent(&lane);
        }
        self.speak_as(&lane, |t| match update {
            Update::V1(notification) => {
                t.translate_update(&notification.session_id, notification.update);
            }
            Update::V2(notification) => t.translate_v2(*notification),
            Update::Extension(extension) => t.extension(&extension),
        });
        self.restate_if_quiet();
    }

    pub(crate) fn translate_update(&mut self, session: &SessionId, update: SessionUpdate) {
        match update {
            SessionUpdate::UserMessageChunk(chunk) => self.chunk_v1(Voice::User, chunk),
            SessionUpdate::AgentMessageChunk(chunk) => self.chunk_v1(Voice::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => self.chunk_v1(Voice::Thought, chunk),
            SessionUpdate::ToolCall(call) => self.tool_call(Change::from(*call)),
            SessionUpdate::ToolCallUpdate(update) => self.tool_call(Change::from(*update)),
            SessionUpdate::Plan(plan) => self.plan(session, &plan),
            SessionUpdate::PlanUpdate(update) => self.plan_update(session, &update.plan),
            SessionUpdate::PlanRemoved(removed) => self.plan_removed(session, &removed.plan_id),
            SessionUpdate::SubagentUpdate(update) => self.subagent_update(*update),
            SessionUpdate::SessionMessage(message) => self.session_message(*message),
            SessionUpdate::SessionMessageChunk(chunk) => {
                self.remembers = true;
                let key = format!("session-{}", chunk.message_id);
                self.chunk(Voice::Agent, Some(key.into()), chunk.content, chunk.meta.as_ref());
            }
            SessionUpdate::CompactionUpdate(update) => self.compaction_update(*update),
            SessionUpdate::CompactionSummaryChunk(chunk) => self.compaction_chunk(&chunk),
            other => self.tell(&other),
        }
    }

    fn chunk_v1(&mut self, voice: Voice, chunk: ContentChunk) {
        self.chunk(voice, chunk.message_id, chunk.content, chunk.meta.as_ref());
    }

    /// Takes in a message from one session to another.
    fn session_message(&mut self, message: SessionMessage) {
        let session = |session: &Presence<SessionId>| session.value().cloned();
        let acp = Members::new()
            .with_some("senderSessionId", session(&message.sender_session_id).as_ref())
            .with_some("recipientSessionId", session(&message.recipient_session_id).as_ref());
        let key = format!("session-{}", message.message_id);
        self.whole_message(Voice::Agent, &key.into(), message.content, acp);
    }

    /// Translates what waited for a run.
    pub(crate) fn catch_up(&mut self) {
        let waiting = mem::take(&mut self.waiting);
        if waiting.dropped > 0 {
            self.custom("acp.dropped", Members::new().with("updates", &waiting.dropped).into_raw());
        }
        for update in waiting.into_updates() {
            self.translate(update);
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
        let mut event = event.into();
        if let Some(owner) = &self.owner {
            subagent::attribute(&mut event, owner);
        }
        if let Some(history) = &mut self.history {
            history.handle(&event);
        }
        self.events.push_back(event);
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
        wanted.then(|| acp_metadata(acp))
    }
}

/// Metadata with what ACP says beyond AG-UI.
pub(crate) fn acp_metadata(acp: Members) -> Metadata {
    Members::new().with("acp", &acp.into_extra()).into_extra()
}
