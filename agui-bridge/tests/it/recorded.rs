//! Turns of real agents, as they went over the wire.
use crate::script::{events, in_stream, verify};
use acp_types::v1::content::ContentBlock;
use agui_bridge::{Failure, PermissionAnswer, Translator};
use agui_types::event::Event;
use agui_types::profile::Profile;
use jsonrpc_core::{RequestId, wire};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Each recording translates into streams that keep the strictest order and lose no text, for clients of 1.0 and of 0.x;
/// and the agent is answered as it was. For clients of 1.0 the streams are those that are written beside it.
///
/// With `AGUI_BRIDGE_RECORDINGS` it reads a folder of such recordings as well, or of transcripts, whose lines are
/// `{"dir":"a2c","line":"…"}` or `{"direction":"received","text":"…"}`; with `AGUI_BRIDGE_WRITE` it writes what is written beside them, to be read by a person.
#[test]
fn recordings_translate() -> Result<(), Box<dyn Error>> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![recorded(), crates.join("acp-types/tests/fixtures/transcripts")];
    folders.extend(std::env::var_os("AGUI_BRIDGE_RECORDINGS").map(PathBuf::from));
    let (mut replayed, mut compared) = (0, 0);
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(folder)? {
            let path = file?.path();
            if path.is_dir() {
                folders.push(path);
            } else if is_recording(&path) {
                compared += u32::from(translate(&path)?);
                replayed += 1;
            }
        }
    }
    assert!(replayed >= 6 && compared >= 6, "only {replayed} recordings, {compared} compared");
    Ok(())
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1/recorded")
}

/// What the streams of a recording end with.
const STREAMS: &str = ".ag-ui-1.0.jsonl";

fn is_recording(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(".jsonl") && !path.ends_with(STREAMS))
}

/// Says whether there is something to compare the streams with.
fn translate(path: &Path) -> Result<bool, Box<dyn Error>> {
    let messages = messages(&fs::read_to_string(path)?);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    // A recording of ours goes before another of its name.
    let ours = recorded().join(format!("{name}.jsonl"));
    let is_ours = !ours.exists() || ours == path;
    let expected = recorded().join(format!("{name}{}", if is_ours { STREAMS } else { ".none" }));
    let mut compared = false;
    for profile in [Profile::V1, Profile::Legacy] {
        println!("{} {profile:?}", path.display());
        let mut replay = Replay::new(profile);
        for (from, message) in &messages {
            replay.take(from, message);
        }
        let streams = replay.finish();
        if profile == Profile::V1 {
            let text: String = streams.concat();
            if std::env::var_os("AGUI_BRIDGE_WRITE").is_some() && expected.exists() {
                fs::write(&expected, &text)?;
            }
            if expected.exists() {
                compared = true;
                for (given, expected) in text.lines().zip(fs::read_to_string(&expected)?.lines()) {
                    assert_eq!(given, expected, "{}", path.display());
                }
                assert_eq!(text, fs::read_to_string(&expected)?, "{}", path.display());
            }
        }
    }
    Ok(compared)
}

/// Who sent each message, `client` or `agent`, and the message; lines that are no message are left out.
fn messages(text: &str) -> Vec<(String, Value)> {
    let mut messages = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let direction = line.get("dir").or(line.get("direction")).and_then(Value::as_str);
        if let Some(direction) = direction {
            let from = match direction {
                "c2a" | "sent" => "client",
                "a2c" | "received" => "agent",
                _ => continue,
            };
            let text = line.get("line").or(line.get("text")).and_then(Value::as_str);
            let message = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
            messages.extend(message.map(|message| (from.to_owned(), message)));
        } else {
            messages.extend(line.as_object().unwrap().clone());
        }
    }
    messages
}

