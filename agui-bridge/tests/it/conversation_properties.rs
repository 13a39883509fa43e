//! Properties of a conversation for any inputs in any order.
use crate::generated::{cases, options as translator_options, update, update_v2};
use crate::thread::{ended, failed, opened, permission, raw, read, refused, request};
use acp_types::client::{
    CallError, Received, RequestKey, SessionEvent, TurnEnd, TurnError, TurnKey, Update,
};
use acp_types::v1::elicitation::ElicitationSchema;
use acp_types::v1::session_setup::{McpServer, McpServerHttp, McpServerStdio};
use agui_bridge::conversation::{
    Accepted, AgentFeatures, AgentReply, Command, Conversation, ConversationOptions, Notice,
    PageTools, QuestionKey, RunOutput, RunRefused, SessionNumber, Setting, SettingKey,
    ToolQuestion, UserAnswer, WhenBusy,
};
use agui_bridge::frontend_tool::{NewCall, ToolResult};
use agui_bridge::input::{Divergence, SessionScope};
use agui_bridge::{Failure, PermissionAnswer};
use agui_types::event::Event;
use agui_types::id::{RunId, ToolCallId};
use agui_types::profile::Profile;
use agui_types::verify::Verifier;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[derive(Clone, Debug)]
enum Op {
    /// Number of the run, of the messages of its input, of the answers in it, and whether the page has tools.
    Run(u8, u8, u8, bool),
    /// A run without a prompt.
    Follow(u8),
    Cancel(u8),
    Connect(u8),
    Connecting,
    Disconnect,
    Fail,
    Session(Box<Happening>),
    /// The same, for a released session.
    Stale(Box<Happening>),
    Answer(u8, u8),
    Call,
    Result(u8),
    Withdraw(u8),
    Question,
    TakeBack(u8),
    Set,
    SetEnded(u8),
    Wait(u16),
}

#[derive(Clone, Debug)]
enum Happening {
    Opened(bool),
    Refused(u8),
    Update(Value),
    UpdateV2(Value),
    /// A text with a number.
    Said,
    Permission,
    Elicitation,
    Contextual,
    Files,
    Withdrawn(u8),
    Ended(u8),
    Lagged,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        8 => any::<bool>().prop_map(Happening::Opened),
        1 => (0..4u8).prop_map(Happening::Refused),
        6 => update().prop_map(Happening::Update),
        1 => update_v2().prop_map(Happening::UpdateV2),
        3 => Just(Happening::Said),
        2 => state().prop_map(Happening::UpdateV2),
        4 => Just(Happening::Permission),
        1 => Just(Happening::Elicitation),
        1 => Just(Happening::Contextual),
        1 => Just(Happening::Files),
        1 => any::<u8>().prop_map(Happening::Withdrawn),
        4 => (0..9u8).prop_map(Happening::Ended),
        1 => Just(Happening::Lagged),
    ]
}

/// A state of the session in version 2.
fn state() -> impl Strategy<Value = Value> {
    let states = vec![
        json!({"sessionUpdate": "state_update", "state": "running"}),
        json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
    ];
    select(states)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..8u8, any::<u8>(), 0..4u8, any::<bool>()).prop_map(|(a, b, c, d)| Op::Run(a, b, c, d)),
        3 => (0..8u8).prop_map(Op::Follow),
        2 => (0..8u8).prop_map(Op::Cancel),
        2 => any::<u8>().prop_map(Op::Connect),
        1 => Just(Op::Connecting),
        1 => Just(Op::Disconnect),
        1 => Just(Op::Fail),
        20 => happening().prop_map(|it| Op::Session(Box::new(it))),
        1 => happening().prop_map(|it| Op::Stale(Box::new(it))),
        2 => (any::<u8>(), 0..3u8).prop_map(|(a, b)| Op::Answer(a, b)),
        3 => Just(Op::Call),
        1 => any::<u8>().prop_map(Op::Result),
        1 => any::<u8>().prop_map(Op::Withdraw),
        1 => Just(Op::Question),
        1 => any::<u8>().prop_map(Op::TakeBack),
        1 => Just(Op::Set),
        1 => any::<u8>().prop_map(Op::SetEnded),
        4 => select(vec![0, 50, 100, 1_000, 11_000]).prop_map(Op::Wait),
    ]
}

