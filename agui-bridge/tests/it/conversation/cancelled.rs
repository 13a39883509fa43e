//! Instructions that are cancelled before they are sent.
use super::*;
use crate::generated::cases;
use agui_bridge::conversation::{Conversation, ConversationOptions, RememberedSession, RunRequest};
use agui_bridge::input::{Divergence, SessionScope};
use agui_bridge::{CancelReason, Failure};
use agui_types::event::Event;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn queueing() -> ConversationOptions {
    let mut options = options();
    options.when_busy = WhenBusy::Queue;
    options
}

/// Returns the data of the last notice for a later process.
fn remembered(rig: &Rig) -> Option<RememberedSession> {
    let last = rig.notices.iter().rev().find_map(|notice| match notice {
        Notice::Remember(remembered) => Some(Some(remembered)),
        Notice::Forget => Some(None),
        _ => None,
    });
    let text = serde_json::to_string(last??).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

/// Returns the thread in a later process, with a connected agent.
fn restarted(rig: &Rig, options: ConversationOptions, features: AgentFeatures) -> Rig {
    let mut thread = Conversation::new(options);
    if let Some(remembered) = remembered(rig) {
        thread = thread.with_remembered(remembered);
    }
    let mut later = Rig::of(thread);
    later.connect(features);
    later
}

#[test]
fn instruction_cancelled_before_its_session_is_open_is_not_sent() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Delete it").unwrap();
    rig.cancel("1");
    let next = [user("u-1", "Delete it"), user("u-2", "Hello")];
    rig.run(input("2", &next, &json!({}))).unwrap();
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hello"]);
}

#[test]
fn instruction_cancelled_before_it_reaches_the_conversation_is_not_sent() {
    for is_busy in [false, true] {
        let mut rig = Rig::connected(queueing());
        rig.turn("1", "Hi", "Hello.");
        if is_busy {
            rig.say("2", "Wait").unwrap();
        }
        let mut run = RunRequest::from(input("3", &[user("u-3", "Delete it")], &json!({})));
        run.cancel = Some(CancelReason::User);
        rig.run(run).unwrap();
        rig.say("4", "Go on").unwrap();
        if is_busy {
            assert_eq!(rig.prompt(), ["Wait"]);
            rig.end();
        }
        assert_eq!(rig.kinds("3"), ["RUN_STARTED", CANCELLED]);
        assert_eq!(rig.prompt(), ["Go on"]);
        let prompts = rig.commands.iter().filter(|it| matches!(it, Command::Prompt { .. }));
        assert_eq!(prompts.count(), if is_busy { 3 } else { 2 });
    }
}

/// The text before the edit is sent after the cancellation, and the program is killed before the
/// queue has passed.
#[test]
fn cancelled_edit_of_a_waiting_message_is_not_sent_by_a_later_process() {
    let mut rig = Rig::connected(queueing());
    rig.turn("1", "Hi", "Hello.");
    rig.say("2", "Wait").unwrap();
    rig.say("3", "List it").unwrap();
    let edited = [user("u-2", "Wait"), user("u-3", "Delete it")];
    rig.run(input("4", &edited, &json!({}))).unwrap();
    rig.cancel("4");
    rig.end();
    assert_eq!(rig.prompt(), ["List it"]);
    let mut later = restarted(&rig, queueing(), AgentFeatures::default());
    let messages = [user("u-3", "Delete it"), user("u-5", "Go on")];
    later.run(input("5", &messages, &json!({}))).unwrap();
    later.open("s2");
    assert!(!later.prompt().concat().contains("Delete it"), "{:?}", later.prompt());
}

#[test]
fn cancelled_instruction_is_not_part_of_a_history_for_the_agent() {
    let mut rig = Rig::connected(queueing());
    rig.turn("1", "Hi", "Hello.");
    rig.say("2", "Wait").unwrap();
    rig.say("3", "Delete it").unwrap();
    rig.cancel("3");
    rig.end();
    let answer = json!({"id": "msg-1", "role": "assistant", "content": "Hello."});
    let messages =
        [user("u-1", "Hi, edited"), answer, user("u-3", "Delete it"), user("u-4", "Go on")];
    rig.run(input("4", &messages, &json!({}))).unwrap();
    rig.open("s2");
    let prompt = rig.prompt();
    assert!(prompt[0].contains("Hi, edited"), "{prompt:?}");
    assert!(!prompt.concat().contains("Delete it"), "{prompt:?}");
}

