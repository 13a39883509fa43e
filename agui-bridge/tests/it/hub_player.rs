//! Plays a recording to a hub: the agent's lines, with the responses of the recorded client.
use crate::replay::{SentLine, read};
use crate::script::in_stream;
use crate::thread::frames;
use acp_types::client::{self, CloseReason, Reply};
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use acp_types::v2::initialization::{Implementation, InitializeRequest as InitializeRequestV2};
use agui_bridge::CancelReason;
use agui_bridge::PermissionAnswer;
use agui_bridge::conversation::{Conversation, ConversationOptions, RememberedSession, UserAnswer};
use agui_bridge::hub::{Hub, HubEvent, HubOptions};
use agui_bridge::input::SessionMemory;
use agui_types::profile::Profile;
use agui_types::sse;
use jsonrpc_core::ErrorCode;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

const NOW: Duration = Duration::ZERO;

/// Returns the events of each prompted session of a recording, for a client of this profile.
pub(crate) fn play(messages: &[SentLine], profile: Profile) -> BTreeMap<String, Vec<Value>> {
    let mut player = Player::new(profile);
    messages.iter().for_each(|message| player.handle(message));
    player.finish()
}

struct Player {
    hub: Hub,
    profile: Profile,
    /// Methods and sessions of the recorded client's requests, by id.
    requests: BTreeMap<String, (String, String)>,
    /// The hub's request ids, by the recorded ids.
    ids: BTreeMap<String, Value>,
    /// Responses to `session/new`, by session.
    opened: BTreeMap<String, Value>,
    sessions: BTreeMap<String, Session>,
    /// Thread and interrupt of each open request of the agent, by id.
    questions: BTreeMap<String, (String, String)>,
    frames: BTreeMap<String, Vec<u8>>,
}

#[derive(Default)]
struct Session {
    /// Whether the hub has opened it.
    is_open: bool,
    /// Lines of the agent before that, and its response to `session/load`.
    held: Vec<DelayedMessage>,
    runs: usize,
    /// The last run that was not refused.
    accepted: usize,
    questions: usize,
}

enum DelayedMessage {
    Line(String),
    Loaded(Value),
}

impl Player {
    fn new(profile: Profile) -> Self {
        let options = HubOptions::new(ConversationOptions::new("/"));
        Self {
            hub: Hub::new(options),
            profile,
            requests: BTreeMap::new(),
            ids: BTreeMap::new(),
            opened: BTreeMap::new(),
            sessions: BTreeMap::new(),
            questions: BTreeMap::new(),
            frames: BTreeMap::new(),
        }
    }

    fn handle(&mut self, sent: &SentLine) {
        match sent {
            SentLine::Client(line) => self.handle_client(&message(line)),
            SentLine::Agent(line) => self.handle_agent(line),
        }
        self.pump();
    }

    fn handle_client(&mut self, message: &Value) {
        let id = message["id"].to_string();
        let params = &message["params"];
        let session = params["sessionId"].as_str().unwrap_or_default();
        match message["method"].as_str() {
            None => self.answer(&id, &message["result"]),
            Some("session/cancel") => {
                let run = self.sessions.get(session).map_or(0, |session| session.accepted);
                self.hub.handle_cancel(
                    session,
                    &format!("run-{run}").into(),
                    CancelReason::User,
                    NOW,
                );
            }
            Some(method) => {
                self.requests.insert(id.clone(), (method.to_owned(), session.to_owned()));
                match method {
                    "initialize" => self.connect(&id, params),
                    "session/prompt" => self.prompt(&id, session, &params["prompt"]),
                    _ => {}
                }
            }
        }
    }

    fn handle_agent(&mut self, line: &str) {
        let message = message(line);
        let session = message["params"]["sessionId"].as_str();
        match (message["method"].as_str(), session) {
            (None, _) if message["id"].is_null() => self.feed(line),
            (None, _) => self.respond(message),
            (Some(_), Some(name)) if !self.sessions.get(name).is_some_and(|it| it.is_open) => {
                let session = self.sessions.entry(name.to_owned()).or_default();
                session.held.push(DelayedMessage::Line(line.to_owned()));
            }
            _ => self.feed(line),
        }
    }

