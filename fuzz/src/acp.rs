//! Properties of the ACP machines.
use acp_types::agent;
use acp_types::client::{self, Call, CloseReason, Event, Options, Prompt, Reply, SessionEvent};
use acp_types::convert::{Bridge, BridgeOptions, Output};
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use acp_types::v1::session_list::ListSessionsRequest;
use acp_types::v1::session_setup::{LoadSessionRequest, NewSessionRequest};
use core::time::Duration;
use jsonrpc_core::ErrorCode;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The client machine: for any calls and lines, everything begun ends once, and each request of the
/// agent is answered at most once. Each step is a byte that selects the input and a byte for its
/// subject; a line follows its length.
pub fn client(data: &[u8]) {
    let mut options = Options::v1(InitializeRequest::new(ProtocolVersion::V1));
    (options.limits.sessions, options.limits.calls, options.limits.requests) = (4, 4, 4);
    (options.limits.events, options.limits.event_bytes, options.limits.replay) = (4, 4096, 4);
    (options.limits.early, options.limits.diagnostics) = (2, 4);
    let mut account = Client {
        connection: client::Connection::new(options, Duration::ZERO),
        now: Duration::ZERO,
        open: BTreeMap::new(),
        sessions: Vec::new(),
        requests: Vec::new(),
        answers: BTreeMap::new(),
        is_closed: false,
    };
    let mut left = data;
    while let Some((&[step, about], behind)) = left.split_first_chunk() {
        left = behind;
        if step % 16 == 15 {
            let (line, behind) = left.split_at(left.len().min(usize::from(about)));
            left = behind;
            if let Ok(line) = core::str::from_utf8(line) {
                account.line(line);
            }
        } else {
            account.step(step, about);
        }
        account.transmit();
    }
    account.poll();
    account.connection.handle_closed(CloseReason::ClientClosed);
    account.poll();
    assert!(account.is_closed);
    assert!(account.open.values().all(|ends| *ends == 1), "{:?}", account.open);
}

/// The bridge between versions: the output for any lines is lines of JSON, and its size is bounded
/// by that of the input. Each line begins with a byte that selects its side; the first byte of all
/// selects the versions.
pub fn convert(data: &[u8]) {
    let Some((&versions, lines)) = data.split_first() else { return };
    let version = |bit: u8| ProtocolVersion(if versions & bit == 0 { 1 } else { 2 });
    let mut bridge =
        Bridge::new(BridgeOptions::default().with_editor(version(1)).with_agent(version(2)));
    let mut taken = 0;
    let mut given = 0;
    for line in lines.split(|byte| *byte == b'\n') {
        let Some((&side, line)) = line.split_first() else { continue };
        let Ok(line) = core::str::from_utf8(line) else { continue };
        taken += line.len() + 4096;
        if side == b'>' {
            bridge.handle_editor_line(line)
        } else {
            bridge.handle_agent_line(line)
        }
        let passes = bridge.is_passing();
        while let Some(output) = bridge.poll_output() {
            let (Output::ToEditor(out) | Output::ToAgent(out)) = output else { continue };
            given += out.len();
            assert!(!out.contains('\n'), "{out}");
            let is_message = serde_json::from_str::<Value>(&out).is_ok();
            assert!(passes || out == line || is_message, "{out}");
        }
    }
    // Content of tool calls is repeated, up to its limit, for each line that changes it.
    let lines = 1 + data.iter().filter(|byte| **byte == b'\n').count();
    assert!(given <= 8 * taken + lines * 8 * acp_types::convert::MAX_CONTENT_BYTES);
}

/// A client, and everything begun on it.
struct Client {
    connection: client::Connection,
    now: Duration,
    /// Sessions, turns and calls, which share their numbers, and how often each has ended.
    open: BTreeMap<u64, usize>,
    sessions: Vec<client::SessionKey>,
    requests: Vec<client::RequestKey>,
    /// Ids of the agent's answered requests.
    answers: BTreeMap<String, usize>,
    is_closed: bool,
}

impl Client {
    fn step(&mut self, step: u8, about: u8) {
        let session = self.sessions.get(usize::from(about) % self.sessions.len().max(1)).copied();
        let name = ["a", "b", "c"][usize::from(about % 3)];
        let id = about / 4 % 8;
        match (step % 16, session) {
            (0, _) => self.open(NewSessionRequest::new("/", []).into()),
            (1, _) => self.open(LoadSessionRequest::new(name, "/", []).into()),
            (2, Some(session)) => {
                let turn = self.connection.prompt(session, Prompt::v1(["x".into()]), self.now);
                if let Ok(turn) = turn {
                    self.open.insert(turn.get(), 0);
                }
            }
            (3, Some(session)) => {
                self.connection.cancel(session, Duration::from_secs(about.into()), self.now);
            }
            (4, Some(session)) => self.connection.release(session, self.now),
            (5, _) if !self.is_closed => {
                let call = self.connection.call(Call::new(&ListSessionsRequest::new()), self.now);
                self.open.insert(call.get(), 0);
            }
            (6, _) => {
                if let Some(key) = self.requests.get(usize::from(about)) {
                    let _ =
                        self.connection.reply(*key, Reply::error(ErrorCode::INTERNAL_ERROR, ""));
                }
            }
            (7, _) => {
                self.now += Duration::from_secs(about.into());
                self.connection.handle_timeout(self.now);
            }
            (8, _) => self.poll(),
            (9, _) => self.line(&json!({ "id": id, "result": { "sessionId": name } }).to_string()),
            (10, _) => {
                let result =
                    json!({ "protocolVersion": 1, "stopReason": "end_turn", "sessions": [] });
                self.line(&json!({ "id": id, "result": result }).to_string());
            }
            (11, _) => {
                let params =
                    json!({ "sessionId": name, "update": { "sessionUpdate": "x", "n": about } });
                self.line(&json!({ "method": "session/update", "params": params }).to_string());
            }
            (12, _) => {
                let params =
                    json!({ "sessionId": name, "toolCall": { "toolCallId": "t" }, "options": [] });
                let id = format!("q{about}");
                self.line(
                    &json!({ "id": id, "method": "session/request_permission", "params": params })
                        .to_string(),
                );
            }
            (13, _) => {
                let params = json!({ "requestId": format!("q{about}") });
                self.line(&json!({ "method": "$/cancel_request", "params": params }).to_string());
            }
            _ => {
                if let Some(session) = session
                    && let Some(event) = self.connection.poll_session_event(session)
                {
                    self.session_event(session, event);
                }
            }
        }
    }

