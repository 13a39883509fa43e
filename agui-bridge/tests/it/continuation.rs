//! A conversation survives every way of going on: the messages of a page and of its store never
//! become fewer, except by an edit of the user.
use crate::generated::cases;
use crate::thread::{ended, input, opened, options, update, user};
use acp_types::client::SessionEvent;
use acp_types::v1::content::ContentBlock;
use agui_bridge::conversation::{
    AgentFeatures, Command, Conversation, ConversationOptions, RunEvent, RunOutput, RunRequest,
    SessionNumber, SessionOrigin,
};
use agui_bridge::{CancelReason, Failure, Times};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use agui_types::reduce::Reducer;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The way in which an agent goes on with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    /// `session/resume`, with updates of the session before the response.
    Resumes,
    /// `session/load` with the replay before the response.
    Loads,
    /// `session/load` with this number of parts of the replay before the response, and the others
    /// after it.
    LoadsLate(usize),
    Neither,
}

/// The messages that a page sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inputs {
    Whole,
    /// New messages alone; the store has the earlier ones.
    NewWithStore,
    /// New messages alone, without a store.
    New,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Complete,
    Cancelled,
    /// The agent is killed in its answer, of which it has stored this.
    Killed(StoredKind),
    /// The program ends in the answer.
    Shutdown,
    /// The program is killed in the answer, with the agent.
    ProgramKilled(StoredKind),
}

#[derive(Clone, Copy, Debug)]
enum StoredKind {
    Nothing,
    Question,
    Answer,
}

/// A message of the user and its turn.
#[derive(Clone, Debug)]
struct Said {
    text: &'static str,
    /// Pieces of the answer.
    answer: Vec<&'static str>,
    call: Option<&'static str>,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Restart {
    /// The program ends.
    Shutdown,
    /// The program is killed.
    Kill,
    /// The program is killed, and did not store the session.
    WithoutSession,
}

#[derive(Clone, Debug)]
enum Op {
    Say(Said),
    /// Replaces a message of the user, counted from the end.
    Edit(usize, Said),
    KillAgent,
    Restart(Restart),
}

fn said() -> impl Strategy<Value = Said> {
    let text = select(vec!["one", "two", "go on", "say it\nin lines"]);
    let piece = select(vec!["ok", "o", "I ", "see. ", "Done.", " \n", "I read the file first. "]);
    let answer = prop::collection::vec(piece, 0..4);
    let call = prop::option::of(select(vec!["call_1", "call_2"]));
    let end = prop_oneof![
        6 => Just(End::Complete),
        1 => Just(End::Cancelled),
        1 => Just(End::Shutdown),
        1 => select(vec![StoredKind::Nothing, StoredKind::Question, StoredKind::Answer]).prop_map(End::Killed),
        1 => select(vec![StoredKind::Nothing, StoredKind::Question, StoredKind::Answer])
            .prop_map(End::ProgramKilled),
    ];
    (text, answer, call, end).prop_map(|(text, answer, call, end)| Said { text, answer, call, end })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => said().prop_map(Op::Say),
        1 => (0..3_usize, said()).prop_map(|(back, said)| Op::Edit(back, said)),
        2 => Just(Op::KillAgent),
        2 => select(vec![Restart::Shutdown, Restart::Kill, Restart::WithoutSession])
            .prop_map(Op::Restart),
    ]
}

/// A turn as the agent has stored it.
#[derive(Clone, Debug)]
struct Turn {
    prompt: Vec<String>,
    call: Option<&'static str>,
    answer: String,
    /// Whether it ended regularly.
    is_complete: bool,
    /// Whether its run is known to have shown nothing but its answer.
    is_exact: bool,
}

struct World {
    agent: Agent,
    /// Whether the agent repeats its prompts.
    has_echo: bool,
    facts: Vec<Value>,
    inputs: Inputs,
    thread: Conversation,
    is_connected: bool,
    session: Option<SessionNumber>,
    session_id: String,
    /// The stored sessions of the agent.
    sessions: BTreeMap<String, Vec<Turn>>,
    /// The rest of a replay, with its session.
    late: Vec<(SessionNumber, Value)>,
    /// Silence that ends a late replay; with zero prompts are sent before its end.
    silence: Duration,
    now: Duration,
    prompt: Option<Vec<String>>,
    page: Vec<Message>,
    store: Vec<Message>,
    runs: usize,
    events: Vec<Event>,
    /// The new message of the user in this run.
    new: Vec<String>,
    /// Whether the message was sent before.
    is_again: bool,
    /// Whether a late replay of this run may equal a new answer.
    is_ambiguous: bool,
    /// The part of the answer that the agent has sent in this run.
    sent: String,
}

fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

fn call_of(id: &str, status: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Edit", "kind": "edit", "status": status})
}

fn replay_of(turns: &[Turn]) -> Vec<Value> {
    let mut replay = Vec::new();
    for turn in turns {
        replay.extend(turn.prompt.iter().map(|block| chunk("user_message_chunk", block)));
        replay.extend(turn.call.map(|id| call_of(id, "completed")));
        if !turn.answer.is_empty() {
            replay.push(chunk("agent_message_chunk", &turn.answer));
        }
    }
    replay
}

/// Updates of a session beside its conversation.
fn facts() -> impl Strategy<Value = Vec<Value>> {
    prop::sample::subsequence(
        vec![
            json!({"sessionUpdate": "session_info_update", "title": "T"}),
            json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
            json!({"sessionUpdate": "replay_complete"}),
        ],
        0..=4,
    )
}

fn agent() -> impl Strategy<Value = Agent> {
    prop_oneof![
        Just(Agent::Resumes),
        Just(Agent::Loads),
        (0..6_usize).prop_map(Agent::LoadsLate),
        Just(Agent::Neither),
    ]
}

/// Returns a text without white space: a blank text of a replay cannot be recognized.
fn printed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns role, id and text of a message that a page shows.
fn shown(message: &Message) -> Option<(String, String)> {
    let value = serde_json::to_value(message).ok()?;
    let text = value["content"].as_str().unwrap_or_default().trim().to_owned();
    let has_text = matches!(message, Message::User(_) | Message::Assistant(_)) && !text.is_empty();
    has_text.then(|| (message.tag().to_owned(), text))
}

/// Returns whether all messages are still there, in order; the last answer may have become longer.
fn contains(after: &[Message], before: &[Message]) -> bool {
    let mut after = after.iter().filter_map(shown);
    let before: Vec<_> = before.iter().filter_map(shown).collect();
    before.iter().all(|(role, text)| {
        after.any(|(other, longer)| {
            *role == other && (longer == *text || *role == "assistant" && longer.starts_with(text))
        })
    })
}

impl World {
    fn new(agent: Agent, has_echo: bool, facts: Vec<Value>, inputs: Inputs) -> Self {
        Self {
            agent,
            has_echo,
            facts,
            inputs,
            silence: Duration::ZERO,
            now: Duration::ZERO,
            thread: Conversation::new(options()),
            is_connected: false,
            session: None,
            session_id: String::new(),
            sessions: BTreeMap::new(),
            late: Vec::new(),
            prompt: None,
            page: Vec::new(),
            store: Vec::new(),
            runs: 0,
            events: Vec::new(),
            new: Vec::new(),
            is_again: false,
            is_ambiguous: false,
            sent: String::new(),
        }
    }

    /// Lets prompts wait for the end of a late replay.
    fn with_silence(mut self) -> Self {
        self.silence = Times::REPLAY;
        self.thread = Conversation::new(self.options());
        self
    }

    fn options(&self) -> ConversationOptions {
        let mut options = options();
        options.translator.times.replay = self.silence;
        options
    }

    fn features(&self) -> AgentFeatures {
        let mut features = AgentFeatures::default();
        features.resume = self.agent == Agent::Resumes;
        features.load = matches!(self.agent, Agent::Loads | Agent::LoadsLate(_));
        features
    }

    fn play(&mut self, op: &Op) -> Result<(), TestCaseError> {
        match op {
            Op::Say(said) => {
                self.is_again = false;
                self.say(said, None)
            }
            Op::Edit(back, said) => {
                let users = self.page.iter().enumerate().rev();
                let mut users = users.filter(|(_, message)| matches!(message, Message::User(_)));
                let Some((place, message)) = users.nth(*back) else { return Ok(()) };
                let id = message.id().map(|id| id.to_string());
                self.is_again = shown(message).is_some_and(|(_, text)| text == said.text);
                self.page.truncate(place);
                self.say(said, id)
            }
            Op::KillAgent => {
                self.kill();
                Ok(())
            }
            Op::Restart(restart) => {
                self.restart(*restart);
                Ok(())
            }
        }
    }