    fn connect(&mut self, id: &str, params: &Value) {
        let mut options = client::Options::v1(InitializeRequest::new(ProtocolVersion::V1));
        if params["protocolVersion"] == 2 {
            let info = Implementation::new("test", "1");
            options = options.with_v2(InitializeRequestV2::new(ProtocolVersion::V2, info));
        }
        // The recording continues with another process of the agent.
        self.hub.handle_closed(CloseReason::AgentClosed("another follows".into()), NOW);
        self.pump();
        self.sessions.values_mut().for_each(|session| session.is_open = false);
        self.hub.connect(options, NOW);
        let transmit = self.hub.poll_transmit().unwrap();
        let request: Value = serde_json::from_slice(&transmit.line).unwrap();
        self.ids.insert(id.to_owned(), request["id"].clone());
    }

    fn prompt(&mut self, id: &str, name: &str, prompt: &Value) {
        let session = self.sessions.entry(name.to_owned()).or_default();
        session.runs += 1;
        let run = session.runs;
        if run == 1 {
            self.insert_thread(name);
        }
        let texts = prompt.as_array().into_iter().flatten().filter(|block| block["type"] == "text");
        let parts: Vec<Value> =
            texts.map(|block| json!({"type": "text", "text": block["text"]})).collect();
        let said = json!({"id": format!("user-{run}"), "role": "user", "content": parts});
        let input =
            json!({"threadId": "thread", "runId": format!("run-{run}"), "messages": [said]});
        let input: agui_types::input::RunAgentInput = read(&input.to_string());
        // A prompt during another one is refused, as by the translator.
        if self.hub.handle_run(name, input, NOW).is_ok() {
            self.sessions.entry(name.to_owned()).or_default().accepted = run;
        }
        self.ids.insert(id.to_owned(), Value::Null);
        self.exchange(name, id);
    }

    fn insert_thread(&mut self, name: &str) {
        let mut options = ConversationOptions::new("/");
        options.translator = in_stream(self.profile);
        // The recordings have no times.
        options.translator.times.replay = Duration::ZERO;
        options.rules.new_alone = true;
        let mut thread = Conversation::new(options);
        let is_loaded = self.requests.values().any(|(method, session)| {
            matches!(method.as_str(), "session/load" | "session/resume") && session == name
        });
        if is_loaded {
            let remembered = json!({"session_id": name, "conversation": SessionMemory::new()});
            let remembered: RememberedSession = serde_json::from_value(remembered).unwrap();
            thread = thread.with_remembered(remembered);
        }
        self.hub.insert_thread(name, thread, NOW).unwrap();
    }

    /// Answers the hub's requests that open the session of a prompt.
    fn exchange(&mut self, name: &str, prompt: &str) {
        while let Some(transmit) = self.hub.poll_transmit() {
            let request: Value = serde_json::from_slice(&transmit.line).unwrap();
            match request["method"].as_str() {
                Some("session/new") => {
                    let opened = self.opened.get(name).cloned();
                    let opened = opened.unwrap_or_else(|| json!({"result": {"sessionId": name}}));
                    self.reply(&request["id"], opened);
                    self.release_held(name, None);
                }
                Some("session/load" | "session/resume") => {
                    self.release_held(name, Some(&request["id"]));
                }
                Some("session/prompt") => {
                    self.ids.insert(prompt.to_owned(), request["id"].clone());
                }
                _ => {}
            }
        }
    }

