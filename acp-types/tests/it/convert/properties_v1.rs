//! Properties of the bridge for any session of version 1: a version 1 editor, a version 2 link and
//! a version 1 agent.
use super::call_ids::Names;
use super::chain::{Chain, new_problems, opened_v1};
use crate::shapes::cases;
use acp_types::lint::{Finding, Severity};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A step of a session in which both ends speak version 1.
#[derive(Clone, Debug)]
enum Step {
    /// The editor prompts, unless a prompt is open.
    Prompt(&'static str),
    /// The agent sends an update of the turn.
    Update(Value),
    /// The agent announces a tool call.
    Call(Value),
    /// The agent changes a tool call that it has announced.
    Change(prop::sample::Index, Value),
    /// The agent requests permission for the last call, or for one that it has not announced; the
    /// editor answers at once, or after other steps.
    Ask(bool, Option<bool>),
    Answer(bool),
    Cancel,
    Mode(&'static str),
    /// The agent ends the turn with a stop reason, or with an error.
    End(Option<&'static str>, bool),
}

fn content() -> impl Strategy<Value = Value> {
    select(vec![
        json!({"type": "content", "content": {"type": "text", "text": "x"}}),
        json!({"type": "content", "content": {"type": "image", "data": "eA==", "mimeType": "image/png"}}),
        json!({"type": "content", "content": {"type": "resource_link", "name": "n", "uri": "file:///f"}}),
        json!({"type": "diff", "path": "/w/f", "oldText": "a\n", "newText": "b\n"}),
        json!({"type": "diff", "path": "/w/g", "newText": "b"}),
    ])
}

/// Members of a tool call.
fn members() -> impl Strategy<Value = Value> {
    let maybe = |values: Vec<Value>| prop_oneof![Just(None), select(values).prop_map(Some)];
    let texts = |names: &[&str]| names.iter().map(|name| json!(name)).collect::<Vec<_>>();
    (
        maybe(texts(&["read", "edit", "execute", "switch_mode", "other"])),
        maybe(texts(&["pending", "in_progress", "completed", "failed"])),
        prop_oneof![
            Just(None),
            prop::collection::vec(content(), 0..3).prop_map(|it| Some(json!(it)))
        ],
        maybe(vec![json!([{"path": "/w/f", "line": 3}]), json!([])]),
        maybe(vec![json!({"a": 1.5}), json!("text")]),
        maybe(vec![json!({"b": null})]),
    )
        .prop_map(|(kind, status, content, locations, input, output)| {
            let mut call = json!({});
            for (name, value) in [
                ("kind", kind),
                ("status", status),
                ("content", content),
                ("locations", locations),
                ("rawInput", input),
                ("rawOutput", output),
            ] {
                if let Some(value) = value {
                    call[name] = value;
                }
            }
            call
        })
}

fn update() -> impl Strategy<Value = Value> {
    let kind = select(vec!["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"]);
    let id = prop_oneof![2 => Just(None), 1 => select(vec!["a", "b"]).prop_map(Some)];
    let chunk = (kind, id, select(vec!["x", "yy", "z "])).prop_map(|(kind, id, text)| {
        let mut chunk = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
        if let Some(id) = id {
            chunk["messageId"] = json!(id);
        }
        chunk
    });
    let other = select(vec![
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "eA==", "mimeType": "image/png"}}),
        json!({"sessionUpdate": "plan", "entries": [{"content": "c", "priority": "low", "status": "pending"}]}),
        json!({"sessionUpdate": "plan", "entries": []}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "go", "description": "Goes.", "input": {"hint": "where"}}]}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "b"}),
        json!({"sessionUpdate": "session_info_update", "title": "t"}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
    ]);
    prop_oneof![3 => chunk, 2 => other]
}

fn step() -> impl Strategy<Value = Step> {
    let reasons = vec![
        Some("end_turn"),
        Some("max_tokens"),
        Some("max_turn_requests"),
        Some("refusal"),
        Some("cancelled"),
        None,
    ];
    prop_oneof![
        4 => select(vec!["hi", "go on"]).prop_map(Step::Prompt),
        8 => update().prop_map(Step::Update),
        3 => members().prop_map(Step::Call),
        4 => (any::<prop::sample::Index>(), members()).prop_map(|(call, it)| Step::Change(call, it)),
        2 => (any::<bool>(), prop_oneof![any::<bool>().prop_map(Some), Just(None)]).prop_map(|(is_new, answer)| Step::Ask(is_new, answer)),
        1 => any::<bool>().prop_map(Step::Answer),
        1 => Just(Step::Cancel),
        1 => select(vec!["a", "b"]).prop_map(Step::Mode),
        3 => (select(reasons), any::<bool>()).prop_map(|(reason, usage)| Step::End(reason, usage)),
    ]
}

