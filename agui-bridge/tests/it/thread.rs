//! A scripted conversation with its agent and its program, for tests.
use acp_types::client::{
    AgentRequest, CallError, NewSessionResponse, OpenedSession, ReceivedValue, RequestKey,
    SessionEvent, TurnEnd, TurnError, TurnKey, Update,
};
use acp_types::v1::dispatch::AgentRequest as AgentRequestV1;
use agui_bridge::CancelReason;
use agui_bridge::conversation::{
    Acceptance, AgentFeatures, Command, Conversation, ConversationOptions, Notice, OpenSession,
    RunEvent, RunOutput, RunRefused, RunRequest, SessionNumber,
};
use agui_bridge::hub::{HubRunEvent, HubRunOutput};
use agui_bridge::{ElicitationMode, PermissionMode};
use agui_types::event::Event;
use agui_types::id::RunId;
use agui_types::input::RunAgentInput;
use agui_types::sse;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Raw, decode};
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) fn raw(value: &Value) -> Raw {
    Raw::from_value(value).unwrap()
}

pub(crate) fn read<T: jsonrpc_core::wire::Wire>(value: &Value) -> T {
    let text = value.to_string();
    decode(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the event of a hub as server-sent events without ids.
pub(crate) fn frames(event: &HubRunEvent) -> Vec<u8> {
    let mut frames = Vec::new();
    match &event.output {
        HubRunOutput::Event(event) => sse::write_event(&mut frames, event).unwrap(),
        HubRunOutput::Text(text) => frames.extend_from_slice(text),
        _ => {}
    }
    frames
}

pub(crate) fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "user", "content": text})
}

/// An input with these messages and other members.
pub(crate) fn input(run: &str, messages: &[Value], members: &Value) -> RunAgentInput {
    let mut input =
        json!({"threadId": "t", "runId": run, "protocolVersion": "1.0", "messages": messages});
    input.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap_or_default());
    read(&input)
}

/// Options that interrupt runs for questions, and send prompts at once.
pub(crate) fn options() -> ConversationOptions {
    let mut options = ConversationOptions::new("/work");
    options.translator.permission = PermissionMode::Interrupt;
    options.translator.elicitation = ElicitationMode::Interrupt;
    options.translator.times.replay = Duration::ZERO;
    options.rules.new_alone = true;
    options
}

pub(crate) fn opened(id: &str, members: &Value) -> SessionEvent {
    let mut response = json!({"sessionId": id});
    response.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap_or_default());
    let response = ReceivedValue::new(NewSessionResponse::V1(read(&response)), raw(&response));
    SessionEvent::Opened(Box::new(OpenedSession::new(response)))
}

pub(crate) fn update(update: &Value) -> ReceivedValue<Update> {
    let params = json!({"sessionId": "s", "update": update});
    ReceivedValue::new(Update::V1(read(&params)), raw(&params))
}

pub(crate) fn said(text: &str) -> SessionEvent {
    let content = json!({"type": "text", "text": text});
    SessionEvent::Update(update(
        &json!({"sessionUpdate": "agent_message_chunk", "content": content}),
    ))
}

pub(crate) fn ended(reason: &str) -> SessionEvent {
    let response = json!({"stopReason": reason});
    let end = ReceivedValue::new(TurnEnd::V1(read(&response)), raw(&response));
    SessionEvent::TurnEnded(TurnKey::new(1), Ok(end))
}

pub(crate) fn failed(error: TurnError) -> SessionEvent {
    SessionEvent::TurnEnded(TurnKey::new(1), Err(error))
}

pub(crate) fn refused(error: &Value) -> CallError {
    CallError::Answered(read::<ErrorObject>(error))
}

pub(crate) fn request(key: u64, method: &str, params: &Value) -> SessionEvent {
    let value = AgentRequestV1::decode(method, Some(raw(params).as_ref())).unwrap();
    let request = ReceivedValue::new(AgentRequest::V1(value), raw(params));
    SessionEvent::Request(RequestKey::new(key), Box::new(request))
}

