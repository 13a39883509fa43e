//! Enforcement: removals, errors, and the absence of unknown material in the result.
use crate::generate;
use crate::law::Documents;
use crate::model::{self, Member, Shape};
use agui_types::enforce::{self, Removal, RemovalKind, SchemaError};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use jsonrpc_core::wire;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn enforced(event: &Value) -> (Option<Value>, Vec<Removal>) {
    let (event, mut removals) = enforce::read_event(&event.to_string()).expect("an event");
    let (event, more) = enforce::enforce_event(event);
    removals.extend(more);
    (event.map(|event| serde_json::to_value(event).expect("JSON")), removals)
}

/// A removal: kind, name, place and removed place.
type Reported = (RemovalKind, &'static str, &'static str, &'static str);

/// Cases: an event, the result, and the removals.
fn table() -> Vec<(Value, Value, Vec<Reported>)> {
    use RemovalKind::{Event, LegacyPart, Member, Name, Variant};
    let result = |content: Value| json!({"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":content});
    vec![
        (json!({"type":"NEWER","a":1}), Value::Null, vec![(Event, "NEWER", "", "")]),
        (
            json!({"type":"TEXT_MESSAGE_END","messageId":"m","a/b":1,"metadata":{"x":null}}),
            json!({"type":"TEXT_MESSAGE_END","messageId":"m","metadata":{"x":null}}),
            vec![(Member, "a/b", "/a~1b", "/a~1b")],
        ),
        (
            json!({"type":"TEXT_MESSAGE_START","messageId":"m","role":"narrator"}),
            json!({"type":"TEXT_MESSAGE_START","messageId":"m"}),
            vec![(Name, "narrator", "/role", "/role")],
        ),
        (
            json!({"type":"REASONING_MESSAGE_START","messageId":"m","role":"narrator"}),
            Value::Null,
            vec![(Name, "narrator", "/role", "")],
        ),
        (
            json!({"type":"REASONING_ENCRYPTED_VALUE","subtype":"step","entityId":"e","encryptedValue":"v"}),
            Value::Null,
            vec![(Name, "step", "/subtype", "")],
        ),
        (
            json!({"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"postponed","until":1}}),
            json!({"type":"RUN_FINISHED","threadId":"t","runId":"r"}),
            vec![(Variant, "postponed", "/outcome", "/outcome")],
        ),
        (
            json!({"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","interrupts":[]}}),
            json!({"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}),
            vec![(Member, "interrupts", "/outcome/interrupts", "/outcome/interrupts")],
        ),
        (
            result(json!([
                {"type":"image","source":{"type":"ipfs","value":"v"}},
                {"type":"text","text":"x","y":1},
                {"type":"hologram"},
            ])),
            result(json!([{"type":"text","text":"x"}])),
            vec![
                (Variant, "ipfs", "/content/0/source", "/content/0"),
                (Member, "y", "/content/1/y", "/content/1/y"),
                (Variant, "hologram", "/content/2", "/content/2"),
            ],
        ),
        (
            result(json!([
                {"type":"binary","mimeType":"audio/ogg","data":"AA==","filename":"a"},
                {"type":"binary","mimeType":"audio/ogg","id":"f"},
            ])),
            result(json!([
                {"type":"audio","source":{"type":"data","value":"AA==","mimeType":"audio/ogg"},"metadata":{"filename":"a"}},
            ])),
            vec![
                (LegacyPart, "binary", "/content/0", "/content/0"),
                (Variant, "binary", "/content/1", "/content/1"),
            ],
        ),
        (
            json!({"type":"STATE_DELTA","delta":[{"op":"frob"},{"op":"remove","path":"/a","value":1,"note":2}]}),
            json!({"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a","value":1,"note":2}]}),
            vec![(Variant, "frob", "/delta/0", "/delta/0")],
        ),
        (
            json!({"type":"MESSAGES_SNAPSHOT","messages":[
                {"id":"1","role":"narrator","content":"x"},
                {"id":"2","role":"assistant","toolCalls":[
                    {"id":"c","type":"query","function":{"name":"f","arguments":""}},
                    {"id":"d","type":"function","function":{"name":"f","arguments":"","strict":true}},
                ]},
                {"id":"3","role":"activity","activityType":"t","content":{"any":1}},
            ]}),
            json!({"type":"MESSAGES_SNAPSHOT","messages":[
                {"id":"2","role":"assistant","toolCalls":[{"id":"d","type":"function","function":{"name":"f","arguments":""}}]},
                {"id":"3","role":"activity","activityType":"t","content":{"any":1}},
            ]}),
            vec![
                (Variant, "narrator", "/messages/0", "/messages/0"),
                (Name, "query", "/messages/1/toolCalls/0/type", "/messages/1/toolCalls/0"),
                (
                    Member,
                    "strict",
                    "/messages/1/toolCalls/1/function/strict",
                    "/messages/1/toolCalls/1/function/strict",
                ),
            ],
        ),
        (
            json!({"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],
                "resume":[{"interruptId":"i","status":"expired"},{"interruptId":"j","status":"resolved"}]}}),
            json!({"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],
                "resume":[{"interruptId":"j","status":"resolved"}]}}),
            vec![(Name, "expired", "/input/resume/0/status", "/input/resume/0")],
        ),
    ]
}

