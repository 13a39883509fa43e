//! A hub with an agent and pages that perform generated steps, and checks of all outputs.
use crate::thread::{frames, input, options, user};
use acp_types::client::{self, CloseReason, Reply};
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use agui_bridge::CancelReason;
use agui_bridge::Failure;
use agui_bridge::conversation::{Acceptance, WhenBusy};
use agui_bridge::hub::{Hub, HubEvent, HubOptions, HubRunEvent, HubRunOutput};
use agui_types::event::Event;
use agui_types::run_log::{PushError, RunLog, RunLogLimits};
use agui_types::sse;
use agui_types::verify::Verifier;
use jsonrpc_core::ErrorCode;
use jsonrpc_core::framing::Lines;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(crate) const THREADS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A thread, and whether the input answers the interrupts of the thread.
    Run(usize, bool),
    /// The latest run of a thread.
    Cancel(usize),
    /// A request of the hub by its position among the open ones, and the kind of the response.
    Answer(usize, u8),
    Update(usize, Value),
    /// A text of this number of bytes.
    Say(usize, usize),
    Permission(usize),
    Files(usize),
    Garbage(&'static str),
    /// Repeats the last line.
    Again,
    Close,
    Connect,
    Unavailable,
    Remove(usize),
    Wait(u64),
}

/// Maximum number of threads.
const MAX_THREADS: usize = 2;

/// Limits of the log of a run.
const LOG: RunLogLimits = RunLogLimits { events: 20_000, bytes: 8 << 10 };

pub(crate) struct World {
    pub(crate) hub: Hub,
    now: Duration,
    runs: usize,
    /// The last run of each thread.
    latest: BTreeMap<String, String>,
    /// Accepted runs that have not ended.
    pub(crate) open: BTreeSet<(String, String)>,
    interrupts: BTreeMap<String, Vec<String>>,
    pub(crate) streams: BTreeMap<String, Vec<u8>>,
    /// Logs of runs, by thread and run.
    logs: BTreeMap<(String, String), RunLog>,
    /// Requests of the hub without a response: id and method.
    requests: Vec<(Value, String)>,
    /// Requests of the agent without a response.
    pub(crate) agent_requests: BTreeSet<u64>,
    requested: u64,
    sessions: usize,
    line: String,
    lines: Lines,
    /// Size of one read from the agent.
    cut: usize,
    /// All transmitted lines.
    pub(crate) transmitted: Vec<u8>,
}

impl World {
    pub(crate) fn new(cut: usize) -> Self {
        let mut conversation = options();
        conversation.when_busy = WhenBusy::Queue;
        conversation.queue_wait = Some(Duration::from_secs(5));
        let mut options = HubOptions::new(conversation);
        options.max_threads = MAX_THREADS;
        Self {
            hub: Hub::new(options),
            now: Duration::ZERO,
            runs: 0,
            latest: BTreeMap::new(),
            open: BTreeSet::new(),
            interrupts: BTreeMap::new(),
            streams: BTreeMap::new(),
            logs: BTreeMap::new(),
            requests: Vec::new(),
            agent_requests: BTreeSet::new(),
            requested: 0,
            sessions: 0,
            line: String::new(),
            lines: Lines::default(),
            cut,
            transmitted: Vec::new(),
        }
    }

    pub(crate) fn connect(&mut self) {
        self.requests.clear();
        self.agent_requests.clear();
        let initialize = InitializeRequest::new(ProtocolVersion::V1);
        self.hub.connect(client::Options::v1(initialize), self.now);
    }

    fn line(&mut self, message: &Value) {
        self.line = message.to_string();
        self.read(&self.line.clone());
    }

    /// Passes a line of the agent to the hub in pieces.
    fn read(&mut self, line: &str) {
        for bytes in format!("{line}\n").as_bytes().chunks(self.cut) {
            self.lines.push(bytes);
            while let Some(line) = self.lines.next() {
                self.hub.handle_line(line, self.now);
            }
        }
    }

    fn session(nth: usize) -> String {
        format!("s{nth}")
    }