/// The program is killed before the agent has ended the cancelled turn.
#[test]
fn instruction_of_a_turn_that_is_being_cancelled_is_not_sent_by_a_later_process() {
    let mut resumes = AgentFeatures::default();
    resumes.resume = true;
    for (features, id) in [(AgentFeatures::default(), "s2"), (resumes, "s")] {
        let mut rig = Rig::connected(options());
        rig.turn("1", "Hi", "Hello.");
        rig.say("2", "Delete it").unwrap();
        assert_eq!(rig.prompt(), ["Delete it"]);
        rig.cancel("2");
        let mut later = restarted(&rig, options(), features);
        let answer = json!({"id": "msg-1", "role": "assistant", "content": "Hello."});
        let messages = [user("u-1", "Hi"), answer, user("u-2", "Delete it"), user("u-3", "Go on")];
        later.run(input("3", &messages, &json!({}))).unwrap();
        later.open(id);
        let prompt = later.prompt();
        assert_eq!(prompt.last().map(String::as_str), Some("Go on"), "{prompt:?}");
        assert!(!prompt.iter().any(|block| block == "Delete it"), "{prompt:?}");
    }
}

/// The agent has carried it out without a word; a new session has it as a part of the history.
#[test]
fn instruction_of_a_turn_without_an_answer_is_not_sent_again() {
    let sent = |rig: &Rig| {
        let prompt = rig.prompt();
        assert_eq!(prompt.last().map(String::as_str), Some("Go on"), "{prompt:?}");
        prompt.iter().any(|block| block == "Delete it")
    };
    let messages = [user("u-1", "Delete it"), user("u-2", "Go on")];
    let ended = || {
        let mut rig = Rig::connected(options());
        rig.say("1", "Delete it").unwrap();
        rig.open("s");
        rig.end();
        rig
    };
    let mut rig = ended();
    rig.disconnect();
    rig.connect(AgentFeatures::default());
    let mut later = restarted(&ended(), options(), AgentFeatures::default());
    for rig in [&mut rig, &mut later] {
        rig.run(input("2", &messages, &json!({}))).unwrap();
        rig.open("s2");
        assert!(!sent(rig));
        assert!(rig.prompt().concat().contains("Delete it"), "as a part of the history");
    }
}

#[test]
fn cancelled_instruction_is_sent_if_its_user_repeats_it() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Delete it").unwrap();
    rig.cancel("1");
    rig.run(input("2", &[user("u-1", "Delete it")], &json!({}))).unwrap();
    rig.open("s");
    assert_eq!(rig.prompt(), ["Delete it"]);
    rig.end();

    let mut rig = Rig::connected(options());
    rig.say("1", "Delete it").unwrap();
    rig.cancel("1");
    let twice = [user("u-1", "Delete it"), user("u-2", "Delete it")];
    rig.run(input("2", &twice, &json!({}))).unwrap();
    rig.open("s");
    assert_eq!(rig.prompt(), ["Delete it"], "once");
}

#[test]
fn all_messages_of_a_cancelled_prompt_are_repeated_together() {
    let mut rig = Rig::connected(options());
    let both = [user("u-1", "In the folder a:"), user("u-2", "Count the files")];
    rig.run(input("1", &both, &json!({}))).unwrap();
    rig.cancel("1");
    rig.run(input("2", &both, &json!({}))).unwrap();
    rig.open("s");
    assert_eq!(rig.prompt(), ["In the folder a:", "Count the files"]);
}

#[test]
fn superseded_instructions_are_not_sent() {
    let mut options = options();
    options.when_busy = WhenBusy::Supersede;
    let mut rig = Rig::connected(options);
    let all: Vec<Value> = (1..=3).map(|n| user(&format!("u-{n}"), &format!("<{n}>"))).collect();
    for run in 1..=3 {
        let messages = all.get(..run).unwrap();
        rig.run(input(&run.to_string(), messages, &json!({}))).unwrap();
    }
    rig.open("s");
    assert_eq!(rig.prompt(), ["<3>"]);
}

