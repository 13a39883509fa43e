//! Turns of real agents, as they went over the wire.
use crate::script::{events, in_stream, verify};
use acp_types::v1::prompt_turn::{PromptRequest, PromptResponse, SessionNotification};
use acp_types::v1::tool_calls::RequestPermissionRequest;
use agui_bridge::{Failure, PermissionAnswer, Translator};
use agui_types::event::Event;
use agui_types::profile::Profile;
use jsonrpc_core::{ErrorObject, RequestId, wire};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Each recording translates into streams that keep the strictest order and lose no text, for clients of 1.0 and of 0.x;
/// and the agent is answered as it was.
#[test]
fn recordings_translate() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1/recorded");
    let mut replayed = 0;
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        let text = fs::read_to_string(&path)?;
        let messages: Vec<Value> =
            text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        for profile in [Profile::V1, Profile::Legacy] {
            println!("{} {profile:?}", path.display());
            let mut replay = Replay::new(profile);
            for message in &messages {
                replay.take(message);
            }
            replay.finish();
        }
        replayed += 1;
    }
    assert!(replayed >= 6, "only {replayed} recordings");
    Ok(())
}

/// The translators of a recording's sessions, and what came out of them.
struct Replay {
    profile: Profile,
    sessions: BTreeMap<String, Session>,
    /// The session of each prompt that is not answered, by request id.
    prompts: BTreeMap<RequestId, String>,
    /// The session and the interrupt id of each permission request that is not answered.
    asked: BTreeMap<RequestId, (String, String)>,
}

struct Session {
    translator: Translator,
    stream: Vec<Value>,
    runs: usize,
    said: String,
    asked: usize,
}

impl Replay {
    fn new(profile: Profile) -> Self {
        Self {
            profile,
            sessions: BTreeMap::new(),
            prompts: BTreeMap::new(),
            asked: BTreeMap::new(),
        }
    }

    fn take(&mut self, message: &Value) {
        let (from, message) =
            message.as_object().and_then(|message| message.iter().next()).unwrap();
        let params = || message["params"].clone();
        match (&**from, message["method"].as_str()) {
            ("client", Some("session/prompt")) => {
                self.prompt(read(message["id"].clone()), &read(params()));
            }
            ("client", Some("session/cancel")) => {
                self.session(&params()).translator.handle_cancel();
            }
            ("client", None) => self.answer(&read(message["id"].clone()), &message["result"]),
            ("agent", Some("session/update")) => self.update(read(params()), message),
            ("agent", Some("session/request_permission")) => {
                self.ask(read(message["id"].clone()), read(params()));
            }
            ("agent", None) => self.response(&read(message["id"].clone()), message),
            _ => {}
        }
        for session in self.sessions.values_mut() {
            let new = events(&mut session.translator);
            session
                .stream
                .extend(new.iter().map(|event: &Event| serde_json::to_value(event).unwrap()));
        }
    }

    fn session(&mut self, params: &Value) -> &mut Session {
        let profile = self.profile;
        let id = params["sessionId"].as_str().unwrap_or_default().to_owned();
        self.sessions.entry(id).or_insert_with(|| Session {
            translator: Translator::new(in_stream(profile)),
            stream: Vec::new(),
            runs: 0,
            said: String::new(),
            asked: 0,
        })
    }

    fn prompt(&mut self, id: RequestId, request: &PromptRequest) {
        let session = self.session(&json!({"sessionId": request.session_id}));
        session.runs += 1;
        let input =
            json!({"threadId": "thread", "runId": format!("run-{}", session.runs), "messages": []});
        if session.translator.begin_run(&read(input), &request.prompt).is_ok() {
            self.prompts.insert(id, request.session_id.to_string());
        }
    }

    fn update(&mut self, notification: SessionNotification, message: &Value) {
        let session = self.session(&message["params"]);
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            session.said.push_str(update["content"]["text"].as_str().unwrap_or_default());
        }
        session.translator.handle_notification(notification);
    }

    fn ask(&mut self, id: RequestId, request: RequestPermissionRequest) {
        let name = request.session_id.to_string();
        let session = self.session(&json!({"sessionId": name}));
        session.asked += 1;
        let interrupt = format!("int-{}", session.asked);
        session.translator.handle_permission_request(id.clone(), request);
        self.asked.insert(id, (name, interrupt));
    }

    fn answer(&mut self, id: &RequestId, result: &Value) {
        let Some((name, interrupt)) = self.asked.remove(id) else { return };
        let answer = match result["outcome"]["optionId"].as_str() {
            Some(option) => PermissionAnswer::Selected(option.into()),
            None => PermissionAnswer::Cancelled,
        };
        let session = self.session(&json!({"sessionId": name}));
        let _ = session.translator.answer_permission(&interrupt, answer);
        let response = session.translator.poll_response().unwrap();
        assert_eq!(response.request_id, *id);
        assert_eq!(serde_json::to_value(response.result).unwrap()["outcome"], result["outcome"]);
    }

    fn response(&mut self, id: &RequestId, message: &Value) {
        let Some(name) = self.prompts.remove(id) else { return };
        let response = match message.get("error") {
            Some(error) => Err(read::<ErrorObject>(error.clone())),
            None => Ok(read::<PromptResponse>(message["result"].clone())),
        };
        self.session(&json!({"sessionId": name})).translator.handle_prompt_response(response);
    }

    fn finish(mut self) {
        for session in self.sessions.values_mut() {
            session.translator.handle_failure(Failure::AgentExited, "The recording ends.");
            // What waits comes out at the head of one more run.
            let _ = session.translator.begin_run(
                &read(json!({"threadId": "thread", "runId": "last", "messages": []})),
                &[],
            );
            session.translator.handle_no_work();
            let rest = events(&mut session.translator);
            session.stream.extend(rest.iter().map(|event| serde_json::to_value(event).unwrap()));
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
        }
    }
}

fn read<T: DeserializeOwned>(value: Value) -> T {
    let text = value.to_string();
    wire::decode(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
