//! Forms derived from schemas, and answers to them.
use jsonrpc_core::wire::{self, Extra, Raw};
use mcp_bridge::mcp::elicitation::RequestedSchema;
use mcp_bridge::schema::{self, Form, LossKind, MAX_FIELDS, MAX_LEVELS};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

fn raw(value: &Value) -> Raw {
    Raw::from_value(value).expect("JSON")
}

fn restrict(value: &Value) -> Form {
    schema::restrict(&raw(value)).unwrap_or_else(|error| panic!("{value}: {error}"))
}

fn object(property: &Value) -> Value {
    json!({ "type": "object", "properties": { "p": property }, "required": ["p"] })
}

fn content(value: &Value) -> Extra {
    wire::decode(&value.to_string()).expect("an object")
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

/// A form has limits of fields and levels, and unique names. An unresolvable or recursive reference is an error.
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

/// Exactly the constraints of a form are enforced.
#[test]
fn answers_are_validated_against_the_form() {
    let table = [
        (json!({ "type": "string", "minLength": 2 }), json!("é"), "expected at least 2 characters"),
        (json!({ "type": "string", "maxLength": 2 }), json!("éé"), ""),
        (json!({ "type": "string", "maxLength": 1 }), json!("éé"), "expected at most 1 characters"),
        (json!({ "type": "string" }), json!(7), "expected a string, got number"),
        (json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] }), json!("a"), ""),
        (
            json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] }),
            json!("A"),
            "expected one of the choices",
        ),
        (json!({ "type": "string", "format": "email" }), json!("a@b.c"), ""),
        (
            json!({ "type": "string", "format": "email" }),
            json!("a b@c"),
            "expected an e-mail address",
        ),
        (json!({ "type": "string", "format": "uri" }), json!("mailto:a@b"), ""),
        (json!({ "type": "string", "format": "uri" }), json!("/a/b"), "expected a URI"),
        (json!({ "type": "string", "format": "date" }), json!("2024-02-29"), ""),
        (
            json!({ "type": "string", "format": "date" }),
            json!("2023-02-29"),
            "expected a date such as 2026-07-28",
        ),
        (
            json!({ "type": "string", "format": "date-time" }),
            json!("2026-07-28t10:00:00.5-01:30"),
            "",
        ),
        (
            json!({ "type": "string", "format": "date-time" }),
            json!("2026-07-28T24:00:00Z"),
            "expected a date and time such as 2026-07-28T10:00:00Z",
        ),
        (json!({ "type": "integer" }), json!(12.0), ""),
        (json!({ "type": "integer" }), json!(12.5), "expected an integer"),
        (json!({ "type": "number", "minimum": 0.5 }), json!(0), "expected at least 0.5"),
        (json!({ "type": "number", "minimum": 0.5 }), json!(0.5), ""),
        (json!({ "type": "number", "maximum": 1 }), json!(1.5), "expected at most 1"),
        (
            json!({ "type": "integer", "maximum": 9007199254740992_i64 }),
            json!(9007199254740993_i64),
            "expected at most 9007199254740992",
        ),
        (json!({ "type": "boolean" }), json!("true"), "expected a boolean, got string"),
        (
            json!({ "type": "array", "items": { "enum": ["a", "b"] }, "maxItems": 1 }),
            json!(["a"]),
            "",
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a", "b"] }, "maxItems": 1 }),
            json!(["a", "b"]),
            "expected at most 1 choices",
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a"] } }),
            json!(["z"]),
            "expected some of the choices",
        ),
        (json!({ "type": "string" }), json!(null), "expected a value"),
        // Unknown keywords are not enforced.
        (json!({ "type": "file" }), json!({}), ""),
        (json!({ "type": "string", "format": "color" }), json!("x"), ""),
    ];
    for (property, answer, expected) in table {
        let form: RequestedSchema = wire::decode(&object(&property).to_string()).expect("a form");
        let content = content(&json!({ "p": answer, "unasked": 1 }));
        let told: Vec<_> = schema::check(&form, &content).collect();
        let told: Vec<_> =
            told.iter().map(|it| (it.pointer.as_str(), it.problem.as_str())).collect();
        let expected: Vec<_> =
            Some(("/p", expected)).filter(|(_, it)| !it.is_empty()).into_iter().collect();
        assert_eq!(told, expected, "{property} {answer}");
    }
}

/// A repeated question states the problems of the answer.
#[test]
fn repeated_question_states_the_problems() {
    let form = restrict(
        &json!({ "type": "object", "properties": { "a/b": { "type": "integer" }, "c": { "enum": [1, {}] } }, "required": ["a/b"] }),
    );
    let problems =
        form.read::<Value>(&content(&json!({ "c": "{}" }))).expect_err("a missing value");
    let again = form.ask_again("How many?", &problems);
    assert_eq!(again.message, "How many?\n- a/b: expected a value");
    assert_eq!(&again.requested_schema, form.requested_schema());
    let read: Value = form.read(&content(&json!({ "a/b": 1, "c": "{}" }))).expect("an answer");
    assert_eq!(read, json!({ "a/b": 1, "c": {} }));
    #[derive(Debug, serde::Deserialize)]
    struct Bytes {
        #[serde(rename = "a/b")]
        _bytes: u8,
    }
    let problems = form.read::<Bytes>(&content(&json!({ "a/b": 300 }))).expect_err("too large");
    assert_eq!(problems.to_string(), "at /a~1b: expected u8, got number");
}

