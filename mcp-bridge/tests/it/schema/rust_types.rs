//! Forms of Rust types.
use super::*;
use proptest::sample::select;

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
            let mut properties = Map::new();
            let mut value = Map::new();
            let mut required = Vec::new();
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

proptest! {
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