fn options() -> impl Strategy<Value = ConversationOptions> {
    let busy = select(vec![WhenBusy::Reject, WhenBusy::Queue, WhenBusy::Supersede]);
    let divergence = select(vec![
        Divergence::NewSession,
        Divergence::Fork,
        Divergence::Ignore,
        Divergence::Reject,
    ]);
    let tools = select(vec![
        PageTools::Off,
        PageTools::Contextual,
        PageTools::Mcp { servers: vec![], always: false },
        PageTools::Mcp {
            servers: vec![
                McpServer::Http(McpServerHttp::new("ui", "http://127.0.0.1:1/mcp", [])),
                McpServer::Stdio(McpServerStdio::new("ui", "ui-server", [], [])),
            ],
            always: true,
        },
    ]);
    (translator_options(), busy, divergence, tools, any::<bool>(), any::<bool>()).prop_map(
        |(translator, busy, divergence, tools, of_turn, new_alone)| {
            let mut options = ConversationOptions::new("/work");
            options.translator = translator;
            options.when_busy = busy;
            options.rules.divergence = divergence;
            options.rules.session = if of_turn { SessionScope::Turn } else { SessionScope::Thread };
            options.rules.new_alone = new_alone;
            options.page_tools = tools;
            options.queue_wait = Some(Duration::from_secs(5));
            (options.max_queued, options.max_known_runs, options.max_questions) = (2, 3, 2);
            options
        },
    )
}

/// The state of the program and of the connection, against which outputs are checked.
struct World {
    thread: Conversation,
    /// Whether the thread is serialized and restored between any two steps.
    is_written: bool,
    now: Duration,
    verifier: Verifier,
    profile: Profile,
    /// Number of acceptances and ends of each run.
    runs: BTreeMap<RunId, (usize, usize)>,
    /// Number of runs that have begun.
    begun: usize,
    interrupts: Vec<String>,
    attached: Option<SessionNumber>,
    left: Option<SessionNumber>,
    is_open: bool,
    has_turn: bool,
    /// Whether the agent has reported that it works.
    works: bool,
    /// Requests of the agent without a response, by number.
    asked: BTreeSet<u64>,
    requests: u64,
    calls: BTreeSet<ToolCallId>,
    questions: BTreeSet<QuestionKey>,
    settings: BTreeSet<SettingKey>,
    /// Number of numbered texts.
    said: usize,
    /// The texts of all runs.
    shown: String,
    out: Vec<String>,
}

impl World {
    fn new(options: ConversationOptions, is_written: bool) -> Self {
        Self {
            profile: options.translator.profile.unwrap_or(Profile::V1),
            thread: Conversation::new(options),
            is_written,
            now: Duration::ZERO,
            verifier: Verifier::strict(),
            runs: BTreeMap::new(),
            begun: 0,
            interrupts: Vec::new(),
            attached: None,
            left: None,
            is_open: false,
            has_turn: false,
            works: false,
            asked: BTreeSet::new(),
            requests: 0,
            calls: BTreeSet::new(),
            questions: BTreeSet::new(),
            settings: BTreeSet::new(),
            said: 0,
            shown: String::new(),
            out: Vec::new(),
        }
    }

