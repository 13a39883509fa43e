//! Frontend calls in the events of a thread.
use super::*;

/// A binding that records its calls.
#[derive(Debug, Default)]
pub(crate) struct RecordingBinding {
    pub(crate) answers: Vec<(String, Outcome)>,
    pub(crate) told: Vec<String>,
}

impl Binding for RecordingBinding {
    fn answer(&mut self, call_id: &ToolCallId, outcome: Outcome) {
        self.answers.push((call_id.as_str().to_owned(), outcome));
    }

    fn prefix_prompt(&mut self, _: &ToolCallId, text: &str) {
        self.told.push(text.to_owned());
    }
}

/// A thread: a page, its translator, and the calls between them. Every run is verified strictly.
pub(crate) struct Thread {
    pub(crate) tools: FrontendTools,
    pub(crate) translator: Translator,
    pub(crate) binding: RecordingBinding,
    pub(crate) stream: Vec<Event>,
    verifier: Option<(Verifier, Reducer)>,
    runs: u32,
    profile: Profile,
}

impl Thread {
    pub(crate) fn new(profile: Profile, options: FrontendToolOptions) -> Self {
        let mut translator = Options::new();
        translator.profile = Some(profile);
        Self {
            tools: FrontendTools::new(options),
            translator: Translator::new(translator),
            binding: RecordingBinding::default(),
            stream: Vec::new(),
            verifier: None,
            runs: 0,
            profile,
        }
    }

    pub(crate) fn begin(&mut self, resumes: bool, now: u64) {
        self.runs += 1;
        let run = format!("run-{}", self.runs);
        let text = json!({"threadId": "t", "runId": run, "messages": []}).to_string();
        let mut input: RunAgentInput = decode(&text).unwrap();
        input.tools = Some(page());
        if let Some((_, reducer)) = &self.verifier {
            input.messages = reducer.messages().to_vec();
        }
        let reducer = Reducer::for_input(&input).unwrap();
        self.verifier = Some((Verifier::strict_for(&input), reducer));
        let _ = self.translator.begin_run(&input, &[]).unwrap();
        if resumes {
            self.tools.resume_turn(&page(), at(now));
        } else {
            self.tools.begin_turn(&page(), at(now));
        }
    }

    pub(crate) fn update(
        &mut self,
        notification: acp_types::v1::prompt_turn::SessionNotification,
        now: u64,
    ) {
        if self.tools.handle_update(&notification, at(now)) == CallOwner::Agent {
            self.translator.handle_notification(notification);
        }
    }

    pub(crate) fn end_turn(&mut self) {
        self.tools.handle_turn_end();
        self.drive();
        let response = decode(r#"{"stopReason":"end_turn"}"#).unwrap();
        self.translator.handle_prompt_response(Ok(response));
        self.drive();
    }

    pub(crate) fn drive(&mut self) {
        self.tools.drive(&mut self.binding, &mut self.translator);
        while let Some(event) = self.translator.poll_event() {
            let (verifier, reducer) = self.verifier.as_mut().expect("a run");
            verifier.handle(&event).unwrap_or_else(|violation| panic!("{violation}: {event:?}"));
            assert_eq!(reducer.handle(&event), None, "{event:?}");
            assert_eq!(self.profile.refuses(&event), None, "{event:?}");
            self.stream.push(event);
        }
        if let Some((verifier, _)) =
            self.verifier.as_ref().filter(|_| !self.translator.is_running())
        {
            verifier.finish().unwrap();
        }
    }

    fn brief(&mut self) -> Vec<String> {
        let events = std::mem::take(&mut self.stream);
        let brief = events.iter().map(|event| {
            let value = serde_json::to_value(event).unwrap();
            let id = value.get("toolCallId").or(value.get("messageId")).and_then(Value::as_str);
            let pending = value.pointer("/outcome/pendingToolCallIds").map(Value::to_string);
            let kind = event.tag();
            format!("{kind} {}", pending.as_deref().or(id).unwrap_or_default())
                .trim_end()
                .to_owned()
        });
        brief.collect()
    }
}

/// The agent announces and calls an `Ack` tool: the page sees the call once, without a result.
#[test]
fn acknowledged_call_is_in_the_stream_once() {
    let mut thread = Thread::new(Profile::V1, FrontendToolOptions::new());
    thread.begin(false, 0);
    thread.update(announce("t1", "ack", json!({})), 1);
    let mut call = NewCall::new("ack", raw(&json!({"id": 7})));
    call.agent_id = Some("t1".into());
    thread.tools.handle_call(call, at(2)).unwrap();
    thread.update(update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "rawOutput": "ack"})), 3);
    thread.drive();
    let start = serde_json::to_value(&thread.stream[1]).unwrap();
    assert_eq!(start["metadata"], json!({"acp": {"source": "frontend"}}));
    assert_eq!(start["toolCallName"], "ack");
    thread.end_turn();
    assert_eq!(
        thread.brief(),
        [
            "RUN_STARTED",
            "TOOL_CALL_START t1",
            "TOOL_CALL_ARGS t1",
            "TOOL_CALL_END t1",
            r#"RUN_FINISHED ["t1"]"#
        ]
    );
    assert_eq!(thread.binding.answers, [("t1".to_owned(), Outcome::Acked)]);
}

