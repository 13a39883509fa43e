//! Wire documents, written from the specification or recorded, and their members.
use crate::model::{self, Shape};
use agui_types::capabilities::AgentCapabilities;
use agui_types::content::ContentPart;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::interrupt::ResumeEntry;
use agui_types::message::Message;
use jsonrpc_core::wire;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/1.0").join(name)
}

/// Returns the documents of a type: one per file, or one per line of a recording.
fn documents(name: &str) -> Vec<(String, String)> {
    let mut documents = Vec::new();
    for file in fs::read_dir(folder(name)).expect("the folder is there") {
        let path = file.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("text");
        let shown = format!("{name}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            for line in text.lines() {
                let line: Value = serde_json::from_str(line).expect("JSON");
                documents.push((format!("{shown}: {}", line["name"]), line["event"].to_string()));
            }
        } else {
            documents.push((shown, text));
        }
    }
    documents
}

/// Returns the events of the first-party encoder's corpus, each with its bytes.
#[cfg(feature = "protobuf")]
pub(crate) fn vectors() -> Vec<wire::Extra> {
    let text =
        fs::read_to_string(folder("Event").join("vectors.jsonl")).expect("the file is there");
    text.lines().map(|line| wire::decode(line).expect("an object")).collect()
}

/// Each document decodes and encodes to the same value.
fn round_trip<T: wire::Wire + Serialize>(name: &str) {
    for (shown, text) in documents(name) {
        let given: Value = serde_json::from_str(&text).expect("JSON");
        let typed: T = wire::decode(&text).unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(serde_json::to_value(typed).expect("JSON"), given, "{shown}");
    }
}

#[test]
fn fixtures_round_trip() {
    round_trip::<AgentCapabilities>("AgentCapabilities");
    round_trip::<ContentPart>("ContentPart");
    round_trip::<Event>("Event");
    round_trip::<Message>("Message");
    round_trip::<ResumeEntry>("ResumeEntry");
    round_trip::<RunAgentInput>("RunAgentInput");
}

/// Every type of event has a recording, with required members only and with all members.
#[test]
fn every_event_type_has_recordings() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (shown, text) in documents("Event") {
        let event: Event = wire::decode(&text).expect("an event");
        if shown.contains("vectors") {
            assert!(event.is_known(), "{shown}");
            *seen.entry(event.tag().to_owned()).or_default() += 1;
        }
    }
    let names: BTreeSet<_> = Event::NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names, seen.keys().cloned().collect());
    assert!(seen.values().all(|count| *count >= 2), "{seen:?}");
}

/// Every declared member is in a fixture, and no fixture (except those of newer peers) has another
/// member. A misspelt name in the source would otherwise go unnoticed, since unknown members are
/// kept.
#[test]
fn every_member_is_in_a_fixture() {
    let types = model::types();
    let mut seen = BTreeSet::new();
    for name in
        ["AgentCapabilities", "ContentPart", "Event", "Message", "ResumeEntry", "RunAgentInput"]
    {
        for (shown, text) in documents(name).iter().filter(|(shown, _)| !shown.contains("newer")) {
            let value: Value = serde_json::from_str(text).expect("JSON");
            walk(&types, name, &value, shown, &mut seen);
        }
    }
    let mut never = Vec::new();
    for (name, shape) in &types {
        if let Shape::Object { required, optional } = shape {
            let members = required.iter().chain(optional);
            let unseen =
                members.filter(|member| !seen.contains(&(name.clone(), member.wire.clone())));
            never.extend(unseen.map(|member| format!("{name}.{}", member.wire)));
        }
    }
    never.retain(|member| !member.ends_with(".encryptedValueType"));
    assert_eq!(never, Vec::<String>::new(), "no fixture has these");
}

fn walk(
    types: &BTreeMap<String, Shape>,
    kind: &str,
    value: &Value,
    shown: &str,
    seen: &mut BTreeSet<(String, String)>,
) {
    let inner = |list: &str| kind.strip_prefix(list).and_then(|rest| rest.strip_suffix('>'));
    let element = if kind == "JsonPatch" { Some("JsonPatchOperation") } else { inner("Vec<") };
    match (element, inner("Box<"), types.get(kind), value) {
        (Some(element), _, _, Value::Array(elements)) => {
            elements.iter().for_each(|value| walk(types, element, value, shown, seen));
        }
        (_, Some(boxed), _, value) => walk(types, boxed, value, shown, seen),
        (_, _, Some(Shape::Leaf), Value::Array(elements)) if kind == "Content" => {
            elements.iter().for_each(|value| walk(types, "ContentPart", value, shown, seen));
        }
        (_, _, Some(Shape::Union { tag, variants }), Value::Object(members)) => {
            let found = variants.iter().find(|variant| members[tag] == variant.wire.as_str());
            let variant = found.unwrap_or_else(|| panic!("{shown}: {} in {kind}", members[tag]));
            let mut members = members.clone();
            members.remove(tag);
            walk(types, &variant.kind, &Value::Object(members), shown, seen);
        }
        (_, _, Some(Shape::Object { required, optional }), Value::Object(members)) => {
            for (name, value) in members {
                let mut known = required.iter().chain(optional);
                let member = known.find(|member| member.wire == *name);
                let member = member.unwrap_or_else(|| panic!("{shown}: {name} in {kind}"));
                seen.insert((kind.to_owned(), name.clone()));
                walk(types, &member.kind, value, shown, seen);
            }
        }
        (_, _, Some(Shape::Names(names)), Value::String(name)) => {
            assert!(names.contains(name), "{shown}: {name} in {kind}");
        }
        _ => {}
    }
}