    fn play(&mut self, op: &Op) -> Result<(), TestCaseError> {
        if self.is_written {
            let text = serde_json::to_string(&self.thread).unwrap();
            self.thread = serde_json::from_str(&text).unwrap();
        }
        // Deadlines come before the next step.
        let now = self.now;
        self.thread.handle_timeout(now);
        self.drain()?;
        match op {
            Op::Run(run, messages, answers, tools) => {
                let input = self.input(*run, *messages, *answers, *tools);
                let run_id = input.run_id.clone();
                let accepted = self.thread.handle_run(input, now);
                self.out.push(format!("{accepted:?}"));
                if let Ok(Accepted::Begun | Accepted::Resumed | Accepted::Queued) = accepted {
                    self.runs.entry(run_id).or_default().0 += 1;
                }
            }
            Op::Follow(run) => {
                let mut input = self.input(*run, 0, 0, false);
                input.forwarded_props = Some(raw(&json!({"acp": {"follow": true}})));
                let run_id = input.run_id.clone();
                match self.thread.handle_run(input, now) {
                    Ok(Accepted::Begun | Accepted::Resumed | Accepted::Queued) => {
                        self.runs.entry(run_id).or_default().0 += 1;
                    }
                    Ok(Accepted::Again(run)) => prop_assert!(self.runs.contains_key(&run)),
                    Ok(other) => return Err(TestCaseError::fail(format!("{other:?}"))),
                    Err(_) => {}
                }
                let prompts = self.out.iter().filter(|out| out.starts_with("Prompt")).count();
                self.drain()?;
                let after = self.out.iter().filter(|out| out.starts_with("Prompt")).count();
                prop_assert_eq!(prompts, after, "no prompt is sent");
            }
            Op::Cancel(run) => {
                self.thread.handle_cancel(&format!("r{run}").into(), now);
            }
            Op::Connect(flags) => {
                let mut features = AgentFeatures::default();
                (features.resume, features.load) = (flags & 1 > 0, flags & 2 > 0);
                features.fork = flags & 4 > 0;
                (features.mcp_http, features.mcp_stdio) = (flags & 8 > 0, flags & 8 > 0);
                self.thread.handle_connected(features, now);
            }
            Op::Connecting => self.thread.handle_connecting(now),
            Op::Disconnect => {
                (self.attached, self.is_open, self.has_turn) = (None, false, false);
                self.asked.clear();
                self.thread.handle_disconnected(Failure::AgentExited, "gone", now);
            }
            Op::Fail => self.thread.handle_failure(Failure::Overloaded, "too much", now),
            Op::Session(happening) => self.happen(self.attached, happening)?,
            Op::Stale(happening) => {
                if self.left.is_some() && self.left != self.attached {
                    self.happen(self.left, happening)?;
                }
            }
            Op::Answer(nth, answer) => {
                if let Some(id) = pick(&self.interrupts, *nth) {
                    let answer = match answer {
                        0 => UserAnswer::Permission(PermissionAnswer::Selected("yes".into())),
                        1 => UserAnswer::Elicitation(read(&json!({"action": "decline"}))),
                        _ => UserAnswer::Cancelled,
                    };
                    let _ = self.thread.handle_answer(&id.clone(), answer, now);
                }
            }
            Op::Call => {
                let call = NewCall::new("pick", raw(&json!({})));
                if let Ok(id) = self.thread.handle_tool_call(call, now) {
                    prop_assert!(self.calls.insert(id));
                }
            }
            Op::Result(nth) => {
                let calls: Vec<_> = self.calls.iter().cloned().collect();
                if let Some(id) = pick(&calls, *nth) {
                    self.thread.handle_tool_result(id, ToolResult::text("green"), now);
                }
            }
            Op::Withdraw(nth) => {
                let calls: Vec<_> = self.calls.iter().cloned().collect();
                if let Some(id) = pick(&calls, *nth) {
                    self.calls.remove(id);
                    self.thread.handle_tool_withdrawn(id, now);
                }
            }
            Op::Question => {
                let question = ToolQuestion::new("book", "?", ElicitationSchema::new());
                self.questions.extend(self.thread.handle_question(question, now));
            }
            Op::TakeBack(nth) => {
                let questions: Vec<_> = self.questions.iter().copied().collect();
                if let Some(key) = pick(&questions, *nth) {
                    self.thread.handle_question_withdrawn(*key, now);
                }
            }
            Op::Set => {
                self.settings.extend(self.thread.handle_setting(Setting::Mode("code".into()), now));
            }
            Op::SetEnded(nth) => {
                let settings: Vec<_> = self.settings.iter().copied().collect();
                if let Some(key) = pick(&settings, *nth) {
                    self.thread.handle_setting_ended(*key, Ok(None), now);
                }
            }
            Op::Wait(time) => {
                self.now += Duration::from_millis(u64::from(*time));
                self.thread.handle_timeout(self.now);
            }
        }
        self.drain()?;
        self.check()
    }

