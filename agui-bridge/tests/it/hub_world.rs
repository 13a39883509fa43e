//! A hub with an agent and pages that perform generated steps, and checks of all outputs.
use crate::thread::{input, options, user};
use acp_types::client::{self, CloseReason, Reply};
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use agui_bridge::CancelReason;
use agui_bridge::Failure;
use agui_bridge::conversation::{Accepted, WhenBusy};
use agui_bridge::hub::{Frame, Hub, HubEvent, HubOptions};
use agui_types::event::Event;
use agui_types::id::RunId;
use agui_types::run_log::RunLog;
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
    Forget(usize),
    Remove(usize),
    Wait(u64),
}

/// Maximum number of threads, and of runs.
const MAX_THREADS: usize = 2;
const MAX_RUNS: usize = 5;

/// Maximum size of the log of one run, and of all logs.
const LOG_BYTES: usize = 8 << 10;
const ALL_LOG_BYTES: usize = 24 << 10;

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
    /// The last run of each thread, and its begin in the stream.
    begun: BTreeMap<String, (RunId, usize)>,
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
        (options.max_threads, options.max_runs) = (MAX_THREADS, MAX_RUNS);
        (options.log.bytes, options.max_log_bytes) = (LOG_BYTES, ALL_LOG_BYTES);
        Self {
            hub: Hub::new(options),
            now: Duration::ZERO,
            runs: 0,
            latest: BTreeMap::new(),
            open: BTreeSet::new(),
            interrupts: BTreeMap::new(),
            streams: BTreeMap::new(),
            begun: BTreeMap::new(),
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
                let accepted = self.hub.handle_run(thread, input(&run, &said, &members), self.now);
                if let Ok(Accepted::Begun | Accepted::Resumed | Accepted::Queued) = accepted {
                    self.open.insert(((*thread).to_owned(), run.clone()));
                    self.latest.insert((*thread).to_owned(), run);
                    self.check_logs()?;
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
            Op::Forget(thread) => {
                if let Some(thread) = THREADS.get(*thread)
                    && let Some(run) = self.latest.get(*thread)
                    && !self.open.contains(&((*thread).to_owned(), run.clone()))
                {
                    self.hub.forget_run(thread, &run.as_str().into());
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
        let logs: Vec<_> = self.logs().collect();
        prop_assert!(logs.len() <= MAX_RUNS, "{} logs", logs.len());
        for log in logs {
            prop_assert!(log.bytes() <= 3 * LOG_BYTES, "{} bytes", log.bytes());
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

    /// Checks the size of all logs after a run has begun.
    fn check_logs(&self) -> Result<(), TestCaseError> {
        let bytes: usize = self.logs().map(RunLog::bytes).sum();
        let has_ended = self.logs().any(RunLog::has_ended);
        prop_assert!(bytes <= ALL_LOG_BYTES + LOG_BYTES || !has_ended, "{} bytes", bytes);
        Ok(())
    }

    fn logs(&self) -> impl Iterator<Item = &RunLog> {
        let runs =
            THREADS.into_iter().flat_map(|thread| (1..=self.runs).map(move |run| (thread, run)));
        runs.filter_map(|(thread, run)| self.hub.log(thread, &format!("r{run}").as_str().into()))
    }

    fn removed(&mut self, thread: &str) {
        self.open.retain(|(of, _)| of != thread);
        self.interrupts.remove(thread);
        self.streams.remove(thread);
        self.begun.remove(thread);
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
            while let Some(frame) = self.hub.poll_frame() {
                self.append(frame);
            }
            if is_done {
                return Ok(());
            }
        }
    }

    /// Appends frames to the stream of their thread. A run that was compacted before begins with
    /// its first event again, which replaces its earlier frames.
    fn append(&mut self, frame: Frame) {
        let mut decoder = sse::Decoder::default();
        decoder.push(&frame.bytes);
        let first = decoder.next_frame().unwrap().unwrap().decode::<Event>().unwrap();
        let stream = self.streams.entry(frame.thread.clone()).or_default();
        if matches!(first, Event::RunStarted(_)) {
            match self.begun.get(&frame.thread) {
                Some((run_id, at)) if *run_id == frame.run_id => stream.truncate(*at),
                _ => drop(self.begun.insert(frame.thread, (frame.run_id, stream.len()))),
            }
        }
        stream.extend_from_slice(&frame.bytes);
    }

    fn event(&mut self, event: HubEvent) -> Result<(), TestCaseError> {
        match event {
            HubEvent::Request { key, .. } => {
                let refused = Reply::error(ErrorCode::METHOD_NOT_FOUND, "not here");
                prop_assert!(self.hub.reply(key, refused).is_ok());
            }
            HubEvent::RunEnded(thread, run, _) | HubEvent::RunRefused(thread, run, _) => {
                let ended = self.open.remove(&(thread, run.to_string()));
                prop_assert!(ended, "a run ends once: {}", run);
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
