//! Both directions: a round trip preserves the conversation, and every prompt has one response.
use crate::acp_agent::{outputs, prompt};
use crate::generated::merge;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{PromptResponse, SessionNotification, SessionUpdate};
use acp_types::v1::tool_calls::ToolCallContent;
use agui_bridge::acp_agent::{AcpAgent, AcpAgentOptions, Output, QuestionAnswer};
use agui_bridge::hybrid_tools::HybridRun;
use agui_bridge::input::{Work, work};
use agui_bridge::{Answer, Options, Translator, TurnStart};
use agui_types::content::Content;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use agui_types::reduce::Reducer;
use agui_types::verify::Verifier;
use jsonrpc_core::wire::decode;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

mod agents;

/// The editor's view after some updates: texts in order, the state of calls, and the latest of each
/// whole-value update.
#[derive(Debug, Default, PartialEq)]
struct View {
    words: Vec<(String, String)>,
    calls: BTreeMap<String, BTreeMap<String, Value>>,
    whole: BTreeMap<String, Value>,
}

impl View {
    fn take(&mut self, update: &SessionUpdate) {
        let value = serde_json::to_value(update).unwrap();
        match update {
            SessionUpdate::AgentMessageChunk(chunk)
            | SessionUpdate::AgentThoughtChunk(chunk)
            | SessionUpdate::UserMessageChunk(chunk) => self.say(update.tag(), &chunk.content),
            SessionUpdate::ToolCall(_) | SessionUpdate::ToolCallUpdate(_) => self.call(&value),
            _ => {
                self.whole.insert(update.tag().to_owned(), value);
            }
        }
    }

    fn say(&mut self, kind: &str, content: &ContentBlock) {
        let text = match content {
            ContentBlock::Text(text) => text.text.clone(),
            other => serde_json::to_string(other).unwrap(),
        };
        match self.words.last_mut() {
            Some((last, words)) if last == kind => words.push_str(&text),
            _ => self.words.push((kind.to_owned(), text)),
        }
    }

    fn call(&mut self, update: &Value) {
        let id = update["toolCallId"].as_str().unwrap().to_owned();
        if !self.calls.contains_key(&id) {
            self.words.push(("tool_call".to_owned(), id.clone()));
        }
        let call = self.calls.entry(id).or_default();
        for name in ["title", "kind", "status", "rawInput", "name"] {
            if let Some(value) = update.get(name) {
                call.insert(name.to_owned(), value.clone());
            }
        }
        if let Some(content) = update.get("content") {
            let content: Vec<ToolCallContent> = decode(&content.to_string()).unwrap();
            let text = content.iter().filter_map(|content| match content {
                ToolCallContent::Content(content) => match &content.content {
                    ContentBlock::Text(text) => Some(text.text.clone()),
                    _ => None,
                },
                _ => None,
            });
            call.insert("text".to_owned(), Value::from(text.collect::<Vec<_>>().join("\n")));
            let diffs =
                content.iter().filter(|content| matches!(content, ToolCallContent::Diff(_)));
            call.insert("diffs".to_owned(), json!(diffs.collect::<Vec<_>>()));
        }
    }
}

fn notification(update: &Value) -> SessionNotification {
    decode(&json!({"sessionId": "s", "update": update}).to_string()).unwrap()
}