    fn input(
        &self,
        run: u8,
        messages: u8,
        answers: u8,
        tools: bool,
    ) -> agui_types::input::RunAgentInput {
        let said = |id: &str, text: &str| json!({"id": id, "role": "user", "content": text});
        let mut all = vec![said("u0", "zero")];
        if messages & 1 > 0 {
            all.push(json!({"id": "msg-1", "role": "assistant", "content": "a"}));
        }
        if messages & 2 > 0 {
            all.extend(self.calls.iter().map(|id| {
                json!({"id": format!("res-{id}"), "role": "tool", "toolCallId": id, "content": "blue"})
            }));
        }
        if messages & 4 > 0 {
            all.push(said(&format!("u{}", messages >> 3), "more"));
        }
        let answer = |id: &String| match answers {
            1 => json!({"interruptId": id, "status": "cancelled"}),
            2 => json!({"interruptId": id, "status": "resolved", "payload": {"optionId": "yes"}}),
            _ => json!({"interruptId": id, "status": "resolved", "payload": true}),
        };
        let mut input = json!({"threadId": "t", "runId": format!("r{run}"), "messages": all});
        if self.profile == Profile::V1 {
            input["protocolVersion"] = json!("1.0");
        }
        if answers > 0 {
            input["resume"] = self.interrupts.iter().map(answer).collect();
        }
        if tools {
            input["tools"] =
                json!([{"name": "pick", "description": "", "parameters": {"type": "object"}}]);
        }
        read(&input)
    }

    fn happen(
        &mut self,
        session: Option<SessionNumber>,
        happening: &Happening,
    ) -> Result<(), TestCaseError> {
        let Some(session) = session else { return Ok(()) };
        let is_current = self.attached == Some(session);
        let event = self.event(is_current, happening);
        let (is_opened, is_ended) =
            (matches!(event, SessionEvent::Opened(_)), matches!(event, SessionEvent::Refused(_)));
        if is_current {
            self.is_open |= is_opened;
            if is_ended && !self.is_open {
                self.attached = None;
            }
            if let SessionEvent::TurnEnded(..) = event {
                self.has_turn = false;
            }
        }
        let left = self.thread.handle_session(session, event, self.now);
        let is_files = matches!(happening, Happening::Files);
        prop_assert_eq!(
            left.is_some_and(|it| matches!(it, SessionEvent::Request(..))),
            is_files && is_current
        );
        Ok(())
    }

    fn event(&mut self, is_current: bool, happening: &Happening) -> SessionEvent {
        let params = json!({"sessionId": "s"});
        match happening {
            Happening::Opened(has_modes) => {
                let modes = json!({"modes": {"currentModeId": "ask", "availableModes": []}});
                opened("s", if *has_modes { &modes } else { &Value::Null })
            }
            Happening::Refused(how) => SessionEvent::Refused(match how {
                0 => refused(&json!({"code": -32000, "message": "log in"})),
                1 => CallError::Timeout,
                2 => CallError::Full,
                _ => CallError::Malformed("?".into()),
            }),
            Happening::Update(update) => {
                let params = json!({"sessionId": "s", "update": update});
                SessionEvent::Update(Received::new(Update::V1(read(&params)), raw(&params)))
            }
            Happening::UpdateV2(update) => {
                if is_current && update["sessionUpdate"] == "state_update" {
                    self.works = update["state"] != "idle";
                }
                let params = json!({"sessionId": "s", "update": update});
                SessionEvent::Update(Received::new(Update::V2(read(&params)), raw(&params)))
            }
            Happening::Said => {
                self.said += usize::from(is_current);
                let text = format!("<{}>", if is_current { self.said } else { 0 });
                crate::thread::said(&text)
            }
            Happening::Permission => permission(self.ask(is_current)),
            Happening::Elicitation => {
                let mut form =
                    json!({"mode": "form", "message": "?", "requestedSchema": {"type": "object"}});
                form["sessionId"] = json!("s");
                request(self.ask(is_current), "elicitation/create", &form)
            }
            Happening::Contextual => {
                let mut call = params;
                call["name"] = json!("ui_pick");
                request(self.ask(is_current), agui_bridge::contextual_tools::METHOD, &call)
            }
            Happening::Files => {
                request(0, "fs/read_text_file", &json!({"sessionId": "s", "path": "/f"}))
            }
            Happening::Withdrawn(nth) => {
                let asked: Vec<_> = self.asked.iter().copied().collect();
                let key = pick(&asked, *nth).copied().unwrap_or(u64::MAX);
                if is_current {
                    self.asked.remove(&key);
                }
                SessionEvent::Withdrawn(RequestKey::new(key))
            }
            Happening::Ended(how) => match how {
                0 => failed(TurnError::GraceOver),
                1 => failed(TurnError::Call(CallError::Timeout)),
                2 => failed(TurnError::Call(refused(&json!({"code": -32603, "message": "no"})))),
                3 => {
                    let error =
                        json!({"code": -32002, "message": "gone", "data": {"sessionId": "s"}});
                    failed(TurnError::Call(refused(&error)))
                }
                4 => {
                    let idle = json!({"state": "idle", "stopReason": "end_turn"});
                    let end = TurnEnd::V2(Box::new(read(&idle)));
                    SessionEvent::TurnEnded(TurnKey::new(1), Ok(Received::new(end, raw(&idle))))
                }
                5 => ended("cancelled"),
                6 => ended("refusal"),
                7 => {
                    let error = json!({"code": -32603, "message": "MCP server is unreachable"});
                    failed(TurnError::Call(refused(&error)))
                }
                _ => ended("end_turn"),
            },
            Happening::Lagged => SessionEvent::Lagged { dropped: 2 },
        }
    }