    fn release_held(&mut self, name: &str, load: Option<&Value>) {
        let session = self.sessions.entry(name.to_owned()).or_default();
        session.is_open = true;
        let mut held = std::mem::take(&mut session.held);
        let mut load = load;
        if load.is_some() && !held.iter().any(|it| matches!(it, DelayedMessage::Loaded(_))) {
            held.push(DelayedMessage::Loaded(json!({"result": {}})));
        }
        for held in held {
            match held {
                DelayedMessage::Line(line) => self.feed(&line),
                DelayedMessage::Loaded(response) => {
                    if let Some(id) = load.take() {
                        self.reply(id, response);
                    }
                }
            }
        }
    }

    fn reply(&mut self, id: &Value, mut response: Value) {
        response["jsonrpc"] = json!("2.0");
        response["id"] = id.clone();
        self.hub.handle_line(Ok(&response.to_string()), NOW);
    }

    /// Passes a line of the agent to the hub.
    fn feed(&mut self, line: &str) {
        let message = message(line);
        let method = message["method"].as_str().unwrap_or_default();
        if matches!(method, "session/request_permission" | "elicitation/create") {
            let name = message["params"]["sessionId"].as_str().unwrap_or_default();
            let session = self.sessions.entry(name.to_owned()).or_default();
            session.questions += 1;
            let question = (name.to_owned(), format!("int-{}", session.questions));
            self.questions.insert(message["id"].to_string(), question);
        }
        self.hub.handle_line(Ok(line), NOW);
    }

    fn respond(&mut self, mut response: Value) {
        let id = response["id"].to_string();
        let Some((method, session)) = self.requests.get(&id).cloned() else { return };
        match method.as_str() {
            "session/new" => {
                let name = response["result"]["sessionId"].as_str().unwrap_or_default().to_owned();
                self.opened.insert(name, response);
            }
            "session/load" | "session/resume" => {
                self.sessions
                    .entry(session)
                    .or_default()
                    .held
                    .push(DelayedMessage::Loaded(response));
            }
            _ => {
                if method == "initialize" && response["result"].is_object() {
                    // The hub opens sessions by the method that all recordings support.
                    response["result"]["agentCapabilities"] = json!({"loadSession": true});
                }
                if let Some(ours) = self.ids.get(&id).filter(|ours| !ours.is_null()).cloned() {
                    self.reply(&ours, response);
                }
            }
        }
    }

    fn answer(&mut self, id: &str, result: &Value) {
        let Some((name, interrupt)) = self.questions.remove(id) else { return };
        let answer = match (result.get("action"), result["outcome"]["optionId"].as_str()) {
            (Some(_), _) => UserAnswer::Elicitation(read(&result.to_string())),
            (None, Some(option)) => {
                UserAnswer::Permission(PermissionAnswer::Selected(option.into()))
            }
            (None, None) => UserAnswer::Permission(PermissionAnswer::Cancelled),
        };
        let answered =
            |thread: &mut Conversation| thread.handle_answer(&interrupt, answer, NOW).is_ok();
        self.hub.with_conversation(&name, NOW, answered);
    }

    fn pump(&mut self) {
        while self.hub.poll_transmit().is_some() {}
        while let Some(event) = self.hub.poll_event() {
            if let HubEvent::Request { key, .. } = event {
                let refused = Reply::error(ErrorCode::METHOD_NOT_FOUND, "not here");
                self.hub.reply(key, refused).unwrap();
            }
        }
        while let Some(event) = self.hub.poll_run() {
            self.frames.entry(event.thread.to_string()).or_default().extend(frames(&event));
        }
    }

    fn finish(mut self) -> BTreeMap<String, Vec<Value>> {
        self.hub.handle_closed(CloseReason::AgentClosed("the recording ends".into()), NOW);
        self.pump();
        let events = |bytes: Vec<u8>| {
            let mut decoder = sse::Decoder::with_limit(usize::MAX);
            decoder.push(&bytes);
            let frames = std::iter::from_fn(|| decoder.next_frame());
            frames.map(|it| serde_json::from_str(&it.unwrap().data).unwrap()).collect()
        };
        self.frames.into_iter().map(|(name, bytes)| (name, events(bytes))).collect()
    }
}

/// Returns the message of a line; `null` for an invalid one.
fn message(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_default()
}
