//! One thread as a machine without I/O: its consecutive runs, and the agent's session.
//!
//! A [`Conversation`] handles the inputs of runs, events of the agent's session, answers of users,
//! calls of the page's tools, and time. It returns events of runs, commands for the client's side
//! of the agent's connection ([`acp_types::client`]), notices for the program, and a deadline.
//! [`hub`](crate::hub) combines it with that connection.
//!
//! # Invariant of the run loop
//!
//! At most one run is open, at most one turn is in flight, and at most one session is attached.
//! Each `handle_*` first advances the time, then changes the state of the open run, and then
//! settles the thread: it passes actions of the page's tools to the translator, turns responses of
//! the translator into commands, adds its events to the open run, closes a run with an ended
//! stream, and begins the next waiting run, until nothing changes any more. When a `handle_*` has
//! returned, the caller takes the outputs and waits for
//! [`poll_timeout`](Conversation::poll_timeout). For any inputs in any order, each accepted run
//! ends once, with `RUN_FINISHED`, `RUN_ERROR` or a refusal, and each request of the agent is
//! answered once.
//!
//! # Turns without a prompt
//!
//! An agent may begin a turn itself. [`Notice::Activity`] announces its first part that no run
//! shows. An input with [`forwardedProps.acp.follow`](crate::input::follows) shows it in a run that
//! is open until the turn ends: by a report of the agent in ACP v2, otherwise by
//! [silence](crate::Times::quiet). Without such a run the next one begins with it. While a run is
//! open, another input that follows is [answered](Acceptance::Again) with that run.
//!
//! After each `handle_*`, call [`poll_command`](Conversation::poll_command),
//! [`poll_event`](Conversation::poll_event) and [`poll_notice`](Conversation::poll_notice) until
//! they return `None`, and reset the timer. Times are offsets from an epoch of the caller's choice.
//! A conversation can be serialized at any point and continued in another process.
//!
//! ```
//! use acp_types::client::{
//!     NewSessionResponse, OpenedSession, ReceivedValue, SessionEvent, TurnEnd, TurnKey,
//! };
//! use agui_bridge::conversation::{
//!     Acceptance, AgentFeatures, Command, Conversation, ConversationOptions, RunOutput,
//! };
//! use agui_types::input::RunAgentInput;
//! use core::time::Duration;
//! use jsonrpc_core::wire::{Raw, decode};
//!
//! let now = Duration::ZERO;
//! let mut conversation = Conversation::new(ConversationOptions::new("/work"));
//! conversation.handle_connected(AgentFeatures::default(), now);
//!
//! let posted = r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Hi"}]}"#;
//! assert_eq!(conversation.handle_run(decode::<RunAgentInput>(posted)?, now)?, Acceptance::Begun);
//! let Some(Command::Open(session, _)) = conversation.poll_command() else { panic!("no session") };
//!
//! // The connection has opened the session.
//! let raw = Raw::from_text(r#"{"sessionId":"s-1"}"#)?;
//! let opened = OpenedSession::new(ReceivedValue::new(NewSessionResponse::V1(raw.decode()?), raw));
//! assert!(conversation.handle_session(session, SessionEvent::Opened(opened.into()), now).is_none());
//! let Some(Command::Prompt { blocks, .. }) = conversation.poll_command() else { panic!("no prompt") };
//! assert_eq!(serde_json::to_string(&blocks)?, r#"[{"type":"text","text":"Hi"}]"#);
//!
//! // The agent has ended the turn.
//! let raw = Raw::from_text(r#"{"stopReason":"end_turn"}"#)?;
//! let ended = ReceivedValue::new(TurnEnd::V1(raw.decode()?), raw);
//! let ended = SessionEvent::TurnEnded(TurnKey::new(1), Ok(ended));
//! assert!(conversation.handle_session(session, ended, now).is_none());
//! let kinds: Vec<_> = core::iter::from_fn(|| conversation.poll_event())
//!     .map(|event| match event.output {
//!         RunOutput::Event(event) => event.tag().to_owned(),
//!         refused => format!("{refused:?}"),
//!     })
//!     .collect();
//! assert_eq!(kinds, ["RUN_STARTED", "RUN_FINISHED"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::frontend_tool::ToolSet;
use crate::input::{SessionMemory, SessionScope};
use crate::quirks::Quirks;
use crate::{Failure, Translator, TurnStart};
use acp_types::v1::session_setup::SessionId;
use agui_types::event::{Event, RunFinishedOutcome};
use agui_types::id::RunId;
use alloc::collections::VecDeque;
use core::time::Duration;
use serde::{Deserialize, Serialize};

