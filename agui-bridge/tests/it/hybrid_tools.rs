//! Hybrid tools: requests, parameters, runs, pause and resume.
use crate::chat_history::messages;
use agui_bridge::chat_history::{ChatMessage, ChatRole, HistoryRule};
use agui_bridge::hybrid_tools::{
    AgentParameters, BackendTool, Detection, HybridLoop, HybridTools, LoopOptions, ModelEvent,
    Step, frontend_tool_error, is_agui_input, parameter,
};
use agui_types::content::Content;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use agui_types::tool::Tool;
use agui_types::usage::TokenUsage;
use agui_types::verify::Verifier;
use jsonrpc_core::wire::decode;
use serde_json::{Value, json};

mod ends;

const KEYS: [&str; 7] =
    ["threadId", "runId", "state", "messages", "tools", "context", "forwardedProps"];

fn body() -> Value {
    json!({"threadId": "thread_1", "runId": "run_1", "state": {}, "messages": [], "tools": [], "context": [], "forwardedProps": {}})
}

/// An input of a 1.0 client, with page tools of these names.
pub(crate) fn input(said: &Value, page: &[&str]) -> RunAgentInput {
    let tools: Vec<_> = page.iter().map(|name| json!({"name": name, "description": "d"})).collect();
    let body = json!({"threadId": "t", "runId": "r", "protocolVersion": "1.0", "messages": said, "tools": tools});
    decode(&body.to_string()).unwrap()
}

pub(crate) fn user(text: &str) -> Value {
    json!([{"id": "u", "role": "user", "content": text}])
}

fn backend() -> [BackendTool; 2] {
    ["search", "count"].map(|name| BackendTool::new(name, "d"))
}

/// Takes the due events and verifies them strictly for the input.
pub(crate) fn drain(
    verifier: &mut Verifier,
    mut poll: impl FnMut() -> Option<Event>,
    profile: Profile,
) -> Vec<Event> {
    let events: Vec<Event> = std::iter::from_fn(&mut poll).collect();
    for event in &events {
        verifier.handle(event).unwrap_or_else(|violation| panic!("{violation}: {event:?}"));
        assert_eq!(profile.refuses(event), None, "{event:?}");
    }
    events
}

fn types(events: &[Event]) -> Vec<&str> {
    events.iter().map(Event::tag).collect()
}

#[test]
fn detection_requires_the_members_and_their_types() {
    assert!(is_agui_input(&body().to_string(), Detection::Strict));
    for key in KEYS {
        let mut body = body();
        body.as_object_mut().unwrap().remove(key);
        assert!(!is_agui_input(&body.to_string(), Detection::Strict), "{key}");
        let needed = ["threadId", "runId", "messages", "tools"].contains(&key);
        assert_eq!(is_agui_input(&body.to_string(), Detection::Lax), !needed, "{key}");
    }
    for key in ["messages", "tools", "context"] {
        let mut body = body();
        body[key] = json!({});
        for detection in [Detection::Strict, Detection::Lax] {
            assert!(!is_agui_input(&body.to_string(), detection), "{key}");
        }
    }
    for garbage in ["", "{", "null", "[]", "7", r#""threadId""#] {
        assert!(!is_agui_input(garbage, Detection::Lax), "{garbage}");
    }
    let mut spaced = body().to_string();
    spaced = spaced.replace("\"messages\":[", "\"messages\" : \n [");
    assert!(is_agui_input(&spaced, Detection::Strict));
}

#[test]
fn input_becomes_named_parameters() {
    let mut body = body();
    body["messages"] = user("Hi");
    body["state"] = json!({"a": [1]});
    body["context"] = json!([{"description": "d", "value": "v"}]);
    body["tools"] = json!([{"name": "n", "description": "d", "parameters": {"type": "object"}}]);
    body["forwardedProps"] = json!("as it is");
    let mut agent = AgentParameters::read(&body.to_string(), HistoryRule::KeepAll).unwrap();
    HybridTools::new(&backend(), &[Tool::new("n", "d")]).describe(&mut agent);
    let expected = json!({
        "agui_thread_id": "thread_1",
        "memory_id": "thread_1",
        "agui_run_id": "run_1",
        "agui_state": r#"{"a":[1]}"#,
        "agui_context": r#"[{"description":"d","value":"v"}]"#,
        "agui_tools": r#"[{"name":"n","description":"d","parameters":{"type":"object"}}]"#,
        "agui_forwarded_props": r#""as it is""#,
        "backend_tool_names": r#"["search","count"]"#,
        "agui_tool_names": r#"["n"]"#,
    });
    assert_eq!(serde_json::to_value(&agent.parameters).unwrap(), expected);
    assert_eq!(agent.history.unwrap().messages, [ChatMessage::new(ChatRole::User, "Hi")]);
}