/// The body of an agent's turn that both protocols can express; calls do not overlap.
pub(crate) fn turn() -> impl Strategy<Value = Vec<Value>> {
    let words = (
        select(vec!["agent_message_chunk", "agent_thought_chunk"]),
        "[a-c\n]{1,4}",
        select(vec!["A", "B", ""]),
    )
        .prop_map(|(kind, text, id)| {
            let id = if id.is_empty() { json!({}) } else { json!({"messageId": id}) };
            vec![merge([
                json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}}),
                id,
            ])]
        });
    let image = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}});
    let entry = json!({"content": "c", "priority": "low", "status": "completed"});
    let inputs = select(vec![json!({}), json!({"a": [1, null]}), json!({"b": {"c": "\u{e9}"}})]);
    let call = (inputs, "[A-Z][a-z]{2,5}", select(vec!["read", "edit", "other"]), any::<bool>(), "[a-c\n]{0,5}", any::<bool>())
        .prop_map(|(input, title, kind, fails, text, diff)| {
            let diff = diff.then(|| json!({"type": "diff", "path": "/x", "oldText": "a", "newText": text}));
            let text = json!({"type": "content", "content": {"type": "text", "text": text}});
            let status = if fails { "failed" } else { "completed" };
            vec![
                json!({"sessionUpdate": "tool_call", "toolCallId": "", "title": title, "name": "Do", "kind": kind, "rawInput": {}}),
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "", "status": "in_progress", "rawInput": input}),
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "", "status": status, "content": [diff.unwrap_or(text)]}),
            ]
        });
    let whole = select(vec![
        json!({"sessionUpdate": "plan", "entries": [entry]}),
        json!({"sessionUpdate": "plan", "entries": []}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
        json!({"sessionUpdate": "usage_update", "used": 2, "size": 2}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "m"}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
        json!({"sessionUpdate": "session_info_update", "title": "t"}),
    ])
    .prop_map(|update| vec![update]);
    let item = prop_oneof![4 => words, 1 => Just(vec![image]), 3 => call, 2 => whole];
    prop::collection::vec(item, 0..12).prop_map(|items| {
        let mut updates = Vec::new();
        for (number, mut item) in items.into_iter().enumerate() {
            for update in &mut item {
                if update.get("toolCallId").is_some() {
                    update["toolCallId"] = json!(format!("t{number}"));
                }
            }
            updates.extend(item);
        }
        updates
    })
}

fn run_of(agent: &mut AcpAgent) -> RunAgentInput {
    match agent.poll_output() {
        Some(Output::Run(input)) => *input,
        other => panic!("{other:?}"),
    }
}

/// An ACP agent behind an AG-UI stream, as a translator produces it. Each stream is verified
/// strictly.
struct Behind {
    translator: Translator,
    verifier: Option<Verifier>,
}

impl Behind {
    fn new(options: Options) -> Self {
        Self { translator: Translator::new(options), verifier: None }
    }

    /// Begins a run, and returns the blocks of the agent's prompt.
    fn begin(&mut self, input: &RunAgentInput) -> (TurnStart, Vec<ContentBlock>) {
        let blocks = match work(input, &AcpAgent::prompt_capabilities(), None) {
            Ok(Work::Prompt(prompt)) if input.resume.is_none() => prompt.blocks,
            _ => Vec::new(),
        };
        self.verifier = Some(Verifier::strict_for(input));
        (self.translator.begin_run(input, &blocks).unwrap(), blocks)
    }

    fn drain(&mut self, agent: &mut AcpAgent) {
        while let Some(event) = self.translator.poll_event() {
            let verifier = self.verifier.as_mut().expect("a run");
            verifier.handle(&event).unwrap_or_else(|violation| panic!("{violation}: {event:?}"));
            agent.handle_event(event);
        }
    }
}

