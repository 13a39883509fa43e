//! One connection to an agent with its conversations, without I/O. Input: lines and run inputs.
//! Output: lines, and the events of runs in order.
//!
//! A [`Hub`] combines [`acp_types::client`] and a [`Conversation`] for each thread. The program
//! moves bytes: lines between the hub and an agent, inputs and events between the hub and pages.
//!
//! # Run loop
//!
//! After each `handle_*`: transmit the lines of [`poll_transmit`](Hub::poll_transmit), take
//! [`poll_event`](Hub::poll_event) and [`poll_run`](Hub::poll_run) until they return `None`, and
//! arm a timer for [`poll_timeout`](Hub::poll_timeout).
//!
//! The hub keeps no events: the program [appends](HubRunEvent::append_to) them to the run's
//! [`RunLog`](agui_types::run_log::RunLog), which any number of readers read at their own pace. So
//! a slow or missing reader delays neither the agent nor another thread. A log that
//! [is full](agui_types::run_log::RunLog::is_full) is reported with
//! [`handle_full`](Hub::handle_full), and its run fails.
//!
//! ```
//! use acp_types::client;
//! use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
//! use agui_bridge::conversation::{Acceptance, ConversationOptions};
//! use agui_bridge::hub::{Hub, HubOptions};
//! use agui_types::input::RunAgentInput;
//! use agui_types::run_log::{LogRead, RunLog, RunLogLimits};
//! use core::time::Duration;
//! use jsonrpc_core::wire::decode;
//!
//! let now = Duration::ZERO;
//! let mut hub = Hub::new(HubOptions::new(ConversationOptions::new("/work")));
//! hub.connect(client::Options::v1(InitializeRequest::new(ProtocolVersion::V1)), now);
//!
//! let posted = r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Hi"}]}"#;
//! let input: RunAgentInput = decode(posted)?;
//! let mut log = RunLog::new(&input, RunLogLimits { events: 20_000, bytes: 8 << 20 });
//! assert_eq!(hub.handle_run("t", input, now)?, Acceptance::Queued);
//! // Lines of an agent, which a program reads from a pipe.
//! for line in [
//!     r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#,
//!     r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#,
//!     r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello"}}}}"#,
//!     r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#,
//! ] {
//!     hub.handle_line(Ok(line), now);
//! }
//! let sent: Vec<_> = core::iter::from_fn(|| hub.poll_transmit()).collect();
//! assert_eq!(sent.len(), 3); // initialize, session/new, session/prompt
//! while let Some(event) = hub.poll_run() {
//!     assert_eq!(&*event.thread, "t");
//!     event.append_to(&mut log)?;
//! }
//! assert!(log.has_ended());
//! let LogRead::Frames(frames) = log.read(0, 64 << 10) else { return Err("no frames".into()) };
//! assert_eq!(frames.last, 5);
//! assert!(frames.bytes.starts_with(b"id: r:1\ndata: {\"type\":\"RUN_STARTED\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::CancelReason;
use crate::Failure;
use crate::PermissionDecision;
use crate::conversation::{Acceptance, Conversation, RefusedServers, RunRequest, SettingKey};
use acp_types::client::{Call, CallKey, Connection, RequestKey, SessionKey, Transmit};
use agui_types::id::RunId;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::ToString;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::{PeekedMessage, peek};

mod connection;
mod drive;
mod event;
mod login;
mod options;
mod run_event;
mod shape;
mod text;
mod text_piece;
mod threads;
mod version;

pub use event::{HubEvent, HubRefused};
pub use options::HubOptions;
use run_event::RunEvents;
pub use run_event::{HubRunEvent, HubRunOutput};
use text::FastTexts;
use threads::{ThreadNumber, Threads};

/// One connection to an agent with its conversations; see the [module](self).
///
/// ```
/// use acp_types::client;
/// use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
/// use agui_bridge::conversation::ConversationOptions;
/// use agui_bridge::hub::{Hub, HubOptions};
/// use core::time::Duration;
///
/// let mut hub = Hub::new(HubOptions::new(ConversationOptions::new("/work")));
/// let initialize = InitializeRequest::new(ProtocolVersion::V1);
/// hub.connect(client::Options::v1(initialize), Duration::ZERO);
/// assert!(hub.poll_transmit().is_some()); // the line with `initialize`
/// ```
#[derive(Debug)]
pub struct Hub {
    options: HubOptions,
    connection: Option<Connection>,
    login: Login,
    /// Whether the agent refused the last session because of a missing login.
    needs_login: bool,
    /// Transports of MCP that the agent did not accept, for the sessions of further threads.
    refused_servers: RefusedServers,
    threads: Threads,
    run_events: RunEvents,
    texts: FastTexts,
    /// Thread of the current line, if the line is a piece of text.
    text_thread: Option<ThreadNumber>,
    /// The request of the current line and the program's decision on it, if there is one.
    decided: Option<(RequestKey, PermissionDecision)>,
    /// Open calls about settings of threads.
    setting: BTreeMap<CallKey, (ThreadNumber, SettingCall)>,
    events: VecDeque<HubEvent>,
}