/// The translators of a recording's sessions, and what came out of them.
struct Replay {
    profile: Profile,
    /// Whether the connection speaks v2.
    is_v2: bool,
    /// The id of `initialize`, and of what loads a session.
    initialize: Option<RequestId>,
    loads: BTreeMap<RequestId, String>,
    sessions: BTreeMap<String, Session>,
    /// The session of each prompt that is not answered, by request id.
    prompts: BTreeMap<RequestId, String>,
    /// The session and the interrupt id of each permission request that is not answered.
    asked: BTreeMap<RequestId, (String, String)>,
}

struct Session {
    translator: Translator,
    stream: Vec<Value>,
    lines: Vec<String>,
    runs: usize,
    said: String,
    asked: usize,
}

impl Session {
    fn note(&mut self, events: &[Event]) {
        for event in events {
            self.stream.push(serde_json::to_value(event).unwrap());
            self.lines.push(format!("{}\n", serde_json::to_string(event).unwrap()));
        }
    }
}

impl Replay {
    fn new(profile: Profile) -> Self {
        Self {
            profile,
            is_v2: false,
            initialize: None,
            loads: BTreeMap::new(),
            sessions: BTreeMap::new(),
            prompts: BTreeMap::new(),
            asked: BTreeMap::new(),
        }
    }

    fn take(&mut self, from: &str, message: &Value) {
        let params = || message["params"].clone();
        let id = || serde_json::from_str::<RequestId>(&message["id"].to_string()).ok();
        match (from, message["method"].as_str(), id()) {
            ("client", Some("initialize"), id) => self.initialize = id,
            ("client", Some("session/prompt"), Some(id)) => self.prompt(id, &params()),
            ("client", Some("session/load"), Some(id)) => {
                self.session(&params()).translator.begin_replay();
                let session = params()["sessionId"].as_str().unwrap_or_default().to_owned();
                self.loads.insert(id, session);
            }
            ("client", Some("session/cancel"), _) => {
                self.session(&params()).translator.handle_cancel();
            }
            ("client", None, Some(id)) => self.answer(&id, &message["result"]),
            ("agent", Some("session/update"), _) => self.update(&params()),
            ("agent", Some("session/request_permission"), Some(id)) => self.ask(id, &params()),
            ("agent", Some("elicitation/create"), Some(id)) => self.elicit(id, &params()),
            ("agent", None, Some(id)) => self.response(&id, message),
            _ => {}
        }
        for session in self.sessions.values_mut() {
            let new = events(&mut session.translator);
            session.note(&new);
        }
    }

    fn session(&mut self, params: &Value) -> &mut Session {
        let profile = self.profile;
        let id = params["sessionId"].as_str().unwrap_or_default().to_owned();
        self.sessions.entry(id).or_insert_with(|| Session {
            translator: Translator::new(in_stream(profile)),
            stream: Vec::new(),
            lines: Vec::new(),
            runs: 0,
            said: String::new(),
            asked: 0,
        })
    }

    fn prompt(&mut self, id: RequestId, params: &Value) {
        let name = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let prompt: Vec<ContentBlock> =
            serde_json::from_str(&params["prompt"].to_string()).unwrap_or_default();
        let session = self.session(params);
        session.runs += 1;
        let input =
            json!({"threadId": "thread", "runId": format!("run-{}", session.runs), "messages": []});
        if session.translator.begin_run(&read(input), &prompt).is_ok() {
            self.prompts.insert(id, name);
        }
    }

    fn update(&mut self, params: &Value) {
        let is_v2 = self.is_v2;
        let session = self.session(params);
        let update = &params["update"];
        let is_new = update["sessionUpdate"] == "agent_message_chunk";
        if is_new && !session.translator.is_replaying() {
            session.said.push_str(update["content"]["text"].as_str().unwrap_or_default());
        }
        if is_v2 {
            session.translator.handle_notification_v2(read(params.clone()));
        } else {
            session.translator.handle_notification(read(params.clone()));
        }
    }