    fn restart(&mut self, restart: Restart) {
        if restart == Restart::Shutdown {
            self.thread.handle_failure(Failure::GatewayShutdown, "ends", self.now);
            self.drain();
        }
        let is_stored = restart != Restart::WithoutSession;
        let remembered = self.thread.remembered().cloned().filter(|_| is_stored);
        if restart == Restart::Shutdown {
            self.kill();
        } else {
            self.forget_agent();
        }
        self.thread = Conversation::new(self.options());
        if let Some(remembered) = remembered {
            let text = serde_json::to_string(&remembered).unwrap();
            let remembered = serde_json::from_str(&text).unwrap();
            self.thread = Conversation::new(self.options()).with_remembered(remembered);
        }
    }

    fn kill(&mut self) {
        if self.is_connected {
            self.thread.handle_disconnected(Failure::AgentExited, "gone", self.now);
            self.drain();
        }
        self.forget_agent();
    }

    fn forget_agent(&mut self) {
        self.is_connected = false;
        self.session = None;
        self.late.clear();
        self.prompt = None;
    }

    /// A run: the page sends a message, and the agent works on it. `edited` is the id of a message
    /// that it replaces.
    fn say(&mut self, said: &Said, edited: Option<String>) -> Result<(), TestCaseError> {
        if !self.is_connected {
            self.thread.handle_connected(self.features(), self.now);
            self.is_connected = true;
        }
        self.runs += 1;
        let run = format!("run-{}", self.runs);
        let id = edited.clone().unwrap_or_else(|| format!("user-{}", self.runs));
        let new = user(&id, said.text);
        let whole: Vec<Value> = self
            .page
            .iter()
            .map(|message| serde_json::to_value(message).unwrap())
            .chain([new.clone()])
            .collect();
        let is_whole = self.inputs == Inputs::Whole || edited.is_some();
        let sent = if is_whole { whole.clone() } else { vec![new] };
        let sent = input(&run, &sent, &json!({}));
        let page = input(&run, &whole, &json!({}));
        let mut stored = sent.clone();
        let mut request = RunRequest::from(sent);
        if !is_whole && self.inputs == Inputs::NewWithStore {
            stored.messages.splice(..0, self.store.iter().cloned());
            request.history = stored.messages.clone();
        }
        self.events.clear();
        self.new = vec![said.text.to_owned()];
        self.is_ambiguous = false;
        self.sent.clear();
        let accepted = self.thread.handle_run(request, self.now);
        prop_assert!(accepted.is_ok(), "{:?}", accepted);
        self.drain();
        self.end_silence();
        prop_assert!(self.prompt.is_some());
        self.work(said, &run);
        prop_assert!(!self.thread.is_running());
        self.check_news(said)?;
        let has_store = self.inputs != Inputs::New;
        self.page = self.apply(&page)?;
        prop_assert!(contains(&self.page, &page.messages), "{:?}\n{:?}", self.page, page.messages);
        if has_store {
            self.store = self.apply(&stored)?;
            prop_assert!(contains(&self.store, &stored.messages));
            self.check_users(&page)?;
        }
        Ok(())
    }

    /// Checks that the run has shown the new answer, and nothing else where a replay can be
    /// recognized.
    fn check_news(&mut self, said: &Said) -> Result<(), TestCaseError> {
        let shown = self.events.iter().filter_map(|event| match event {
            Event::TextMessageContent(content) => Some(content.delta.as_str()),
            _ => None,
        });
        let shown: String = shown.collect();
        if matches!(said.end, End::ProgramKilled(_)) {
            // The program may have waited for the end of a replay.
            prop_assert!(self.is_ambiguous || printed(&self.sent).ends_with(&printed(&shown)));
            return Ok(());
        }
        let is_call = |event: &&Event| matches!(event, Event::ToolCallStart(_));
        let calls = self.events.iter().filter(is_call).count();
        if self.is_ambiguous {
            prop_assert!(shown.ends_with(&self.sent), "{:?} of {:?}", self.sent, shown);
            prop_assert!(calls >= usize::from(said.call.is_some()));
            let turns = self.sessions.get_mut(&self.session_id);
            if let Some(turn) = turns.and_then(|turns| turns.last_mut()) {
                turn.is_exact = false;
            }
        } else {
            prop_assert_eq!(printed(&shown), printed(&self.sent));
            prop_assert!(shown.ends_with(&self.sent), "{:?} of {:?}", self.sent, shown);
            prop_assert_eq!(calls, usize::from(said.call.is_some()));
        }
        Ok(())
    }