/// Error message of a run with a full log.
const RUN_FULL: &str = "The run has more output than its log holds.";

/// Progress of the login.
#[derive(Debug)]
enum Login {
    /// The call follows the response to `initialize`.
    Planned(Call),
    /// The call is open. Conversations wait for its end.
    Open(CallKey),
    Done,
}

/// The purpose of an open call about settings.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SettingCall {
    /// A change; its end matters if it has a key.
    Set(Option<SettingKey>),
    /// The question for the settings of a session to come.
    Options(SettingKey),
}

impl Hub {
    /// Creates a hub without a connection. Runs wait for [`connect`](Self::connect).
    pub fn new(options: HubOptions) -> Self {
        Self {
            connection: None,
            login: Login::Done,
            needs_login: false,
            refused_servers: options.refused_servers,
            threads: Threads::default(),
            run_events: RunEvents::default(),
            texts: FastTexts::default(),
            text_thread: None,
            decided: None,
            setting: BTreeMap::new(),
            events: VecDeque::new(),
            options,
        }
    }

    /// Handles a line of the agent from [`Lines`](jsonrpc_core::framing::Lines).
    pub fn handle_line(&mut self, line: Result<&str, FrameError>, now: Duration) {
        if let Ok(text) = line
            && self.handle_similar(text, now)
        {
            return;
        }
        match line.as_ref().ok().map(|text| peek(text.as_bytes())) {
            Some(Ok(peeked)) => self.handle_message(&peeked, now),
            _ => {
                if let Some(connection) = &mut self.connection {
                    connection.handle_line(line, now);
                    self.drive(now);
                }
            }
        }
    }

    /// Handles a line that the caller has already peeked at, for telemetry or routing.
    pub fn handle_peeked(&mut self, line: &PeekedMessage<'_>, now: Duration) {
        if !self.handle_similar(line.line(), now) {
            self.handle_message(line, now);
        }
    }

    /// Handles the line of a permission request that the program has decided. The stream shows the
    /// call and the answer.
    pub fn handle_decided(
        &mut self,
        line: &PeekedMessage<'_>,
        decision: PermissionDecision,
        now: Duration,
    ) {
        let Some(connection) = &mut self.connection else { return };
        let request = connection.handle_peeked(line, now);
        self.decided = request.map(|key| (key, decision));
        self.drive(now);
        self.decided = None;
    }

    /// Advances the time.
    pub fn handle_timeout(&mut self, now: Duration) {
        if let Some(connection) = &mut self.connection {
            connection.handle_timeout(now);
            self.drive(now);
        }
        for number in self.threads.due(now) {
            if let Some(thread) = self.threads.get_mut(number) {
                thread.conversation.handle_timeout(now);
                self.settle(number, now);
            }
        }
        for number in self.threads.idle(now, self.options.idle) {
            if let Some(name) = self.threads.get(number).map(|thread| thread.name.to_string()) {
                self.remove_thread(&name, now);
                self.events.push_back(HubEvent::ThreadRemoved(name));
            }
        }
    }

    /// Handles the input of a run, and creates its thread if it does not exist.
    ///
    /// # Errors
    /// The run does not begin. The hub is unchanged.
    pub fn handle_run(
        &mut self,
        thread: &str,
        run: impl Into<RunRequest>,
        now: Duration,
    ) -> Result<Acceptance, HubRefused> {
        let number = match self.threads.find(thread) {
            Some(number) => number,
            None => self.insert_default(thread, now)?,
        };
        let Some(entry) = self.threads.get_mut(number) else {
            return Err(HubRefused::TooManyThreads);
        };
        let accepted = entry.conversation.handle_run(run, now);
        self.settle(number, now);
        Ok(accepted?)
    }

