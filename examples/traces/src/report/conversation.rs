//! The conversation of a recorded connection: what the user and the agent said and did, in order.

mod inputs;
mod talk;

pub(crate) use talk::Talk;

use acp_types::session_state::Change;
use core::time::Duration;
use inputs::{member, text};
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::{ErrorObject, Message, RequestId};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Maximum number of sessions. Messages of further ones are ignored.
const MAX_SESSIONS: usize = 64;

/// Maximum number of items. Further ones are counted.
const MAX_ITEMS: usize = 50_000;

/// Maximum number of open requests. The responses to further ones are ignored.
const MAX_REQUESTS: usize = 4096;

/// A conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// Name and version of the agent.
    pub(crate) agent: Option<(String, String)>,
    /// Sessions in order of their first message.
    pub(crate) sessions: Vec<Talk>,
    /// Items in order of their time.
    pub(crate) items: Vec<Item>,
    /// Number of items beyond the limit.
    pub(crate) omitted: usize,
    is_v2: bool,
    turns: usize,
    requests: BTreeMap<(Direction, RequestId), OpenRequest>,
    now: (Duration, u64),
}

/// A part of a conversation.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) time: Duration,
    /// Line of the transcript, counted from 1.
    pub(crate) line: u64,
    /// Index of the session, if the part belongs to one.
    pub(crate) session: Option<usize>,
    pub(crate) kind: ItemKind,
}

#[derive(Debug)]
pub(crate) enum ItemKind {
    /// A prompt, with the number of the turn and its text.
    Turn(usize, String),
    /// An entry of the session's state.
    Entry(u64),
    Permission(Permission),
    /// A method that failed.
    Failure(String, ErrorObject),
    /// A name and its new value: the mode, or a configuration option.
    Setting(String, String),
    /// The latest entries of the plan in a turn, with their status.
    Plan(Vec<(String, String)>),
    /// The client loads the session. Its history follows.
    Load,
    /// The user cancelled the turn.
    Cancel,
    /// The end of a turn with its reason.
    End(String),
}

/// A permission request.
#[derive(Debug)]
pub(crate) struct Permission {
    pub(crate) title: Option<String>,
    /// The answer, with its time. `None` for the option means that the request was cancelled.
    pub(crate) answer: Option<(Duration, Option<Choice>)>,
}

/// An option of a permission request.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) is_granted: bool,
}

/// A request without a response.
#[derive(Debug)]
struct OpenRequest {
    method: String,
    session: Option<usize>,
    params: Option<Box<RawValue>>,
    /// The item of a permission request, and its options.
    question: Option<(usize, Vec<Choice>)>,
}

impl Conversation {
    /// Handles a message in line `line` of the transcript.
    pub(crate) fn handle_line(
        &mut self,
        direction: Direction,
        time: Duration,
        line: u64,
        message: &[u8],
    ) {
        self.now = (time, line);
        let message = str::from_utf8(message).ok().and_then(|text| Message::decode(text).ok());
        match message {
            Some(Message::Request(it)) => {
                self.handle_request(direction, it.id, &it.method, it.params);
            }
            Some(Message::Notification(it)) => {
                self.handle_notification(direction, &it.method, it.params);
            }
            Some(Message::Response(it)) => self.handle_response(direction, it.id, it.outcome),
            None => {}
        }
    }

    fn handle_request(
        &mut self,
        direction: Direction,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) {
        let session = self.session_of(params);
        let mut question = None;
        match (direction, method) {
            (Direction::Sent, "session/prompt") => {
                self.turns += 1;
                let prompt = params.map(inputs::prompt_text).unwrap_or_default();
                self.push(session, ItemKind::Turn(self.turns, prompt));
                if let Some(talk) = self.talk(session) {
                    talk.is_in_turn = true;
                    talk.plan_item = None;
                }
                self.apply(session, method, params);
            }
            (Direction::Sent, "session/load") => self.push(session, ItemKind::Load),
            (Direction::Received, "session/request_permission") => {
                self.apply(session, method, params);
                let (title, options) = params.map(inputs::question).unwrap_or_default();
                let permission = Permission { title, answer: None };
                question = Some((self.items.len(), options));
                self.push(session, ItemKind::Permission(permission));
                if let Some(talk) = self.talk(session) {
                    talk.questions += 1;
                }
            }
            _ => {}
        }
        let needs_params = method == "session/set_mode" || method.starts_with("terminal/");
        let params = params.filter(|_| needs_params).map(ToOwned::to_owned);
        let asked = OpenRequest { method: method.to_owned(), session, params, question };
        if self.requests.len() < MAX_REQUESTS {
            self.requests.insert((direction, id), asked);
        }
    }

