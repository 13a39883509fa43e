//! Compares the official JSON Schema, as published in the crate `ag-ui`, with the types of
//! agui-types: by definition, and by document.
use agui_types::capabilities::AgentCapabilities;
use agui_types::enforce;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use jsonrpc_core::wire;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// The official schema.
static OFFICIAL: LazyLock<Value> = LazyLock::new(|| {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo metadata");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages.iter().find(|it| it["name"] == "ag-ui").expect("the crate");
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    let schema = manifest.with_file_name("src").join("protocol/schema-1.0.json");
    serde_json::from_str(&std::fs::read_to_string(schema).expect("the schema")).expect("JSON")
});

fn definitions() -> &'static Map<String, Value> {
    OFFICIAL["$defs"].as_object().expect("definitions")
}

/// The members of an object: types, and which are required.
#[derive(Debug, Default, PartialEq)]
struct Members {
    names: BTreeSet<String>,
    required: BTreeSet<String>,
}

fn collect(schema: &Value, all: &Map<String, Value>, members: &mut Members) {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        collect(&all[name], all, members);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        collect(part, all, members);
    }
    let names = schema["properties"].as_object().into_iter().flatten();
    members.names.extend(names.map(|(name, _)| name.clone()));
    let required = schema["required"].as_array().into_iter().flatten();
    members.required.extend(required.filter_map(Value::as_str).map(str::to_owned));
}

fn ours() -> Map<String, Value> {
    fn of<T: JsonSchema>() -> Value {
        schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value()
    }
    let mut all = Map::new();
    for mut schema in [of::<Event>(), of::<RunAgentInput>(), of::<AgentCapabilities>()] {
        let title = schema["title"].as_str().expect("a title").to_owned();
        let defs = schema["$defs"].take();
        all.extend(defs.as_object().cloned().unwrap_or_default());
        all.insert(title, schema);
    }
    all
}

/// Tags that are constant members of official objects. Here they belong to the union.
fn tags(definition: &Value, all: &Map<String, Value>) -> BTreeSet<String> {
    let mut tags = BTreeSet::new();
    if let Some(name) = definition["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        tags.extend(self::tags(&all[name], all));
    }
    for part in definition["allOf"].as_array().into_iter().flatten() {
        tags.extend(self::tags(part, all));
    }
    for (name, schema) in definition["properties"].as_object().into_iter().flatten() {
        if schema.get("const").is_some() {
            tags.insert(name.clone());
        }
    }
    tags
}

#[test]
fn each_definition_has_the_same_members() {
    let official = definitions();
    let ours = ours();
    let mut compared = 0;
    let mut without = BTreeSet::new();
    let mut different = BTreeMap::new();
    for (name, definition) in official {
        let mut members = Members::default();
        collect(definition, official, &mut members);
        if members.names.is_empty() {
            continue;
        }
        let Some(schema) = ours.get(name) else {
            without.insert(name.as_str());
            continue;
        };
        let mut found = Members::default();
        collect(schema, &ours, &mut found);
        for tag in tags(definition, official) {
            if !found.names.contains(&tag) {
                members.names.remove(&tag);
                members.required.remove(&tag);
            }
        }
        // New in 1.1.
        found.names.remove("encryptedValueType");
        compared += 1;
        if members != found {
            different.insert(name.clone(), (members, found));
        }
    }
    assert!(different.is_empty(), "{different:#?}");
    // Parts of other definitions, without a type of their own here.
    assert_eq!(without, BTreeSet::from(WITHOUT));
    assert!(compared > 60, "{compared}");
}

/// Official definitions that are mixed into others, without a type of their own here.
const WITHOUT: [&str; 3] = ["Attributable", "BaseEvent", "BaseMessage"];

/// Returns the validator of a definition.
pub fn validator(definition: &str) -> jsonschema::Validator {
    let schema = json!({"$ref": format!("#/$defs/{definition}"), "$defs": OFFICIAL["$defs"],
        "$schema": "https://json-schema.org/draft/2020-12/schema"});
    jsonschema::validator_for(&schema).expect("a schema")
}