    pub(crate) fn play(&mut self, op: &Op) -> Result<(), TestCaseError> {
        match op {
            Op::Run(thread, resumes) => {
                let Some(thread) = THREADS.get(*thread) else { return Ok(()) };
                self.runs += 1;
                let run = format!("r{}", self.runs);
                let answer =
                    |id: &String| json!({"interruptId": id, "status": "resolved", "payload": true});
                let answers: Vec<_> =
                    self.interrupts.get(*thread).into_iter().flatten().map(answer).collect();
                let members = if *resumes { json!({"resume": answers}) } else { json!({}) };
                let said = [user(&format!("u-{run}"), "Hi")];
                let input = input(&run, &said, &members);
                let log = RunLog::new(&input, LOG);
                let accepted = self.hub.handle_run(thread, input, self.now);
                if let Ok(Acceptance::Begun | Acceptance::Resumed | Acceptance::Queued) = accepted {
                    self.open.insert(((*thread).to_owned(), run.clone()));
                    self.logs.insert(((*thread).to_owned(), run.clone()), log);
                    self.latest.insert((*thread).to_owned(), run);
                }
            }
            Op::Cancel(thread) => {
                if let Some(thread) = THREADS.get(*thread)
                    && let Some(run) = self.latest.get(*thread)
                {
                    self.hub.handle_cancel(
                        thread,
                        &run.as_str().into(),
                        CancelReason::User,
                        self.now,
                    );
                }
            }
            Op::Answer(nth, how) => self.answer(*nth, *how),
            Op::Update(session, update) => {
                let params = json!({"sessionId": Self::session(*session), "update": update});
                self.line(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
            }
            Op::Say(session, size) => {
                let content = json!({"type": "text", "text": "x".repeat(*size)});
                let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
                let params = json!({"sessionId": Self::session(*session), "update": update});
                self.line(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
            }
            Op::Permission(session) => {
                let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
                let call = json!({"toolCallId": "c", "title": "Write"});
                let params = json!({"sessionId": Self::session(*session), "toolCall": call, "options": options});
                self.request("session/request_permission", &params);
            }
            Op::Files(session) => {
                let params = json!({"sessionId": Self::session(*session), "path": "/f"});
                self.request("fs/read_text_file", &params);
            }
            Op::Garbage(text) => self.read(text),
            Op::Again => {
                let line = self.line.clone();
                // The id of a request is not reused.
                if !line.contains("\"id\"") {
                    self.read(&line);
                }
            }
            Op::Close => {
                let closed = CloseReason::AgentClosed(String::new());
                self.hub.handle_closed(closed, self.now);
                self.requests.clear();
                self.agent_requests.clear();
            }
            Op::Connect => {
                if !self.hub.is_connected() {
                    self.connect();
                }
            }
            Op::Unavailable => {
                if !self.hub.is_connected() {
                    self.hub.handle_unavailable(Failure::AgentUnavailable, "no", self.now);
                }
            }
            Op::Remove(thread) => {
                if let Some(thread) = THREADS.get(*thread) {
                    self.hub.remove_thread(thread, self.now);
                    self.removed(thread);
                }
            }
            Op::Wait(time) => {
                self.now += Duration::from_millis(*time);
                self.hub.handle_timeout(self.now);
            }
        }
        self.drain()?;
        self.check()
    }

    /// Checks the limits.
    fn check(&self) -> Result<(), TestCaseError> {
        prop_assert!(self.hub.threads().count() <= MAX_THREADS);
        for log in self.logs.values() {
            prop_assert!(log.bytes() <= 3 * LOG.bytes, "{} bytes", log.bytes());
        }
        for thread in THREADS {
            let Some(conversation) = self.hub.conversation(thread) else { continue };
            let state = serde_json::to_value(conversation)?;
            for queue in ["commands", "events", "notices"] {
                prop_assert_eq!(&state[queue], &json!([]), "{}", queue);
            }
        }
        Ok(())
    }

    fn removed(&mut self, thread: &str) {
        self.open.retain(|(of, _)| of != thread);
        self.logs.retain(|(of, _), _| of != thread);
        self.interrupts.remove(thread);
        self.streams.remove(thread);
        self.latest.remove(thread);
    }

    fn request(&mut self, method: &str, params: &Value) {
        self.requested += 1;
        let id = self.requested;
        if self.hub.is_connected() {
            self.agent_requests.insert(id);
        }
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn answer(&mut self, nth: usize, how: u8) {
        if self.requests.is_empty() {
            return;
        }
        let (id, method) = self.requests.remove(nth % self.requests.len());
        let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32002, "message": "no", "data": {"sessionId": "s"}}});
        let result = match method.as_str() {
            "initialize" => {
                json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": how > 3}})
            }
            "session/new" => {
                self.sessions += 1;
                json!({"sessionId": Self::session(self.sessions % 5)})
            }
            "session/prompt" => match how {
                2 => json!({"stopReason": "cancelled"}),
                3 => json!({"stopReason": 7}),
                _ => json!({"stopReason": "end_turn"}),
            },
            _ => json!({}),
        };
        if how == 0 {
            self.line(&error);
        } else {
            self.line(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        }
    }

    pub(crate) fn drain(&mut self) -> Result<(), TestCaseError> {
        loop {
            let mut is_done = true;
            while let Some(transmit) = self.hub.poll_transmit() {
                is_done = false;
                self.transmitted.extend_from_slice(&transmit.line);
                let message: Value = serde_json::from_slice(&transmit.line).unwrap();
                match message["method"].as_str() {
                    Some(method) if !message["id"].is_null() => {
                        self.requests.push((message["id"].clone(), method.to_owned()));
                    }
                    Some(_) => {}
                    None => {
                        if let Some(id) = message["id"].as_u64() {
                            prop_assert!(self.agent_requests.remove(&id), "answered once: {}", id);
                        }
                    }
                }
            }
            while let Some(event) = self.hub.poll_event() {
                is_done = false;
                self.event(event)?;
            }
            while let Some(event) = self.hub.poll_run() {
                is_done = false;
                self.run_event(&event)?;
            }
            if is_done {
                return Ok(());
            }
        }
    }

    /// Appends an event to the log of its run, and to the stream of its thread.
    fn run_event(&mut self, event: &HubRunEvent) -> Result<(), TestCaseError> {
        let run = (event.thread.to_string(), event.run_id.to_string());
        // The thread may have been removed.
        let Some(log) = self.logs.get_mut(&run) else { return Ok(()) };
        let appended = event.append_to(log);
        let is_full = matches!(appended, Err(PushError::Full));
        prop_assert!(appended.is_ok() || is_full, "{:?}", appended);
        prop_assert_eq!(event.outcome().is_some(), log.has_ended());
        if log.is_full() && !log.has_ended() {
            self.hub.handle_full(&run.0, &event.run_id, self.now);
        }
        self.streams.entry(run.0.clone()).or_default().extend(frames(event));
        let does_not_begin =
            matches!(event.output, HubRunOutput::Refused(_) | HubRunOutput::Again(_));
        if event.outcome().is_some() || does_not_begin {
            prop_assert!(self.open.remove(&run), "a run ends once: {}", event.run_id);
        }
        Ok(())
    }

    fn event(&mut self, event: HubEvent) -> Result<(), TestCaseError> {
        match event {
            HubEvent::Request { key, .. } => {
                let refused = Reply::error(ErrorCode::METHOD_NOT_FOUND, "not here");
                prop_assert!(self.hub.reply(key, refused).is_ok());
            }
            HubEvent::ThreadRemoved(thread) => self.removed(&thread),
            _ => {}
        }
        Ok(())
    }

    /// Verifies the streams, and records the interrupts of threads.
    pub(crate) fn verify(&mut self, is_last: bool) -> Result<(), TestCaseError> {
        for (thread, bytes) in &self.streams {
            let mut verifier = Verifier::strict();
            let mut decoder = sse::Decoder::default();
            decoder.push(bytes);
            while let Some(frame) = decoder.next_frame() {
                let event: Event = frame.unwrap().decode().unwrap();
                verifier.handle(&event).map_err(|error| TestCaseError::fail(error.to_string()))?;
                let value = serde_json::to_value(&event)?;
                if let Some(interrupts) = value["outcome"]["interrupts"].as_array() {
                    let ids =
                        interrupts.iter().filter_map(|it| Some(it["id"].as_str()?.to_owned()));
                    self.interrupts.insert(thread.clone(), ids.collect());
                }
            }
            if is_last {
                verifier.finish().map_err(|error| TestCaseError::fail(error.to_string()))?;
            }
        }
        Ok(())
    }
}