/// A permission request for a call with the same name.
pub(crate) fn permission(key: u64) -> SessionEvent {
    let options = json!([
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"}]);
    let call = json!({"toolCallId": format!("call-{key}"), "title": "Write", "kind": "edit"});
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    request(key, "session/request_permission", &params)
}

/// A conversation and its outputs.
pub(crate) struct Rig {
    pub(crate) thread: Conversation,
    pub(crate) now: Duration,
    pub(crate) commands: Vec<Command>,
    pub(crate) events: Vec<(String, Event)>,
    pub(crate) refused: Vec<(String, RunRefused)>,
    pub(crate) again: Vec<(String, RunId)>,
    pub(crate) notices: Vec<Notice>,
    /// The latest session, and whether it is attached.
    pub(crate) session: Option<SessionNumber>,
}

impl Rig {
    pub(crate) fn new(options: ConversationOptions) -> Self {
        Self::of(Conversation::new(options))
    }

    pub(crate) fn of(thread: Conversation) -> Self {
        Self {
            thread,
            now: Duration::ZERO,
            commands: Vec::new(),
            events: Vec::new(),
            refused: Vec::new(),
            again: Vec::new(),
            notices: Vec::new(),
            session: None,
        }
    }

    /// A thread with a connected agent.
    pub(crate) fn connected(options: ConversationOptions) -> Self {
        let mut rig = Self::new(options);
        rig.connect(AgentFeatures::default());
        rig
    }

    /// A thread with the run `1`, which has sent this prompt in the session `s`.
    pub(crate) fn begun(options: ConversationOptions, prompt: &str) -> Self {
        let mut rig = Self::connected(options);
        rig.say("1", prompt).unwrap();
        rig.open("s");
        rig
    }

    pub(crate) fn connect(&mut self, features: AgentFeatures) {
        self.thread.handle_connected(features, self.now);
        self.drain();
    }

    pub(crate) fn disconnect(&mut self) {
        let failure = agui_bridge::Failure::AgentExited;
        self.thread.handle_disconnected(failure, "it is gone", self.now);
        self.drain();
    }

    pub(crate) fn shut_down(&mut self) {
        let failure = agui_bridge::Failure::GatewayShutdown;
        self.thread.handle_failure(failure, "the program is ending", self.now);
        self.drain();
    }

    pub(crate) fn run(&mut self, run: impl Into<RunRequest>) -> Result<Acceptance, RunRefused> {
        let accepted = self.thread.handle_run(run, self.now);
        self.drain();
        accepted
    }

    /// A run with one user message.
    pub(crate) fn say(&mut self, run: &str, text: &str) -> Result<Acceptance, RunRefused> {
        self.run(input(run, &[user(&format!("u-{run}"), text)], &json!({})))
    }

    pub(crate) fn cancel(&mut self, run: &str) -> bool {
        let found = self.thread.handle_cancel(&run.into(), CancelReason::User, self.now);
        self.drain();
        found
    }

    /// Handles an event of the current session.
    pub(crate) fn session(&mut self, event: SessionEvent) -> Option<SessionEvent> {
        let session = self.session.expect("no session was opened");
        let left = self.thread.handle_session(session, event, self.now);
        self.drain();
        left
    }

    pub(crate) fn open(&mut self, id: &str) {
        assert!(self.session(opened(id, &json!({}))).is_none());
    }

    pub(crate) fn end(&mut self) {
        assert!(self.session(ended("end_turn")).is_none());
    }

    /// A whole turn: a run, its session if one is opened, the response, the end.
    pub(crate) fn turn(&mut self, run: &str, text: &str, answer: &str) {
        self.say(run, text).unwrap();
        if matches!(self.commands.last(), Some(Command::Open(..))) {
            self.open("s");
        }
        assert!(self.session(said(answer)).is_none());
        self.end();
    }

    pub(crate) fn wait(&mut self, time: Duration) {
        self.now += time;
        self.thread.handle_timeout(self.now);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(command) = self.thread.poll_command() {
            if let Command::Open(number, _) = &command {
                self.session = Some(*number);
            }
            self.commands.push(command);
        }
        while let Some(RunEvent { run_id, output }) = self.thread.poll_event() {
            match output {
                RunOutput::Event(event) => self.events.push((run_id.to_string(), event)),
                RunOutput::Again(earlier) => self.again.push((run_id.to_string(), earlier)),
                RunOutput::Refused(why) => self.refused.push((run_id.to_string(), why)),
                other => panic!("{other:?}"),
            }
        }
        self.notices.extend(std::iter::from_fn(|| self.thread.poll_notice()));
    }

    pub(crate) fn take_commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }

    /// Returns the session that was opened last.
    pub(crate) fn opening(&self) -> &OpenSession {
        let mut opened = self.commands.iter().rev().filter_map(|command| match command {
            Command::Open(_, open) => Some(&**open),
            _ => None,
        });
        opened.next().expect("no session was opened")
    }

    /// Returns the texts of the last prompt.
    pub(crate) fn prompt(&self) -> Vec<String> {
        let mut prompts = self.commands.iter().rev().filter_map(|command| match command {
            Command::Prompt { blocks, .. } => Some(blocks),
            _ => None,
        });
        let blocks = prompts.next().expect("no prompt was sent");
        let text = |block| {
            let block = serde_json::to_value(block).unwrap();
            let text = block.get("text").or_else(|| block.pointer("/resource/text"));
            text.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        blocks.iter().map(text).collect()
    }

    /// Returns the events of a run by type; ends with their outcome or code.
    pub(crate) fn kinds(&self, run: &str) -> Vec<String> {
        let of_run = self.events.iter().filter(|(run_id, _)| run_id == run);
        of_run.map(|(_, event)| kind(event)).collect()
    }

    /// Returns the end of a run.
    pub(crate) fn outcome(&self, run: &str) -> String {
        self.kinds(run).pop().unwrap_or_default()
    }

    /// Returns the ids of the interrupts that ended a run.
    pub(crate) fn interrupts(&self, run: &str) -> Vec<String> {
        let Some((_, end)) = self.events.iter().rfind(|(run_id, _)| run_id == run) else {
            return Vec::new();
        };
        let end = serde_json::to_value(end).unwrap();
        let interrupts = end["outcome"]["interrupts"].as_array().cloned().unwrap_or_default();
        interrupts.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    }
}

/// Returns an event's type; with the outcome or the code of an end, or the name of a custom event.
pub(crate) fn kind(event: &Event) -> String {
    let value = serde_json::to_value(event).unwrap();
    let kind = value["type"].as_str().unwrap().to_owned();
    let more = [&value["outcome"]["type"], &value["code"], &value["name"]];
    match more.into_iter().find_map(Value::as_str) {
        Some(more) => format!("{kind} {more}"),
        None => kind,
    }
}
