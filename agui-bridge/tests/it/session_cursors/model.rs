//! A model of an agent with cursors: a fork at a cursor has exactly the messages that the user has
//! kept.
use super::forks;
use crate::generated::cases;
use crate::thread::{Rig, ended, input, opened, options, raw, read};
use acp_types::client::{ReceivedValue, SessionEvent, TurnEnd, TurnKey, Update};
use agui_bridge::conversation::{
    Command, Conversation, RememberedSession, RunRequest, SessionOrigin,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Op {
    Say(Answer),
    /// Edits a message of the user, by its number.
    Edit(u8, Answer),
    /// Requests another answer to a message of the user, by its number.
    Repeat(u8, Answer),
    /// Announces or changes a cursor outside of a turn.
    Cursor(CursorOp),
    /// Goes on in another thread, with the messages before one of the user, by its number, or with
    /// all of them.
    Branch(Option<u8>, Answer),
    /// Serializes and restores the conversation.
    Serialize,
    /// Continues the session in another process.
    Restart,
}

/// A turn of the agent.
#[derive(Clone, Debug)]
struct Answer {
    /// Whether the agent names the message of the prompt.
    names_prompt: bool,
    /// Kinds of entries, and whether they have an id.
    entries: Vec<(&'static str, bool)>,
    /// A tool call of the session that changes late, by its number.
    late: Option<u8>,
    cursors: Vec<CursorOp>,
}

/// A cursor beside an entry, by its number.
#[derive(Clone, Copy, Debug)]
struct CursorOp {
    entry: u8,
    is_after: bool,
    can_fork: bool,
}

/// An entry of the agent's timeline.
#[derive(Clone, Debug)]
struct Entry {
    kind: &'static str,
    id: Option<String>,
    /// Texts of messages of the user and the agent. The first prompt of a session has the earlier
    /// ones.
    texts: Vec<String>,
}

/// A cursor of the agent.
#[derive(Clone, Debug)]
struct Cursor {
    /// Number of entries before it.
    length: usize,
    /// The entry that it is anchored before.
    before: Option<usize>,
    can_fork: bool,
}

#[derive(Clone, Debug, Default)]
struct Session {
    id: String,
    entries: Vec<Entry>,
    cursors: BTreeMap<String, Cursor>,
    /// Number of ids.
    ids: usize,
}

struct World {
    rig: Rig,
    is_v2: bool,
    /// Whether the entries of a fork have the ids of the original ones. Otherwise new entries have
    /// them.
    keeps_ids: bool,
    sessions: BTreeMap<String, Session>,
    /// The session of the thread.
    current: String,
    /// The messages of the page: role and text.
    messages: Vec<(&'static str, String)>,
    /// The thread that the present one branches off from, until it has a session.
    source: Option<Box<RememberedSession>>,
    texts: usize,
    runs: usize,
}

fn cursor_op() -> impl Strategy<Value = CursorOp> {
    (any::<u8>(), any::<bool>(), prop::bool::weighted(0.8))
        .prop_map(|(entry, is_after, can_fork)| CursorOp { entry, is_after, can_fork })
}

fn answer() -> impl Strategy<Value = Answer> {
    let kind = select(vec!["agent_message", "agent_message", "agent_thought", "tool_call"]);
    let entry = (kind, prop::bool::weighted(0.9));
    let entries = prop::collection::vec(entry, 0..4);
    let late = prop::option::weighted(0.2, any::<u8>());
    let cursors = prop::collection::vec(cursor_op(), 0..5);
    (prop::bool::weighted(0.7), entries, late, cursors).prop_map(
        |(names_prompt, entries, late, cursors)| Answer { names_prompt, entries, late, cursors },
    )
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => answer().prop_map(Op::Say),
        4 => (any::<u8>(), answer()).prop_map(|(nth, answer)| Op::Edit(nth, answer)),
        2 => (any::<u8>(), answer()).prop_map(|(nth, answer)| Op::Repeat(nth, answer)),
        2 => (prop::option::of(any::<u8>()), answer())
            .prop_map(|(nth, answer)| Op::Branch(nth, answer)),
        4 => cursor_op().prop_map(Op::Cursor),
        2 => Just(Op::Serialize),
        1 => Just(Op::Restart),
    ]
}

impl World {
    fn new(is_v2: bool, keeps_ids: bool) -> Self {
        let mut rig = Rig::of(Self::conversation());
        rig.connect(forks());
        Self {
            rig,
            is_v2,
            keeps_ids,
            sessions: BTreeMap::new(),
            current: String::new(),
            messages: Vec::new(),
            source: None,
            texts: 0,
            runs: 0,
        }
    }

    fn conversation() -> Conversation {
        let mut options = options();
        options.rules.new_alone = false;
        Conversation::new(options)
    }

    fn play(&mut self, op: &Op) -> Result<(), TestCaseError> {
        match op {
            Op::Say(answer) => {
                let text = self.text();
                self.turn(&text, answer)?;
            }
            Op::Edit(number, answer) => {
                self.messages.truncate(self.user(*number).unwrap_or_default());
                let text = self.text();
                self.turn(&text, answer)?;
            }
            Op::Repeat(number, answer) => {
                let Some(at) = self.user(*number) else { return Ok(()) };
                let text = self.messages[at].1.clone();
                self.messages.truncate(at);
                self.turn(&text, answer)?;
            }
            Op::Branch(number, answer) => {
                let end = number.and_then(|number| self.user(number));
                self.messages.truncate(end.unwrap_or(self.messages.len()));
                self.source = self.rig.thread.remembered().cloned().map(Box::new);
                self.rig = Rig::of(Self::conversation());
                self.rig.connect(forks());
                let text = self.text();
                self.turn(&text, answer)?;
            }
            Op::Cursor(cursor) => self.announce(*cursor),
            Op::Serialize => {
                let text = serde_json::to_string(&self.rig.thread).unwrap();
                self.rig.thread = serde_json::from_str(&text).unwrap();
            }
            Op::Restart => {
                let mut conversation = Self::conversation();
                if let Some(remembered) = self.rig.thread.remembered() {
                    conversation = conversation.with_remembered(remembered.clone());
                }
                self.rig = Rig::of(conversation);
                self.rig.connect(forks());
            }
        }
        Ok(())
    }

    /// Returns the place of a message of the user, by its number.
    fn user(&self, number: u8) -> Option<usize> {
        let messages = self.messages.iter().enumerate();
        let users = messages.filter(|(_, message)| message.0 == "user").map(|(index, _)| index);
        let users: Vec<_> = users.collect();
        users.get(usize::from(number) % users.len().max(1)).copied()
    }

    fn text(&mut self) -> String {
        self.texts += 1;
        format!("text {}.", self.texts)
    }

    /// Sends a message, and plays the agent's turn.
    fn turn(&mut self, text: &str, answer: &Answer) -> Result<(), TestCaseError> {
        self.runs += 1;
        // A message without an answer is sent again with the next one.
        let is_answered = self.messages.last().is_some_and(|message| message.0 == "assistant");
        let must_fork = is_answered && self.has_cursor_before(self.messages.len());
        self.messages.push(("user", text.to_owned()));
        let kept: Vec<_> = self.messages.iter().map(|message| message.1.clone()).collect();
        let messages = self.messages.iter().enumerate().map(|(index, (role, text))| {
            json!({"id": format!("{role}-{index}-{text}"), "role": role, "content": text})
        });
        let messages: Vec<_> = messages.collect();
        self.rig.take_commands();
        let run = format!("r{}", self.runs);
        let mut request = RunRequest::from(input(&run, &messages, &json!({})));
        request.branch_of = self.source.take();
        self.rig.run(request).unwrap();
        let mut origin = None;
        while let Some(Command::Open(_, open)) = self.rig.commands.last() {
            let open = open.origin.clone();
            self.open(&open)?;
            origin = Some(open);
        }
        let is_new = origin == Some(SessionOrigin::New);
        prop_assert!(!is_new || !must_fork, "a cursor before the message is used");
        let session = &self.sessions[&self.current];
        let known: Vec<_> = session.entries.iter().flat_map(|entry| entry.texts.clone()).collect();
        let prompt = self.rig.prompt();
        prop_assert_eq!(prompt.last().map(String::as_str), Some(text));
        if is_new {
            for text in &kept {
                let is_sent = prompt.iter().any(|block| block.contains(text.as_str()));
                prop_assert!(is_sent, "{} in {:?}", text, prompt);
            }
            self.answer(&kept, answer);
        } else {
            prop_assert_eq!([known, prompt.clone()].concat(), kept);
            self.answer(&prompt, answer);
        }
        Ok(())
    }

    /// Returns whether the agent has a cursor before a message of the user that it has named, with
    /// this number of messages before.
    fn has_cursor_before(&self, kept: usize) -> bool {
        let Some(session) = self.sessions.get(&self.current) else { return false };
        let texts =
            |entries: &[Entry]| entries.iter().map(|entry| entry.texts.len()).sum::<usize>();
        let is_user = |at: usize| session.entries[at].kind == "user_message";
        let is_next = |at: &usize| is_user(*at) && texts(&session.entries[..*at]) == kept;
        let mut cursors = session.cursors.values().filter(|cursor| cursor.can_fork && kept > 0);
        cursors.any(|cursor| cursor.before.as_ref().is_some_and(is_next))
    }

    /// Opens a session, as a connection does.
    fn open(&mut self, origin: &SessionOrigin) -> Result<(), TestCaseError> {
        let id = format!("s{}", self.sessions.len());
        match origin {
            SessionOrigin::Resume(id) => self.current = id.to_string(),
            SessionOrigin::Fork(source, cursor) => {
                let source = &self.sessions[source.as_str()];
                let length = match cursor {
                    None => source.entries.len(),
                    Some(cursor) => {
                        let cursor = source.cursors.get(cursor.as_str());
                        let cursor = cursor.filter(|cursor| cursor.can_fork);
                        prop_assert!(cursor.is_some(), "the session has the cursor");
                        cursor.map_or(0, |cursor| cursor.length)
                    }
                };
                let mut entries = source.entries[..length].to_vec();
                let ids = if self.keeps_ids { source.ids } else { 0 };
                if !self.keeps_ids {
                    entries.iter_mut().for_each(|entry| entry.id = None);
                }
                let cursors = BTreeMap::new();
                self.sessions.insert(id.clone(), Session { id: id.clone(), entries, cursors, ids });
                self.current = id;
            }
            SessionOrigin::New => {
                let session = Session { id: id.clone(), ..Session::default() };
                self.sessions.insert(id.clone(), session);
                self.current = id;
            }
            other => return Err(TestCaseError::fail(format!("{other:?}"))),
        }
        let left = self.rig.session(opened(&self.current, &json!({})));
        prop_assert!(left.is_none());
        Ok(())
    }

    fn session(&mut self) -> &mut Session {
        self.sessions.get_mut(&self.current).unwrap()
    }

    /// Adds an entry to the timeline, and returns its id.
    fn insert(&mut self, kind: &'static str, has_id: bool, texts: &[String]) -> Option<String> {
        let session = self.session();
        session.ids += 1;
        let id = has_id.then(|| format!("e{}", session.ids));
        session.entries.push(Entry { kind, id: id.clone(), texts: texts.to_vec() });
        id
    }

    fn update(&mut self, update: &Value) {
        let params = json!({"sessionId": self.session().id, "update": update});
        let value = if self.is_v2 { Update::V2(read(&params)) } else { Update::V1(read(&params)) };
        let event = SessionEvent::Update(ReceivedValue::new(value, raw(&params)));
        assert!(self.rig.session(event).is_none());
    }

    fn chunk(&mut self, kind: &str, id: Option<&str>, text: &str) {
        let content = json!({"type": "text", "text": text});
        let mut chunk = json!({"sessionUpdate": format!("{kind}_chunk"), "content": content});
        if let Some(id) = id {
            chunk["messageId"] = json!(id);
        }
        self.update(&chunk);
    }

    fn answer(&mut self, texts: &[String], answer: &Answer) {
        self.name_prompt(texts, answer.names_prompt);
        for (kind, has_id) in answer.entries.clone() {
            self.entry(kind, has_id || self.is_v2);
        }
        if let Some(late) = answer.late {
            self.change_call(late);
        }
        for cursor in answer.cursors.clone() {
            self.announce(cursor);
        }
        let event = if self.is_v2 {
            let idle = json!({"state": "idle", "stopReason": "end_turn"});
            let end = TurnEnd::V2(Box::new(read(&idle)));
            SessionEvent::TurnEnded(TurnKey::new(1), Ok(ReceivedValue::new(end, raw(&idle))))
        } else {
            ended("end_turn")
        };
        assert!(self.rig.session(event).is_none());
    }

    /// Adds the message of the prompt. Version 2 names each message, version 1 may repeat it with a
    /// name.
    fn name_prompt(&mut self, texts: &[String], names_prompt: bool) {
        let is_repeated = names_prompt && texts.len() == 1;
        let Some(id) = self.insert("user_message", self.is_v2 || is_repeated, texts) else {
            return;
        };
        if !self.is_v2 {
            return self.chunk("user_message", Some(&id), &texts[0]);
        }
        let accepted = json!({ "messageId": id });
        let value = ReceivedValue::new(read(&accepted), raw(&accepted));
        let event = SessionEvent::PromptAccepted(TurnKey::new(1), value.into());
        assert!(self.rig.session(event).is_none());
    }

    fn entry(&mut self, kind: &'static str, has_id: bool) {
        match kind {
            "agent_message" => {
                let text = self.text();
                let id = self.insert(kind, true, std::slice::from_ref(&text));
                self.chunk(kind, id.as_deref(), &text);
                self.messages.push(("assistant", text));
            }
            "agent_thought" => {
                let id = self.insert(kind, has_id, &[]);
                self.chunk(kind, id.as_deref(), "Hm.");
            }
            _ => {
                let id = self.insert("tool_call", true, &[]);
                let tag = if self.is_v2 { "tool_call_update" } else { "tool_call" };
                self.update(&json!({"sessionUpdate": tag, "toolCallId": id, "title": "Read"}));
            }
        }
    }

    fn change_call(&mut self, nth: u8) {
        let calls = self.session().entries.iter().filter(|entry| entry.kind == "tool_call");
        let calls: Vec<_> = calls.filter_map(|entry| entry.id.clone()).collect();
        if let Some(id) = calls.get(usize::from(nth) % calls.len().max(1)) {
            self.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": id,
                "title": "Late"}));
        }
    }

    /// Announces a cursor beside an entry with an id, or changes it. A connection has updates of a
    /// session only while the thread has it.
    fn announce(&mut self, op: CursorOp) {
        if self.rig.thread.session_id().is_none() {
            return;
        }
        let session = self.session();
        let named = session.entries.iter().enumerate().filter(|(_, entry)| entry.id.is_some());
        let named: Vec<_> = named.map(|(index, _)| index).collect();
        let nth = usize::from(op.entry) % named.len().max(1);
        let Some(&index) = named.get(nth) else { return };
        let Entry { kind, id, .. } = session.entries[index].clone();
        let position = if op.is_after { "after" } else { "before" };
        let cursor = format!("{position} {kind} {index}");
        let length = index + usize::from(op.is_after);
        let before = (!op.is_after).then_some(index);
        let place = Cursor { length, before, can_fork: op.can_fork };
        session.cursors.insert(cursor.clone(), place);
        let name = if kind == "tool_call" { "toolCallId" } else { "messageId" };
        let capabilities = if op.can_fork { json!({"fork": {}}) } else { Value::Null };
        self.update(&json!({"sessionUpdate": "cursor_update", "cursorId": cursor,
            "anchor": {"type": kind, name: id, "position": position},
            "capabilities": capabilities}));
    }
}

proptest! {
    #![proptest_config(cases())]

    /// A session that goes on or is forked at a cursor has exactly the messages that the user has
    /// kept, for any entries, cursors and changes.
    #[test]
    fn fork_has_the_kept_messages(
        is_v2 in any::<bool>(),
        keeps_ids in any::<bool>(),
        ops in prop::collection::vec(op(), 0..24),
    ) {
        let mut world = World::new(is_v2, keeps_ids);
        for op in &ops {
            world.play(op)?;
        }
    }
}