    fn ask(&mut self, is_current: bool) -> u64 {
        self.requests += 1;
        if is_current {
            self.asked.insert(self.requests);
        }
        self.requests
    }

    fn drain(&mut self) -> Result<(), TestCaseError> {
        while let Some(command) = self.thread.poll_command() {
            self.out.push(format!("{command:?}"));
            self.command(&command)?;
        }
        while let Some(event) = self.thread.poll_event() {
            self.out.push(format!("{event:?}"));
            let ends = match event.output {
                RunOutput::Event(event) => self.event_out(&event)?,
                RunOutput::Refused(why) => {
                    prop_assert!(!matches!(why, RunRefused::OtherRun));
                    true
                }
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            };
            if ends {
                let run = self.runs.entry(event.run_id).or_default();
                run.1 += 1;
                prop_assert!(run.1 <= run.0 + 1, "a run ends once");
            }
        }
        while let Some(notice) = self.thread.poll_notice() {
            self.out.push(format!("{notice:?}"));
            match notice {
                Notice::ToolAnswered(id, _) => {
                    prop_assert!(self.calls.remove(&id), "answered once: {}", id);
                }
                Notice::QuestionAnswered(key, _) => self.questions.retain(|open| *open != key),
                Notice::SettingEnded(key, _) => prop_assert!(self.settings.remove(&key)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks that the connection would accept the command.
    fn command(&mut self, command: &Command) -> Result<(), TestCaseError> {
        match command {
            Command::Open(session, _) => {
                prop_assert_eq!(self.attached, None);
                (self.attached, self.is_open, self.has_turn) = (Some(*session), false, false);
            }
            Command::Prompt { session, .. } => {
                prop_assert_eq!(self.attached, Some(*session));
                prop_assert!(self.is_open && !self.has_turn);
                self.has_turn = true;
            }
            Command::Cancel { session, .. } => {
                prop_assert_eq!(self.attached, Some(*session));
                prop_assert!(self.has_turn || self.works);
            }
            Command::Reply { request, reply, .. } => {
                prop_assert!(self.asked.remove(&request.get()), "answered once: {:?}", request);
                prop_assert!(
                    !matches!(reply, AgentReply::Result(result) if result.as_str().is_empty())
                );
            }
            Command::Set { session, .. } => prop_assert_eq!(self.attached, Some(*session)),
            Command::Release(session) => {
                prop_assert_eq!(self.attached, Some(*session));
                (self.left, self.attached) = (self.attached, None);
                (self.is_open, self.has_turn) = (false, false);
                // The connection answers them.
                self.asked.clear();
            }
            other => return Err(TestCaseError::fail(format!("{other:?}"))),
        }
        Ok(())
    }

    /// Returns whether the event ends its run.
    fn event_out(&mut self, event: &Event) -> Result<bool, TestCaseError> {
        let renamed = self.renamed(event);
        self.verifier.handle(&renamed).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(self.profile.refuses(event), None, "{:?}", event);
        let value = serde_json::to_value(event)?;
        let asks = [&value["value"]["interruptId"]].into_iter().filter_map(Value::as_str);
        self.interrupts.extend(asks.map(ToOwned::to_owned));
        if let Some(interrupts) = value["outcome"]["interrupts"].as_array() {
            self.interrupts =
                interrupts.iter().filter_map(|it| Some(it["id"].as_str()?.to_owned())).collect();
        }
        if let Event::TextMessageContent(content) = event {
            self.shown.push_str(&content.delta);
        }
        Ok(matches!(event, Event::RunFinished(_) | Event::RunError(_)))
    }

    /// Returns the event with a unique run id. An id is reused after its run was forgotten, and by a client that
    /// resumes under the same id.
    fn renamed(&mut self, event: &Event) -> Event {
        let mut event = event.clone();
        match &mut event {
            Event::RunStarted(started) => {
                self.begun += 1;
                started.run_id = format!("run {}", self.begun).into();
            }
            Event::RunFinished(finished) => {
                finished.run_id = format!("run {}", self.begun).into();
            }
            _ => {}
        }
        event
    }

    /// Checks the properties between any two steps.
    fn check(&self) -> Result<(), TestCaseError> {
        let state = serde_json::to_value(&self.thread)?;
        let len = |pointer: &str| match state.pointer(pointer) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(members)) => members.len(),
            _ => usize::MAX,
        };
        let waiting = len("/queue/waiting");
        prop_assert!(waiting <= 2);
        prop_assert!(len("/known/runs") <= 3 + waiting + 2);
        prop_assert!(len("/requests/open") <= 64 + 2);
        prop_assert!(len("/requests/announced") <= 16);
        prop_assert_eq!(len("/commands") + len("/events") + len("/notices"), 0);
        let rests = !self.thread.is_running() && !self.thread.is_interrupted();
        if rests && !self.thread.has_activity() {
            prop_assert_eq!(&self.asked, &BTreeSet::new(), "questions end with their turn");
            prop_assert_eq!(&self.questions, &BTreeSet::new());
        }
        for (run, (accepted, ended)) in &self.runs {
            prop_assert!(ended <= accepted, "{}", run);
        }
        Ok(())
    }

    /// Ends the test.
    fn finish(&mut self) -> Result<(), TestCaseError> {
        let is_cut = self.thread.is_interrupted();
        if !self.thread.is_running() {
            self.play(&Op::Follow(9))?;
        }
        for number in 1..=self.said {
            let shown = self.shown.matches(&format!("<{number}>")).count();
            prop_assert!(shown == 1 || shown == 0 && is_cut, "text {} in runs: {}", number, shown);
        }
        self.play(&Op::Disconnect)?;
        prop_assert!(!self.thread.is_running());
        for (run, (accepted, ended)) in &self.runs {
            prop_assert_eq!(accepted, ended, "{}", run);
        }
        prop_assert_eq!(&self.calls, &BTreeSet::new());
        prop_assert_eq!(&self.questions, &BTreeSet::new());
        if self.begun == 0 {
            return Ok(());
        }
        self.verifier.finish().map_err(|error| TestCaseError::fail(error.to_string()))
    }
}

fn pick<T>(from: &[T], nth: u8) -> Option<&T> {
    from.get(usize::from(nth) % from.len().max(1))
}

proptest! {
    #![proptest_config(cases())]

    /// Each run ends once, requests are answered once, streams are in order, and memory is bounded, for any order of
    /// inputs.
    #[test]
    fn conversation_is_valid_for_any_inputs(
        options in options(),
        steps in proptest::collection::vec(op(), 0..60),
    ) {
        let mut world = World::new(options, false);
        // Most runs have an agent.
        world.play(&Op::Connect(11))?;
        for op in &steps {
            world.play(op)?;
        }
        world.finish()?;
    }

    /// Serialization between any two inputs does not change the outputs.
    #[test]
    fn serialized_conversation_continues(
        options in options(),
        steps in proptest::collection::vec(op(), 0..30),
    ) {
        let (mut one, mut other) = (World::new(options.clone(), false), World::new(options, true));
        for op in &steps {
            one.play(op)?;
            other.play(op)?;
        }
        prop_assert_eq!(one.out, other.out);
    }
}
