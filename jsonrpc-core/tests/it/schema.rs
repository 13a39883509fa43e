//! JSON Schemas describe what decoding accepts.
use jsonrpc_core::wire::{Extra, Meta, Presence, Raw};
use jsonrpc_core::{
    ErrorObject, member_union, object, open_enum, open_union, serde_wire, string_id,
};
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

string_id! {
    /// An identifier.
    pub struct Id;
}

open_enum! {
    /// A list of names.
    pub enum Colour {
        /// Red.
        Red = "red",
        /// Blue.
        Blue = "blue",
    }
}

/// A type without a schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Foreign(Vec<u8>);

serde_wire! { Foreign }

object! {
    /// Every kind of member.
    pub struct Item {
        /// Required.
        id: Id = "id",
    }
    optional {
        /// Optional.
        colours: Vec<Colour> = "colours" [default_on_error],
        /// A member of a type without a schema.
        foreign: Foreign = "foreign",
        /// Any JSON.
        raw: Raw = "raw",
    }
    patch {
        /// Patched.
        title: String = "title",
    }
    and "_meta"
}

open_union! {
    /// A union by tag.
    pub enum Event by "type" {
        /// A variant with members.
        Item(Box<Item>) = "item",
        /// A variant without known members.
        Nothing(Extra) = "nothing",
    }
}

open_union! {
    /// A union with an optional tag.
    pub enum Server by "type" {
        /// Tagged.
        Event(Extra) = "event",
    }
    untagged {
        /// Usually without a tag.
        Item(Item) = "item",
    }
}

object! {
    /// An object with a flattened union.
    pub struct Frame {
        /// A sibling of the union's members.
        at: u8 = "at",
    }
    rest {
        /// The union.
        event: Event,
    }
}

member_union! {
    /// A union by members.
    pub enum Either {
        /// Has `at`.
        Frame(Frame) has "at",
        /// Has `id`.
        Item(Item) has "id",
    }
}

/// Returns the schema of a type, without referenced ones.
fn schema<T: JsonSchema>() -> Value {
    T::json_schema(&mut SchemaGenerator::default()).into()
}

#[test]
fn schemas_describe_what_decoding_accepts() {
    assert_eq!(schema::<Id>(), json!({"type": "string"}));
    let colour =
        json!({"anyOf": [{"type": "string", "enum": ["red", "blue"]}, {"type": "string"}]});
    assert_eq!(schema::<Colour>(), colour);
    assert_eq!(
        schema::<Item>(),
        json!({
            "type": "object",
            "properties": {
                "id": {"$ref": "#/$defs/Id"},
                "colours": {
                    "type": ["array", "null"],
                    "items": {"$ref": "#/$defs/Colour"},
                    "x-deserialize-default-on-error": true,
                },
                "foreign": true,
                "raw": true,
                "title": {"type": ["string", "null"]},
                "_meta": {"type": ["object", "null"]},
            },
            "required": ["id"],
        })
    );
    let tag = |schema: Value| json!({"type": schema});
    assert_eq!(
        schema::<Event>(),
        json!({
            "type": "object",
            "required": ["type"],
            "anyOf": [
                {"properties": tag(json!({"const": "item"})), "required": ["type"], "allOf": [{"$ref": "#/$defs/Item"}]},
                {"properties": tag(json!({"const": "nothing"})), "required": ["type"], "allOf": [{"type": "object"}]},
                {"properties": tag(json!({"type": "string", "not": {"enum": ["item", "nothing"]}})), "required": ["type"]},
            ],
        })
    );
    assert_eq!(
        schema::<Frame>(),
        json!({
            "type": "object",
            "properties": {"at": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}},
            "required": ["at"],
            "allOf": [{"$ref": "#/$defs/Event"}],
        })
    );
    assert_eq!(
        schema::<Server>()["anyOf"][1],
        json!({"properties": tag(json!({"enum": ["item", null]})), "allOf": [{"$ref": "#/$defs/Item"}]})
    );
    assert_eq!(schema::<Server>().get("required"), None);
    let there = |name: &str| json!({name: {"not": {"type": "null"}}});
    assert_eq!(
        schema::<Either>(),
        json!({
            "type": "object",
            "if": {"properties": there("at"), "required": ["at"]},
            "then": {"$ref": "#/$defs/Frame"},
            "else": {
                "type": "object",
                "if": {"properties": there("id"), "required": ["id"]},
                "then": {"$ref": "#/$defs/Item"},
                "else": {"type": "object"},
            },
        })
    );
    assert_eq!(
        schema::<ErrorObject>(),
        json!({
            "type": "object",
            "properties": {"code": {"type": "integer", "format": "int64"}, "message": {"type": "string"}, "data": true},
            "required": ["code", "message"],
        })
    );
}

#[test]
fn types_with_one_name_have_two_definitions() {
    mod other {
        jsonrpc_core::object! {
            /// A type with the name of another.
            pub struct Item {
                /// Required.
                size: u8 = "size",
            }
        }
    }
    let mut generator = SchemaGenerator::default();
    let schemas = [generator.subschema_for::<Item>(), generator.subschema_for::<other::Item>()];
    assert_ne!(schemas[0], schemas[1]);
    assert_eq!(
        <Presence<Id>>::json_schema(&mut generator),
        generator.subschema_for::<Option<Id>>()
    );
    assert!(Meta::inline_schema());
}
