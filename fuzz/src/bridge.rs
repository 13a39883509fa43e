//! Properties of a conversation and a hub.
use acp_types::client::{
    self, AgentRequest, CallError, CloseReason, NewSessionResponse, OpenedSession, ReceivedValue,
    Reply, RequestKey, SessionEvent, TurnEnd, TurnError, TurnKey, Update,
};
use acp_types::v1::dispatch::AgentRequest as AgentRequestV1;
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use agui_bridge::CancelReason;
use agui_bridge::conversation::{
    Acceptance, AgentFeatures, Command, Conversation, ConversationOptions, RunOutput,
    SessionNumber, WhenBusy,
};
use agui_bridge::hub::{Hub, HubEvent, HubOptions, HubRunOutput};
use agui_bridge::{Failure, PermissionMode};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::sse;
use agui_types::verify::Verifier;
use core::str;
use core::time::Duration;
use jsonrpc_core::ErrorCode;
use jsonrpc_core::wire::{Raw, decode};
use std::collections::{BTreeMap, BTreeSet};

/// For any inputs, each run ends once, the stream is in order, requests are answered once, and a
/// conversation continues after it is encoded and decoded. Each step is a byte that selects the
/// input and a byte for its subject; the text of an update follows its length.
pub fn conversation(data: &[u8]) {
    let mut thread = Thread::new();
    let mut left = data;
    while let Some((&[step, about], behind)) = left.split_first_chunk() {
        left = behind;
        thread.now += Duration::from_millis(u64::from(about));
        let now = thread.now;
        // Due deadlines come first.
        thread.conversation.handle_timeout(now);
        thread.drain();
        match step % 12 {
            0 | 1 => thread.run(about),
            2 => {
                let run = format!("r{}", thread.runs).as_str().into();
                thread.conversation.handle_cancel(&run, CancelReason::User, now);
            }
            3 => {
                let mut features = AgentFeatures::default();
                (features.resume, features.load) = (about & 1 > 0, about & 2 > 0);
                thread.conversation.handle_connected(features, now);
            }
            4 if about < 64 => thread.disconnect(),
            5 => thread.event(opened()),
            6 => thread.event(ended(about)),
            7 => thread.permission(),
            8 if about < 64 => thread.refused(),
            9 => thread.now += Duration::from_secs(u64::from(about)),
            10 => {
                let text = serde_json::to_string(&thread.conversation).unwrap();
                thread.conversation = serde_json::from_str(&text).unwrap();
                assert_eq!(serde_json::to_string(&thread.conversation).unwrap(), text);
            }
            _ => {
                let (text, behind) = left.split_at(left.len().min(usize::from(about)));
                left = behind;
                if let Ok(text) = str::from_utf8(text) {
                    thread.update(text);
                }
            }
        }
        thread.drain();
    }
    thread.disconnect();
    thread.drain();
    assert!(!thread.conversation.is_running());
    assert_eq!(thread.open, BTreeSet::new());
}

