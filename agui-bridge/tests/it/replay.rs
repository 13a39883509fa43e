//! Replay of recordings of real agents.
use crate::script::{events, in_stream};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::initialization::Implementation;
use agui_bridge::CancelReason;
use agui_bridge::quirks::Quirks;
use agui_bridge::{Failure, Options, PermissionAnswer, Translator};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::profile::Profile;
use jsonrpc_core::{RequestId, wire};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A line of one side of a recorded connection.
#[derive(Clone, Debug)]
pub(crate) enum SentLine {
    Client(String),
    Agent(String),
}

/// A line of a recording: `{"client":MESSAGE}` or `{"agent":MESSAGE}`; or, of a transcript that has
/// everything on the wire, `{"dir":"c2a","line":TEXT}` or `{"dir":"a2c","line":TEXT}` among lines
/// of other directions.
#[derive(Deserialize)]
struct RecordedLine {
    #[serde(default)]
    client: Option<Box<RawValue>>,
    #[serde(default)]
    agent: Option<Box<RawValue>>,
    #[serde(default)]
    dir: Option<String>,
    #[serde(default)]
    line: Option<String>,
}

/// The messages of a recording.
pub(crate) fn messages(text: &str) -> Vec<SentLine> {
    let sent = |line: &str| {
        let RecordedLine { client, agent, dir, line } = serde_json::from_str(line).unwrap();
        match (client, agent, dir.as_deref()) {
            (Some(message), _, _) => Some(SentLine::Client(message.get().to_owned())),
            (_, Some(message), _) => Some(SentLine::Agent(message.get().to_owned())),
            (_, _, Some("c2a")) => line.map(SentLine::Client),
            (_, _, Some("a2c")) => line.map(SentLine::Agent),
            _ => None,
        }
    };
    text.lines().filter_map(sent).collect()
}

/// The translation of a recorded session.
#[derive(Debug)]
pub(crate) struct TranslatedSession {
    /// The session's id.
    pub(crate) session: String,
    pub(crate) events: Vec<Event>,
    /// The agent's text for the user, without replayed messages.
    pub(crate) said: String,
}

/// The options of the translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// The default options.
    Plain(Profile),
    /// The options for the recorded agent.
    Known(Profile),
}

/// Replays a recording with a translator for each session; questions are asked in the stream.
pub(crate) fn replay(messages: &[SentLine], how: How) -> Vec<TranslatedSession> {
    let mut replay = Replay {
        how,
        quirks: Quirks::of(None),
        is_v2: false,
        initialize: None,
        loads: BTreeMap::new(),
        sessions: BTreeMap::new(),
        prompts: BTreeMap::new(),
        asked: BTreeMap::new(),
    };
    for message in messages {
        replay.take(message);
    }
    replay.finish()
}

/// The evaluated members of a message.
#[derive(Default, Deserialize)]
struct Message {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Box<RawValue>>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
}

/// The translators of a recording's sessions, and their output.
struct Replay {
    how: How,
    quirks: Quirks,
    /// Whether the connection speaks v2.
    is_v2: bool,
    /// The id of `initialize`, and of requests that load a session.
    initialize: Option<RequestId>,
    loads: BTreeMap<RequestId, String>,
    sessions: BTreeMap<String, Session>,
    /// The session of each open prompt, by request id.
    prompts: BTreeMap<RequestId, String>,
    /// The session and the interrupt id of each open permission request.
    asked: BTreeMap<RequestId, (String, String)>,
}

struct Session {
    translator: Translator,
    events: Vec<Event>,
    runs: usize,
    said: String,
    asked: usize,
}

impl Replay {
    fn take(&mut self, sent: &SentLine) {
        let (from, text) = match sent {
            SentLine::Client(text) => ("client", text),
            SentLine::Agent(text) => ("agent", text),
        };
        let message: Message = serde_json::from_str(text).unwrap_or_default();
        let params = message.params.as_deref().map_or("null", RawValue::get);
        let result = message.result.as_deref().map_or("null", RawValue::get);
        match (from, message.method.as_deref(), message.id) {
            ("client", Some("initialize"), id) => self.initialize = id,
            ("client", Some("session/prompt"), Some(id)) => self.prompt(id, params),
            ("client", Some(method), Some(id)) if replays(method, &value(params)) => {
                let name = session_of(params);
                self.session(&name).translator.begin_replay();
                self.loads.insert(id, name);
            }
            ("client", Some("session/cancel"), _) => {
                self.session(&session_of(params)).translator.handle_cancel(CancelReason::User);
            }
            ("client", None, Some(id)) => self.answer(&id, result),
            ("agent", Some("session/update"), _) => self.update(params),
            ("agent", Some("session/request_permission"), Some(id)) => self.ask(id, params),
            ("agent", Some("elicitation/create"), Some(id)) => self.elicit(id, params),
            ("agent", None, Some(id)) => {
                self.response(&id, result, message.error.as_deref().map(RawValue::get));
            }
            _ => {}
        }
        for session in self.sessions.values_mut() {
            session.events.extend(events(&mut session.translator));
        }
    }

    fn session(&mut self, name: &str) -> &mut Session {
        let options = self.options();
        self.sessions.entry(name.to_owned()).or_insert_with(|| Session {
            translator: Translator::new(options),
            events: Vec::new(),
            runs: 0,
            said: String::new(),
            asked: 0,
        })
    }