#[test]
fn unknown_material_is_removed_and_reported() {
    for (given, expected, removed) in table() {
        let (left, removals) = enforced(&given);
        assert_eq!(left.unwrap_or(Value::Null), expected, "{given}");
        let reported: Vec<_> = removals
            .iter()
            .map(|it| (it.kind, it.name.as_str(), it.pointer.as_str(), it.removed.as_str()))
            .collect();
        assert_eq!(reported, removed, "{given}");
        for removal in &removals {
            assert!(given.pointer(&removal.pointer).is_some(), "{removal}");
        }
    }
}

#[test]
fn removal_describes_the_material() {
    let (_, removals) =
        enforced(&json!({"type":"REASONING_MESSAGE_START","messageId":"m","role":"x"}));
    assert_eq!(removals[0].to_string(), r#"unknown name "x" at "/role", removed with """#);
    let (_, removals) = enforced(&json!({"type":"RUN_ERROR","message":"m","x":1}));
    assert_eq!(removals[0].to_string(), r#"unknown member "x" at "/x""#);
}

/// Members that 0.x peers write as `null`, by type.
const LEGACY_NULLS: &[(&str, &str)] = &[
    (
        "/parentMessageId",
        r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":null}"#,
    ),
    ("/parentMessageId", r#"{"type":"TOOL_CALL_CHUNK","toolCallId":"c","parentMessageId":null}"#),
    ("/outcome", r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":null}"#),
    ("/result", r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":null}"#),
    ("/result", r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":null}"#),
    ("/rawEvent", r#"{"type":"STEP_STARTED","stepName":"s", "rawEvent" : null}"#),
    (
        "/content/0/metadata",
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c",
            "content":[{"type":"image","source":{"type":"url","value":"u"},"metadata":null}]}"#,
    ),
    (
        "/messages/0/content/1/metadata",
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"x"},
            {"type":"document","source":{"type":"url","value":"u"},"metadata":null}]}]}"#,
    ),
    (
        "/input/state",
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"state":null}}"#,
    ),
];

const FATAL_NULLS: &[(&str, &str)] = &[
    (
        "/parentMessageId",
        r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentMessageId":null}"#,
    ),
    ("/outcome", r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":null}"#),
    ("/code", r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"m","code":null}"#),
    (
        "/subagentRunId",
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","subagentRunId":null}"#,
    ),
    ("/metadata", r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","metadata":null}"#),
    (
        "/messages/0/metadata",
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"reasoning","content":"x","metadata":null}]}"#,
    ),
    (
        "/content/0/metadata",
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"x","metadata":null}]}"#,
    ),
    ("/usage/0/model", r#"{"type":"RUN_ERROR","message":"m","usage":[{"model":null}]}"#),
    (
        "/input/tools",
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"tools":null}}"#,
    ),
];