    fn handle_notification(
        &mut self,
        direction: Direction,
        method: &str,
        params: Option<&RawValue>,
    ) {
        let session = self.session_of(params);
        if (direction, method) == (Direction::Sent, "session/cancel") {
            self.push(session, ItemKind::Cancel);
        }
        self.apply(session, method, params);
    }

    fn handle_response(
        &mut self,
        direction: Direction,
        id: RequestId,
        outcome: Result<&RawValue, ErrorObject>,
    ) {
        let Some(asked) = self.requests.remove(&(direction.reversed(), id)) else { return };
        let OpenRequest { method, session, params, question } = asked;
        if let Some((item, options)) = question {
            self.answer(session, item, &options, outcome.as_ref().ok().copied());
        }
        match outcome {
            Ok(result) => {
                let created = text(result, "sessionId").map(|id| self.session(id));
                let session = created.flatten().or(session);
                if method == "initialize" {
                    self.initialized(result);
                }
                let is_v2 = self.is_v2;
                if let Some(talk) = self.talk(session) {
                    let state = &mut talk.state;
                    inputs::handle_result(is_v2, state, &method, params.as_deref(), result);
                }
            }
            Err(error) => {
                if method == "session/prompt"
                    && let Some(talk) = self.talk(session)
                {
                    talk.state.handle(&error);
                }
                self.push(session, ItemKind::Failure(method, error));
            }
        }
        self.settle(session);
    }

    fn initialized(&mut self, result: &RawValue) {
        self.is_v2 = ["info", "capabilities"].iter().any(|name| member(result, name).is_some());
        let info = member(result, if self.is_v2 { "info" } else { "agentInfo" });
        let info = info.and_then(|info| serde_json::from_str::<&RawValue>(info).ok());
        let of_info = |name| text(info?, name).filter(|text| !text.is_empty());
        let name = of_info("title").or_else(|| of_info("name"));
        self.agent = name.map(|name| (name, of_info("version").unwrap_or_default()));
    }

    fn answer(
        &mut self,
        session: Option<usize>,
        item: usize,
        options: &[Choice],
        result: Option<&RawValue>,
    ) {
        if let Some(talk) = self.talk(session) {
            talk.questions = talk.questions.saturating_sub(1);
        }
        let chosen = result.and_then(inputs::chosen);
        let choice = chosen.map(|id| {
            let option = options.iter().find(|option| option.id == id).cloned();
            option.unwrap_or_else(|| Choice {
                name: id.clone(),
                kind: "unknown option".to_owned(),
                id,
                is_granted: false,
            })
        });
        if let Some(Item { kind: ItemKind::Permission(permission), .. }) = self.items.get_mut(item)
        {
            permission.answer = Some((self.now.0, choice));
        }
    }

    /// Applies parameters to the state of their session.
    fn apply(&mut self, session: Option<usize>, method: &str, params: Option<&RawValue>) {
        let is_v2 = self.is_v2;
        if let (Some(talk), Some(params)) = (self.talk(session), params) {
            inputs::handle_params(is_v2, &mut talk.state, method, params);
        }
        self.settle(session);
    }