#[test]
fn cancelled_instruction_is_not_sent_by_a_later_process() {
    let next = [user("u-1", "Delete it"), user("u-2", "Hello")];
    let mut rig = Rig::connected(options());
    rig.say("1", "Delete it").unwrap();
    rig.cancel("1");
    assert_eq!(remembered(&rig).unwrap().session_id(), None);
    let mut later = restarted(&rig, options(), AgentFeatures::default());
    later.run(input("2", &next, &json!({}))).unwrap();
    later.open("s");
    assert_eq!(later.prompt(), ["Hello"]);

    // Waiting runs are cancelled by the end of the process.
    let mut rig = Rig::connected(queueing());
    rig.say("0", "Work").unwrap();
    rig.open("s");
    rig.say("1", "Delete it").unwrap();
    rig.thread.handle_failure(Failure::GatewayShutdown, "The gateway is ending.", rig.now);
    rig.wait(Duration::ZERO);
    let mut later = restarted(&rig, queueing(), AgentFeatures::default());
    later.run(input("2", &next, &json!({}))).unwrap();
    later.open("s");
    assert_eq!(later.prompt(), ["Hello"]);
}

#[test]
fn instruction_cancelled_behind_an_open_question_is_not_sent() {
    let mut options = queueing();
    options.translator.unanswered = agui_bridge::UnansweredPolicy::Abandon;
    let mut rig = Rig::begun(options, "Work");
    assert!(rig.session(crate::thread::permission(1)).is_none());
    rig.wait(Duration::from_secs(1));
    assert_eq!(rig.outcome("1"), "RUN_FINISHED interrupt");
    let messages = [user("u-1", "Work"), user("u-2", "Delete it"), user("u-3", "Hello")];
    // The run waits for the end of the turn that asked.
    rig.run(input("2", &messages[..2], &json!({}))).unwrap();
    rig.cancel("2");
    rig.session(crate::thread::ended("cancelled"));
    assert_eq!(rig.outcome("2"), CANCELLED);
    rig.take_commands();
    rig.run(input("3", &messages, &json!({}))).unwrap();
    assert_eq!(rig.prompt(), ["Hello"]);
}

/// A message that the agent had is no instruction of the next session, also if its run was
/// cancelled before any answer.
#[test]
fn unanswered_cancelled_message_is_not_sent_again() {
    let all = [
        user("u-0", "Hi"),
        json!({"id": "msg-1", "role": "assistant", "content": "Hello."}),
        user("u-1", "Delete it"),
        user("u-2", "Count"),
    ];
    for has_failed in [false, true] {
        let mut rig = Rig::connected(options());
        rig.turn("0", "Hi", "Hello.");
        rig.run(input("1", &all[..3], &json!({}))).unwrap();
        rig.cancel("1");
        if has_failed {
            // The agent fails in the grace period.
            rig.disconnect();
        } else {
            rig.session(crate::thread::ended("cancelled"));
        }
        let mut later = restarted(&rig, options(), AgentFeatures::default());
        later.run(input("2", &all, &json!({}))).unwrap();
        later.open("s2");
        let prompt = later.prompt();
        assert_eq!(prompt.last().unwrap(), "Count");
        assert!(prompt.iter().all(|block| block != "Delete it"), "{prompt:?}");
    }
}

#[test]
fn unanswered_cancelled_message_is_sent_if_its_user_repeats_it() {
    let mut rig = Rig::begun(options(), "Count");
    rig.cancel("1");
    rig.session(crate::thread::ended("cancelled"));
    rig.take_commands();
    rig.run(input("2", &[user("u-1", "Count")], &json!({}))).unwrap();
    assert_eq!(rig.prompt(), ["Count"]);
    rig.session(said("One."));
    rig.end();
    let messages = [
        user("u-1", "Count"),
        json!({"id": "msg-1", "role": "assistant", "content": "One."}),
        user("u-3", "Again"),
    ];
    let mut later = restarted(&rig, options(), AgentFeatures::default());
    later.run(input("3", &messages, &json!({}))).unwrap();
    later.open("s2");
    assert!(later.prompt().concat().contains("User: Count"));
}

/// The thread that refuses an edited message accepts it in a later process.
#[test]
fn cancelled_message_behind_a_refused_edit_is_not_sent() {
    let mut options = queueing();
    options.rules.divergence = Divergence::Reject;
    options.rules.new_alone = false;
    let mut rig = Rig::connected(options.clone());
    rig.say("1", "Hi").unwrap();
    let messages = [user("u-1", "Hi, edited"), user("u-2", "Delete it"), user("u-3", "Hello")];
    rig.run(input("2", &messages[..2], &json!({}))).unwrap();
    rig.cancel("2");
    let mut later = restarted(&rig, options, AgentFeatures::default());
    later.run(input("3", &messages, &json!({}))).unwrap();
    later.open("s");
    assert_eq!(later.prompt(), ["Hi, edited", "Hello"]);
}