mod active;
mod answers;
mod begin;
mod branches;
mod cursors;
mod events;
mod following;
mod options;
mod output;
mod page_tools;
mod queue;
mod refused_servers;
mod remembered;
mod requests;
mod runs;
mod servers;
mod session;
mod session_settings;
mod settings;
mod text;
mod turn;

use active::{ActiveRun, Stage};
pub use answers::{QuestionError, ToolQuestion, UserAnswer};
use begin::{StartingRun, UnclaimedSession};
pub use options::{AgentFeatures, ConversationOptions, PageTools};
pub use output::{
    AgentReply, Command, ConversationDiagnostic, Notice, OpenSession, QuestionKey, RunEvent,
    RunOutput, SessionNumber, SessionOrigin, SettingError, SettingKey,
};
use page_tools::PageToolsPart;
pub use queue::{Admission, RunQueue, WhenBusy};
pub use refused_servers::RefusedServers;
pub use remembered::RememberedSession;
use requests::OpenRequests;
pub use runs::{Acceptance, RunRefused, RunRequest};
use runs::{KnownRuns, PendingRun};
use servers::OpenAttempt;
pub(crate) use session::Trouble;
use session::{AgentState, ConversationSession};
pub(crate) use session_settings::options_of;
pub use session_settings::{SessionSettings, Setting, config_value};
use settings::SettingsPart;
pub(crate) use text::OpenText;

/// One thread: its runs, and the agent's session. See the [module](self) for the run loop and an
/// example.
///
/// ```
/// use agui_bridge::conversation::{AgentFeatures, Command, Conversation, ConversationOptions};
/// use agui_bridge::jsonrpc_core::wire;
/// use agui_types::input::RunAgentInput;
/// use core::time::Duration;
///
/// let posted = r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Hi"}]}"#;
/// let now = Duration::ZERO;
/// let mut conversation = Conversation::new(ConversationOptions::new("/work"));
/// conversation.handle_connected(AgentFeatures::default(), now);
/// conversation.handle_run(wire::decode::<RunAgentInput>(posted)?, now)?;
/// assert!(matches!(conversation.poll_command(), Some(Command::Open(..))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Conversation {
    options: ConversationOptions,
    agent: AgentState,
    translator: Translator,
    memory: SessionMemory,
    page: PageToolsPart,
    requests: OpenRequests,
    /// Number of sessions opened so far.
    sessions: u64,
    /// The session that is open or being opened.
    attached: Option<SessionNumber>,
    /// The session that is open.
    session: Option<ConversationSession>,
    /// The last request for a session, if it has MCP servers, until the agent works on a prompt.
    attempt: Option<OpenAttempt>,
    remembered: Option<RememberedSession>,
    settings: SettingsPart,
    keys: u64,
    starting: Option<StartingRun>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unclaimed: Option<UnclaimedSession>,
    active: Option<ActiveRun>,
    queue: RunQueue<PendingRun>,
    known: KnownRuns,
    /// Whether a run has begun.
    has_run: bool,
    /// Whether a first turn of a [branch](RunRequest::branch_of) has begun.
    #[serde(default)]
    has_branched: bool,
    /// Whether the translator refused the last run, so that its error does not come from the agent.
    is_refused: bool,
    /// Whether [`Notice::Activity`] has announced what the agent does outside of runs.
    #[serde(default)]
    is_announced: bool,
    now: Duration,
    commands: VecDeque<Command>,
    events: VecDeque<RunEvent>,
    notices: VecDeque<Notice>,
}