#[test]
fn legacy_nulls_are_absent_and_reported() {
    for (pointer, text) in LEGACY_NULLS {
        let (event, removals) = enforce::read_event(text).expect(text);
        let reported: Vec<_> = removals.iter().map(|it| (it.kind, it.pointer.as_str())).collect();
        assert_eq!(reported, [(RemovalKind::LegacyNull, *pointer)], "{text}");
        let given: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(given.pointer(pointer), Some(&Value::Null), "{text}");
        let left = serde_json::to_value(&event).expect("JSON");
        assert_eq!(left.pointer(pointer), None, "{text}");
        assert!(enforce::enforce_event(event).1.is_empty());
    }
    let input = r#"{"threadId":"t","runId":"r","messages":[],"state":null,"forwardedProps":null,
        "tools":[{"name":"n","description":"d","parameters":null}],
        "resume":[{"interruptId":"i","status":"resolved","payload":null}]}"#;
    let (_, removals) = enforce::read_input(input).expect("an input");
    let reported: Vec<_> = removals.iter().map(|it| it.pointer.as_str()).collect();
    assert_eq!(reported, ["/state", "/forwardedProps", "/tools/0/parameters", "/resume/0/payload"]);
}

#[test]
fn other_nulls_are_errors() {
    for (pointer, text) in FATAL_NULLS {
        let expected = SchemaError::Null { pointer: (*pointer).to_owned() };
        assert_eq!(enforce::read_event(text), Err(expected), "{text}");
    }
    let text = r#"{"threadId":"t","runId":"r","messages":[],"parentRunId":null}"#;
    let error = enforce::read_input(text).expect_err("no such null");
    assert_eq!(error.to_string(), "at /parentRunId: expected a value or no member, got null");
}

#[test]
fn nulls_that_are_data_are_kept() {
    for text in [
        r#"{"type":"CUSTOM","name":"n","value":null}"#,
        r#"{"type":"RAW","event":null}"#,
        r#"{"type":"STATE_SNAPSHOT","snapshot":null}"#,
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"","value":null,"note":null}]}"#,
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"t","content":{"a":null}}"#,
        r#"{"type":"RUN_ERROR","message":"null","metadata":{"a":null}}"#,
        r#"{"type":"NEWER","a":null}"#,
    ] {
        let (event, removals) = enforce::read_event(text).expect(text);
        assert_eq!(serde_json::to_string(&event).expect("JSON").as_str(), text);
        assert_eq!(removals.len(), 0);
    }
}

/// Collects the places that this version does not describe.
fn unknown(types: &BTreeMap<String, Shape>, kind: &str, value: &Value, at: &str) -> Vec<String> {
    let inner = |list: &str| kind.strip_prefix(list).and_then(|rest| rest.strip_suffix('>'));
    let element = match kind {
        "JsonPatch" => Some("JsonPatchOperation"),
        "Content" => Some("ContentPart"),
        _ => inner("Vec<"),
    };
    let objects = |members: Vec<&Member>, tag: Option<&str>| {
        let object = value.as_object().expect("an object");
        let named = object.iter().filter(|(name, _)| Some(name.as_str()) != tag);
        named
            .flat_map(|(name, value)| {
                let place = format!("{at}/{name}");
                match members.iter().find(|member| member.wire == *name) {
                    Some(_) if value.is_null() => Vec::new(),
                    Some(member) => unknown(types, &member.kind, value, &place),
                    None => vec![place],
                }
            })
            .collect()
    };
    match (element, inner("Box<"), types.get(kind), value) {
        (Some(element), _, _, Value::Array(elements)) => elements
            .iter()
            .enumerate()
            .flat_map(|(index, value)| unknown(types, element, value, &format!("{at}/{index}")))
            .collect(),
        (_, Some(boxed), _, _) => unknown(types, boxed, value, at),
        (_, _, Some(Shape::Names(names)), Value::String(name)) if !names.contains(name) => {
            vec![at.to_owned()]
        }
        (_, _, Some(Shape::Union { tag, variants }), _) => {
            let name = value[tag].as_str().expect("a tag");
            let found = variants.iter().find(|variant| variant.wire == name && name != "binary");
            match found.and_then(|variant| types.get(&variant.kind)) {
                Some(Shape::Object { .. }) if kind == "JsonPatchOperation" => Vec::new(),
                Some(Shape::Object { required, optional }) => {
                    objects(required.iter().chain(optional).collect(), Some(tag))
                }
                _ => vec![at.to_owned()],
            }
        }
        (_, _, Some(Shape::Object { required, optional }), _) => {
            objects(required.iter().chain(optional).collect(), None)
        }
        _ => Vec::new(),
    }
}