#[derive(Clone, Debug)]
enum Op {
    /// A run with the conversation and a new message.
    Say,
    /// A run with the conversation up to this message.
    Repeat(u8),
    /// A run with a changed message, without those after it.
    Edit(u8),
    Cancel(u8),
    Open,
    Answer,
    End,
    Reconnect,
    /// Another process, after a shutdown or without one.
    Restart(bool),
    Wait,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => Just(Op::Say),
        2 => any::<u8>().prop_map(Op::Repeat),
        1 => any::<u8>().prop_map(Op::Edit),
        5 => (0..3u8).prop_map(Op::Cancel),
        4 => Just(Op::Open),
        2 => Just(Op::Answer),
        4 => Just(Op::End),
        1 => Just(Op::Reconnect),
        2 => any::<bool>().prop_map(Op::Restart),
        1 => Just(Op::Wait),
    ]
}

/// A page with its thread.
struct Page {
    rig: Rig,
    options: ConversationOptions,
    features: AgentFeatures,
    /// Whether each input has new ids of messages.
    renews_ids: bool,
    /// Id, role and text of each message.
    messages: Vec<(String, &'static str, String)>,
    /// The number of events that the messages contain.
    read: usize,
    runs: usize,
    /// Texts of the user in the inputs of open runs.
    open: BTreeMap<usize, Vec<String>>,
    sent: BTreeSet<String>,
    /// Texts that were cancelled before they were sent.
    cancelled: BTreeSet<String>,
    prompts: usize,
}

impl Page {
    fn read_events(&mut self) {
        for (run, event) in self.rig.events.iter().skip(self.read) {
            match event {
                Event::TextMessageContent(content) => {
                    let id = content.message_id.to_string();
                    match self.messages.iter_mut().find(|message| message.0 == id) {
                        Some(message) => message.2.push_str(&content.delta),
                        None => self.messages.push((id, "assistant", content.delta.clone())),
                    }
                }
                Event::RunFinished(_) | Event::RunError(_) => {
                    self.open.remove(&run.parse::<usize>().unwrap());
                }
                _ => {}
            }
        }
        self.read = self.rig.events.len();
        for (run, _) in &self.rig.refused {
            self.open.remove(&run.parse::<usize>().unwrap());
        }
    }

    /// Records that a run is cancelled, if it is open and its message was not sent.
    fn note_cancelled(&mut self, run: usize) {
        let Some(mut texts) = self.open.remove(&run) else { return };
        let Some(text) = texts.pop() else { return };
        // An earlier run may have the message in its own prompt.
        let is_of = |(other, texts): (&usize, &Vec<String>)| {
            texts.last() == Some(&text) || *other < run && texts.contains(&text)
        };
        if !self.sent.contains(&text) && !self.open.iter().any(is_of) {
            self.cancelled.insert(text);
        }
    }

    fn post(&mut self) -> Result<(), TestCaseError> {
        self.runs += 1;
        let run = self.runs;
        let texts = self.messages.iter().map(|(id, role, text)| {
            let id = if self.renews_ids { format!("{run}-{id}") } else { id.clone() };
            json!({"id": id, "role": role, "content": text})
        });
        let texts: Vec<Value> = texts.collect();
        let last = self.messages.last().unwrap().2.clone();
        let is_superseding = self.options.when_busy == WhenBusy::Supersede;
        let open: Vec<usize> = self.open.keys().copied().collect();
        let was_cancelled = self.cancelled.remove(&last);
        let accepted = self.rig.run(input(&run.to_string(), &texts, &json!({})));
        if accepted.is_ok() {
            let users = self.messages.iter().filter(|message| message.1 == "user");
            self.open.insert(run, users.map(|message| message.2.clone()).collect());
            if is_superseding {
                open.into_iter().for_each(|run| self.note_cancelled(run));
            }
        } else {
            self.cancelled.extend(was_cancelled.then_some(last));
        }
        Ok(())
    }

    fn user_message(&self, nth: u8) -> Option<usize> {
        let users = self.messages.iter().enumerate().filter(|(_, message)| message.1 == "user");
        let users: Vec<usize> = users.map(|(index, _)| index).collect();
        users.get(usize::from(nth) % users.len().max(1)).copied()
    }