/// Constraints that the form cannot express are enforced on the answer.
#[cfg(feature = "validate")]
#[test]
fn answers_are_validated_against_the_whole_schema() {
    let given = object(&object(&json!({ "type": "string", "pattern": "^[A-Z]{3}$" })));
    let form = restrict(&given);
    assert!(form.read::<Value>(&content(&json!({ "p.p": "LAX" }))).is_ok());
    let problems = form.read::<Value>(&content(&json!({ "p.p": "lax" }))).expect_err("a pattern");
    let told: Vec<_> = problems.iter().map(|it| it.pointer.as_str()).collect();
    assert_eq!(told, ["/p.p"]);
    assert!(!problems.to_string().contains("lax"), "{problems}");
}

/// The form of a Rust type is accepted by strict clients.
#[cfg(feature = "schemars")]
#[test]
fn rust_types_have_strict_forms() {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    /// A booking.
    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct Booking {
        /// The row.
        row: u8,
        seat: Seat,
        meal: Option<Meal>,
        bags: Vec<String>,
        contact: Contact,
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    enum Seat {
        A,
        B,
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    enum Meal {
        /// Without animal products.
        Vegan,
        Kosher,
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct Contact {
        email: Option<String>,
    }

    let form = Form::of::<Booking>().expect("a form");
    assert_strict(&form.requested_schema().decode().expect("JSON"));
    let answer = json!({ "row": 7, "seat": "A", "meal": "Vegan", "bags": "[\"red\"]", "contact.email": "a@b" });
    let booking: Booking = form.read(&content(&answer)).expect("a booking");
    let contact = Contact { email: Some("a@b".into()) };
    let expected = Booking {
        row: 7,
        seat: Seat::A,
        meal: Some(Meal::Vegan),
        bags: vec!["red".into()],
        contact,
    };
    assert_eq!(booking, expected);
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

/// A schema, and a value that it describes.
fn described() -> BoxedStrategy<(Value, Value)> {
    let leaf = prop_oneof![
        ("\\PC{0,5}").prop_map(|text| (json!({ "type": "string", "maxLength": 9 }), json!(text))),
        (0..9_i64).prop_map(|number| (
            json!({ "type": "integer", "format": "int8", "exclusiveMinimum": -1 }),
            json!(number)
        )),
        any::<bool>().prop_map(|flag| (json!({ "type": "boolean" }), json!(flag))),
        select(vec!["a", "b"])
            .prop_map(|it| (json!({ "type": "string", "enum": ["a", "b"] }), json!(it))),
        select(vec!["a", "b"]).prop_map(|it| (
            json!({ "oneOf": [{ "const": "a" }, { "const": "b", "title": "B" }] }),
            json!(it)
        )),
        select(vec![1, 2]).prop_map(|it| (json!({ "enum": [1, 2, "x"] }), json!(it))),
        (0..9_i64).prop_map(|it| (
            json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }),
            json!(it)
        )),
        prop::collection::vec(0..9_i64, 0..3).prop_map(|list| (
            json!({ "type": "array", "items": { "type": "integer" } }),
            json!(list)
        )),
        prop::collection::vec(select(vec!["a", "b"]), 0..3).prop_map(|list| (
            json!({ "type": "array", "items": { "enum": ["a", "b"] } }),
            json!(list)
        )),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop::collection::btree_map("[a-c]/?", (inner, any::<bool>()), 1..4).prop_map(|members| {
            let (mut properties, mut value, mut required) = (Map::new(), Map::new(), Vec::new());
            for (name, ((schema, inner), is_required)) in members {
                properties.insert(name.clone(), schema);
                value.insert(name.clone(), inner);
                required.extend(is_required.then_some(name));
            }
            (
                json!({ "type": "object", "properties": properties, "required": required }),
                value.into(),
            )
        })
    })
    .prop_filter("the root is an object", |(schema, _)| schema.get("properties").is_some())
    .boxed()
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Any value that a schema describes can be answered in its form, and is reassembled unchanged.
    #[test]
    fn answers_are_reassembled((schema, value) in described()) {
        let form = restrict(&schema);
        assert_strict(&form.requested_schema().decode().expect("JSON"));
        let content = content(&answer(&form, &value));
        let read = form.read::<Value>(&content);
        prop_assert_eq!(read, Ok(value), "{}", form.requested_schema().as_str());
    }

    /// Any JSON value is converted into a form that strict clients accept, or rejected.
    #[test]
    fn any_schema_becomes_strict(
        mut properties in crate::shapes::any_json(), keyword in select(vec!["type", "anyOf", "enum", "items", "$ref", "allOf", "const", "default"]),
    ) {
        if let Some(properties) = properties.as_object_mut() {
            for (_, property) in properties {
                *property = json!({ "type": "string", keyword: property.clone() });
            }
        }
        if let Ok(form) = schema::restrict(&raw(&json!({ "properties": properties }))) {
            assert_strict(&form.requested_schema().decode().expect("JSON"));
        }
    }
}
