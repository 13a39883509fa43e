//! The translator from messages of an ACP agent to AG-UI events.
//!
//! [`Translator`] composes the parts. Each part owns its state, and takes the
//! [`Frame`](crate::frame::Frame) of an update and the [`Outbox`]. Decisions that concern several
//! parts are made here.
use crate::compaction::Compactions;
use crate::echo::Echo;
use crate::ids::Ids;
use crate::json::Members;
use crate::options::Options;
use crate::outbox::{History, Outbox, Voice};
use crate::plan::Plans;
use crate::questions::{Desk, Questions};
use crate::runs::{Problem, Runs};
use crate::session::SessionFacts;
use crate::subagents::Subagents;
use crate::terminal::Terminals;
use crate::tool_call::ToolCalls;
use crate::update::Update;
use crate::waiting::WaitingUpdates;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{MessageId as ChunkId, SessionNotification, SessionUpdate};
use agui_types::PROTOCOL_VERSION;
use agui_types::event::{Event, RunStartedEvent};
use agui_types::id::MessageId;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use agui_types::profile::Profile;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;
use serde::{Deserialize, Serialize};

mod basis;
mod exchanges;
mod interrupts;
mod late_replay;
mod own_turn;
mod page_calls;
mod replay;
mod requests;
mod turns;
mod updates;

use basis::{Basis, Lane};
use late_replay::LateReplay;

/// An error beginning a run: the last run has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the last run of the thread has not ended")]
pub struct RunOpen;

/// The next action after [`Translator::begin_run`].
#[must_use = "the value states whether to send the prompt"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnStart {
    /// Send the prompt now.
    Prompt,
    /// Send no prompt: the run continues the turn of the last run, and
    /// [`poll_response`](Translator::poll_response) returns the answers for the agent.
    Resumed,
    /// Send the prompt when [`poll_prompt`](Translator::poll_prompt) returns `true`, after the end
    /// of the last run's turn.
    Wait {
        /// Whether to cancel that turn with `session/cancel`.
        cancel: bool,
    },
    /// Send no prompt: the run has ended.
    Ended,
}

/// Translates the messages of an ACP agent in one session into AG-UI events, run after run.
///
/// Performs no I/O and reads no clock: the same input gives the same events. After each `begin_run`
/// and `handle_*`, take events and responses ([`poll_event`](Self::poll_event),
/// [`poll_response`](Self::poll_response)) until both return `None`.
///
/// For any input in any order, each run is `RUN_STARTED`, a body in which all items are closed and
/// each tool call has one result, and one `RUN_FINISHED` or `RUN_ERROR`. No event follows until the
/// next run. Identifiers are unique in the thread.
///
/// Updates that arrive while no run is open wait for the beginning of the next one.
/// [`Self::has_activity`] returns whether they are a turn that the agent has begun itself, which a
/// run without a prompt shows until its end.
///
/// One translator serves one thread and its ACP session. The [crate documentation](crate) has the
/// tables of the mapping.
///
/// ```
/// use agui_bridge::jsonrpc_core::wire;
/// use agui_bridge::{Options, Translator, TurnStart};
///
/// let posted = r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Hi"}]}"#;
/// let chunk = r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk",
///     "content":{"type":"text","text":"Hello"}}}"#;
///
/// let mut translator = Translator::new(Options::new());
/// assert_eq!(translator.begin_run(&wire::decode(posted)?, &["Hi".into()])?, TurnStart::Prompt);
/// translator.handle_notification(wire::decode(chunk)?);
/// translator.handle_prompt_response(Ok(wire::decode(r#"{"stopReason":"end_turn"}"#)?));
/// let events: Vec<_> = std::iter::from_fn(|| translator.poll_event()).collect();
/// let tags: Vec<_> = events.iter().map(|event| event.tag()).collect();
/// assert_eq!(tags, [
///     "RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED",
/// ]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Translator {
    basis: Basis,
    outbox: Outbox,
    runs: Runs,
    echo: Echo,
    waiting: WaitingUpdates,
    subagents: Subagents,
    terminals: Terminals,
    calls: ToolCalls,
    plans: Plans,
    compactions: Compactions,
    session: SessionFacts,
    questions: Questions,
    /// Translates a conversation that the agent repeats.
    replay: Option<Box<Translator>>,
    /// The conversation that the agent repeated, for the next run.
    repeated: Option<Vec<Message>>,
    /// The parts of that conversation as the agent has divided it.
    #[serde(default)]
    repeated_updates: WaitingUpdates,
    /// The messages of the thread that continues a named session, until that is open.
    #[serde(default)]
    named: Option<Vec<Message>>,
    /// Whether the agent has responded to `session/load`, and no run has begun since.
    #[serde(default)]
    is_loaded: bool,
    /// The rest of a replay, in the turn after the response.
    #[serde(default)]
    late: Option<LateReplay>,
    /// Whether the answer of the turn may have an old part, since a late replay was unclear.
    #[serde(default)]
    is_unclear: bool,
}

