//! Checks of the outputs of a conversation, and of its memory.
use super::*;
use agui_bridge::conversation::{
    AgentReply, Command, Notice, RunOutput, RunRefused, SessionOrigin,
};
use agui_types::event::Event;

impl World {
    pub(super) fn drain(&mut self) -> Result<(), TestCaseError> {
        while let Some(command) = self.thread.poll_command() {
            self.out.push(format!("{command:?}"));
            self.command(&command)?;
        }
        while let Some(event) = self.thread.poll_event() {
            self.out.push(format!("{event:?}"));
            let ends = match event.output {
                RunOutput::Event(event) => self.event_out(&event)?,
                RunOutput::Again(earlier) => {
                    prop_assert!(self.runs.contains_key(&earlier));
                    true
                }
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
                Notice::Prepared(_) => {
                    prop_assert!(self.is_preparing, "a preparation ends once");
                    self.is_preparing = false;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks that the connection would accept the command.
    fn command(&mut self, command: &Command) -> Result<(), TestCaseError> {
        match command {
            Command::Open(session, open) => {
                prop_assert_eq!(self.attached, None);
                self.attached = Some(*session);
                self.is_other = false;
                self.is_set = false;
                self.is_open = false;
                self.is_repeating = matches!(open.origin, SessionOrigin::Load(_));
                self.has_turn = false;
            }
            Command::Prompt { session, .. } => {
                prop_assert_eq!(self.attached, Some(*session));
                prop_assert!(self.is_open && !self.has_turn);
                let keeps_choice = !self.has_choice || !self.is_other || self.is_set;
                prop_assert!(keeps_choice, "the mode of the user is set before the prompt");
                self.has_turn = true;
                self.is_repeating = false;
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
            Command::Set { session, key, .. } => {
                prop_assert_eq!(self.attached, Some(*session));
                self.is_set = true;
                self.repeated.extend(key.filter(|key| !self.settings.contains(key)));
            }
            Command::AskOptions { key, .. } => {
                prop_assert!(self.attached.is_none(), "there is a session to ask");
                self.asked_options = Some(*key);
            }
            Command::Release(session) => {
                prop_assert_eq!(self.attached, Some(*session));
                self.left = self.attached;
                self.attached = None;
                self.is_open = false;
                self.has_turn = false;
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

    /// Returns the event with a unique run id. An id is reused after its run was forgotten, and by
    /// a client that resumes under the same id.
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
    pub(super) fn check(&self) -> Result<(), TestCaseError> {
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
    pub(super) fn finish(&mut self) -> Result<(), TestCaseError> {
        let is_cut = self.thread.is_interrupted();
        if !self.thread.is_running() {
            self.play(&Op::Follow(9))?;
        }
        // A run that waits for the agent begins with it.
        self.play(&Op::Disconnect)?;
        prop_assert!(!self.thread.is_running());
        for number in 1..=self.said {
            let shown = self.shown.matches(&format!("<{number}>")).count();
            prop_assert!(shown == 1 || shown == 0 && is_cut, "text {} in runs: {}", number, shown);
        }
        for (run, (accepted, ended)) in &self.runs {
            prop_assert_eq!(accepted, ended, "{}", run);
        }
        prop_assert_eq!(&self.calls, &BTreeSet::new());
        prop_assert_eq!(&self.questions, &BTreeSet::new());
        prop_assert!(!self.is_preparing, "each preparation ends");
        if self.begun == 0 {
            return Ok(());
        }
        self.verifier.finish().map_err(|error| TestCaseError::fail(error.to_string()))
    }
}
