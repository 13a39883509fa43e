//! A hub between a scripted agent and pages that read frames.
use crate::thread::{frames, input, options, user};
use acp_types::client::{self, CloseReason, Reply};
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use agui_bridge::Failure;
use agui_bridge::conversation::{Acceptance, Conversation, Notice, RunRefused, Setting, WhenBusy};
use agui_bridge::hub::{Hub, HubEvent, HubOptions, HubRefused, HubRunOutput};
use agui_types::event::Event;
use agui_types::run_log::{PushError, RunLog, RunLogLimits, RunOutcome};
use agui_types::sse;
use agui_types::verify::Verifier;
use jsonrpc_core::ErrorCode;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

mod decided;

/// A hub, its agent, and all polled frames.
struct Rig {
    hub: Hub,
    now: Duration,
    /// Prompts without a response, by session.
    prompts: BTreeMap<String, Value>,
    sent: Vec<Value>,
    capabilities: Value,
    sessions: usize,
    /// Frames of each run, as bytes.
    read: BTreeMap<(String, String), Vec<u8>>,
    /// The outcome of each run, in the order of their ends.
    outcomes: Vec<((String, String), RunOutcome)>,
    /// Ids of runs that waited and did not begin.
    refused: Vec<(String, RunRefused)>,
    events: Vec<HubEvent>,
}

fn client() -> client::Options {
    client::Options::v1(InitializeRequest::new(ProtocolVersion::V1))
}

impl Rig {
    fn new(options: HubOptions) -> Self {
        Self {
            hub: Hub::new(options),
            now: Duration::ZERO,
            prompts: BTreeMap::new(),
            sent: Vec::new(),
            capabilities: json!({}),
            sessions: 0,
            read: BTreeMap::new(),
            outcomes: Vec::new(),
            refused: Vec::new(),
            events: Vec::new(),
        }
    }

    fn connected(options: HubOptions) -> Self {
        let mut rig = Self::new(options);
        rig.connect();
        rig
    }

    fn connect(&mut self) {
        self.hub.connect(client(), self.now);
        self.exchange();
    }

    fn line(&mut self, message: &Value) {
        self.hub.handle_line(Ok(&message.to_string()), self.now);
        self.exchange();
    }

    fn result(&mut self, id: &Value, result: &Value) {
        self.line(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// Lets the agent respond to simple requests, and takes the outputs.
    fn exchange(&mut self) {
        while let Some(transmit) = self.hub.poll_transmit() {
            let message: Value = serde_json::from_slice(&transmit.line).unwrap();
            self.sent.push(message.clone());
            let id = &message["id"];
            let params = &message["params"];
            match message["method"].as_str() {
                Some("initialize") => {
                    let agent =
                        json!({"protocolVersion": 1, "agentCapabilities": self.capabilities});
                    self.result(id, &agent);
                }
                Some("session/new") => {
                    self.sessions += 1;
                    let id_of_session = format!("s{}", self.sessions);
                    self.result(id, &json!({"sessionId": id_of_session}));
                }
                Some("session/load" | "session/resume" | "session/set_mode") => {
                    self.result(id, &json!({}));
                }
                Some("session/prompt") => {
                    let session = params["sessionId"].as_str().unwrap().to_owned();
                    self.prompts.insert(session, id.clone());
                }
                _ => {}
            }
        }
        self.events.extend(std::iter::from_fn(|| self.hub.poll_event()));
        while let Some(event) = self.hub.poll_run() {
            let run = (event.thread.to_string(), event.run_id.to_string());
            self.read.entry(run.clone()).or_default().extend(frames(&event));
            self.outcomes.extend(event.outcome().map(|outcome| (run, outcome)));
            if let HubRunOutput::Refused(why) = event.output {
                self.refused.push((event.run_id.to_string(), why));
            }
        }
    }

    fn say(&mut self, thread: &str, run: &str) -> Result<Acceptance, HubRefused> {
        let said = input(run, &[user(&format!("u-{run}"), "Hi")], &json!({}));
        let accepted = self.hub.handle_run(thread, said, self.now);
        self.exchange();
        accepted
    }

    fn chunk(&mut self, session: &str, text: &str) {
        self.line(&chunk(session, text));
    }

    fn end(&mut self, session: &str) {
        let id = self.prompts.remove(session).unwrap();
        self.result(&id, &json!({"stopReason": "end_turn"}));
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.hub.handle_timeout(self.now);
        self.exchange();
    }

    fn run(&self, thread: &str, run: &str) -> Vec<Event> {
        decode(self.read.get(&(thread.to_owned(), run.to_owned())).map_or(&[], Vec::as_slice))
    }

    fn kinds(&self, thread: &str, run: &str) -> Vec<String> {
        self.run(thread, run).iter().map(crate::thread::kind).collect()
    }
}

fn chunk(session: &str, text: &str) -> Value {
    let content = json!({"type": "text", "text": text});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})
}