impl Conversation {
    /// Creates a thread without runs. Its agent is not connected yet.
    pub fn new(options: ConversationOptions) -> Self {
        Self {
            agent: AgentState::Connecting,
            translator: Translator::new(options.translator.clone()),
            memory: SessionMemory::new(),
            page: PageToolsPart::new(options.page_tools.clone(), options.frontend.clone()),
            requests: OpenRequests::default(),
            sessions: 0,
            attached: None,
            session: None,
            attempt: None,
            remembered: None,
            settings: SettingsPart::default(),
            keys: 0,
            starting: None,
            unclaimed: None,
            active: None,
            queue: RunQueue::new(options.when_busy, options.max_queued),
            known: KnownRuns::new(options.max_known_runs),
            has_run: false,
            has_branched: false,
            is_refused: false,
            is_announced: false,
            now: Duration::ZERO,
            commands: VecDeque::new(),
            events: VecDeque::new(),
            notices: VecDeque::new(),
            options,
        }
    }

    /// Sets the session of an earlier process, which the first run continues.
    #[must_use]
    pub fn with_remembered(mut self, remembered: RememberedSession) -> Self {
        self.memory.set_cancelled(remembered.memory());
        self.settings.restore(remembered.settings());
        self.remembered = Some(remembered);
        self
    }

    /// Handles the agent's response to `initialize`. Waiting runs begin.
    pub fn handle_connected(&mut self, features: AgentFeatures, now: Duration) {
        self.begin_input(now);
        let quirks = Quirks::of(features.info.as_ref());
        if !self.has_run && !quirks.name.is_empty() {
            let mut options = self.options.translator.clone();
            quirks.apply_to(&mut options);
            self.translator = Translator::new(options);
        }
        self.agent = AgentState::Connected(features);
        if let Some(starting) = self.starting.take_if(|starting| starting.loading.is_none()) {
            self.start_waiting(starting.run);
        }
        self.advance();
    }

    /// Handles the start of a new connection attempt. Runs wait for it.
    pub fn handle_connecting(&mut self, now: Duration) {
        self.begin_input(now);
        if matches!(self.agent, AgentState::Lost(_)) {
            self.agent = AgentState::Connecting;
        }
        self.advance();
    }

    /// Fails the open run and releases the session, for a reason of the program.
    ///
    /// [`Failure::GatewayShutdown`] is the end of the program. It cancels waiting runs and prompts
    /// that were not sent: another process does not carry them out. A session that the agent can
    /// load or resume is not released, and [`Notice::Remember`] has the data with which a later
    /// process continues it.
    pub fn handle_failure(&mut self, failure: Failure, message: &str, now: Duration) {
        self.begin_input(now);
        if failure == Failure::GatewayShutdown {
            return self.shut_down(message);
        }
        self.leave_session();
        self.translator.handle_failure(failure, message);
        self.advance();
    }

    /// Handles that the open run has no reader. Synchronous calls of the page's tools are parked.
    pub fn handle_disconnect(&mut self, now: Duration) {
        self.begin_input(now);
        self.page.machine.handle_disconnect(self.now);
        self.advance();
    }