    fn play(&mut self, op: &Op) -> Result<(), TestCaseError> {
        match op {
            Op::Say => {
                let number = self.runs;
                self.messages.push((format!("u{number}"), "user", format!("<{number}>")));
                self.post()?;
            }
            Op::Repeat(nth) => {
                if let Some(index) = self.user_message(*nth) {
                    self.messages.truncate(index + 1);
                    self.post()?;
                }
            }
            Op::Edit(nth) => {
                if let Some(index) = self.user_message(*nth) {
                    self.messages.truncate(index + 1);
                    self.messages[index].2 = format!("<{} edited>", self.runs);
                    self.post()?;
                }
            }
            Op::Cancel(back) => {
                let run = self.runs.saturating_sub(usize::from(*back));
                if self.rig.cancel(&run.to_string()) {
                    self.note_cancelled(run);
                }
            }
            Op::Open if self.rig.session.is_some() => self.rig.open("s"),
            Op::Answer if self.rig.session.is_some() => {
                self.rig.session(said("Done."));
            }
            Op::End if self.rig.session.is_some() => {
                self.rig.session(crate::thread::ended("end_turn"));
            }
            Op::Open | Op::Answer | Op::End => {}
            Op::Reconnect => {
                self.rig.disconnect();
                self.rig.connect(self.features.clone());
            }
            Op::Restart(is_orderly) => {
                if *is_orderly {
                    let now = self.rig.now;
                    let open: Vec<usize> = self.open.keys().copied().collect();
                    open.into_iter().for_each(|run| self.note_cancelled(run));
                    self.rig.thread.handle_failure(Failure::GatewayShutdown, "ending", now);
                    self.rig.wait(Duration::ZERO);
                    self.read_events();
                    self.check()?;
                }
                let later = restarted(&self.rig, self.options.clone(), self.features.clone());
                let notices = std::mem::replace(&mut self.rig, later).notices;
                self.rig.notices.splice(..0, notices);
                self.open.clear();
                self.read = 0;
                self.prompts = 0;
            }
            Op::Wait => self.rig.wait(Duration::from_secs(11)),
        }
        self.check()?;
        self.read_events();
        Ok(())
    }

    /// Checks the prompts since the last check.
    fn check(&mut self) -> Result<(), TestCaseError> {
        let prompts = self.rig.commands.iter().filter_map(|command| match command {
            Command::Prompt { blocks, .. } => Some(serde_json::to_string(blocks).unwrap()),
            _ => None,
        });
        let prompts: Vec<String> = prompts.skip(self.prompts).collect();
        self.prompts += prompts.len();
        for prompt in prompts {
            let found = self.cancelled.iter().find(|text| prompt.contains(*text));
            prop_assert_eq!(found, None, "{}", prompt);
            let texts = self.open.values().flatten();
            self.sent.extend(texts.filter(|text| prompt.contains(*text)).cloned());
        }
        Ok(())
    }
}

prop_compose! {
    fn pages()(
        when_busy in select(vec![WhenBusy::Reject, WhenBusy::Queue, WhenBusy::Supersede]),
        divergence in select(vec![
            Divergence::NewSession, Divergence::Fork, Divergence::Ignore, Divergence::Reject,
        ]),
        session in select(vec![SessionScope::Thread, SessionScope::Turn]),
        new_alone in any::<bool>(),
        resume in any::<bool>(),
        load in any::<bool>(),
        fork in any::<bool>(),
        renews_ids in any::<bool>(),
    ) -> Page {
        let mut options = options();
        options.when_busy = when_busy;
        options.rules.divergence = divergence;
        options.rules.session = session;
        options.rules.new_alone = new_alone;
        let mut features = AgentFeatures::default();
        features.resume = resume;
        features.load = load;
        features.fork = fork;
        let mut rig = Rig::new(options.clone());
        rig.connect(features.clone());
        Page {
            rig,
            options,
            features,
            renews_ids,
            messages: Vec::new(),
            read: 0,
            runs: 0,
            open: BTreeMap::new(),
            sent: BTreeSet::new(),
            cancelled: BTreeSet::new(),
            prompts: 0,
        }
    }
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {:?} renews ids: {}", self.options, self.features, self.renews_ids)
    }
}

proptest! {
    #![proptest_config(cases())]

    /// No prompt has the text of an instruction that was cancelled before it was sent, unless its
    /// user repeats it.
    #[test]
    fn cancelled_instruction_is_in_no_prompt(
        mut page in pages(),
        steps in proptest::collection::vec(op(), 0..40),
    ) {
        for op in &steps {
            page.play(op)?;
        }
    }
}