#[test]
fn conversion_requires_less_than_detection() {
    let least = r#"{"threadId":"t","runId":"r","messages":[]}"#;
    let agent = AgentParameters::read(least, HistoryRule::KeepAll).unwrap();
    let names: Vec<_> = agent.parameters.keys().map(String::as_str).collect();
    assert_eq!(names, ["agui_load_chat_history", "agui_run_id", "agui_thread_id", "memory_id"]);
    assert_eq!(agent.get(parameter::LOAD_CHAT_HISTORY), Some("true"));
    let error = AgentParameters::read("{", HistoryRule::KeepAll).unwrap_err();
    assert!(error.to_string().starts_with("expected JSON"), "{error}");
    let error = AgentParameters::read(r#"{"threadId":1}"#, HistoryRule::KeepAll).unwrap_err();
    assert_eq!(error.to_string(), "at /threadId: expected a string, got number");
}

#[test]
fn latest_tool_cycle_is_in_the_parameters() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "n", "arguments": "{\"a\":1}"}});
    let said = json!([
        {"id": "1", "role": "user", "content": "a"},
        {"id": "2", "role": "assistant", "toolCalls": [call("c1")]},
        {"id": "3", "role": "tool", "toolCallId": "c1", "content": "r1"},
        {"id": "4", "role": "assistant", "toolCalls": [call("c2")]},
        {"id": "5", "role": "tool", "toolCallId": "c2", "content": "r2"},
    ]);
    let of = |rule| AgentParameters::of(&input(&said, &[]), rule);
    let agent = of(HistoryRule::LatestToolCycle);
    let results = r#"[{"tool_call_id":"c2","content":"r2"}]"#;
    assert_eq!(agent.get(parameter::TOOL_CALL_RESULTS), Some(results));
    let assistant = r#"[{"role":"assistant","tool_calls":[{"id":"c2","type":"function","function":{"name":"n","arguments":"{\"a\":1}"}}]}]"#;
    assert_eq!(agent.get(parameter::ASSISTANT_TOOL_CALL_MESSAGES), Some(assistant));
    assert_eq!(of(HistoryRule::KeepAll).get(parameter::TOOL_CALL_RESULTS), None);
    let plain = AgentParameters::of(&input(&user("a"), &[]), HistoryRule::LatestToolCycle);
    assert_eq!(plain.get(parameter::ASSISTANT_TOOL_CALL_MESSAGES), None);
}

#[test]
fn frontend_tool_run_by_the_program_returns_an_error() {
    let error = frontend_tool_error("pick");
    assert_eq!(error, "Error: Tool 'pick' is a frontend tool and should be run in the frontend.");
}

/// A run with one answer of the model, in pieces.
fn answered(
    said: &Value,
    page: &[&str],
    answer: Vec<ModelEvent>,
) -> (HybridLoop, Verifier, Vec<Event>) {
    let input = input(said, page);
    let mut verifier = Verifier::strict_for(&input);
    let mut hybrid = HybridLoop::begin(&input, &backend(), LoopOptions::new());
    assert_eq!(hybrid.step(), Step::AskModel);
    answer.into_iter().for_each(|event| hybrid.handle_model(event));
    hybrid.handle_model_end();
    let events = drain(&mut verifier, || hybrid.poll_event(), Profile::V1);
    (hybrid, verifier, events)
}

#[test]
fn answer_without_calls_ends_the_run() {
    let mut usage = TokenUsage::new();
    usage.input_tokens = Some(7.into());
    let answer = vec![
        ModelEvent::Reasoning("hm".into()),
        ModelEvent::Text("Hel".into()),
        ModelEvent::Text("lo".into()),
        ModelEvent::Usage(usage),
    ];
    let (hybrid, verifier, events) = answered(&user("Hi"), &[], answer);
    verifier.finish().unwrap();
    assert_eq!(hybrid.step(), Step::Done);
    let expected = [
        "RUN_STARTED",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ];
    assert_eq!(types(&events), expected);
    let finished = serde_json::to_value(events.last().unwrap()).unwrap();
    assert_eq!(finished["usage"], json!([{"inputTokens": 7}]));
    assert_eq!(hybrid.history().last().unwrap().text(), "Hello");
}