/// Returns whether a document is valid by 1.0 for agui-types.
fn is_event(text: &str) -> bool {
    let Ok((event, nulls)) = enforce::read_event(text) else { return false };
    let (event, removals) = enforce::enforce_event(event);
    let asks_nothing = matches!(&event, Some(Event::RunFinished(finished)) if matches!(&finished.outcome,
        Some(agui_types::event::RunFinishedOutcome::Interrupt(outcome)) if outcome.interrupts.is_empty()));
    nulls.is_empty() && removals.is_empty() && event.is_some() && !asks_nothing
}

fn is_input(text: &str) -> bool {
    let Ok((input, nulls)) = enforce::read_input(text) else { return false };
    nulls.is_empty() && enforce::enforce_input(input).1.is_empty()
}

/// Returns a document and each variation in one place: an omitted member, another value, an
/// additional member.
fn variations(value: &Value) -> Vec<Value> {
    let mut all = vec![value.clone()];
    let others = [
        json!(null),
        json!(true),
        json!(7),
        json!(-1),
        json!(1.5),
        json!("other"),
        json!(""),
        json!([]),
        json!({}),
        json!([{"type":"other"}]),
        json!({"type":"other"}),
    ];
    let mut pointers = vec![String::new()];
    while let Some(pointer) = pointers.pop() {
        let here = value.pointer(&pointer).expect("a place");
        if !pointer.is_empty() {
            all.extend(others.iter().map(|other| {
                let mut changed = value.clone();
                *changed.pointer_mut(&pointer).expect("a place") = other.clone();
                changed
            }));
        }
        match here {
            Value::Object(members) => {
                for name in members.keys() {
                    let mut changed = value.clone();
                    let parent = changed.pointer_mut(&pointer).and_then(Value::as_object_mut);
                    parent.expect("an object").remove(name);
                    all.push(changed);
                    pointers
                        .push(format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")));
                }
                let mut changed = value.clone();
                let parent = changed.pointer_mut(&pointer).and_then(Value::as_object_mut);
                parent.expect("an object").insert("newer".into(), json!(1));
                all.push(changed);
            }
            Value::Array(elements) => {
                pointers.extend((0..elements.len()).map(|index| format!("{pointer}/{index}")));
            }
            _ => {}
        }
    }
    all
}

fn vectors() -> Vec<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../agui-types/tests/fixtures/1.0/Event/vectors.jsonl"
    );
    let text = std::fs::read_to_string(path).expect("the vectors");
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["event"].clone())
        .collect()
}

#[test]
fn documents_have_the_same_verdict() {
    let events = validator("Event");
    let inputs = validator("RunAgentInput");
    let capabilities = validator("AgentCapabilities");
    let mut judged = 0;
    let mut differences = Vec::new();
    let mut judge = |document: Value, official: bool, ours: bool| {
        judged += 1;
        if official != ours {
            differences.push(format!("official {official}, ours {ours}: {document}"));
        }
    };
    for vector in vectors() {
        for document in variations(&vector) {
            judge(document.clone(), events.is_valid(&document), is_event(&document.to_string()));
        }
        if let Some(input) = vector.get("input") {
            for document in variations(input) {
                judge(
                    document.clone(),
                    inputs.is_valid(&document),
                    is_input(&document.to_string()),
                );
            }
        }
    }
    let declared =
        include_str!("../../../../agui-types/tests/fixtures/1.0/AgentCapabilities/full.json");
    for document in variations(&serde_json::from_str(declared).expect("JSON")) {
        let read = wire::decode::<AgentCapabilities>(&document.to_string());
        // A document with an unknown member or `null` is decoded as well; only undecodable ones are
        // compared.
        if read.is_err() {
            judge(document.clone(), capabilities.is_valid(&document), false);
        }
    }
    differences.truncate(20);
    assert!(
        differences.is_empty(),
        "{} of {judged}:\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(judged > 15_000, "{judged}");
}