    /// Advances the time.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.begin_input(now);
        self.advance();
    }

    /// Returns the next command for the agent's connection.
    pub fn poll_command(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    /// Returns the next output of a run.
    pub fn poll_event(&mut self) -> Option<RunEvent> {
        self.events.pop_front()
    }

    /// Returns the next notice for the program.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.page.poll_notice().or_else(|| self.notices.pop_front())
    }

    /// Returns the time of the next [`handle_timeout`](Self::handle_timeout), unless an input comes
    /// before.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let stage = self.active.as_ref().and_then(ActiveRun::until).or(self.replay_until());
        let parts = [self.translator.poll_timeout(), self.page.machine.poll_timeout()];
        parts.into_iter().chain([stage, self.queue.poll_timeout()]).flatten().min()
    }

    /// Returns the page's tools, for the MCP server that lists them.
    pub fn tools(&self) -> &ToolSet {
        self.page.machine.tools()
    }

    /// Returns the settings of the open session, or those that a session would begin with, as far
    /// as the agent has named them.
    pub fn session_settings(&self) -> Option<&SessionSettings> {
        let session = self.session.as_ref().map(|session| &session.settings);
        session.or(self.settings.offered())
    }

    /// Returns the id of the open session.
    pub fn session_id(&self) -> Option<&SessionId> {
        self.session.as_ref().map(|session| &session.id)
    }

    /// Returns the data with which another process can continue the session.
    pub fn remembered(&self) -> Option<&RememberedSession> {
        self.remembered.as_ref()
    }

    /// Returns the id of the open run.
    pub(crate) fn open_run(&self) -> Option<&RunId> {
        self.active.as_ref().map(|run| &run.run_id)
    }

    /// Returns whether a run is open or waits.
    pub fn is_running(&self) -> bool {
        self.is_busy() || !self.queue.is_empty()
    }

    /// Returns whether the last run was interrupted and its turn continues.
    pub fn is_interrupted(&self) -> bool {
        self.translator.is_interrupted()
    }

    /// Advances the time before an input is handled.
    fn begin_input(&mut self, now: Duration) {
        self.now = self.now.max(now);
        let now = self.now;
        let mut is_due = self.page.machine.poll_timeout().is_some_and(|at| at <= now);
        if self.translator.handle_timeout(now).is_some() {
            self.leave_session();
            is_due = true;
        }
        self.page.machine.handle_timeout(now);
        is_due |= self.end_replay();
        if self.active.as_ref().and_then(ActiveRun::until).is_some_and(|until| until <= now) {
            self.give_up();
            is_due = true;
        }
        while let Some(run) = self.queue.poll_expired(now) {
            self.refuse(&run, RunRefused::Busy);
        }
        if is_due {
            self.advance();
        }
    }

    /// Settles the thread.
    fn advance(&mut self) {
        self.flush();
        self.start_next();
        self.prepare();
        self.end_preparation();
        self.announce();
    }

    /// Moves the outputs of the parts to the outputs of the conversation, and closes an ended run.
    fn flush(&mut self) {
        self.page.drive(&mut self.translator);
        if self.translator.poll_prompt()
            && let Some(active) =
                self.active.as_mut().filter(|active| matches!(active.stage, Stage::Waiting { .. }))
            && let Stage::Waiting { turn, .. } =
                core::mem::replace(&mut active.stage, Stage::Working)
        {
            self.page.begin_turn(self.now);
            self.page.drive(&mut self.translator);
            self.begin_turn(turn);
        }
        self.respond();
        while let Some(event) = self.translator.poll_event() {
            self.push_event(event);
        }
        if let Some(active) = self.active.take_if(|_| !self.translator.is_running()) {
            self.known.end(&active.run_id, active.is_interrupted);
            self.rest();
        }
    }

    fn push_event(&mut self, event: Event) {
        let is_error = matches!(event, Event::RunError(_));
        if is_error && self.active.as_ref().is_some_and(|active| active.is_cancelled) {
            self.memory.handle_turn_cancelled();
        }
        if matches!(event, Event::RunFinished(_)) && self.translator.has_unclear_answer() {
            self.memory.handle_unclear_answer();
        }
        if !(self.is_refused && is_error) {
            self.memory.handle_event(&event);
        }
        if let Some(active) = &mut self.active {
            if let Event::RunFinished(finished) = &event {
                active.is_interrupted =
                    matches!(finished.outcome, Some(RunFinishedOutcome::Interrupt(_)));
            }
            let run_id = active.run_id.clone();
            let output = RunOutput::Event(event);
            self.events.push_back(RunEvent { run_id, output });
        }
    }

    /// Handles the end of a run.
    fn rest(&mut self) {
        self.remember();
        if self.translator.is_interrupted() {
            return;
        }
        if self.options.rules.session == SessionScope::Turn {
            // The next turn gets the conversation as text.
            self.release();
        }
    }

    fn diagnose(&mut self, diagnostic: ConversationDiagnostic) {
        self.notices.push_back(Notice::Diagnostic(diagnostic));
    }
}