impl Translator {
    /// Creates the translator of a thread without runs.
    pub fn new(options: Options) -> Self {
        Self {
            outbox: Outbox::new(Ids::new(options.limits.ids).with_scope(&options.id_scope)),
            runs: Runs::default(),
            echo: Echo::default(),
            waiting: WaitingUpdates::default(),
            subagents: Subagents::default(),
            terminals: Terminals::new(options.times.output),
            calls: ToolCalls::new(options.arguments, options.times.settle),
            plans: Plans::default(),
            compactions: Compactions::default(),
            session: SessionFacts::new(options.state),
            questions: Questions::new(&options),
            replay: None,
            repeated: None,
            repeated_updates: WaitingUpdates::default(),
            named: None,
            is_loaded: false,
            late: None,
            is_unclear: false,
            basis: Basis::new(options),
        }
    }

    /// Begins the run of an input, with the `prompt` for the agent; empty if the input has [nothing
    /// new](crate::input::Work::Nothing). Updates since the last run follow at once.
    ///
    /// Identifiers of the input's messages and tool calls are not reused. An agent's repetition of
    /// the prompt as a user message is dropped.
    ///
    /// After an interrupted run, its turn continues:
    ///
    /// | the input | result |
    /// |---|---|
    /// | answers each question | [`TurnStart::Resumed`]; with a prompt [`TurnStart::Wait`], because the turn has to end first |
    /// | answers some, or invalidly | `RUN_ERROR` `RESUME_MISMATCH`, `RESUME_INVALID`, `EDIT_UNSUPPORTED`, `INTERRUPT_EXPIRED`; the questions stay open |
    /// | answers none, without a prompt | the same interrupts again |
    /// | answers none, with a prompt | by [`Options::unanswered`] |
    /// | … and all were settled otherwise | as if it answered them |
    /// | any, after the end of the turn | that end; with a prompt [`TurnStart::Prompt`] |
    /// | any, after the loss of the agent | the failure `AGENT_LOST`; with a prompt a `CUSTOM` `acp.notice` and [`TurnStart::Prompt`] |
    ///
    /// A prompt without answers also cancels the questions that no run has shown. The stream then
    /// has the request and the answer `cancelled` of each, as of a question that the
    /// [user](crate::AnsweredBy::User) dismisses. Without a prompt the run shows these questions.
    ///
    /// An entry of [`resume`](RunAgentInput::resume) answers a question: a permission request by
    /// `{"optionId":…}`, `{"approved":true}`, `{"approved":false}` or a plain boolean; a form by
    /// its content, by `{"content":{…}}`, or by `{"action":"decline"}`; a URL by `{}`, or by such
    /// an action. `cancelled` answers any question. Entries for questions that are not open are
    /// dropped, with a `CUSTOM` `acp.notice`.
    ///
    /// First-party clients remove the interrupts that they have answered only with `RUN_FINISHED`,
    /// and refuse another run until then. A run that answers interrupts, none of which is open any
    /// more, therefore never ends with `RUN_ERROR`. If it fails, it ends with `CUSTOM` `acp.notice`
    /// of severity `error` and `RUN_FINISHED`, outcome `cancelled`, with the result
    /// `{"error":{"code":…,"message":…}}`.
    ///
    /// # Errors
    /// The last run has not ended.
    pub fn begin_run(
        &mut self,
        input: &RunAgentInput,
        prompt: &[ContentBlock],
    ) -> Result<TurnStart, RunOpen> {
        if self.runs.is_open() {
            return Err(RunOpen);
        }
        self.end_replay();
        let options = &self.basis.options;
        let version = input.protocol_version.as_deref();
        self.basis.profile = options.profile.unwrap_or_else(|| Profile::of(version));
        self.basis.runs += 1;
        input.messages.iter().for_each(|message| reserve(self.outbox.ids(), message));
        let tools = input.tools.iter().flatten();
        self.calls.set_page_tools(tools.map(|tool| tool.name.clone()).collect());
        self.begin_stream(input);
        let answers = input.resume.as_deref().unwrap_or_default();
        if let Some(parked) = self.runs.take_parked() {
            self.prolong_own_turn();
            return Ok(self.resume(parked, input, answers, prompt));
        }
        self.outbox.end_steps();
        self.echo = Echo::default();
        self.session.begin_turn();
        self.plans = Plans::default();
        self.catch_up();
        if answers.is_empty()
            && let Some(begun) = self.join_own_turn(prompt)
        {
            return Ok(begun);
        }
        self.outbox.close_texts();
        if !answers.is_empty() {
            if prompt.is_empty() {
                self.close_run(false);
                self.fail(Problem::new("RESUME_MISMATCH", "No question is open."));
                return Ok(TurnStart::Ended);
            }
            let warning = "The answers are to questions that are not open.";
            self.outbox.warn(&self.basis.root(), warning, "");
        }
        self.begin_turn(prompt);
        Ok(TurnStart::Prompt)
    }