fn input(run: usize, resume: Option<&str>) -> RunAgentInput {
    let resume = resume.map_or(String::new(), |id| {
        format!(r#","resume":[{{"interruptId":"{id}","status":"resolved","payload":true}}]"#)
    });
    let text = format!(
        r#"{{"threadId":"t","runId":"r{run}","protocolVersion":"1.0","messages":[{{"id":"u{run}","role":"user","content":"Hi"}}]{resume}}}"#
    );
    decode(&text).unwrap()
}

fn options() -> ConversationOptions {
    let mut options = ConversationOptions::new("/");
    options.translator.permission = PermissionMode::Interrupt;
    options.rules.new_alone = true;
    options.when_busy = WhenBusy::Queue;
    options.max_queued = 2;
    options
}

fn opened() -> SessionEvent {
    let raw = Raw::from_text(r#"{"sessionId":"s"}"#).unwrap();
    let response = NewSessionResponse::V1(raw.decode().unwrap());
    SessionEvent::Opened(Box::new(OpenedSession::new(ReceivedValue::new(response, raw))))
}

fn ended(about: u8) -> SessionEvent {
    let end = match about % 4 {
        0 => Err(TurnError::GraceOver),
        1 => Err(TurnError::Call(CallError::Timeout)),
        _ => {
            let raw = Raw::from_text(r#"{"stopReason":"end_turn"}"#).unwrap();
            Ok(ReceivedValue::new(TurnEnd::V1(raw.decode().unwrap()), raw))
        }
    };
    SessionEvent::TurnEnded(TurnKey::new(1), end)
}

struct Thread {
    conversation: Conversation,
    now: Duration,
    runs: usize,
    /// Runs that were accepted and have not ended.
    open: BTreeSet<String>,
    interrupt: Option<String>,
    verifier: Verifier,
    session: Option<SessionNumber>,
    is_open: bool,
    has_turn: bool,
    asked: BTreeSet<u64>,
    requests: u64,
}

impl Thread {
    fn new() -> Self {
        Self {
            conversation: Conversation::new(options()),
            now: Duration::ZERO,
            runs: 0,
            open: BTreeSet::new(),
            interrupt: None,
            verifier: Verifier::strict(),
            session: None,
            is_open: false,
            has_turn: false,
            asked: BTreeSet::new(),
            requests: 0,
        }
    }

    fn run(&mut self, about: u8) {
        self.runs += 1;
        let resume = self.interrupt.as_deref().filter(|_| about > 127);
        let accepted = self.conversation.handle_run(input(self.runs, resume), self.now);
        if let Ok(Acceptance::Begun | Acceptance::Resumed | Acceptance::Queued) = accepted {
            self.open.insert(format!("r{}", self.runs));
        }
    }

    fn disconnect(&mut self) {
        (self.session, self.is_open, self.has_turn) = (None, false, false);
        self.asked.clear();
        self.conversation.handle_disconnected(Failure::AgentExited, "gone", self.now);
    }

    fn event(&mut self, event: SessionEvent) {
        let Some(session) = self.session else { return };
        self.is_open |= matches!(event, SessionEvent::Opened(_));
        self.has_turn &= !matches!(event, SessionEvent::TurnEnded(..));
        assert!(self.conversation.handle_session(session, event, self.now).is_none());
    }

    fn refused(&mut self) {
        if !self.is_open {
            self.event(SessionEvent::Refused(CallError::Timeout));
            self.session = None;
        }
    }

    fn permission(&mut self) {
        if self.session.is_none() {
            return;
        }
        self.requests += 1;
        self.asked.insert(self.requests);
        let params = Raw::from_text(
            r#"{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]}"#,
        )
        .unwrap();
        let method = "session/request_permission";
        let request = AgentRequestV1::decode(method, Some(params.as_ref())).unwrap();
        let request = ReceivedValue::new(AgentRequest::V1(request), params);
        self.event(SessionEvent::Request(RequestKey::new(self.requests), Box::new(request)));
    }

    fn update(&mut self, text: &str) {
        let Ok(update) = decode(&format!(r#"{{"sessionId":"s","update":{text}}}"#)) else { return };
        let update = ReceivedValue::new(Update::V1(update), Raw::from_text("{}").unwrap());
        self.event(SessionEvent::Update(update));
    }

    fn drain(&mut self) {
        while let Some(command) = self.conversation.poll_command() {
            match command {
                Command::Open(session, _) => {
                    assert_eq!(self.session, None);
                    (self.session, self.is_open) = (Some(session), false);
                }
                Command::Prompt { session, .. } => {
                    assert!(self.session == Some(session) && self.is_open && !self.has_turn);
                    self.has_turn = true;
                }
                Command::Reply { request, .. } => assert!(self.asked.remove(&request.get())),
                Command::Release(session) => {
                    assert_eq!(self.session, Some(session));
                    (self.session, self.is_open, self.has_turn) = (None, false, false);
                    self.asked.clear();
                }
                _ => {}
            }
        }
        while let Some(event) = self.conversation.poll_event() {
            let ends = match &event.output {
                RunOutput::Event(event) => {
                    self.verifier.handle(event).unwrap();
                    self.interrupt = interrupt(event).or(self.interrupt.take());
                    matches!(event, Event::RunFinished(_) | Event::RunError(_))
                }
                _ => true,
            };
            assert!(!ends || self.open.remove(event.run_id.as_str()));
        }
        while self.conversation.poll_notice().is_some() {}
    }
}

fn interrupt(event: &Event) -> Option<String> {
    let event = serde_json::to_value(event).unwrap();
    Some(event["outcome"]["interrupts"][0]["id"].as_str()?.to_owned())
}

/// For any lines of an agent, each run ends once and each stream is in order. Each step is a byte
/// that selects the input and a byte for its subject; a line follows its length.
pub fn hub(data: &[u8]) {
    let mut hub = Hub::new(HubOptions::new(options()));
    let mut left = data;
    let mut now = Duration::ZERO;
    let mut runs = 0;
    let mut open = BTreeSet::new();
    let mut streams = BTreeMap::new();
    while let Some((&[step, about], behind)) = left.split_first_chunk() {
        left = behind;
        let thread = format!("t{}", about % 3);
        match step % 8 {
            0 => {
                runs += 1;
                let accepted = hub.handle_run(&thread, input(runs, None), now);
                if let Ok(Acceptance::Begun | Acceptance::Resumed | Acceptance::Queued) = accepted {
                    open.insert(format!("r{runs}"));
                }
            }
            1 => {
                hub.handle_cancel(
                    &thread,
                    &format!("r{runs}").as_str().into(),
                    CancelReason::User,
                    now,
                );
            }
            2 if !hub.is_connected() => {
                let initialize = InitializeRequest::new(ProtocolVersion::V1);
                hub.connect(client::Options::v1(initialize), now);
            }
            3 if about < 32 => hub.handle_closed(CloseReason::AgentClosed(String::new()), now),
            4 => {
                now += Duration::from_secs(u64::from(about));
                hub.handle_timeout(now);
            }
            5 => hub.handle_line(Ok(usual(about)), now),
            _ => {
                let (line, behind) = left.split_at(left.len().min(usize::from(about)));
                left = behind;
                if let Ok(line) = str::from_utf8(line) {
                    hub.handle_line(Ok(line), now);
                }
            }
        }
        settle(&mut hub, &mut open, &mut streams);
    }
    hub.handle_closed(CloseReason::AgentClosed(String::new()), now);
    hub.handle_unavailable(Failure::AgentUnavailable, "no", now);
    settle(&mut hub, &mut open, &mut streams);
    assert_eq!(open, BTreeSet::new());
    for bytes in streams.values() {
        let mut verifier = Verifier::strict();
        let mut decoder = sse::Decoder::default();
        decoder.push(bytes);
        while let Some(frame) = decoder.next_frame() {
            verifier.handle(&frame.unwrap().decode().unwrap()).unwrap();
        }
    }
}

fn settle(hub: &mut Hub, open: &mut BTreeSet<String>, streams: &mut BTreeMap<String, Vec<u8>>) {
    while let Some(event) = hub.poll_event() {
        if let HubEvent::Request { key, .. } = event {
            let refused = Reply::error(ErrorCode::METHOD_NOT_FOUND, "no");
            assert!(hub.reply(key, refused).is_ok());
        }
    }
    while let Some(event) = hub.poll_run() {
        let stream = streams.entry(event.thread.to_string()).or_default();
        match &event.output {
            HubRunOutput::Event(event) => sse::write_event(stream, event).unwrap(),
            HubRunOutput::Text(frames) => stream.extend_from_slice(frames),
            _ => assert!(open.remove(event.run_id.as_str())),
        }
        if event.outcome().is_some() {
            assert!(open.remove(event.run_id.as_str()));
        }
    }
    while let Some(transmit) = hub.poll_transmit() {
        assert!(transmit.line.ends_with(b"\n"));
    }
}

/// Lines of an agent.
fn usual(about: u8) -> &'static str {
    match about % 8 {
        0 => r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#,
        1 => r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#,
        2 => r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#,
        3 => r#"{"jsonrpc":"2.0","id":4,"result":{"stopReason":"cancelled"}}"#,
        4 => {
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}}}"#
        }
        5 => {
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"b"}}}}"#
        }
        6 => {
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}}}"#
        }
        _ => {
            r#"{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}"#
        }
    }
}