proptest! {
    /// A conversion from ACP to AG-UI and back shows the editor the same.
    #[test]
    fn acp_updates_round_trip(updates in turn(), reason in select(vec!["end_turn", "max_tokens", "refusal", "cancelled"])) {
        let mut agent = AcpAgent::new("s", AcpAgentOptions::new());
        agent.handle_prompt(&prompt(&json!([{"type": "text", "text": "Hi"}])), "r").unwrap();
        let mut behind = Behind::new(Options::new());
        let (begun, blocks) = behind.begin(&run_of(&mut agent));
        prop_assert_eq!(begun, TurnStart::Prompt);
        prop_assert_eq!(serde_json::to_value(&blocks).unwrap(), json!([{"type": "text", "text": "Hi"}]));
        let mut said = View::default();
        for update in &updates {
            let notification = notification(update);
            said.take(&notification.update);
            behind.translator.handle_notification(notification);
        }
        let response: PromptResponse = decode(&json!({"stopReason": reason}).to_string()).unwrap();
        behind.translator.handle_prompt_response(Ok(response));
        behind.drain(&mut agent);

        let mut heard = View::default();
        let mut answer = None;
        while let Some(output) = agent.poll_output() {
            match output {
                Output::Update(notification) => heard.take(&notification.update),
                Output::Respond(response) => answer = Some(response),
                // Notices of the translator, for a turn that exceeded a limit.
                Output::Lost(lost) => prop_assert!(lost.why.contains("acp.notice"), "{lost}"),
                other => prop_assert!(false, "{other:?}"),
            }
        }
        prop_assert_eq!(answer.map(|answer| answer.map(|answer| answer.stop_reason.as_str().to_owned())), Some(Ok(reason.to_owned())));
        prop_assert_eq!(heard, said);
    }

    /// A conversion from AG-UI to ACP and back leaves the same conversation.
    #[test]
    fn agui_events_round_trip(steps in prop::collection::vec((0..5u8, "[a-c\n]{0,4}", 0..3usize), 0..20)) {
        let mut agent = AcpAgent::new("s", AcpAgentOptions::new());
        agent.handle_prompt(&prompt(&json!([{"type": "text", "text": "Hi"}])), "r").unwrap();
        let input = run_of(&mut agent);
        let mut run = HybridRun::begin(&input);
        let mut calls = Vec::new();
        for (step, text, which) in steps {
            let call = calls.get(which).cloned().unwrap_or_else(|| "never".into());
            match step {
                0 => run.text(&text),
                1 => run.reasoning(&text),
                2 => {
                    let id = run.start_tool_call(&format!("c{}", calls.len()).as_str().into(), "Do");
                    run.tool_call_arguments(&id, &json!({"text": text}).to_string());
                    calls.push(id);
                }
                3 => drop(run.end_tool_call(&call)),
                _ => drop(run.tool_result(&call, text)),
            }
        }
        run.finish();

        let mut there = Reducer::for_input(&input).unwrap();
        while let Some(event) = run.poll_event() {
            prop_assert_eq!(there.handle(&event), None);
            agent.handle_event(event);
        }
        let mut behind = Behind::new(Options::new());
        let (_, _) = behind.begin(&input);
        let mut back = Reducer::for_input(&input).unwrap();
        while let Some(output) = agent.poll_output() {
            match output {
                Output::Update(notification) => behind.translator.handle_notification(*notification),
                Output::Respond(response) => behind.translator.handle_prompt_response(response),
                other => prop_assert!(false, "{other:?}"),
            }
        }
        let verifier = behind.verifier.as_mut().expect("a run");
        while let Some(event) = behind.translator.poll_event() {
            verifier.handle(&event).unwrap();
            prop_assert_eq!(back.handle(&event), None);
        }
        verifier.finish().unwrap();
        prop_assert_eq!(conversation(&back), conversation(&there));
    }

    /// For any input, each accepted prompt has one response, each question is asked and reported
    /// once, and no question or run occurs outside of a turn.
    #[test]
    fn each_prompt_has_one_response(steps in prop::collection::vec(doing(), 0..60)) {
        let mut agent = AcpAgent::new("s", AcpAgentOptions::new());
        let mut open = BTreeSet::new();
        let mut owed = Vec::new();
        let mut prompts = 0;
        let end = [Action::Cancel, Action::End];
        for step in steps.into_iter().chain(end) {
            match step {
                Action::Prompt => {
                    prompts += 1;
                    let busy = agent.is_in_turn();
                    let request = prompt(&json!([{"type": "text", "text": "Hi"}]));
                    let taken = agent.handle_prompt(&request, format!("run {prompts}")).is_ok();
                    prop_assert_eq!(taken, !busy);
                }
                Action::Event(event) => agent.handle_event(decode(&event.to_string()).unwrap()),
                Action::Answer(id) => {
                    let yes = json!({"outcome": "selected", "optionId": "yes"});
                    let answer = QuestionAnswer::Permission(decode(&yes.to_string()).unwrap());
                    prop_assert_eq!(agent.handle_answer(&id.into(), &answer), open.remove(id));
                }
                Action::Cancel => agent.handle_cancel(),
                Action::End => agent.handle_stream_end(),
            }
            for output in outputs(&mut agent) {
                if let Some(id) = output.get("ask").and_then(Value::as_str) {
                    prop_assert!(open.insert(["i1", "i2"].into_iter().find(|known| *known == id).unwrap()));
                    owed.push(id.to_owned());
                }
                if let Some(run) = output.get("run") {
                    let told = run["resume"].as_array().cloned().unwrap_or_default();
                    let mut told: Vec<_> = told.iter().map(|entry| entry["interruptId"].as_str().unwrap().to_owned()).collect();
                    told.sort_unstable();
                    owed.sort_unstable();
                    owed.dedup();
                    prop_assert!(owed.iter().all(|id| told.contains(id)), "{owed:?} {told:?}");
                    owed.clear();
                }
                if output.get("respond").or(output.get("error")).is_some() {
                    open.clear();
                    prop_assert!(!agent.is_in_turn());
                }
            }
        }
        prop_assert!(!agent.is_in_turn());
    }
}