/// The result has no undeclared material, each removal existed in the input, and the operation is
/// idempotent.
#[test]
fn no_unknown_material_remains() {
    let documents = Documents::new();
    let types = model::types();
    let config = Config { failure_persistence: None, ..generate::cases(256) };
    TestRunner::new(config)
        .run(&documents.of("Event"), |document| {
            let event: Event = wire::decode(&document.text).expect("an event");
            let (left, removals) = enforce::enforce_event(event);
            for removal in &removals {
                prop_assert!(document.value.pointer(&removal.pointer).is_some(), "{}", removal);
                prop_assert!(removal.pointer.starts_with(&removal.removed), "{}", removal);
            }
            let Some(left) = left else { return Ok(()) };
            let value = serde_json::to_value(&left).expect("JSON");
            prop_assert_eq!(unknown(&types, "Event", &value, ""), Vec::<String>::new());
            prop_assert_eq!(removals.is_empty(), value == document.value);
            let (again, more) = enforce::enforce_event(left.clone());
            prop_assert_eq!(again, Some(left));
            prop_assert_eq!(more, Vec::new());
            Ok(())
        })
        .expect("the property holds");
    let config = Config { failure_persistence: None, ..generate::cases(64) };
    TestRunner::new(config)
        .run(&documents.of("RunAgentInput"), |document| {
            let input: RunAgentInput = wire::decode(&document.text).expect("an input");
            let (left, removals) = enforce::enforce_input(input);
            let value = serde_json::to_value(&left).expect("JSON");
            prop_assert_eq!(unknown(&types, "RunAgentInput", &value, ""), Vec::<String>::new());
            prop_assert_eq!(removals.is_empty(), value == document.value);
            prop_assert_eq!(enforce::enforce_input(left.clone()), (left, Vec::new()));
            Ok(())
        })
        .expect("the property holds");
}

/// A document is accepted exactly when no `null` is in a forbidden place, and decodes to the same
/// event.
#[test]
fn reading_equals_decoding_except_for_nulls() {
    let documents = Documents::new();
    let config = Config { failure_persistence: None, ..generate::cases(128) };
    TestRunner::new(config)
        .run(&documents.of("Event"), |document| {
            let given: Value = serde_json::from_str(&document.text).expect("JSON");
            match enforce::read_event(&document.text) {
                Ok((event, removals)) => {
                    prop_assert_eq!(&event, &wire::decode::<Event>(&document.text).expect("one"));
                    prop_assert_eq!(removals.is_empty(), given == document.without_nulls);
                }
                Err(SchemaError::Null { pointer }) => {
                    prop_assert_eq!(given.pointer(&pointer), Some(&Value::Null));
                    prop_assert_eq!(document.without_nulls.pointer(&pointer), None);
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
            Ok(())
        })
        .expect("the property holds");
}