    fn options(&self) -> Options {
        match self.how {
            How::Plain(profile) => in_stream(profile),
            How::Known(profile) => {
                let mut options = in_stream(profile);
                self.quirks.apply_to(&mut options);
                options
            }
        }
    }

    fn prompt(&mut self, id: RequestId, params: &str) {
        let name = session_of(params);
        let prompt: Vec<ContentBlock> =
            serde_json::from_value(value(params)["prompt"].clone()).unwrap_or_default();
        let session = self.session(&name);
        session.runs += 1;
        let input = run_input(&format!("run-{}", session.runs));
        if session.translator.begin_run(&input, &prompt).is_ok() {
            self.prompts.insert(id, name);
        }
    }

    fn update(&mut self, params: &str) {
        let is_v2 = self.is_v2;
        let session = self.session(&session_of(params));
        let update = &value(params)["update"];
        let is_new = update["sessionUpdate"] == "agent_message_chunk";
        if is_new && !session.translator.is_replaying() {
            session.said.push_str(update["content"]["text"].as_str().unwrap_or_default());
        }
        if is_v2 {
            session.translator.handle_notification_v2(read(params));
        } else {
            session.translator.handle_notification(read(params));
        }
    }

    fn ask(&mut self, id: RequestId, params: &str) {
        let is_v2 = self.is_v2;
        let name = session_of(params);
        let session = self.session(&name);
        session.asked += 1;
        let interrupt = format!("int-{}", session.asked);
        if is_v2 {
            session.translator.handle_permission_request_v2(id.clone(), read(params));
        } else {
            session.translator.handle_permission_request(id.clone(), read(params));
        }
        self.asked.insert(id, (name, interrupt));
    }

    fn elicit(&mut self, id: RequestId, params: &str) {
        let name = session_of(params);
        let session = self.session(&name);
        session.asked += 1;
        let interrupt = format!("int-{}", session.asked);
        session.translator.handle_elicitation_request(id.clone(), read(params));
        self.asked.insert(id, (name, interrupt));
    }

    fn answer(&mut self, id: &RequestId, result: &str) {
        let Some((name, interrupt)) = self.asked.remove(id) else { return };
        let session = self.session(&name);
        let answered = value(result);
        if answered.get("action").is_some() {
            let _ = session.translator.answer_elicitation(&interrupt, read(result));
        } else {
            let answer = match answered["outcome"]["optionId"].as_str() {
                Some(option) => PermissionAnswer::Selected(option.into()),
                None => PermissionAnswer::Cancelled,
            };
            let _ = session.translator.answer_permission(&interrupt, answer);
        }
        // Without a turn it was already answered with a refusal.
        let response = session.translator.poll_response().unwrap();
        if session.translator.is_running() {
            assert_eq!(response.request_id, *id);
            let given = serde_json::to_value(response.result).unwrap();
            assert_eq!(&given["outcome"], &answered["outcome"]);
            assert_eq!(&given["action"], &answered["action"]);
        }
    }

    fn response(&mut self, id: &RequestId, result: &str, error: Option<&str>) {
        if self.initialize.as_ref() == Some(id) {
            let result = value(result);
            self.is_v2 = result["protocolVersion"] == 2 && result.get("info").is_some();
            let info = result.get("info").or(result.get("agentInfo"));
            let info = info.and_then(|info| info["name"].as_str());
            self.quirks = Quirks::of(info.map(|name| Implementation::new(name, "")).as_ref());
        }
        if let Some(name) = self.loads.remove(id) {
            let options = self.options();
            let translator = &mut self.session(&name).translator;
            match error {
                Some(_) => *translator = Translator::new(options),
                None => translator.end_replay(),
            }
        }
        let Some(name) = self.prompts.remove(id) else { return };
        let is_v2 = self.is_v2;
        let translator = &mut self.session(&name).translator;
        match error {
            Some(error) => translator.handle_prompt_response(Err(read(error))),
            None if is_v2 => translator.handle_prompt_accepted(&read(result)),
            None => translator.handle_prompt_response(Ok(read(result))),
        }
    }

    /// Ends all sessions as if the agent exited; waiting updates begin one more run.
    fn finish(self) -> Vec<TranslatedSession> {
        let mut sessions = Vec::new();
        for (name, mut session) in self.sessions {
            session.translator.handle_failure(Failure::AgentExited, "The recording ends.");
            let _ = session.translator.begin_run(&run_input("last"), &[]);
            session.translator.handle_no_work();
            session.events.extend(events(&mut session.translator));
            let events = session.events;
            let said = session.said;
            sessions.push(TranslatedSession { session: name, events, said });
        }
        sessions
    }
}

fn run_input(run: &str) -> RunAgentInput {
    read(&json!({"threadId": "thread", "runId": run, "messages": []}).to_string())
}

/// Returns whether the agent repeats the conversation before its response to this request.
pub(crate) fn replays(method: &str, params: &Value) -> bool {
    method == "session/load" || (method == "session/resume" && !params["replayFrom"].is_null())
}

fn session_of(params: &str) -> String {
    value(params)["sessionId"].as_str().unwrap_or_default().to_owned()
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

pub(crate) fn read<T: jsonrpc_core::wire::Wire>(text: &str) -> T {
    wire::decode(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
