//! A session of an agent of version 2, as an editor of version 1 sees it.
use super::*;
use crate::convert::call_ids::Names;
use crate::convert::setup::setup;
use std::collections::BTreeSet;

/// The scripted ends of a chain.
pub(super) struct Session {
    pub(super) chain: Chain,
    /// Updates of the agent.
    pub(super) updates: Vec<Value>,
    names: Names,
    /// The numbers in `_meta` of the notifications with these updates.
    pub(super) numbered: Vec<(u64, Value)>,
    /// Prompts of the editor, and whether the agent has inserted them.
    pub(super) prompts: Vec<(Value, &'static str, bool)>,
    questions: Vec<Value>,
    is_running: bool,
    is_cancelled: bool,
    next: u64,
}

impl Session {
    pub(super) fn new() -> Self {
        Self {
            chain: opened_v2(),
            updates: Vec::new(),
            names: Names::default(),
            numbered: Vec::new(),
            prompts: Vec::new(),
            questions: Vec::new(),
            is_running: false,
            is_cancelled: false,
            next: 0,
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn tell(&mut self, update: Value) {
        let mut params = json!({"sessionId": "s", "update": update.clone()});
        let number = self.number();
        if number.is_multiple_of(2) {
            params["_meta"] = json!({"n": number});
            self.numbered.push((number, update.clone()));
        }
        self.chain.agent(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
        self.updates.push(self.names.named(update, false, false));
    }

    pub(super) fn take(&mut self, step: Step) {
        match step {
            Step::Prompt(text) => {
                let id = json!(format!("p{}", self.number()));
                let prompt = json!([{"type": "text", "text": text}]);
                self.chain.editor(&json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": prompt}}));
                self.prompts.push((id, text, false));
            }
            Step::Insert(is_early, is_whole) => self.insert(is_early, is_whole),
            Step::Update(update) => self.tell(update),
            Step::Ask(question, answer) => {
                if self.is_cancelled || !self.is_running {
                    return;
                }
                let id = json!(format!("q{}", self.number()));
                if question["subject"]["type"] == "command" {
                    self.names.named(question["subject"].clone(), true, false);
                }
                if let Some(call) = question.pointer("/subject/toolCall") {
                    let mut call = call.clone();
                    call["type"] = json!("tool_call");
                    call = self.names.named(call, true, false);
                    call.as_object_mut().unwrap().remove("type");
                    call["sessionUpdate"] = json!("tool_call_update");
                    self.updates.push(call);
                }
                self.chain.agent(&json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": question}));
                self.questions.push(id);
                if answer.is_some() {
                    self.answer(answer);
                }
            }
            Step::Answer(answer) => self.answer(answer),
            Step::Cancel => {
                if self.is_running {
                    self.chain.editor(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}));
                    self.is_cancelled = true;
                    while !self.questions.is_empty() {
                        self.answer(None);
                    }
                }
            }
            Step::Mode(mode) => {
                let id = json!(format!("m{}", self.number()));
                self.chain.editor(&json!({"jsonrpc": "2.0", "id": id, "method": "session/set_config_option", "params": {"sessionId": "s", "configId": "style", "type": "id", "value": mode}}));
                let has_request = self.chain.to_agent.iter().any(|line| line["id"] == id);
                assert!(has_request, "the agent has the request");
                let option = json!({
                    "configId": "style", "name": "Style", "category": "mode", "type": "select", "currentValue": mode,
                    "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
                });
                self.chain.agent(
                    &json!({"jsonrpc": "2.0", "id": id, "result": {"configOptions": [option]}}),
                );
                let [response] = &self.chain.responses(&id)[..] else { panic!("not one response") };
                assert_eq!(response["result"]["configOptions"], json!([option]));
            }
            Step::Setup(place) => {
                let id = json!(format!("s{}", self.number()));
                setup(&mut self.chain, &id, place);
            }
            Step::State(state) => {
                if self.is_running {
                    self.tell(json!({"sessionUpdate": "state_update", "state": state}));
                }
            }
            Step::Idle(reason, has_usage) => self.idle(reason, has_usage),
        }
    }

    fn insert(&mut self, is_early: bool, is_whole: bool) {
        let number = self.number();
        let requested: BTreeSet<_> =
            self.chain.to_agent.iter().map(|line| line["id"].to_string()).collect();
        let waiting = self
            .prompts
            .iter_mut()
            .find(|(id, _, is_in)| !is_in && requested.contains(&id.to_string()));
        let Some((id, text, is_in)) = waiting else { return };
        *is_in = true;
        let id = id.clone();
        let text = *text;
        let message = format!("u{number}");
        if !self.is_running {
            self.is_running = true;
            self.tell(json!({"sessionUpdate": "state_update", "state": "running"}));
        }
        let response = json!({"jsonrpc": "2.0", "id": id, "result": {"messageId": message}});
        let block = json!({"type": "text", "text": text});
        let update = match is_whole {
            true => {
                json!({"sessionUpdate": "user_message", "messageId": message, "content": [block]})
            }
            false => {
                json!({"sessionUpdate": "user_message_chunk", "messageId": message, "content": block})
            }
        };
        if is_early {
            self.tell(update);
            self.chain.agent(&response);
        } else {
            self.chain.agent(&response);
            self.tell(update);
        }
    }

    fn answer(&mut self, allowed: Option<bool>) {
        if self.questions.is_empty() {
            return;
        }
        let id = self.questions.remove(0);
        let outcome = match allowed.filter(|_| !self.is_cancelled) {
            Some(allowed) => {
                json!({"outcome": "selected", "optionId": if allowed { "y" } else { "n" }})
            }
            None => json!({"outcome": "cancelled"}),
        };
        let requests = self
            .chain
            .to_editor
            .iter()
            .filter(|line| line["id"] == id && line.get("method").is_some());
        let requests: Vec<_> = requests.cloned().collect();
        let [request] = &requests[..] else { panic!("not one request") };
        assert_eq!(request["params"]["options"][0]["optionId"], "y");
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}});
        self.chain.editor(&answer);
        let answers = self.chain.to_agent.iter().filter(|line| line["id"] == id);
        assert_eq!(answers.collect::<Vec<_>>(), [&answer]);
    }

    fn idle(&mut self, reason: Option<&'static str>, has_usage: bool) {
        if !self.is_running {
            return;
        }
        while !self.questions.is_empty() {
            self.answer(None);
        }
        let mut state = json!({"sessionUpdate": "state_update", "state": "idle"});
        if let Some(reason) = reason {
            state["stopReason"] = json!(if self.is_cancelled { "cancelled" } else { reason });
        }
        if has_usage {
            state["usage"] = json!({"totalTokens": 3, "inputTokens": 1, "outputTokens": 2});
        }
        self.is_running = false;
        self.is_cancelled = false;
        self.tell(state);
        self.names.end_turn();
    }

    /// Ends all turns.
    pub(super) fn finish(&mut self) {
        for _ in 0..=self.prompts.len() {
            while self.prompts.iter().any(|(_, _, is_in)| !is_in) {
                let before = self.updates.len();
                self.insert(true, false);
                if before == self.updates.len() {
                    break;
                }
            }
            self.idle(Some("end_turn"), false);
        }
    }
}