    fn ask(&mut self, id: RequestId, params: &Value) {
        let is_v2 = self.is_v2;
        let session = self.session(params);
        session.asked += 1;
        let interrupt = format!("int-{}", session.asked);
        if is_v2 {
            session.translator.handle_permission_request_v2(id.clone(), read(params.clone()));
        } else {
            session.translator.handle_permission_request(id.clone(), read(params.clone()));
        }
        let name = params["sessionId"].as_str().unwrap_or_default().to_owned();
        self.asked.insert(id, (name, interrupt));
    }

    fn elicit(&mut self, id: RequestId, params: &Value) {
        let session = self.session(params);
        session.asked += 1;
        let interrupt = format!("int-{}", session.asked);
        session.translator.handle_elicitation_request(id.clone(), read(params.clone()));
        let name = params["sessionId"].as_str().unwrap_or_default().to_owned();
        self.asked.insert(id, (name, interrupt));
    }

    fn answer(&mut self, id: &RequestId, result: &Value) {
        let Some((name, interrupt)) = self.asked.remove(id) else { return };
        let session = self.session(&json!({"sessionId": name}));
        if result.get("action").is_some() {
            let _ = session.translator.answer_elicitation(&interrupt, read(result.clone()));
        } else {
            let answer = match result["outcome"]["optionId"].as_str() {
                Some(option) => PermissionAnswer::Selected(option.into()),
                None => PermissionAnswer::Cancelled,
            };
            let _ = session.translator.answer_permission(&interrupt, answer);
        }
        // Without a turn it was answered before: by a refusal.
        let response = session.translator.poll_response().unwrap();
        if session.translator.is_running() {
            assert_eq!(response.request_id, *id);
            let given = serde_json::to_value(response.result).unwrap();
            assert_eq!(
                (&given["outcome"], &given["action"]),
                (&result["outcome"], &result["action"])
            );
        }
    }

    fn response(&mut self, id: &RequestId, message: &Value) {
        let result = &message["result"];
        if self.initialize.as_ref() == Some(id) {
            self.is_v2 = result["protocolVersion"] == 2 && result.get("info").is_some();
        }
        if let Some(name) = self.loads.remove(id) {
            self.session(&json!({"sessionId": name})).translator.end_replay();
        }
        let Some(name) = self.prompts.remove(id) else { return };
        let is_v2 = self.is_v2;
        let translator = &mut self.session(&json!({"sessionId": name})).translator;
        match message.get("error") {
            Some(error) => translator.handle_prompt_response(Err(read(error.clone()))),
            None if is_v2 => translator.handle_prompt_accepted(&read(result.clone())),
            None => translator.handle_prompt_response(Ok(read(result.clone()))),
        }
    }

    /// The streams of all sessions.
    fn finish(mut self) -> Vec<String> {
        let mut streams = Vec::new();
        for session in self.sessions.values_mut() {
            session.translator.handle_failure(Failure::AgentExited, "The recording ends.");
            // What waits comes out at the head of one more run.
            let _ = session.translator.begin_run(
                &read(json!({"threadId": "thread", "runId": "last", "messages": []})),
                &[],
            );
            session.translator.handle_no_work();
            let rest = events(&mut session.translator);
            session.note(&rest);
            verify(self.profile, &session.stream);
            let is_agents = |start: &&Value| {
                start["type"] == "TEXT_MESSAGE_START" && start["role"] == "assistant"
            };
            let messages: Vec<_> =
                session.stream.iter().filter(is_agents).map(|start| &start["messageId"]).collect();
            let heard: String = session
                .stream
                .iter()
                .filter(|event| {
                    event["type"] == "TEXT_MESSAGE_CONTENT"
                        && messages.contains(&&event["messageId"])
                })
                .filter_map(|event| event["delta"].as_str())
                .collect();
            assert_eq!(heard, session.said);
            streams.append(&mut session.lines);
        }
        streams
    }
}

fn read<T: DeserializeOwned>(value: Value) -> T {
    let text = value.to_string();
    wire::decode(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