/// Two calls are parked, the run ends, the next one has the answers, and the turn continues.
#[test]
fn parked_calls_end_the_stream_and_resume() {
    let mut thread = Thread::new(Profile::V1, FrontendToolOptions::new());
    thread.begin(false, 0);
    for id in ["t1", "t2"] {
        thread.update(announce(id, "park", json!({"of": id})), 1);
    }
    for id in ["t2", "t1"] {
        thread.tools.handle_call(NewCall::new("park", raw(&json!({"of": id}))), at(2)).unwrap();
    }
    thread.tools.handle_timeout(at(102));
    thread.drive();
    let first = thread.brief();
    assert_eq!(first.last().unwrap(), r#"RUN_FINISHED ["t2","t1"]"#);
    assert_eq!(first.len(), 8);

    thread.begin(true, 5_000);
    for id in ["t1", "t2"] {
        assert_eq!(
            thread.tools.complete(&id.into(), ToolResult::text(id), at(5_000)),
            Completion::Delivered
        );
    }
    thread.update(update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Thanks."}})), 5_100);
    thread.drive();
    thread.end_turn();
    assert_eq!(
        thread.brief(),
        [
            "RUN_STARTED",
            "TEXT_MESSAGE_START msg-2",
            "TEXT_MESSAGE_CONTENT msg-2",
            "TEXT_MESSAGE_END msg-2",
            "RUN_FINISHED []"
        ]
    );
    let answers = ["t1", "t2"].map(|id| (id.to_owned(), result(id)));
    assert_eq!(thread.binding.answers, answers);
}

/// The next input answers one of two calls: the agent receives it, and the run ends again. It does
/// not list calls of the previous run; the page has those in its messages, without a result.
#[test]
fn partial_answer_in_the_stream_ends_the_run_again() {
    let mut thread = Thread::new(Profile::V1, FrontendToolOptions::new());
    thread.begin(false, 0);
    for id in ["t1", "t2"] {
        let mut call = NewCall::new("park", raw(&json!({"of": id})));
        call.agent_id = Some(id.into());
        thread.tools.handle_call(call, at(1)).unwrap();
    }
    thread.tools.handle_timeout(at(101));
    thread.drive();
    assert_eq!(thread.brief().last().unwrap(), r#"RUN_FINISHED ["t1","t2"]"#);

    thread.begin(true, 1_000);
    let delivered = thread.tools.complete(&"t1".into(), ToolResult::text("done"), at(1_000));
    assert_eq!(delivered, Completion::Delivered);
    thread.tools.handle_timeout(at(1_100));
    thread.drive();
    assert_eq!(thread.brief(), ["RUN_STARTED", "RUN_FINISHED []"]);
    assert!(thread.tools.is_waiting());

    thread.tools.handle_timeout(at(51_000));
    thread.begin(true, 60_000);
    thread.end_turn();
    assert_eq!(thread.brief(), ["RUN_STARTED", "RUN_FINISHED []"]);
    let answers = [("t1".to_owned(), result("done")), ("t2".to_owned(), Outcome::Pending)];
    assert_eq!(thread.binding.answers, answers);
}

/// A repeated id differs in the stream, and the page's result is matched by the stream's id.
#[test]
fn repeated_id_is_renamed_in_the_stream() {
    let mut thread = Thread::new(Profile::V1, FrontendToolOptions::new());
    for (run, shown) in [(0, "t1"), (1, "t1~2")] {
        thread.begin(false, run);
        let mut call = NewCall::new("park", raw(&json!({})));
        call.agent_id = Some("t1".into());
        if run == 1 {
            // The first call is forgotten, as after a restart of the process.
            thread.tools = FrontendTools::new(FrontendToolOptions::new());
            thread.tools.begin_turn(&page(), at(run));
        }
        let id = thread.tools.handle_call(call, at(run)).unwrap();
        thread.drive();
        assert_eq!(id.as_str(), "t1");
        assert_eq!(thread.brief()[1], format!("TOOL_CALL_START {shown}"));
        if run == 1 {
            // Pages send the whole conversation: this is the first call's result.
            let old = thread.tools.complete(&"t1".into(), ToolResult::text("old"), at(run));
            assert_eq!(old, Completion::Unknown);
        }
        assert_eq!(
            thread.tools.complete(&shown.into(), ToolResult::text("x"), at(run)),
            Completion::Delivered
        );
        thread.drive();
        thread.end_turn();
        thread.stream.clear();
    }
    assert_eq!(thread.binding.answers.len(), 2);
}

/// An agent's own tool with the name of a page tool is renamed, since the page would run it.
#[test]
fn agent_tool_with_a_page_tool_name_is_renamed() {
    let mut thread = Thread::new(Profile::V1, FrontendToolOptions::new());
    thread.begin(false, 0);
    for (id, name) in [("a", "park"), ("b", "mcp__other__park"), ("c", "Bash")] {
        let done = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "x", "name": name, "status": "completed"});
        thread.update(update(done), 0);
    }
    thread.drive();
    let names = thread.stream.iter().filter_map(|event| match event {
        Event::ToolCallStart(start) => Some(start.tool_call_name.as_str()),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), ["agent__park", "mcp__other__park", "Bash"]);
}