#[test]
fn backend_tools_run_in_parallel_and_the_model_continues() {
    let answer = vec![
        ModelEvent::Text("Let me see.".into()),
        ModelEvent::ToolCallStart { id: "a".into(), name: "search".into() },
        ModelEvent::ToolCallStart { id: "b".into(), name: "count".into() },
        ModelEvent::ToolCallArguments { id: "b".into(), delta: "{\"of\":".into() },
        ModelEvent::ToolCallArguments { id: "a".into(), delta: "{\"q\":1}".into() },
        ModelEvent::ToolCallArguments { id: "b".into(), delta: "2}".into() },
    ];
    let (mut hybrid, mut verifier, mut events) = answered(&user("Hi"), &["pick"], answer);
    let Step::RunTools(calls) = hybrid.step() else { panic!("no tools") };
    let shown: Vec<_> =
        calls.iter().map(|call| (call.id.as_str(), &*call.name, &*call.arguments)).collect();
    assert_eq!(shown, [("a", "search", "{\"q\":1}"), ("b", "count", "{\"of\":2}")]);
    assert!(hybrid.handle_tool_result(&"b".into(), Err("no index".into())));
    assert!(!hybrid.handle_tool_result(&"b".into(), Ok("again".into())));
    assert!(!hybrid.handle_tool_result(&"never".into(), Ok("?".into())));
    let Step::RunTools(calls) = hybrid.step() else { panic!("no tools") };
    assert_eq!(calls.len(), 1);
    assert!(hybrid.handle_tool_result(&"a".into(), Ok("found".into())));
    assert_eq!(hybrid.step(), Step::AskModel);
    let told: Vec<_> =
        hybrid.history().iter().map(|message| (message.role.as_str(), message.text())).collect();
    let expected =
        [("user", "Hi"), ("assistant", "Let me see."), ("tool", "found"), ("tool", "no index")];
    assert_eq!(told, expected.map(|(role, text)| (role, text.to_owned())));
    assert_eq!(hybrid.history()[3].error.as_deref(), Some("no index"));

    hybrid.handle_model(ModelEvent::Text("Two.".into()));
    hybrid.handle_model_end();
    events.extend(drain(&mut verifier, || hybrid.poll_event(), Profile::V1));
    verifier.finish().unwrap();
    let mut reducer = Reducer::new();
    assert!(events.iter().all(|event| reducer.handle(event).is_none()));
    let calls = json!([
        {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{\"q\":1}"}},
        {"id": "b", "type": "function", "function": {"name": "count", "arguments": "{\"of\":2}"}},
    ]);
    let expected = json!([
        {"role": "assistant", "id": "msg-9ce4840b-1", "content": "Let me see.", "toolCalls": calls},
        {"role": "tool", "id": "res-b", "content": "no index", "toolCallId": "b"},
        {"role": "tool", "id": "res-a", "content": "found", "toolCallId": "a"},
        {"role": "assistant", "id": "msg-9ce4840b-2", "content": "Two."},
    ]);
    assert_eq!(serde_json::to_value(reducer.messages()).unwrap(), expected);
}

#[test]
fn mixed_calls_pause_the_run_after_backend_results() {
    let answer = vec![
        ModelEvent::call("p", "pick", "{}"),
        ModelEvent::call("s", "search", ""),
        ModelEvent::call("q", "pick", "not json"),
        ModelEvent::call("x", "made_up", "{}"),
    ];
    let (mut hybrid, mut verifier, mut events) = answered(&user("Hi"), &["pick"], answer);
    assert_eq!(types(&events).last(), Some(&"TOOL_CALL_RESULT"), "of what nobody offers");
    let Step::RunTools(calls) = hybrid.step() else { panic!("no tools") };
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].id.as_str(), "s");
    assert_eq!(&*calls[0].arguments, "{}");
    let parts = r#"[{"type":"text","text":"found"},{"type":"image","source":{"type":"data","value":"AAAA","mimeType":"image/png"}}]"#;
    let parts = decode::<Content>(parts).unwrap();
    hybrid.handle_tool_result(&"s".into(), Ok(parts));
    let told = hybrid.history().iter().find(|message| message.tool_call_id == Some("s".into()));
    assert_eq!(told.map(|message| message.content.len()), Some(2), "text and image");
    assert_eq!(hybrid.step(), Step::Done);
    events.extend(drain(&mut verifier, || hybrid.poll_event(), Profile::V1));
    verifier.finish().unwrap();
    let finished = serde_json::to_value(events.last().unwrap()).unwrap();
    assert_eq!(finished["outcome"], json!({"type": "success", "pendingToolCallIds": ["p", "q"]}));
    assert_eq!(hybrid.pending(), ["p".into(), "q".into()]);
    let arguments: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolCallArgs(args) => Some((args.tool_call_id.as_str(), &*args.delta)),
            _ => None,
        })
        .collect();
    assert_eq!(arguments, [("p", "{}"), ("s", "{}"), ("q", "not json"), ("x", "{}")]);
}

