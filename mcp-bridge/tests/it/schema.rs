//! Forms derived from schemas, and answers to them.
use jsonrpc_core::wire::{self, Extra, Raw};
use mcp_bridge::mcp::elicitation::RequestedSchema;
use mcp_bridge::schema::{self, Form, LossKind, MAX_FIELDS, MAX_LEVELS};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

mod answers;
mod rust_types;

fn raw(value: &Value) -> Raw {
    Raw::from_value(value).expect("JSON")
}

fn restrict(value: &Value) -> Form {
    schema::restrict(&raw(value)).unwrap_or_else(|error| panic!("{value}: {error}"))
}

fn object(property: &Value) -> Value {
    json!({ "type": "object", "properties": { "p": property }, "required": ["p"] })
}

/// Field, requiredness and losses (by the pointer of the keyword) of each kind of property.
#[test]
fn properties_become_fields() {
    use LossKind::{AsJson, AsText, Bound, Dropped, Flattened, Nullable, TitleAdded};
    type Row = (Value, Value, bool, &'static [(&'static str, LossKind)]);
    let table: &[Row] = &[
        (
            json!({ "type": "string", "title": "T", "description": "D", "minLength": 1, "maxLength": 9, "default": "x" }),
            json!({ "type": "string", "title": "T", "description": "D", "minLength": 1, "maxLength": 9, "default": "x" }),
            true,
            &[],
        ),
        (
            json!({ "type": "string", "format": "email" }),
            json!({ "type": "string", "format": "email" }),
            true,
            &[],
        ),
        (
            json!({ "type": "string", "format": "uuid", "pattern": "^a" }),
            json!({ "type": "string" }),
            true,
            &[("/format", Dropped), ("/pattern", Dropped)],
        ),
        (
            json!({ "type": ["string", "null"] }),
            json!({ "type": "string" }),
            false,
            &[("", Nullable)],
        ),
        (
            json!({ "anyOf": [{ "$ref": "#/$defs/Seat" }, { "type": "null" }] }),
            json!({ "type": "string", "enum": ["A", "B"] }),
            false,
            &[("", Nullable)],
        ),
        (
            json!({ "$ref": "#/$defs/Seat", "description": "Where" }),
            json!({ "type": "string", "enum": ["A", "B"], "description": "Where" }),
            true,
            &[],
        ),
        (
            json!({ "allOf": [{ "$ref": "#/$defs/Seat" }], "default": "A" }),
            json!({ "type": "string", "enum": ["A", "B"], "default": "A" }),
            true,
            &[],
        ),
        (
            json!({ "type": ["string", "null"], "default": null }),
            json!({ "type": "string" }),
            false,
            &[("", Nullable), ("/default", Dropped)],
        ),
        (
            json!({ "type": "integer", "format": "uint8", "minimum": 0, "maximum": 255 }),
            json!({ "type": "integer", "minimum": 0, "maximum": 255 }),
            true,
            &[("/format", Dropped)],
        ),
        (
            json!({ "type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10 }),
            json!({ "type": "integer", "minimum": 1, "maximum": 9 }),
            true,
            &[("/exclusiveMaximum", Bound), ("/exclusiveMinimum", Bound)],
        ),
        (
            json!({ "type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5 }),
            json!({ "type": "number" }),
            true,
            &[("/exclusiveMinimum", Dropped), ("/multipleOf", Dropped)],
        ),
        (
            json!({ "type": "boolean", "default": true }),
            json!({ "type": "boolean", "default": true }),
            true,
            &[],
        ),
        (json!({ "const": "only" }), json!({ "type": "string", "enum": ["only"] }), true, &[]),
        (
            json!({ "type": "string", "enum": ["a", null] }),
            json!({ "type": "string", "enum": ["a"] }),
            false,
            &[("", Nullable)],
        ),
        (
            json!({ "oneOf": [{ "const": "a", "description": "First" }, { "const": "b" }, { "type": "string", "enum": ["c", "d"] }] }),
            json!({ "type": "string", "oneOf": [
                { "const": "a", "title": "First" }, { "const": "b", "title": "b" },
                { "const": "c", "title": "c" }, { "const": "d", "title": "d" },
            ] }),
            true,
            &[("/oneOf", TitleAdded)],
        ),
        (
            json!({ "enum": [1, 2] }),
            json!({ "type": "string", "enum": ["1", "2"] }),
            true,
            &[("", AsText)],
        ),
        (
            json!({ "type": "array", "items": { "$ref": "#/$defs/Seat" }, "minItems": 1, "uniqueItems": true }),
            json!({ "type": "array", "items": { "type": "string", "enum": ["A", "B"] }, "minItems": 1 }),
            true,
            &[("/uniqueItems", Dropped)],
        ),
        (
            json!({ "type": "array", "items": { "anyOf": [{ "const": "v", "title": "Vegan" }] } }),
            json!({ "type": "array", "items": { "anyOf": [{ "const": "v", "title": "Vegan" }] } }),
            true,
            &[],
        ),
        (
            json!({ "type": "array", "items": { "type": "string" }, "title": "Names", "description": "All" }),
            json!({ "type": "string", "title": "Names", "description": "All (JSON)" }),
            true,
            &[("", AsJson)],
        ),
        (json!(true), json!({ "type": "string", "description": "JSON" }), true, &[("", AsJson)]),
        (
            json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
            json!({ "type": "string", "description": "JSON" }),
            true,
            &[("", AsJson)],
        ),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
            json!({ "type": "string", "description": "JSON" }),
            true,
            &[("", AsJson)],
        ),
        (
            json!({ "type": ["string", "integer"] }),
            json!({ "type": "string", "description": "JSON" }),
            true,
            &[("", AsJson)],
        ),
    ];
    for (property, expected, is_required, losses) in table {
        let mut given = object(property);
        given["$defs"] = json!({ "Seat": { "type": "string", "enum": ["A", "B"] } });
        let form = restrict(&given);
        let written: Value = form.requested_schema().decode().expect("JSON");
        assert_eq!(written["properties"]["p"], *expected, "{property}");
        assert_eq!(written.get("required").is_some(), *is_required, "{property}");
        assert_strict(&written);
        let lost: Vec<_> = form
            .losses()
            .iter()
            .map(|it| (it.pointer.trim_start_matches("/properties/p"), it.kind))
            .collect();
        assert_eq!(lost, *losses, "{property}");
    }
    let nested = object(&object(&json!({ "type": "boolean" })));
    let lost: Vec<_> = restrict(&nested).losses().iter().map(|it| it.kind).collect();
    assert_eq!(lost, [Flattened]);
}

/// The parts of a schema form one form: all properties, and each that any part requires.
#[test]
fn parts_of_a_schema_are_merged() {
    let part = |name: &str| json!({ "type": "object", "properties": { name: { "type": "boolean" } }, "required": [name] });
    let form = restrict(
        &json!({ "allOf": [part("a"), { "$ref": "#/$defs/B" }], "$defs": { "B": part("b") } }),
    );
    let written: Value = form.requested_schema().decode().expect("JSON");
    let required = written["required"].as_array().expect("names");
    assert!(required.len() == 2 && ["a", "b"].iter().all(|it| required.contains(&json!(it))));
    assert_eq!(written["properties"].as_object().map(Map::len), Some(2));
}

/// A form has limits of fields and levels, and unique names. An unresolvable or recursive reference
/// is an error.
#[test]
fn schema_without_a_form_is_an_error() {
    let fields = |count: usize| -> Value {
        let fields = (0..count).map(|index| (format!("f{index}"), json!({ "type": "boolean" })));
        json!({ "type": "object", "properties": fields.collect::<Map<_, _>>() })
    };
    assert!(schema::restrict(&raw(&fields(MAX_FIELDS))).is_ok());
    let table = [
        (fields(MAX_FIELDS + 1), "fewer fields"),
        (json!({ "type": "string" }), "an object with properties"),
        (json!({ "oneOf": [] }), "an object with properties"),
        (object(&json!({ "$ref": "#/$defs/None" })), "a reference into this schema"),
        (object(&json!({ "$ref": "https://example.com/schema" })), "a reference into this schema"),
        (object(&json!({ "$ref": "#/properties/p" })), "fewer references"),
        (object(&json!(false)), "a schema"),
        (object(&json!({ "allOf": [7] })), "a schema"),
        (
            json!({ "type": "object", "properties": { "a.b": { "type": "string" }, "a": object(&json!({})) } }),
            "",
        ),
    ];
    for (given, expected) in table {
        match schema::restrict(&raw(&given)) {
            Ok(form) => assert_eq!(expected, "", "{given}: {}", form.requested_schema().as_str()),
            Err(error) => assert_eq!(error.expected, expected, "{given}"),
        }
    }
    let deep = (0..MAX_LEVELS + 1).fold(json!({ "type": "boolean" }), |inner, _| object(&inner));
    let form = restrict(&deep);
    let names: Vec<_> = form.losses().iter().map(|it| it.kind).collect();
    assert_eq!(names.last(), Some(&LossKind::AsJson));
    let recursive = json!({
        "type": "object", "properties": { "tree": { "$ref": "#/$defs/Tree" } },
        "$defs": { "Tree": { "type": "object", "properties": { "left": { "$ref": "#/$defs/Tree" } } } },
    });
    assert_strict(&restrict(&recursive).requested_schema().decode().expect("JSON"));
}

/// Panics for any schema that a strict client rejects or ignores, as measured.
fn assert_strict(schema: &Value) {
    let object = |value: &Value| {
        value.as_object().cloned().unwrap_or_else(|| panic!("{value} is no object"))
    };
    let only = |value: &Value, known: &[&str]| {
        for (keyword, value) in object(value) {
            assert!(known.contains(&keyword.as_str()), "{keyword} in {schema}");
            assert!(!value.is_null(), "{keyword} is null in {schema}");
        }
    };
    only(schema, &["$schema", "type", "properties", "required"]);
    assert_eq!(schema["type"], "object");
    let properties = object(&schema["properties"]);
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        assert!(properties.contains_key(name.as_str().expect("a name")), "{name} in {schema}");
    }
    let labels = ["type", "title", "description", "default"];
    for (_, field) in properties {
        let known: &[&str] = match field["type"].as_str().expect("one type") {
            "string" => &["minLength", "maxLength", "format", "enum", "oneOf", "enumNames"],
            "number" | "integer" => &["minimum", "maximum"],
            "boolean" => &[],
            "array" => &["items", "minItems", "maxItems"],
            other => panic!("{other}"),
        };
        only(&field, &[&labels, known].concat());
        if let Some(format) = field.get("format") {
            assert!(
                ["email", "uri", "date", "date-time"].contains(&format.as_str().expect("a name"))
            );
        }
        let titled = field.get("oneOf").or(field["items"].get("anyOf"));
        for option in titled.and_then(Value::as_array).into_iter().flatten() {
            only(option, &["const", "title"]);
            assert!(option["const"].is_string() && option["title"].is_string(), "{option}");
        }
        let plain = field.get("enum").or(field["items"].get("enum"));
        assert!(
            plain
                .into_iter()
                .all(|it| it.as_array().is_some_and(|it| it.iter().all(Value::is_string)))
        );
        if field["type"] == "array" {
            only(&field["items"], &["type", "enum", "anyOf"]);
        }
    }
}

fn content(value: &Value) -> Extra {
    wire::decode(&value.to_string()).expect("an object")
}

/// The answer to a form that represents `value`: the name of a field is the path to its value.
fn answer(form: &Form, value: &Value) -> Value {
    let schema: RequestedSchema = form.requested_schema().decode().expect("a form");
    let mut content = Map::new();
    for (name, field) in schema.properties.iter() {
        let field: Value = field.decode().expect("JSON");
        let inner =
            name.split('.').try_fold(value, |value, name| value.get(name)).expect("a value");
        let is_described_as_json =
            field["description"].as_str().is_some_and(|it| it.ends_with("JSON"));
        let is_text = is_described_as_json
            || field["enum"].as_array().is_some_and(|it| it.contains(&json!("1")));
        content.insert(
            name.to_owned(),
            if is_text { inner.to_string().into() } else { inner.clone() },
        );
    }
    content.into()
}