    /// Cancels a run. Returns whether the run was waiting or open.
    pub fn handle_cancel(
        &mut self,
        thread: &str,
        run_id: &RunId,
        reason: CancelReason,
        now: Duration,
    ) -> bool {
        let cancel =
            |conversation: &mut Conversation| conversation.handle_cancel(run_id, reason, now);
        self.with_conversation(thread, now, cancel).unwrap_or(false)
    }

    /// Fails the open run of a thread with `LIMIT_EXCEEDED`, because its log is full. Has no effect
    /// on another run.
    pub fn handle_full(&mut self, thread: &str, run_id: &RunId, now: Duration) {
        self.with_conversation(thread, now, |conversation| {
            if conversation.open_run() == Some(run_id) {
                conversation.handle_failure(Failure::LimitExceeded, RUN_FULL, now);
            }
        });
    }

    /// Passes an input to the conversation of a thread: an answer, a call of a tool, a setting.
    pub fn with_conversation<T>(
        &mut self,
        thread: &str,
        now: Duration,
        handle: impl FnOnce(&mut Conversation) -> T,
    ) -> Option<T> {
        let number = self.threads.find(thread)?;
        let handled = handle(&mut self.threads.get_mut(number)?.conversation);
        self.settle(number, now);
        Some(handled)
    }

    /// Returns the conversation of a thread.
    pub fn conversation(&self, thread: &str) -> Option<&Conversation> {
        self.threads.get(self.threads.find(thread)?).map(|thread| &thread.conversation)
    }

    /// Adds a thread with a conversation of the program. It replaces a thread of the same name.
    ///
    /// # Errors
    /// There are too many threads.
    pub fn insert_thread(
        &mut self,
        name: &str,
        conversation: Conversation,
        now: Duration,
    ) -> Result<(), HubRefused> {
        self.remove_thread(name, now);
        if self.threads.len() >= self.options.max_threads {
            return Err(HubRefused::TooManyThreads);
        }
        let number = self.threads.insert(name, conversation, now);
        self.introduce(number, now);
        Ok(())
    }

    /// Removes a thread. Its session is released, and open runs do not end.
    pub fn remove_thread(&mut self, thread: &str, now: Duration) {
        let Some(number) = self.threads.find(thread) else { return };
        let Some(removed) = self.threads.remove(number) else { return };
        if let (Some(connection), Some((_, key))) = (&mut self.connection, removed.session) {
            connection.release(key, now);
        }
        self.drive(now);
    }

    /// Returns the names of the threads.
    pub fn threads(&self) -> impl Iterator<Item = &str> {
        self.threads.names()
    }

    /// Returns the next event of a run. Call it until it returns `None`: the hub has no other bound
    /// for events than that of its inputs.
    pub fn poll_run(&mut self) -> Option<HubRunEvent> {
        self.run_events.poll()
    }

    /// Returns the next line to send to the agent.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.connection.as_mut()?.poll_transmit()
    }

    /// Returns the next event for the program.
    pub fn poll_event(&mut self) -> Option<HubEvent> {
        self.events.pop_front()
    }

    /// Returns the time of the next [`handle_timeout`](Self::handle_timeout), unless an input comes
    /// before.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let connection = self.connection.as_ref().and_then(Connection::poll_timeout);
        connection.into_iter().chain(self.threads.poll_timeout(self.options.idle)).min()
    }

    /// Returns the thread of a session, for telemetry of transmitted lines.
    pub fn thread_of(&self, session: SessionKey) -> Option<&str> {
        self.threads.of_session(session).map(|thread| &*thread.name)
    }

    /// Creates a thread with the default configuration.
    fn insert_default(&mut self, name: &str, now: Duration) -> Result<ThreadNumber, HubRefused> {
        if self.threads.len() >= self.options.max_threads {
            return Err(HubRefused::TooManyThreads);
        }
        let mut options = self.options.conversation.clone();
        let prefix = format!("{}-{}", self.threads.next().0, options.translator.interrupt_prefix);
        options.translator.interrupt_prefix = prefix;
        let number = self.threads.insert(name, Conversation::new(options), now);
        self.introduce(number, now);
        Ok(number)
    }

    fn for_each_thread(&mut self, now: Duration, handle: impl Fn(&mut Conversation)) {
        let numbers: BTreeSet<ThreadNumber> = self.threads.numbers().collect();
        for number in numbers {
            if let Some(thread) = self.threads.get_mut(number) {
                handle(&mut thread.conversation);
                self.settle(number, now);
            }
        }
    }
}