    /// Adds the items for changes of a session's state.
    fn settle(&mut self, session: Option<usize>) {
        let mut items = Vec::new();
        let (now, _) = self.now;
        let Some(talk) = self.talk(session) else { return };
        let mut has_ended = false;
        let mut is_set = false;
        let mut is_planned = false;
        while let Some(change) = talk.state.poll_change() {
            match change {
                Change::Plan(_) => is_planned = true,
                Change::Modes | Change::ConfigOptions => is_set = true,
                Change::State => has_ended = true,
                Change::Usage => talk.measure(now),
                _ => {}
            }
        }
        let last = talk.state.entries().next_back().map(|(number, _)| number);
        if let Some(last) = last {
            items.extend((talk.next_entry..=last).map(ItemKind::Entry));
            talk.next_entry = last + 1;
        }
        if is_set {
            items.extend(talk.settings());
        }
        if has_ended {
            items.extend(talk.end().map(ItemKind::End));
        }
        let plan = is_planned.then(|| (talk.plan(), talk.plan_item));
        for item in items {
            self.push(session, item);
        }
        if let Some((plan, item)) = plan {
            self.show_plan(session, plan, item);
        }
    }

    /// Changes the plan of the turn, or adds it.
    fn show_plan(
        &mut self,
        session: Option<usize>,
        plan: Vec<(String, String)>,
        item: Option<usize>,
    ) {
        if let Some(item) = item.and_then(|item| self.items.get_mut(item)) {
            item.kind = ItemKind::Plan(plan);
            return;
        }
        let at = self.items.len();
        self.push(session, ItemKind::Plan(plan));
        if let Some(talk) = self.talk(session) {
            talk.plan_item = Some(at).filter(|_| at < MAX_ITEMS);
        }
    }

    fn push(&mut self, session: Option<usize>, kind: ItemKind) {
        let (time, line) = self.now;
        if self.items.len() < MAX_ITEMS {
            self.items.push(Item { time, line, session, kind });
        } else {
            self.omitted += 1;
        }
    }

    fn talk(&mut self, session: Option<usize>) -> Option<&mut Talk> {
        self.sessions.get_mut(session?)
    }

    fn session_of(&mut self, params: Option<&RawValue>) -> Option<usize> {
        self.session(text(params?, "sessionId")?)
    }

    /// Returns the index of a session, which is added if it is unknown.
    fn session(&mut self, id: String) -> Option<usize> {
        if let Some(at) = self.sessions.iter().position(|talk| talk.id == id) {
            return Some(at);
        }
        if self.sessions.len() == MAX_SESSIONS {
            return None;
        }
        self.sessions.push(Talk::new(id));
        Some(self.sessions.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MESSAGES: [&str; 13] = [
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"a","prompt":[{"type":"text","text":"x"}]}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"b","prompt":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"b","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"x"}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"plan","entries":[{"content":"x","priority":"low","status":"pending"}]}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"a"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"session/request_permission","params":{"sessionId":"a","toolCall":{"toolCallId":"u"},"options":[{"optionId":"y","name":"x","kind":"allow_once"}]}}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{"outcome":{"outcome":"cancelled"}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{"info":{"name":"x","version":"1"}}}"#,
        "no message",
    ];

    proptest! {
        /// Items are in order of their lines. A turn ends at most once, and each entry of a session
        /// is one item.
        #[test]
        fn items_are_in_order(lines in prop::collection::vec((0..MESSAGES.len(), any::<bool>()), 0..60)) {
            let mut conversation = Conversation::default();
            for (line, (message, is_sent)) in (1..).zip(lines) {
                let direction = if is_sent { Direction::Sent } else { Direction::Received };
                let message = MESSAGES[message].as_bytes();
                conversation.handle_line(direction, Duration::from_secs(line), line, message);
            }
            let Conversation { items, sessions, .. } = &conversation;
            prop_assert!(items.is_sorted_by_key(|item| item.line));
            for (at, talk) in sessions.iter().enumerate() {
                let mut open = 0_usize;
                let mut entries = Vec::new();
                for item in items.iter().filter(|item| item.session == Some(at)) {
                    match &item.kind {
                        ItemKind::Turn(..) => open += 1,
                        ItemKind::End(_) => {
                            prop_assert!(open > 0);
                            open = 0;
                        }
                        ItemKind::Entry(number) => entries.push(*number),
                        _ => {}
                    }
                }
                let expected: Vec<_> = talk.state.entries().map(|(number, _)| number).collect();
                prop_assert_eq!(entries, expected);
            }
        }
    }
}