#[test]
fn input_of_0x_clients_is_accepted() {
    let (_, text) = documents("RunAgentInput")
        .into_iter()
        .find(|(shown, _)| shown.contains("0.x"))
        .expect("the fixture is there");
    let input: RunAgentInput = wire::decode(&text).expect("an input");
    assert_eq!(&input.protocol_version, &None);
    assert_eq!(&input.state, &None);
    assert_eq!(&input.forwarded_props, &None);
    let Some(Message::User(user)) = input.messages.last() else { panic!("the user's message") };
    let agui_types::content::Content::Parts(parts) = &user.content else { panic!("parts") };
    let modern: Vec<_> = parts
        .iter()
        .map(|part| match part {
            ContentPart::Binary(old) => {
                old.modern().map(|part| serde_json::to_value(part).expect("JSON"))
            }
            other => Some(serde_json::to_value(other).expect("JSON")),
        })
        .collect();
    let expected = serde_json::json!([
        {"type": "text", "text": "What is on these?"},
        {"type": "image", "source": {"type": "data", "value": "iVBORw0KGgo=", "mimeType": "image/png"},
            "metadata": {"filename": "a.png"}},
        {"type": "document", "id": "f2",
            "source": {"type": "url", "value": "https://files.example/b.pdf", "mimeType": "application/pdf"}},
        null,
    ]);
    assert_eq!(serde_json::to_value(modern).expect("JSON"), expected);
}

#[test]
fn malformed_documents_are_errors_with_a_position() {
    let table = [
        (
            r#"{"type":"TEXT_MESSAGE_START","messageId":42}"#,
            "at /messageId: expected a string, got number",
        ),
        (r#"{"type":"RUN_STARTED","threadId":"t"}"#, "expected member `runId`, got none"),
        (
            r#"{"type":"STATE_SNAPSHOT","snapshot":1,"timestamp":0.5}"#,
            "at /timestamp: expected an integer from -(2^53 - 1) to 2^53 - 1, got number",
        ),
        (
            r#"{"timestamp":9007199254740992,"type":"STATE_SNAPSHOT","snapshot":1}"#,
            "at /timestamp: expected an integer from -(2^53 - 1) to 2^53 - 1, got number",
        ),
        (
            r#"{"type":"RUN_ERROR","message":"m","usage":[{"inputTokens":-1}]}"#,
            "at /usage/0/inputTokens: expected an integer from 0 to 2^53 - 1, got number",
        ),
        (
            r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"b","content":"text"}"#,
            "at /content: expected an object (object), got string",
        ),
        (
            r#"{"type":"TOOL_CALL_RESULT","messageId":"a","toolCallId":"b","content":{}}"#,
            "at /content: expected a string or a list of content parts, got object",
        ),
        (
            r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"user","content":[{"type":"text","text":1}]}]}"#,
            "at /messages/0/content/0/text: expected a string, got number",
        ),
        (
            r#"{"type":"STATE_DELTA","delta":[{"op":"move","from":"/a~","path":"/b"}]}"#,
            "at /delta/0/from: expected a JSON pointer, got string",
        ),
        (r#"{"type":"STATE_SNAPSHOT"}"#, "expected member `snapshot`, got none"),
        (r#"{"delta":"no type"}"#, "expected member `type`, got none"),
        ("DONE", "expected JSON, got expected value at line 1 column 1"),
    ];
    for (text, expected) in table {
        let error = wire::decode::<Event>(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn integers_are_accepted_in_any_notation() {
    use agui_types::integer::{Count, SafeInteger};
    for (text, number) in [("1.0", 1), ("1e3", 1000), ("-9007199254740991", -9_007_199_254_740_991)]
    {
        assert_eq!(serde_json::from_str::<SafeInteger>(text).expect(text).get(), number);
    }
    for text in
        ["1.5", "1e400", "-1e19", "9007199254740992", "18446744073709551616", "\"1\"", "null"]
    {
        assert!(serde_json::from_str::<SafeInteger>(text).is_err(), "{text}");
        assert!(serde_json::from_str::<Count>(text).is_err(), "{text}");
    }
    assert!(serde_json::from_str::<Count>("-1").is_err());
    assert!(Count::try_from(u64::MAX).is_err());
}

#[test]
fn events_are_small() {
    assert!(size_of::<Event>() <= 256, "{}", size_of::<Event>());
}