    /// Checks that each message of the user is there once.
    fn check_users(&self, page: &RunAgentInput) -> Result<(), TestCaseError> {
        let users = |messages: &[Message]| {
            let shown = messages.iter().filter_map(shown);
            shown.filter(|(role, _)| role == "user").map(|(_, text)| text).collect::<Vec<_>>()
        };
        prop_assert_eq!(users(&self.page), users(&page.messages));
        Ok(())
    }

    /// Applies the events of the run to messages, and checks each snapshot.
    fn apply(&self, before: &RunAgentInput) -> Result<Vec<Message>, TestCaseError> {
        let mut reducer = Reducer::for_input(before).unwrap();
        for event in &self.events {
            if let Event::MessagesSnapshot(snapshot) = event {
                let messages = reducer.messages();
                prop_assert!(
                    contains(&snapshot.messages, messages),
                    "{:?}\n{:?}",
                    snapshot,
                    messages
                );
            }
            let _ = reducer.handle(event);
        }
        Ok(reducer.into_parts().0)
    }

    fn handle(&mut self, event: SessionEvent) {
        if let Some(session) = self.session {
            assert!(self.thread.handle_session(session, event, self.now).is_none());
            self.drain();
        }
    }

    fn handle_update(&mut self, value: &Value) {
        self.handle(SessionEvent::Update(update(value)));
    }

    /// The agent sends the rest of a replay.
    fn send_late(&mut self) {
        for (session, part) in core::mem::take(&mut self.late) {
            let event = SessionEvent::Update(update(&part));
            assert!(self.thread.handle_session(session, event, self.now).is_none());
            self.drain();
        }
    }

    /// The agent sends the rest of a replay, and is silent afterwards.
    fn end_silence(&mut self) {
        if self.prompt.is_none() {
            self.send_late();
            assert!(self.prompt.is_none(), "the replay may go on");
            self.now += self.silence;
            self.thread.handle_timeout(self.now);
            self.drain();
        }
    }

    /// The agent works on its prompt.
    fn work(&mut self, said: &Said, run: &str) {
        let Some(prompt) = self.prompt.take() else { return };
        self.send_late();
        if self.has_echo {
            prompt.iter().for_each(|block| self.handle_update(&chunk("user_message_chunk", block)));
        }
        for fact in self.facts.clone() {
            self.handle_update(&fact);
        }
        let call = said.call;
        if let Some(id) = call {
            self.handle_update(&call_of(id, "completed"));
        }
        let is_cut = !matches!(said.end, End::Complete);
        let pieces = said.answer.len().div_ceil(if is_cut { 2 } else { 1 });
        for piece in &said.answer[..pieces] {
            self.handle_update(&chunk("agent_message_chunk", piece));
        }
        self.sent = said.answer[..pieces].concat();
        let answer = match said.end {
            End::Cancelled | End::Shutdown => said.answer[..pieces].concat(),
            _ => said.answer.concat(),
        };
        let is_complete = matches!(said.end, End::Complete);
        let mut turn = Turn { prompt, call, answer, is_complete, is_exact: true };
        match said.end {
            End::Killed(StoredKind::Nothing) => return self.kill(),
            End::ProgramKilled(StoredKind::Nothing) => return self.restart(Restart::Kill),
            End::Killed(StoredKind::Question) | End::ProgramKilled(StoredKind::Question) => {
                turn.call = None;
                turn.answer.clear();
            }
            _ => {}
        }
        self.sessions.entry(self.session_id.clone()).or_default().push(turn);
        match said.end {
            End::Complete => self.handle(ended("end_turn")),
            End::Cancelled => {
                self.thread.handle_cancel(&run.into(), CancelReason::User, self.now);
                self.drain();
                self.handle(ended("cancelled"));
            }
            End::Killed(_) => self.kill(),
            End::ProgramKilled(_) => self.restart(Restart::Kill),
            End::Shutdown => {
                self.thread.handle_failure(Failure::GatewayShutdown, "ends", self.now);
                self.drain();
                self.kill();
            }
        }
    }