fn decode(bytes: &[u8]) -> Vec<Event> {
    let mut decoder = sse::Decoder::default();
    decoder.push(bytes);
    let frames = std::iter::from_fn(|| decoder.next_frame());
    frames.map(|frame| frame.unwrap().decode().unwrap()).collect()
}

fn hub_options() -> HubOptions {
    HubOptions::new(options())
}

#[test]
fn threads_share_a_connection() {
    let mut rig = Rig::connected(hub_options());
    assert_eq!(rig.say("a", "1"), Ok(Acceptance::Begun));
    assert_eq!(rig.say("b", "1"), Ok(Acceptance::Begun));
    rig.chunk("s2", "to b");
    rig.chunk("s1", "to a");
    rig.end("s1");
    rig.end("s2");
    for thread in ["a", "b"] {
        let events = rig.run(thread, "1");
        let mut verifier = Verifier::strict();
        events.iter().for_each(|event| verifier.handle(event).unwrap());
        verifier.finish().unwrap();
        let text = format!("to {thread}");
        assert!(
            events
                .iter()
                .any(|event| matches!(event, Event::TextMessageContent(it) if it.delta == text))
        );
        let ended = ((thread.to_owned(), "1".to_owned()), RunOutcome::Success);
        assert!(rig.outcomes.contains(&ended));
    }
    assert_eq!(rig.hub.threads().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn events_are_in_the_order_of_their_lines() {
    let mut rig = Rig::connected(hub_options());
    rig.say("a", "1").unwrap();
    rig.say("b", "1").unwrap();
    for (session, text) in
        [("s1", "A"), ("s2", "B"), ("s2", "C"), ("s1", "D"), ("s1", "E"), ("s2", "F")]
    {
        rig.hub.handle_line(Ok(&chunk(session, text).to_string()), rig.now);
    }
    let mut texts = String::new();
    while let Some(event) = rig.hub.poll_run() {
        for event in decode(&frames(&event)) {
            if let Event::TextMessageContent(content) = event {
                texts.push_str(&content.delta);
            }
        }
    }
    assert_eq!(texts, "ABCDEF");
}

#[test]
fn successive_texts_of_a_run_are_one_event() {
    let mut rig = Rig::connected(hub_options());
    rig.say("a", "1").unwrap();
    let line = chunk("s1", "word ").to_string();
    for _ in 0..10_000 {
        rig.hub.handle_line(Ok(&line), rig.now);
    }
    let events: Vec<_> = std::iter::from_fn(|| rig.hub.poll_run()).collect();
    assert!(events.len() < 50, "{} events", events.len());
    let bytes: Vec<u8> = events.iter().flat_map(frames).collect();
    let words = decode(&bytes).into_iter().filter(|it| matches!(it, Event::TextMessageContent(_)));
    assert_eq!(words.count(), 10_000);
}

#[test]
fn run_with_a_full_log_fails() {
    let mut rig = Rig::connected(hub_options());
    let mut log = RunLog::new(
        &input("1", &[user("u", "Hi")], &json!({})),
        RunLogLimits { events: 20_000, bytes: 4 << 10 },
    );
    rig.say("a", "1").unwrap();
    rig.say("b", "1").unwrap();
    for number in 0..200 {
        let line = chunk("s1", &format!("{number}").repeat(1 << 10)).to_string();
        rig.hub.handle_line(Ok(&line), rig.now);
        while let Some(event) = rig.hub.poll_run() {
            match event.append_to(&mut log) {
                Ok(()) | Err(PushError::Full | PushError::Ended) => {}
                Err(error) => panic!("{error}"),
            }
            if log.is_full() {
                rig.hub.handle_full("a", &"0".into(), rig.now);
                rig.hub.handle_full("a", &event.run_id, rig.now);
            }
        }
    }
    let outcome = RunOutcome::Error(Some("LIMIT_EXCEEDED".into()));
    assert_eq!(log.outcome(), Some(&outcome), "what does not fit ends its own run alone");
    assert!(log.has_ended());
    assert!(log.bytes() <= 3 * (4 << 10), "{}", log.bytes());
    rig.exchange();
    let methods: Vec<_> = rig.sent.iter().filter_map(|it| it["method"].as_str()).collect();
    assert_eq!(methods.last(), Some(&"session/cancel"), "the session is left");
    rig.end("s2");
    assert_eq!(rig.kinds("b", "1").last().unwrap(), "RUN_FINISHED success");
}

#[test]
fn runs_fail_with_the_connection_and_wait_for_the_next() {
    let mut rig = Rig::new(hub_options());
    assert_eq!(rig.say("a", "0"), Ok(Acceptance::Queued), "for a connection");
    rig.connect();
    rig.end("s1");
    rig.say("a", "1").unwrap();
    rig.hub.handle_closed(CloseReason::AgentClosed("exit status: 3".into()), rig.now);
    rig.exchange();
    assert_eq!(rig.kinds("a", "1"), ["RUN_STARTED", "RUN_ERROR AGENT_EXITED"]);
    assert!(matches!(rig.events.last(), Some(HubEvent::Closed(_))), "{:?}", rig.events.last());
    assert!(!rig.hub.is_connected());
    rig.say("b", "2").unwrap();
    assert_eq!(rig.kinds("b", "2"), ["RUN_STARTED", "RUN_ERROR AGENT_EXITED"]);
    rig.hub.handle_unavailable(Failure::AgentUnavailable, "no such program", rig.now);
    rig.say("c", "3").unwrap();
    assert_eq!(rig.kinds("c", "3"), ["RUN_STARTED", "RUN_ERROR AGENT_UNAVAILABLE"]);
    // An agent that resumes sessions.
    rig.capabilities = json!({"sessionCapabilities": {"resume": {}}});
    rig.connect();
    rig.say("a", "4").unwrap();
    let resumed = rig.sent.iter().find(|it| it["method"] == "session/resume").unwrap();
    assert_eq!(resumed["params"]["sessionId"], "s1");
    rig.end("s1");
    assert_eq!(rig.kinds("a", "4").last().unwrap(), "RUN_FINISHED success");
}

#[test]
fn waiting_runs_fail_when_the_agent_does_not_answer() {
    let mut rig = Rig::new(hub_options());
    rig.hub.connect(client(), rig.now);
    while rig.hub.poll_transmit().is_some() {}
    rig.say("a", "1").unwrap();
    assert_eq!(rig.hub.poll_timeout(), Some(Duration::from_secs(60)));
    rig.wait(Duration::from_secs(60));
    assert_eq!(rig.kinds("a", "1"), ["RUN_STARTED", "RUN_ERROR AGENT_TIMEOUT"]);
}

#[test]
fn interrupt_is_resumed_by_the_next_input() {
    let mut rig = Rig::connected(hub_options());
    rig.say("a", "1").unwrap();
    rig.say("b", "1").unwrap();
    let choices = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let call = json!({"toolCallId": "c", "title": "Write"});
    for (id, session) in [(7, "s1"), (8, "s2")] {
        let params = json!({"sessionId": session, "toolCall": call, "options": choices});
        rig.line(&json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}));
    }
    rig.wait(Duration::from_millis(50));
    let interrupt = |rig: &Rig, thread: &str| {
        let end = serde_json::to_value(rig.run(thread, "1").pop().unwrap()).unwrap();
        end["outcome"]["interrupts"][0]["id"].as_str().unwrap().to_owned()
    };
    let a = interrupt(&rig, "a");
    let b = interrupt(&rig, "b");
    assert_ne!(a, b, "ids of interrupts are the hub's");
    let resume = json!({"resume": [{"interruptId": a, "status": "resolved", "payload": {"optionId": "yes"}}]});
    let answer = input("2", &[user("u-1", "Hi")], &resume);
    assert_eq!(rig.hub.handle_run("a", answer, rig.now), Ok(Acceptance::Resumed));
    rig.exchange();
    let reply = rig.sent.iter().find(|it| it["id"] == 7 && it.get("result").is_some()).unwrap();
    assert_eq!(reply["result"]["outcome"]["optionId"], "yes");
    rig.end("s1");
    assert_eq!(rig.kinds("a", "2").last().unwrap(), "RUN_FINISHED success");
}