#[derive(Clone, Debug)]
enum Action {
    Prompt,
    Event(Value),
    Answer(&'static str),
    Cancel,
    End,
}

fn doing() -> impl Strategy<Value = Action> {
    let ask = |ids: &[&str]| {
        let interrupts: Vec<_> =
            ids.iter().map(|id| json!({"id": id, "reason": "confirmation"})).collect();
        json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "r", "outcome": {"type": "interrupt", "interrupts": interrupts}})
    };
    let events = select(vec![
        json!({"type": "RUN_STARTED", "threadId": "s", "runId": "r"}),
        json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "x"}),
        json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "n"}),
        json!({"type": "TOOL_CALL_RESULT", "toolCallId": "c", "messageId": "r", "content": "x"}),
        json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "r", "outcome": {"type": "success", "pendingToolCallIds": ["c"]}}),
        json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "r"}),
        json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "r", "outcome": {"type": "cancelled"}}),
        json!({"type": "RUN_ERROR", "message": "m"}),
        ask(&["i1"]),
        ask(&["i1", "i2"]),
        json!({"type": "NEWER"}),
    ]);
    prop_oneof![
        3 => Just(Action::Prompt),
        8 => events.prop_map(Action::Event),
        4 => select(vec!["i1", "i2"]).prop_map(Action::Answer),
        1 => Just(Action::Cancel),
        1 => Just(Action::End),
    ]
}

/// Roles and texts in order, with calls and results; without message ids, and with neighbours
/// joined.
fn conversation(reducer: &Reducer) -> Vec<(String, String)> {
    let mut said: Vec<(String, String)> = Vec::new();
    let mut calls = Vec::new();
    for message in reducer.messages() {
        let (role, text) = match message {
            Message::Assistant(message) => {
                for call in message.tool_calls.iter().flatten() {
                    let arguments: Value = serde_json::from_str(&call.function.arguments).unwrap();
                    calls.push((
                        format!("call {}", call.id),
                        format!("{} {arguments}", call.function.name),
                    ));
                }
                ("assistant", message.content.clone().unwrap_or_default())
            }
            Message::Reasoning(message) => ("reasoning", message.content.clone()),
            Message::User(message) => ("user", message.content.text()),
            Message::Tool(message) => {
                calls.push((format!("result {}", message.tool_call_id), message.content.text()));
                continue;
            }
            _ => continue,
        };
        match said.last_mut() {
            Some((last, words)) if *last == role => words.push_str(&text),
            _ if text.is_empty() => {}
            _ => said.push((role.to_owned(), text)),
        }
    }
    calls.sort_unstable();
    said.extend(calls);
    said
}