    /// Records whether a late replay of these turns may equal a new answer.
    ///
    /// - The agent may have the last answer, as far as the thread has it, or none of it, if its
    ///   turn was cut off or cancelled.
    /// - The thread may have parts of an earlier replay in an answer, for the same reasons.
    /// - The prompt may be the last one of the replay or its own repetition, if both are equal;
    ///   also if the thread has further equal messages, which the agent may lack.
    /// - The agent may have or lack a message that is sent again.
    /// - The last message of the replay may be an earlier one that is equal, if the agent lacks one
    ///   of them and no answer follows it.
    fn note_ambiguity(&mut self, turns: &[Turn]) {
        let new = self.new.as_slice();
        let is_repeated = |turn: &Turn| turn.prompt.iter().any(|text| new.contains(text));
        let is_last_unclear =
            turns.last().is_some_and(|turn| !turn.is_complete || is_repeated(turn));
        let users = self.page.iter().rev().filter_map(shown).filter(|(role, _)| role == "user");
        let users = users.map(|(_, text)| text);
        let is_bare = |turn: &Turn| turn.call.is_none() && turn.answer.trim().is_empty();
        let is_lacked = |turn: &Turn| {
            let shown = users.clone().filter(|text| turn.prompt.contains(text)).count();
            let repeated = turns.iter().filter(|other| other.prompt.last() == turn.prompt.last());
            shown > repeated.count()
        };
        let is_doubtful = turns.last().is_some_and(|turn| is_bare(turn) && is_lacked(turn));
        let mut lacking = users
            .clone()
            .take_while(|text| turns.last().is_none_or(|turn| !turn.prompt.contains(text)));
        let is_lacking = lacking.any(|text| new.contains(&text));
        let is_inexact = turns.iter().any(|turn| !turn.is_exact);
        let is_repeated = self.is_again || is_lacking;
        self.is_ambiguous = is_last_unclear || is_doubtful || is_repeated || is_inexact;
    }

    /// Opens a session as the agent does.
    fn open(&mut self, number: SessionNumber, origin: &SessionOrigin) {
        self.session = Some(number);
        let context = chunk("user_message_chunk", "<session_context>");
        let mut before = self.facts.clone();
        match origin {
            SessionOrigin::Resume(id) => self.session_id = id.to_string(),
            SessionOrigin::Load(id) => {
                self.session_id = id.to_string();
                let turns = self.sessions.get(&self.session_id).cloned().unwrap_or_default();
                before.push(context);
                let mut replay = replay_of(&turns);
                if let Agent::LoadsLate(early) = self.agent {
                    if self.silence.is_zero() {
                        self.note_ambiguity(&turns);
                    }
                    let late = replay.split_off(early.min(replay.len()));
                    self.late = late.into_iter().map(|part| (number, part)).collect();
                }
                before.extend(replay);
            }
            _ => {
                self.session_id = format!("session-{}", self.sessions.len());
                self.sessions.insert(self.session_id.clone(), Vec::new());
                before.clear();
            }
        }
        let SessionEvent::Opened(mut event) = opened(&self.session_id, &json!({})) else { return };
        event.replay = before.iter().map(update).collect();
        assert!(
            self.thread.handle_session(number, SessionEvent::Opened(event), self.now).is_none()
        );
    }

    fn drain(&mut self) {
        while let Some(command) = self.thread.poll_command() {
            match command {
                Command::Open(number, open) => self.open(number, &open.origin),
                Command::Prompt { blocks, .. } => {
                    let text = |block: &ContentBlock| match block {
                        ContentBlock::Text(text) => text.text.clone(),
                        _ => "<resource>".to_owned(),
                    };
                    self.prompt = Some(blocks.iter().map(text).collect());
                }
                _ => {}
            }
        }
        while let Some(RunEvent { output, .. }) = self.thread.poll_event() {
            if let RunOutput::Event(event) = output {
                self.events.push(event);
            }
        }
        while self.thread.poll_notice().is_some() {}
    }
}

proptest! {
    #![proptest_config(cases())]

    /// The messages of a page and of its store never become fewer nor doubled, and each run shows
    /// its answer, for any order of the response to `session/load`, its replay, the prompt's
    /// repetition and the updates of the turn.
    #[test]
    fn messages_never_become_fewer(
        agent in agent(),
        has_echo in any::<bool>(),
        waits in any::<bool>(),
        facts in facts(),
        inputs in select(vec![Inputs::Whole, Inputs::NewWithStore, Inputs::New]),
        ops in prop::collection::vec(op(), 1..12),
    ) {
        // Without the texts of a thread, a replay cannot be compared with it.
        let needs_texts = matches!(agent, Agent::Loads | Agent::LoadsLate(_));
        let has_texts = inputs != Inputs::New;
        let inputs = if needs_texts && !has_texts { Inputs::NewWithStore } else { inputs };
        let mut world = World::new(agent, has_echo, facts, inputs);
        if waits {
            world = world.with_silence();
        }
        for op in &ops {
            world.play(op)?;
        }
    }
}