#[test]
fn run_resumed_under_its_own_id_continues_its_numbers() {
    let mut rig = Rig::connected(hub_options());
    rig.say("a", "1").unwrap();
    let params = json!({"sessionId": "s1", "toolCall": {"toolCallId": "c", "title": "Write"}, "options":
        [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]});
    rig.line(&json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": params}));
    rig.wait(Duration::from_millis(50));
    let limits = RunLogLimits { events: 100, bytes: 1 << 20 };
    let before = rig.run("a", "1").len();
    let end = serde_json::to_value(rig.run("a", "1").pop().unwrap()).unwrap();
    let id = &end["outcome"]["interrupts"][0]["id"];
    let resume = json!({"resume": [{"interruptId": id, "status": "resolved", "payload": true}]});
    let answer = input("1", &[user("u-1", "Hi")], &resume);
    let mut log = RunLog::new(&answer, limits).with_last(before as u64);
    rig.hub.handle_run("a", answer, rig.now).unwrap();
    let begun = rig.hub.poll_run().unwrap();
    begun.append_to(&mut log).unwrap();
    assert_eq!(log.last(), before as u64 + 1);
    assert!(!log.has_ended());
}

#[test]
fn file_request_is_left_to_the_program() {
    let mut rig = Rig::connected(hub_options());
    rig.say("a", "1").unwrap();
    let params = json!({"sessionId": "s1", "path": "/f"});
    rig.line(&json!({"jsonrpc": "2.0", "id": 9, "method": "fs/read_text_file", "params": params}));
    let Some(HubEvent::Request { thread, key, request }) = rig.events.pop() else { panic!() };
    assert_eq!(thread.as_deref(), Some("a"));
    assert_eq!(request.value.method(), "fs/read_text_file");
    rig.hub.reply(key, Reply::error(ErrorCode::METHOD_NOT_FOUND, "no")).unwrap();
    assert!(rig.hub.reply(key, Reply::error(ErrorCode::METHOD_NOT_FOUND, "no")).is_err());
    rig.exchange();
    assert_eq!(rig.sent.last().unwrap()["error"]["message"], "no");
}

#[test]
fn setting_is_changed() {
    let mut rig = Rig::connected(hub_options());
    rig.say("a", "1").unwrap();
    let now = rig.now;
    let set = |it: &mut Conversation| it.handle_setting(Setting::Mode("code".into()), now);
    let key = rig.hub.with_conversation("a", now, set).unwrap().unwrap();
    rig.exchange();
    let ended = HubEvent::Notice("a".into(), Notice::SettingEnded(key, Ok(())));
    assert!(rig.events.contains(&ended), "{:?}", rig.events);
}

#[test]
fn threads_are_bounded() {
    let mut options = hub_options();
    options.max_threads = 2;
    let mut rig = Rig::connected(options);
    for thread in ["a", "b"] {
        rig.say(thread, "1").unwrap();
    }
    assert_eq!(rig.say("c", "1"), Err(HubRefused::TooManyThreads));
    rig.end("s1");
    // An idle thread is removed, a running one is not.
    rig.wait(Duration::from_secs(30 * 60));
    assert_eq!(rig.hub.threads().collect::<Vec<_>>(), ["b"]);
    assert!(rig.events.contains(&HubEvent::ThreadRemoved("a".into())));
    assert_eq!(rig.say("c", "1"), Ok(Acceptance::Begun));
}

#[test]
fn queued_run_is_refused_after_its_wait() {
    let mut options = hub_options();
    options.conversation.when_busy = WhenBusy::Queue;
    options.conversation.queue_wait = Some(Duration::from_secs(1));
    let mut rig = Rig::connected(options);
    rig.say("a", "1").unwrap();
    assert_eq!(rig.say("a", "2"), Ok(Acceptance::Queued));
    rig.wait(Duration::from_secs(1));
    assert_eq!(rig.refused, [("2".to_owned(), RunRefused::Busy)]);
    assert_eq!(rig.run("a", "2"), []);
    assert_eq!(rig.say("a", "1"), Ok(Acceptance::Again("1".into())));
}

#[test]
fn removed_thread_releases_its_session() {
    let mut rig = Rig::new(hub_options());
    rig.capabilities = json!({"sessionCapabilities": {"close": {}}});
    rig.connect();
    rig.say("a", "1").unwrap();
    rig.hub.remove_thread("a", rig.now);
    rig.exchange();
    let methods: Vec<_> = rig.sent.iter().filter_map(|it| it["method"].as_str()).collect();
    assert_eq!(methods[methods.len() - 2..], ["session/cancel", "session/close"]);
    rig.chunk("s1", "late");
    assert_eq!(rig.hub.threads().count(), 0);
}