    fn open(&mut self, how: client::SessionSetupRequest) {
        let key = self.connection.open_session(how, self.now);
        if !self.is_closed {
            self.sessions.push(key);
            self.open.insert(key.get(), 0);
        }
    }

    fn line(&mut self, line: &str) {
        self.connection.handle_line(Ok(line), self.now);
    }

    fn transmit(&mut self) {
        while let Some(transmit) = self.connection.poll_transmit() {
            assert!(transmit.line.ends_with(b"\n"));
            let line: Value = serde_json::from_slice(&transmit.line).expect("JSON");
            if line.get("method").is_none() && matches!(transmit.purpose, client::Purpose::Reply(_))
            {
                // A key belongs to one request. The request's id may be reused later.
                *self.answers.entry(format!("{:?}", transmit.purpose)).or_default() += 1;
            }
        }
        assert!(self.answers.values().all(|answers| *answers == 1));
    }

    fn poll(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            assert!(!self.is_closed, "{event:?}");
            match event {
                Event::Session(key, event) => self.session_event(key, event),
                Event::CallEnded(key, _) => *self.open.get_mut(&key.get()).expect("a call") += 1,
                Event::Request(key, _) => self.requests.push(key),
                Event::Closed(_) => self.is_closed = true,
                _ => {}
            }
        }
    }

    fn session_event(&mut self, key: client::SessionKey, event: SessionEvent) {
        match event {
            SessionEvent::Opened(opened) => {
                assert!(opened.replay.len() <= 4);
                *self.open.get_mut(&key.get()).expect("a session") += 1;
            }
            SessionEvent::Refused(_) => *self.open.get_mut(&key.get()).expect("a session") += 1,
            SessionEvent::TurnEnded(turn, _) => {
                *self.open.get_mut(&turn.get()).expect("a turn") += 1;
            }
            SessionEvent::Request(key, _) => self.requests.push(key),
            _ => {}
        }
    }
}

/// The agent machine: for any lines, each request is reported once and answered once, and no event
/// follows the end.
pub fn agent(data: &[u8]) {
    let mut options = agent::Options::new([ProtocolVersion::V1, ProtocolVersion::V2]);
    (options.limits.requests, options.limits.events, options.limits.event_bytes) = (4, 4, 4096);
    options.limits.diagnostics = 4;
    let mut connection = agent::Connection::new(options);
    let mut given = BTreeMap::new();
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in data.split(|byte| *byte == b'\n').enumerate() {
        if let Ok(line) = core::str::from_utf8(line) {
            connection.handle_line(Ok(line));
        }
        while let Some(event) = connection.poll_event() {
            match event {
                agent::Event::Request(key, request) => {
                    let answer = agent::Reply::method_not_found(request.value.method());
                    assert!(given.insert(key, Some(answer)).is_none());
                }
                agent::Event::Cancelled(key) => assert!(given.contains_key(&key)),
                agent::Event::Closed(_) => panic!("it was not closed"),
                _ => {}
            }
        }
        // Some requests are answered late.
        if number % 3 == 0 {
            for (key, reply) in &mut given {
                if let Some(reply) = reply.take() {
                    assert!(connection.reply(*key, reply).is_ok());
                }
            }
        }
        while let Some(transmit) = connection.poll_transmit() {
            if let agent::Purpose::Reply(key) = transmit.purpose {
                *answers.entry(format!("{key:?}")).or_default() += 1;
            }
        }
    }
    for (key, reply) in given {
        if let Some(reply) = reply {
            assert!(connection.reply(key, reply).is_ok());
        }
        assert!(connection.reply(key, agent::Reply::method_not_found("")).is_err());
    }
    while let Some(transmit) = connection.poll_transmit() {
        if let agent::Purpose::Reply(key) = transmit.purpose {
            *answers.entry(format!("{key:?}")).or_default() += 1;
        }
    }
    assert!(answers.values().all(|answers| *answers == 1), "{answers:?}");
    connection.handle_closed(CloseReason::ClientClosed);
    let events: Vec<_> = core::iter::from_fn(|| connection.poll_event()).collect();
    assert!(matches!(events.last(), Some(agent::Event::Closed(_))));
    connection.handle_line(Ok("{"));
    assert!(connection.poll_event().is_none() && connection.poll_transmit().is_none());
}
