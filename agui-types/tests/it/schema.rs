//! JSON Schemas of the types agree with the source.
use crate::model::{self, Member, Shape};
use agui_types::capabilities::AgentCapabilities;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

fn schema_of<T: JsonSchema>() -> Value {
    schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value()
}

/// Returns the definitions of events, inputs and capabilities, by name.
fn definitions() -> Map<String, Value> {
    let mut all = Map::new();
    for mut schema in
        [schema_of::<Event>(), schema_of::<RunAgentInput>(), schema_of::<AgentCapabilities>()]
    {
        let title = schema["title"].as_str().expect("a title").to_owned();
        let defs = schema["$defs"].take();
        all.extend(defs.as_object().cloned().unwrap_or_default());
        all.insert(title, schema);
    }
    all
}

fn names(members: &[Member]) -> BTreeSet<&str> {
    members.iter().map(|member| member.wire.as_str()).collect()
}

#[test]
fn each_type_has_a_schema_with_its_members() {
    let definitions = definitions();
    for (name, shape) in model::types() {
        let schema = definitions.get(&name).unwrap_or_else(|| panic!("{name} has no schema"));
        match shape {
            Shape::Object { required, optional } => {
                let properties = schema["properties"].as_object().cloned().unwrap_or_default();
                let found: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
                let all: BTreeSet<&str> = &names(&required) | &names(&optional);
                assert_eq!(found, all, "{name}");
                let listed = schema["required"].as_array().cloned().unwrap_or_default();
                let listed: BTreeSet<&str> = listed.iter().filter_map(Value::as_str).collect();
                assert_eq!(listed, names(&required), "{name}");
            }
            Shape::Union { variants, .. } => {
                let text = schema.to_string();
                for variant in variants {
                    assert!(text.contains(&format!("{:?}", variant.wire)), "{name}: {variant:?}");
                }
            }
            Shape::Names(names) => {
                assert_eq!(schema["anyOf"][0]["enum"], json!(names), "{name}");
            }
            Shape::Leaf => {}
        }
    }
}

#[test]
fn types_other_than_objects_have_schemas() {
    let definitions = definitions();
    let timestamp = json!({"type":"integer","minimum":-9_007_199_254_740_991_i64,"maximum":9_007_199_254_740_991_i64});
    assert_eq!(definitions["SafeInteger"], timestamp);
    assert_eq!(definitions["Count"]["minimum"], 0);
    assert_eq!(definitions["Content"]["anyOf"][0], json!({"type":"string"}));
    assert_eq!(definitions["JsonPointer"]["type"], "string");
    assert_eq!(definitions["MessageId"]["type"], "string");
}