/// The page answers pending calls in its next request, and the model continues from there.
#[test]
fn next_request_resumes_the_run() {
    let first = input(&user("Paint it"), &["pick"]);
    let (_, _, events) =
        answered(&user("Paint it"), &["pick"], vec![ModelEvent::call("p", "pick", "{}")]);
    let mut reducer = Reducer::for_input(&first).unwrap();
    assert!(events.iter().all(|event| reducer.handle(event).is_none()));
    let mut said = reducer.messages().to_vec();
    said.extend(messages(
        &json!([{"id": "page-1", "role": "tool", "toolCallId": "p", "content": "green"}]),
    ));
    let mut second = first.clone();
    second.messages = said;
    second.run_id = "r2".into();

    let mut verifier = Verifier::strict_for(&second);
    let mut hybrid = HybridLoop::begin(&second, &backend(), LoopOptions::new());
    let told: Vec<_> =
        hybrid.history().iter().map(|message| (message.role.as_str(), message.text())).collect();
    assert_eq!(
        told,
        [
            ("user", "Paint it".to_owned()),
            ("assistant", String::new()),
            ("tool", "green".to_owned())
        ]
    );
    assert_eq!(hybrid.remarks().count(), 0);
    hybrid.handle_model(ModelEvent::Text("Green it is.".into()));
    // The model may reuse ids of earlier calls.
    hybrid.handle_model(ModelEvent::call("p", "pick", "{}"));
    hybrid.handle_model_end();
    let events = drain(&mut verifier, || hybrid.poll_event(), Profile::V1);
    verifier.finish().unwrap();
    assert_eq!(hybrid.pending(), ["p~2".into()]);
    let ids: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::TextMessageStart(start) => Some(start.message_id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["msg-f29ce476-1"], "each run numbers its own messages");
}

#[test]
fn missing_page_results_are_reported_to_the_model() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "pick", "arguments": "{}"}});
    let said = json!([
        {"id": "u", "role": "user", "content": "a"},
        {"id": "a", "role": "assistant", "toolCalls": [call("p"), call("q")]},
        {"id": "t", "role": "tool", "toolCallId": "q", "content": "green"},
    ]);
    let hybrid = HybridLoop::begin(&input(&said, &["pick"]), &[], LoopOptions::new());
    let texts: Vec<_> = hybrid.history().iter().map(ChatMessage::text).collect();
    assert_eq!(texts, ["a", "", "There is no result of this call.", "green"]);
    let remarks: Vec<_> = hybrid.remarks().collect();
    assert_eq!(remarks, ["added a result of p, which has none"]);
}

#[test]
fn backend_tool_with_a_page_tool_name_is_renamed_for_the_page() {
    let (mut hybrid, mut verifier, events) =
        answered(&user("Hi"), &["search"], vec![ModelEvent::call("s", "search", "{}")]);
    let Event::ToolCallStart(start) = &events[1] else { panic!("no call") };
    assert_eq!(start.tool_call_name, "agent__search");
    let Step::RunTools(calls) = hybrid.step() else { panic!("not ours") };
    assert_eq!(calls[0].name, "search");
    hybrid.handle_tool_result(&calls[0].id, Ok("found".into()));
    hybrid.handle_model_end();
    drain(&mut verifier, || hybrid.poll_event(), Profile::V1);
    verifier.finish().unwrap();
    let remarks: Vec<_> = hybrid.remarks().collect();
    assert_eq!(remarks, ["the page's tool search has the name of another"]);

    // The page returns the call with the name that it saw; the model receives its own tool's name.
    let call = json!({"id": "s", "type": "function", "function": {"name": "agent__search", "arguments": "{}"}});
    let said = json!([{"id": "a", "role": "assistant", "toolCalls": [call]}, {"id": "t", "role": "tool", "toolCallId": "s", "content": "x"}]);
    let again = HybridLoop::begin(&input(&said, &["search"]), &backend(), LoopOptions::new());
    assert_eq!(again.history()[0].tool_calls[0].name, "search");
}

#[test]
fn input_without_messages_receives_the_stored_history() {
    let said: Vec<_> =
        ["one", "two", "three"].map(|text| ChatMessage::new(ChatRole::User, text)).into();
    for (stored, limit, texts) in [
        (&said[..], 2, vec!["two", "three"]),
        (&[], 2, vec![]),
        (&said[..], 9, vec!["one", "two", "three"]),
    ] {
        let input = input(&json!([]), &[]);
        let mut verifier = Verifier::strict_for(&input);
        let mut hybrid = HybridLoop::begin(&input, &[], LoopOptions::new());
        assert_eq!(hybrid.step(), Step::LoadHistory);
        hybrid.handle_history(stored, limit);
        let events = drain(&mut verifier, || hybrid.poll_event(), Profile::V1);
        verifier.finish().unwrap();
        assert_eq!(types(&events), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
        let snapshot = serde_json::to_value(&events[1]).unwrap();
        let shown: Vec<_> = snapshot["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["content"].as_str().unwrap())
            .collect();
        assert_eq!(shown, texts);
    }
}
