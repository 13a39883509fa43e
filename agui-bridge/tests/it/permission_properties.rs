//! The question that a page shows is the request that the agent sent.
use crate::script::{Step, events, in_stream, interrupting};
use agui_bridge::Translator;
use agui_types::profile::Profile;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The members of a call that a user decides on.
const MEMBERS: [&str; 4] = ["title", "kind", "rawInput", "content"];

/// A message about a call, or the user's answer.
#[derive(Clone, Debug)]
enum Action {
    Report {
        announces: bool,
        call: &'static str,
        members: Vec<&'static str>,
        status: &'static str,
    },
    Ask {
        call: &'static str,
        members: Vec<&'static str>,
        subject: &'static str,
    },
    /// Answers the open questions, or begins a run.
    GoOn,
    EndTurn,
}

fn action() -> impl Strategy<Value = Action> {
    let call = || select(vec!["a", "b"]);
    let members = || proptest::sample::subsequence(MEMBERS.to_vec(), 0..=MEMBERS.len());
    let status = select(vec!["", "", "pending", "in_progress", "completed", "failed"]);
    let subject = select(vec!["tool_call", "tool_call", "command", "newer", ""]);
    prop_oneof![
        6 => (any::<bool>(), call(), members(), status).prop_map(
            |(announces, call, members, status)| Action::Report { announces, call, members, status }),
        4 => (call(), members(), subject)
            .prop_map(|(call, members, subject)| Action::Ask { call, members, subject }),
        3 => Just(Action::GoOn),
        1 => Just(Action::EndTurn),
    ]
}

/// Returns the members of the message with a number, with values that no other message has.
fn described(call: &str, members: &[&str], number: usize) -> Map<String, Value> {
    let mut described = Map::new();
    described.insert("toolCallId".into(), json!(call));
    for name in members {
        let value = match *name {
            "title" => json!(format!("T{number}")),
            "kind" => json!(["read", "edit", "execute"][number % 3]),
            "rawInput" => json!({"command": format!("echo {number}")}),
            _ => {
                json!([{"type": "content", "content": {"type": "text", "text": format!("x{number}")}}])
            }
        };
        described.insert((*name).into(), value);
    }
    described
}

