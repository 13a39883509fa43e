//! Inputs of a conversation: of the page, the agent, and the program.
use super::*;
use crate::thread::{failed, opened, permission, raw, read, refused};
use acp_types::client::{
    CallError, ReceivedValue, RequestKey, SessionEvent, TurnEnd, TurnError, TurnKey,
};
use acp_types::v1::elicitation::ElicitationSchema;
use acp_types::v1::prompt_turn::SessionUpdate;
use agui_bridge::CancelReason;
use agui_bridge::conversation::{
    Acceptance, AgentFeatures, Setting, SettingError, ToolQuestion, UserAnswer,
};
use agui_bridge::frontend_tool::{NewCall, ToolResult};
use agui_bridge::{Failure, PermissionAnswer};

/// Number of runs that may be due one after the other: the open one and those that wait.
const MAX_EXPIRIES: usize = 4;

fn modes() -> Value {
    json!({"currentModeId": "ask", "availableModes": [
        {"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]})
}

/// Returns whether an update of the agent may replace a choice of the user.
fn changes_settings(update: &Update) -> bool {
    match update {
        Update::V1(update) => matches!(
            update.update,
            SessionUpdate::CurrentModeUpdate(_) | SessionUpdate::ConfigOptionUpdate(_)
        ),
        _ => true,
    }
}

fn pick<T>(from: &[T], nth: u8) -> Option<&T> {
    from.get(usize::from(nth) % from.len().max(1))
}

impl World {
    pub(super) fn play(&mut self, op: &Op) -> Result<(), TestCaseError> {
        if self.is_written {
            let text = serde_json::to_string(&self.thread).unwrap();
            self.thread = serde_json::from_str(&text).unwrap();
        }
        self.handle_deadlines()?;
        let now = self.now;
        match op {
            Op::Run(run, messages, answers, tools) => {
                let input = self.input(*run, *messages, *answers, *tools);
                let run_id = input.run_id.clone();
                let accepted = self.thread.handle_run(input, now);
                self.out.push(format!("{accepted:?}"));
                if let Ok(Acceptance::Begun | Acceptance::Resumed | Acceptance::Queued) = accepted {
                    self.runs.entry(run_id).or_default().0 += 1;
                }
            }
            Op::Follow(run) => {
                let mut input = self.input(*run, 0, 0, false);
                input.forwarded_props = Some(raw(&json!({"acp": {"follow": true}})));
                let run_id = input.run_id.clone();
                match self.thread.handle_run(input, now) {
                    Ok(Acceptance::Begun | Acceptance::Resumed | Acceptance::Queued) => {
                        self.runs.entry(run_id).or_default().0 += 1;
                    }
                    Ok(Acceptance::Again(run)) => prop_assert!(self.runs.contains_key(&run)),
                    Ok(other) => return Err(TestCaseError::fail(format!("{other:?}"))),
                    Err(_) => {}
                }
                let prompts = self.out.iter().filter(|out| out.starts_with("Prompt")).count();
                self.drain()?;
                let after = self.out.iter().filter(|out| out.starts_with("Prompt")).count();
                prop_assert_eq!(prompts, after, "no prompt is sent");
            }
            Op::Cancel(run) => {
                self.thread.handle_cancel(&format!("r{run}").into(), CancelReason::User, now);
            }
            Op::Connect(flags) => {
                let mut features = AgentFeatures::default();
                features.resume = flags & 1 > 0;
                features.load = flags & 2 > 0;
                features.fork = flags & 4 > 0;
                features.mcp_http = flags & 8 > 0;
                features.mcp_stdio = flags & 8 > 0;
                features.options = flags & 16 > 0;
                self.thread.handle_connected(features, now);
            }
            Op::Connecting => self.thread.handle_connecting(now),
            Op::Disconnect => {
                self.attached = None;
                self.is_open = false;
                self.has_turn = false;
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
                let settings: Vec<_> = self.settings.union(&self.repeated).copied().collect();
                if let Some(key) = pick(&settings, *nth) {
                    self.has_choice = true;
                    self.repeated.remove(key);
                    self.thread.handle_setting_ended(*key, Ok(None), now);
                }
            }
            Op::Prepare(tools) => {
                let tools = self.input(0, 0, 0, *tools).tools.unwrap_or_default();
                self.is_preparing = true;
                self.thread.handle_preparation(&tools, now);
            }
            Op::Options(are_named) => {
                if let Some(key) = self.asked_options.take() {
                    let settings =
                        serde_json::from_value(json!({"modes": modes(), "configOptions": []}));
                    let failed = SettingError::Failed("no".into());
                    let options = are_named.then(|| settings.unwrap()).ok_or(failed);
                    self.thread.handle_options(key, options, now);
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

    /// Handles the deadlines before the next step, as a program does with an expired timer. A
    /// waiting run that begins then may be due at once, so the timer may expire again.
    fn handle_deadlines(&mut self) -> Result<(), TestCaseError> {
        for _ in 0..=MAX_EXPIRIES {
            self.thread.handle_timeout(self.now);
            self.drain()?;
            if self.thread.poll_timeout().is_none_or(|at| at > self.now) {
                return Ok(());
            }
        }
        Err(TestCaseError::fail("a deadline remains due"))
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
        happening: &ScriptStep,
    ) -> Result<(), TestCaseError> {
        let Some(session) = session else { return Ok(()) };
        let is_current = self.attached == Some(session);
        let event = self.event(is_current, happening);
        let is_opened = matches!(event, SessionEvent::Opened(_));
        let is_ended = matches!(event, SessionEvent::Refused(_));
        if is_current {
            if is_opened && !self.is_open {
                self.is_other = matches!(happening, ScriptStep::Opened(true));
            }
            if matches!(&event, SessionEvent::Update(update) if changes_settings(&update.value)) {
                self.has_choice = false;
            }
            self.is_open |= is_opened;
            if is_ended && !self.is_open {
                self.attached = None;
            }
            if let SessionEvent::TurnEnded(..) = event {
                self.has_turn = false;
            }
        }
        let left = self.thread.handle_session(session, event, self.now);
        let is_files = matches!(happening, ScriptStep::Files);
        prop_assert_eq!(
            left.is_some_and(|it| matches!(it, SessionEvent::Request(..))),
            is_files && is_current
        );
        Ok(())
    }

    fn event(&mut self, is_current: bool, happening: &ScriptStep) -> SessionEvent {
        let params = json!({"sessionId": "s"});
        match happening {
            ScriptStep::Opened(has_modes) => {
                let modes = json!({ "modes": modes() });
                opened("s", if *has_modes { &modes } else { &Value::Null })
            }
            ScriptStep::Refused(how) => SessionEvent::Refused(match how {
                0 => refused(&json!({"code": -32000, "message": "log in"})),
                1 => CallError::Timeout,
                2 => CallError::Full,
                _ => CallError::Malformed("?".into()),
            }),
            ScriptStep::Update(update) => {
                let params = json!({"sessionId": "s", "update": update});
                SessionEvent::Update(ReceivedValue::new(Update::V1(read(&params)), raw(&params)))
            }
            ScriptStep::UpdateV2(update) => {
                if is_current && update["sessionUpdate"] == "state_update" {
                    self.works = update["state"] != "idle";
                }
                let params = json!({"sessionId": "s", "update": update});
                SessionEvent::Update(ReceivedValue::new(Update::V2(read(&params)), raw(&params)))
            }
            ScriptStep::Said => {
                // A connection gives the updates of a session after it is open. A replay is history,
                // which runs restate as messages, and which a lost agent repeats.
                let counts = is_current && self.is_open && !self.is_repeating;
                self.said += usize::from(counts);
                let text = format!("<{}>", if counts { self.said } else { 0 });
                crate::thread::said(&text)
            }
            ScriptStep::Permission => permission(self.ask(is_current)),
            ScriptStep::Elicitation => {
                let mut form =
                    json!({"mode": "form", "message": "?", "requestedSchema": {"type": "object"}});
                form["sessionId"] = json!("s");
                request(self.ask(is_current), "elicitation/create", &form)
            }
            ScriptStep::Contextual => {
                let mut call = params;
                call["name"] = json!("ui_pick");
                request(self.ask(is_current), agui_bridge::contextual_tools::METHOD, &call)
            }
            ScriptStep::Files => {
                request(0, "fs/read_text_file", &json!({"sessionId": "s", "path": "/f"}))
            }
            ScriptStep::Withdrawn(nth) => {
                let asked: Vec<_> = self.asked.iter().copied().collect();
                let key = pick(&asked, *nth).copied().unwrap_or(u64::MAX);
                if is_current {
                    self.asked.remove(&key);
                }
                SessionEvent::Withdrawn(RequestKey::new(key))
            }
            ScriptStep::Ended(how) => match how {
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
                    SessionEvent::TurnEnded(
                        TurnKey::new(1),
                        Ok(ReceivedValue::new(end, raw(&idle))),
                    )
                }
                5 => ended("cancelled"),
                6 => ended("refusal"),
                7 => {
                    let error = json!({"code": -32603, "message": "MCP server is unreachable"});
                    failed(TurnError::Call(refused(&error)))
                }
                _ => ended("end_turn"),
            },
            ScriptStep::Lagged => SessionEvent::Lagged { dropped: 2 },
        }
    }

    fn ask(&mut self, is_current: bool) -> u64 {
        self.requests += 1;
        if is_current {
            self.asked.insert(self.requests);
        }
        self.requests
    }
}