/// The scripted ends of a chain.
struct Session {
    chain: Chain,
    /// Updates of the agent.
    updates: Vec<Value>,
    names: Names,
    /// The open prompt.
    prompt: Option<Value>,
    /// Ended prompts with the agent's response.
    ended: Vec<(Value, Value)>,
    questions: Vec<Value>,
    calls: Vec<String>,
    /// Calls of permission requests.
    permission_calls: BTreeSet<String>,
    is_cancelled: bool,
    next: u64,
}

impl Session {
    fn new() -> Self {
        Self {
            chain: opened_v1(),
            updates: Vec::new(),
            names: Names::default(),
            prompt: None,
            ended: Vec::new(),
            questions: Vec::new(),
            calls: Vec::new(),
            permission_calls: BTreeSet::new(),
            is_cancelled: false,
            next: 0,
        }
    }

    fn id(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn tell(&mut self, update: Value) {
        let params = json!({"sessionId": "s", "update": update.clone()});
        self.chain.agent(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
        self.updates.push(self.names.named(update, false, true));
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Prompt(text) if self.prompt.is_none() => self.prompt(text),
            Step::Mode(mode) => self.mode(mode),
            Step::Prompt(_) => {}
            _ if self.prompt.is_none() => {}
            Step::Update(update) => self.tell(update),
            Step::Call(members) => {
                let id = self.id("c");
                self.calls.push(id.clone());
                let mut call = members;
                call["sessionUpdate"] = json!("tool_call");
                (call["toolCallId"], call["title"]) = (json!(id), json!(format!("Call {id}")));
                self.tell(call);
            }
            Step::Change(call, members) => {
                if !self.calls.is_empty() {
                    let mut update = members;
                    update["sessionUpdate"] = json!("tool_call_update");
                    update["toolCallId"] = json!(call.get(&self.calls));
                    self.tell(update);
                }
            }
            Step::Ask(is_new, answer) => self.ask(is_new, answer),
            Step::Answer(allowed) => self.answer(Some(allowed)),
            Step::Cancel => self.cancel(),
            Step::End(reason, has_usage) => self.end(reason, has_usage),
        }
    }

    fn prompt(&mut self, text: &str) {
        let id = json!(self.id("p"));
        let prompt = json!([{"type": "text", "text": text}]);
        self.chain.editor(&json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": prompt}}));
        let received: Vec<_> = self.chain.to_agent.iter().filter(|line| line["id"] == id).collect();
        let [line] = received[..] else { panic!("not one prompt: {received:?}") };
        assert_eq!(line["params"]["prompt"], prompt);
        self.prompt = Some(id);
    }

    fn mode(&mut self, mode: &str) {
        let id = json!(self.id("m"));
        self.chain.editor(&json!({"jsonrpc": "2.0", "id": id, "method": "session/set_mode", "params": {"sessionId": "s", "modeId": mode}}));
        let request = self.chain.to_agent.iter().find(|line| line["id"] == id).unwrap();
        assert_eq!(&request["method"], &json!("session/set_mode"));
        assert_eq!(&request["params"]["modeId"], &json!(mode));
        self.chain.agent(&json!({"jsonrpc": "2.0", "id": id, "result": {}}));
        let [response] = &self.chain.responses(&id)[..] else { panic!("not one response") };
        assert!(response.get("result").is_some(), "{response}");
    }

    fn ask(&mut self, is_new: bool, answer: Option<bool>) {
        let last = self.calls.last().filter(|_| !is_new).cloned();
        let call = last.unwrap_or_else(|| self.id("asked"));
        if self.is_cancelled {
            return;
        }
        let id = json!(self.id("q"));
        let options = json!([
            {"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"},
        ]);
        let params =
            json!({"sessionId": "s", "toolCall": {"toolCallId": call}, "options": options});
        self.chain.agent(&json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}));
        let request = self
            .chain
            .to_editor
            .iter()
            .rfind(|line| line.get("method").is_some() && line["id"] == id)
            .unwrap();
        let named = self.names.named(json!({"toolCallId": call}), true, true);
        assert_eq!(&request["params"]["options"], &options);
        assert_eq!(&request["params"]["toolCall"]["toolCallId"], &named["toolCallId"]);
        self.permission_calls.insert(named["toolCallId"].as_str().unwrap().to_owned());
        self.questions.push(id);
        if answer.is_some() {
            self.answer(answer);
        }
    }