    /// Handles `session/update`.
    pub fn handle_notification(&mut self, mut notification: SessionNotification) {
        if self.continue_text(&mut notification.update) {
            return;
        }
        self.runs.note_activity();
        if let SessionUpdate::UserMessageChunk(chunk) = &notification.update
            && self.takes_echo(&chunk.content)
        {
            return;
        }
        self.take(Update::V1(notification));
    }

    /// Returns the next event of the stream, if any.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.outbox.poll_event()
    }

    /// Returns whether a run is open.
    pub fn is_running(&self) -> bool {
        self.runs.is_open()
    }

    /// Returns voice, key and id of the agent's open text, if a further chunk would be an event of
    /// its own without any other effect.
    pub(crate) fn plain_text(&self) -> Option<(Voice, Option<&str>, &MessageId)> {
        let is_alone = self.runs.is_open()
            && self.outbox.is_empty()
            && self.subagents.is_empty()
            && self.replay.is_none()
            && self.late.as_ref().is_none_or(LateReplay::is_over)
            && self.outbox.history().is_none()
            && !self.outbox.remembers_messages();
        is_alone.then(|| self.outbox.main_text())?
    }

    /// Handles a chunk that only continues the agent's open text, which most updates do. Returns
    /// `false` without an effect for any other update.
    fn continue_text(&mut self, update: &mut SessionUpdate) -> bool {
        let (voice, chunk) = match update {
            SessionUpdate::AgentMessageChunk(chunk) => (Voice::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => (Voice::Thought, chunk),
            _ => return false,
        };
        let ContentBlock::Text(block) = &mut chunk.content else { return false };
        let has_metadata =
            chunk.meta.is_some() || block.annotations.is_some() || block.meta.is_some();
        if has_metadata || block.text.is_empty() || block.text.len() > self.delta_limit() {
            return false;
        }
        let Some((open_voice, open_key, id)) = self.plain_text() else { return false };
        let key = chunk.message_id.as_ref().map(ChunkId::as_str);
        if open_voice != voice || key.is_some() && key != open_key {
            return false;
        }
        let id = id.clone();
        self.note_activity();
        self.outbox.push_piece(&self.basis.root(), voice, id, mem::take(&mut block.text));
        true
    }

    /// Returns the longest text of one event.
    pub(crate) fn delta_limit(&self) -> usize {
        self.basis.options.limits.delta
    }

    /// Records a message from the agent.
    pub(crate) fn note_activity(&mut self) {
        self.runs.note_activity();
        self.prolong_own_turn();
    }

    /// Sends the beginning of a run: its start, a repeated conversation, and the session's state.
    fn begin_stream(&mut self, input: &RunAgentInput) {
        let options = &self.basis.options;
        let history =
            options.history.then(|| History::new(&input.messages, options.limits.history));
        self.outbox.set_history(history);
        let mut started = RunStartedEvent::new(input.thread_id.clone(), input.run_id.clone());
        started.protocol_version = Some(PROTOCOL_VERSION.into());
        self.outbox.emit(&self.basis.root(), started);
        self.runs.begin(input);
        self.repeated_updates = WaitingUpdates::default();
        let is_whole = self.restate_repeated(&input.messages);
        self.session.begin_run(&self.basis.root(), &mut self.outbox, input, is_whole);
    }

    /// Begins the turn of a prompt.
    fn begin_turn(&mut self, prompt: &[ContentBlock]) {
        self.outbox.end_steps();
        self.echo = Echo::new(prompt);
        self.is_unclear = false;
        self.runs.set_busy(false);
        self.runs.end_own();
        self.basis.turns += 1;
    }

    /// Translates an update, or keeps it for the next run.
    fn take(&mut self, update: Update) {
        let Some(update) = self.take_repeated(update) else { return };
        let Some(update) = self.take_late(update) else { return };
        self.show(update);
    }

    /// Translates an update that is no part of a replay, or keeps it for the next run.
    fn show(&mut self, update: Update) {
        self.note_update(&update);
        if self.runs.is_open() {
            self.translate(update);
        } else {
            self.waiting.push(update, &self.basis.options.limits);
        }
    }

    /// Translates the updates that waited for a run.
    fn catch_up(&mut self) {
        let waiting = mem::take(&mut self.waiting);
        if waiting.dropped() > 0 {
            let dropped = Members::new().with("updates", &waiting.dropped());
            self.outbox.custom(&self.basis.root(), "acp.dropped", dropped.into_raw());
        }
        waiting.into_updates().for_each(|update| self.translate(update));
    }

    /// Returns the lane of a session, and begins an invocation there unless one is active.
    fn begin_lane(&mut self, session: &str) -> Lane {
        let name = self.subagents.lane(session);
        self.subagents.begin(&self.basis.root(), &mut self.outbox, name);
        self.lane(session)
    }

    /// Returns the lane of a session.
    fn lane(&self, session: &str) -> Lane {
        let name = self.subagents.lane(session);
        Lane { name: name.into(), owner: self.subagents.active(name).cloned() }
    }

    /// Returns the questions, and the parts that they concern.
    fn questions(&mut self) -> (&mut Questions, Desk<'_>) {
        let desk = Desk {
            frame: self.basis.root(),
            out: &mut self.outbox,
            calls: &mut self.calls,
            terminals: &self.terminals,
            turn: self.runs.turn_state(),
        };
        (&mut self.questions, desk)
    }

    /// Restates rewritten messages, unless the arguments of a call are being sent.
    fn restate_if_quiet(&mut self) {
        if self.outbox.has_changed() && !self.calls.is_one_open() {
            self.outbox.restate(&self.basis.root());
        }
    }

    /// Ends the open run as failed.
    fn fail(&mut self, problem: Problem<'_>) {
        let is_settled = self.questions.interrupted().is_empty();
        self.runs.fail(&self.basis.root(), &mut self.outbox, problem, is_settled);
    }
}

/// Excludes the identifiers of a message from use.
fn reserve(ids: &mut Ids, message: &Message) {
    if let Some(id) = message.id() {
        ids.reserve_message(id.as_str());
    }
    if let Message::Assistant(message) = message {
        for call in message.tool_calls.iter().flatten() {
            ids.reserve(call.id.as_str());
        }
    }
}