fn saying(text: &'static str, answer: &[&'static str], call: Option<&'static str>, end: End) -> Op {
    Op::Say(Said { text, answer: answer.to_vec(), call, end })
}

/// Plays turns with an agent that responds to `session/load` after this number of parts of the
/// replay.
fn play_late(early: usize, ops: &[Op]) -> Result<(), TestCaseError> {
    let mut world = World::new(Agent::LoadsLate(early), false, Vec::new(), Inputs::Whole);
    ops.iter().try_for_each(|op| world.play(op))
}

#[test]
fn call_is_recognized_after_each_repetition_of_its_message() -> Result<(), TestCaseError> {
    let ops = [
        saying("two", &[], Some("call_2"), End::Cancelled),
        saying("two", &[], Some("call_2"), End::Complete),
        Op::KillAgent,
        saying("go on", &[], None, End::Complete),
    ];
    play_late(0, &ops)
}

/// The call of the first answer is that of the second one, too.
#[test]
fn text_of_an_equal_message_is_not_shown_again() -> Result<(), TestCaseError> {
    let ops = [
        saying("two", &["ok"], Some("call_2"), End::Cancelled),
        saying("two", &[], Some("call_2"), End::Complete),
        Op::KillAgent,
        saying("one", &[], None, End::Complete),
    ];
    play_late(0, &ops)
}

/// The agent has each whole answer, so that a repeated message is not one behind such an answer.
#[test]
fn repeated_message_is_not_one_behind_a_whole_answer() -> Result<(), TestCaseError> {
    let ops = [
        saying("go on", &["ok"], None, End::Cancelled),
        saying("go on", &[], Some("call_1"), End::Complete),
        saying("two", &["ok"], None, End::Complete),
        saying("go on", &[], None, End::Killed(StoredKind::Nothing)),
        saying("one", &[], None, End::Complete),
    ];
    play_late(3, &ops)
}

/// The agent may lack an answer that was cut off, and begin the next one with the same text.
#[test]
fn answer_is_shown_if_it_begins_as_one_that_was_cut_off() -> Result<(), TestCaseError> {
    let answer = ["I read the file first. ", "Now I edit it.", " Done."];
    for stored in [StoredKind::Nothing, StoredKind::Question, StoredKind::Answer] {
        let ops = [
            saying("one", &answer, None, End::Killed(stored)),
            saying("two", &answer, None, End::Complete),
        ];
        play_late(0, &ops)?;
    }
    Ok(())
}

/// An answer that was cut off is not shown again when the agent repeats it after its response, nor
/// is an equal new one left out.
#[test]
fn repetition_before_a_silence_is_no_answer() -> Result<(), TestCaseError> {
    let answer = ["I read the file first. ", "Now I edit it.", " Done."];
    for stored in [StoredKind::Nothing, StoredKind::Question, StoredKind::Answer] {
        for early in 0..4 {
            let mut world = World::new(Agent::LoadsLate(early), false, Vec::new(), Inputs::Whole)
                .with_silence();
            for end in [End::Killed(stored), End::Complete] {
                world.play(&saying("one", &answer, Some("call_1"), end))?;
                assert!(!world.is_ambiguous);
            }
        }
    }
    Ok(())
}

/// The first message is not in the second session, so that the only one there is the second.
#[test]
fn answer_is_shown_if_it_equals_the_one_of_an_equal_message() -> Result<(), TestCaseError> {
    for (answer, call) in [(&[][..], Some("call_2")), (&["ok"], None)] {
        let ops = [
            saying("two", &["o"], None, End::Complete),
            Op::Restart(Restart::WithoutSession),
            saying("two", answer, call, End::Complete),
            Op::KillAgent,
            saying("two", answer, call, End::Complete),
        ];
        let mut world = World::new(Agent::Loads, true, Vec::new(), Inputs::Whole);
        ops.iter().try_for_each(|op| world.play(op))?;
    }
    Ok(())
}

/// The early part of the replay has a message twice, so that its whole answer is not missing.
#[test]
fn message_that_is_repeated_early_is_not_doubtful() -> Result<(), TestCaseError> {
    let ops = [
        saying("one", &[], None, End::Cancelled),
        saying("one", &[], None, End::Complete),
        Op::KillAgent,
        saying("two", &["ok"], Some("call_1"), End::Complete),
        Op::KillAgent,
        saying("go on", &[], None, End::Complete),
    ];
    play_late(4, &ops)
}