/// The values that an agent has stated of each call since it ended the call with its id.
#[derive(Default)]
struct StatedValues(BTreeMap<&'static str, BTreeMap<String, Vec<Value>>>);

impl StatedValues {
    fn add(&mut self, call: &'static str, members: &Map<String, Value>) {
        for (name, value) in members {
            self.0.entry(call).or_default().entry(name.clone()).or_default().push(value.clone());
        }
        if matches!(members.get("status").and_then(Value::as_str), Some("completed" | "failed")) {
            self.0.remove(call);
        }
    }

    fn get(&self, call: &str) -> BTreeMap<String, Vec<Value>> {
        self.0.get(call).cloned().unwrap_or_default()
    }
}

/// A request, and what was stated of its call by then.
struct StatedRequest {
    request: Value,
    stated: BTreeMap<String, Vec<Value>>,
}

struct World {
    translator: Translator,
    is_v2: bool,
    runs: usize,
    stated: StatedValues,
    asked: BTreeMap<String, StatedRequest>,
    /// Open interrupts, or open questions in the stream.
    open: Vec<Value>,
    questions: Vec<Value>,
}

impl World {
    fn apply(&mut self, step: &Value) {
        let _ = Step::read(step).apply(&mut self.translator);
        for event in events(&mut self.translator) {
            let event = serde_json::to_value(&event).unwrap();
            if event["name"] == "acp.permission.requested" {
                self.open.push(event["value"]["interruptId"].clone());
                self.questions.push(event["value"].clone());
            }
            for interrupt in event["outcome"]["interrupts"].as_array().into_iter().flatten() {
                self.open.push(interrupt["id"].clone());
                let mut question = interrupt["metadata"]["acp"].clone();
                question["message"] = interrupt["message"].clone();
                self.questions.push(question);
            }
        }
        while self.translator.poll_response().is_some() {}
    }

    fn act(&mut self, number: usize, action: &Action) {
        let version = if self.is_v2 { "update2" } else { "update" };
        match action {
            Action::Report { announces, call, members, status } => {
                let mut update = described(call, members, number);
                if !status.is_empty() {
                    update.insert("status".into(), json!(status));
                }
                let announces = *announces && !self.is_v2;
                if announces {
                    update.entry("title").or_insert_with(|| json!(format!("T{number}")));
                }
                self.stated.add(call, &update);
                let kind = if announces { "tool_call" } else { "tool_call_update" };
                update.insert("sessionUpdate".into(), json!(kind));
                self.apply(&json!({version: update}));
            }
            Action::Ask { call, members, subject } => {
                let option = format!("option-{number}");
                let members = described(call, members, number);
                let options = json!([{"optionId": option, "name": "Yes", "kind": "allow_once"}]);
                let (request, stated) = match (self.is_v2, *subject) {
                    (false, _) | (true, "tool_call") => {
                        let stated = self.stated.get(call);
                        self.stated.add(call, &members);
                        (json!({"toolCall": members}), stated)
                    }
                    (true, "command") => {
                        let command = format!("rm -rf /srv/{number}");
                        let subject = json!({"type": "command", "command": command, "cwd": "/w", "toolCallId": call});
                        (json!({"subject": subject}), BTreeMap::new())
                    }
                    (true, "newer") => {
                        (json!({"subject": {"type": "newer", "number": number}}), BTreeMap::new())
                    }
                    (true, _) => (json!({}), BTreeMap::new()),
                };
                let mut sent = request.clone();
                sent["options"] = options;
                let step = if self.is_v2 {
                    if let Some(call) = sent["toolCall"].as_object().cloned() {
                        sent["subject"] = json!({"type": "tool_call", "toolCall": call});
                    }
                    sent["sessionId"] = json!("session");
                    sent["title"] = json!(format!("Question {number}"));
                    sent["description"] = json!(format!("Reason {number}"));
                    json!({"ask2": number, "request": sent})
                } else {
                    json!({"ask": number, "toolCall": sent["toolCall"], "options": sent["options"]})
                };
                self.asked.insert(option, StatedRequest { request: sent, stated });
                self.apply(&step);
            }
            Action::GoOn if self.translator.is_running() => {
                for id in std::mem::take(&mut self.open) {
                    self.apply(&json!({"answer": id}));
                }
            }
            Action::GoOn => {
                self.runs += 1;
                let open = std::mem::take(&mut self.open);
                let answers =
                    open.iter().map(|id| json!({"interruptId": id, "status": "cancelled"}));
                let answers: Vec<_> = answers.collect();
                let run = format!("r{}", self.runs);
                self.apply(&json!({"run": run, "resume": answers}));
            }
            Action::EndTurn => self.apply(&json!({"result": {"stopReason": "end_turn"}})),
        }
    }
}

proptest! {
    /// For any order of reports and requests, a question has the members of its request. Members
    /// that the request lacks are missing, or were stated since the agent ended the call with the
    /// same id.
    #[test]
    fn question_is_the_request(
        actions in proptest::collection::vec(action(), 0..30),
        is_v2 in any::<bool>(),
        interrupts in any::<bool>(),
    ) {
        let options = if interrupts { interrupting() } else { in_stream(Profile::V1) };
        let mut world = World {
            translator: Translator::new(options),
            is_v2,
            runs: 0,
            stated: StatedValues::default(),
            asked: BTreeMap::new(),
            open: Vec::new(),
            questions: Vec::new(),
        };
        world.act(0, &Action::GoOn);
        for (number, action) in actions.iter().enumerate() {
            world.act(number + 1, action);
        }
        for question in &world.questions {
            let option = question["options"][0]["optionId"].as_str().unwrap();
            let asked = &world.asked[option];
            prop_assert_eq!(&question["options"], &asked.request["options"]);
            if is_v2 {
                prop_assert_eq!(&question["title"], &asked.request["title"]);
                prop_assert_eq!(&question["description"], &asked.request["description"]);
            }
            let Some(call) = asked.request["toolCall"].as_object() else {
                prop_assert_eq!(&question["subject"], &asked.request["subject"]);
                prop_assert!(question.get("toolCall").is_none());
                continue;
            };
            let shown = question["toolCall"].as_object().unwrap();
            for name in MEMBERS {
                match (call.get(name), shown.get(name)) {
                    (Some(sent), shown) => prop_assert_eq!(Some(sent), shown, "{}", question),
                    (None, None) => {}
                    // A call without a title is shown by its name.
                    (None, Some(shown)) if name == "title" && *shown == question["toolCall"]["name"] => {}
                    (None, Some(shown)) => {
                        let stated = asked.stated.get(name).into_iter().flatten();
                        prop_assert!(stated.clone().any(|value| value == shown), "{}: {}", name, question);
                    }
                }
            }
        }
    }
}