    fn answer(&mut self, allowed: Option<bool>) {
        if self.questions.is_empty() {
            return;
        }
        let id = self.questions.remove(0);
        let outcome = match allowed {
            Some(allowed) => {
                json!({"outcome": "selected", "optionId": if allowed { "y" } else { "n" }})
            }
            None => json!({"outcome": "cancelled"}),
        };
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}});
        self.chain.editor(&answer);
        let answers: Vec<_> = self.chain.to_agent.iter().filter(|line| line["id"] == id).collect();
        assert_eq!(answers, [&answer]);
    }

    fn cancel(&mut self) {
        self.chain.editor(
            &json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}),
        );
        self.is_cancelled = true;
        while !self.questions.is_empty() {
            self.answer(None);
        }
    }

    fn end(&mut self, reason: Option<&'static str>, has_usage: bool) {
        while !self.questions.is_empty() {
            self.answer(Some(false));
        }
        let Some(id) = self.prompt.take() else { return };
        let reason = if self.is_cancelled { Some("cancelled") } else { reason };
        let mut response = json!({"jsonrpc": "2.0", "id": id});
        match reason {
            Some(reason) => response["result"] = json!({"stopReason": reason}),
            None => response["error"] = json!({"code": -32603, "message": "no"}),
        }
        if has_usage && reason.is_some() {
            response["result"]["usage"] =
                json!({"totalTokens": 3, "inputTokens": 1, "outputTokens": 2});
        }
        self.is_cancelled = false;
        self.chain.agent(&response);
        self.names.end_turn();
        self.ended.push((id, response));
    }
}

/// Returns the text of each kind of message.
fn texts(updates: &[Value]) -> BTreeMap<&str, String> {
    let mut texts = BTreeMap::<_, String>::new();
    for update in updates {
        let kind = update["sessionUpdate"].as_str().unwrap();
        // The link has the prompt's own message, which a repetition may equal.
        if let Some(text) =
            update["content"]["text"].as_str().filter(|_| kind != "user_message_chunk")
        {
            texts.entry(kind).or_default().push_str(text);
        }
    }
    texts
}

/// Returns the last value of each member of each tool call.
fn calls(updates: &[Value]) -> BTreeMap<String, BTreeMap<String, Value>> {
    let mut calls = BTreeMap::<_, BTreeMap<_, _>>::new();
    for update in updates {
        let Some(id) = update["toolCallId"].as_str() else { continue };
        let call = calls.entry(id.to_owned()).or_default();
        for name in ["title", "kind", "status", "locations", "rawInput", "rawOutput", "content"] {
            if let Some(value) = update.get(name) {
                call.insert(name.to_owned(), value.clone());
            }
        }
    }
    calls
}

proptest! {
    #![proptest_config(cases(96))]

    /// The link is a valid session of version 2, and the editor receives the turns of the agent.
    #[test]
    fn any_session_of_version_1_passes_version_2(steps in prop::collection::vec(step(), 0..40)) {
        let mut session = Session::new();
        for step in steps {
            session.take(step);
        }
        session.end(Some("end_turn"), false);
        let sent_calls = calls(&session.updates);
        let [mut editor, mut link, agent] = session.chain.problems();
        // The agent's linter has the id of a call that has ended.
        let is_left_open = |it: &Finding| {
            let id = it.message.split('`').nth(1).filter(|id| id.contains('~'));
            let call = id.and_then(|id| sent_calls.get(id));
            it.rule.code == "tool-call-open"
                && call.is_some_and(|call| !["completed", "failed"].iter().any(|end| call["status"] == *end))
        };
        [&mut editor, &mut link].into_iter().for_each(|found| found.retain(|it| !is_left_open(it)));
        prop_assert!(agent.iter().all(|it| it.rule.severity != Severity::Error), "the script itself: {:?}", agent);
        prop_assert_eq!(new_problems(&link, &agent), Vec::<&Finding>::new());
        prop_assert_eq!(new_problems(&editor, &agent), Vec::<&Finding>::new());
        for (id, response) in &session.ended {
            prop_assert_eq!(&session.chain.responses(id), &[response]);
        }
        let received = session.chain.updates();
        prop_assert_eq!(texts(&received), texts(&session.updates));
        let mut received = calls(&received);
        // A call that the agent has not announced is announced with an invented title, and ended
        // with the turn.
        received.retain(|id, _| sent_calls.contains_key(id) || !session.permission_calls.contains(id));
        for (id, call) in received.iter_mut().filter(|(id, _)| id.contains('~')) {
            call.retain(|name, _| !matches!(&**name, "title" | "status") || sent_calls.get(id).is_some_and(|it| it.contains_key(name)));
        }
        prop_assert_eq!(received, sent_calls);
    }
}
