//! JSON Schemas of the macros' types (feature `schemars`).
//!
//! A schema describes what decoding accepts: unknown members, names and variants are allowed. A
//! member of a type without a schema may have any value. Annotations of members are keywords that
//! begin with `x-deserialize-`.
use super::{Extra, Meta, Presence, Raw};
use crate::{ErrorCode, RequestId};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;
pub use schemars;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// Implements `JsonSchema` for the types of a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __json_schema {
    ($Name:ident, $generator:ident => $schema:expr) => {
        impl $crate::wire::schema::schemars::JsonSchema for $Name {
            fn schema_name() -> $crate::wire::private::Cow<'static, str> {
                $crate::wire::private::Cow::Borrowed(::core::stringify!($Name))
            }

            fn schema_id() -> $crate::wire::private::Cow<'static, str> {
                $crate::wire::private::Cow::Borrowed(::core::concat!(
                    ::core::module_path!(),
                    "::",
                    ::core::stringify!($Name)
                ))
            }

            fn json_schema(
                $generator: &mut $crate::wire::schema::schemars::SchemaGenerator,
            ) -> $crate::wire::schema::schemars::Schema {
                #[allow(
                    unused_imports,
                    reason = "only types without a schema need the second"
                )]
                use $crate::wire::schema::{AnySchema as _, TypeSchema as _};
                $schema
            }
        }
    };
}

/// A probe for the schema of a type, which may have none.
#[derive(Debug)]
pub struct Probe<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Probe<T> {
    /// The probe of this type.
    pub const NEW: Self = Self(PhantomData);
}

/// The schema of a type that has one; preferred by method resolution.
pub trait TypeSchema {
    /// Returns the schema, or a reference to it.
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema;
}

impl<T: JsonSchema + ?Sized> TypeSchema for Probe<T> {
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
}

/// The schema of a type without one.
pub trait AnySchema {
    /// Returns a schema that permits any value.
    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

impl<T: ?Sized> AnySchema for &Probe<T> {}

/// The schema of an object, member by member.
#[derive(Debug, Default)]
pub struct ObjectSchema {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl ObjectSchema {
    /// Adds a required member.
    pub fn required(&mut self, name: &str, schema: Schema, marks: &[&str]) {
        self.required.push(name.into());
        self.optional(name, schema, marks);
    }

    /// Adds an optional member. Its annotations become keywords: `x-deserialize-default-on-error`
    /// and so on.
    pub fn optional(&mut self, name: &str, mut schema: Schema, marks: &[&str]) {
        for mark in marks {
            let keyword = ["x-deserialize-", &mark.replace('_', "-")].concat();
            schema.insert(keyword, true.into());
        }
        self.properties.insert(name.into(), schema.into());
    }

    /// Returns the schema, with the members of a flattened union.
    pub fn with_rest(self, rest: Schema) -> Schema {
        let mut schema = json_schema!({ "type": "object" });
        if !self.properties.is_empty() {
            schema.insert("properties".into(), self.properties.into());
        }
        if !self.required.is_empty() {
            schema.insert("required".into(), self.required.into());
        }
        if *rest.as_value() != Value::Object(any_object()) {
            schema.insert("allOf".into(), json!([rest]));
        }
        schema
    }
}

fn any_object() -> Map<String, Value> {
    Map::from_iter([("type".into(), "object".into())])
}

/// Returns the schema of a list of names, including unknown ones.
pub fn open_enum(names: &[&str]) -> Schema {
    json_schema!({ "anyOf": [{ "type": "string", "enum": names }, { "type": "string" }] })
}

/// The schema of a union by tag.
#[derive(Debug)]
pub struct UnionSchema {
    tag: &'static str,
    names: &'static [&'static str],
    variants: Vec<Value>,
    is_tag_required: bool,
}

impl UnionSchema {
    /// Creates the schema of variants with these tags.
    pub fn new(tag: &'static str, names: &'static [&'static str]) -> Self {
        Self { tag, names, variants: Vec::new(), is_tag_required: true }
    }

    /// Adds a variant.
    pub fn variant(&mut self, name: &str, payload: Schema) {
        let properties = self.tag_is(json!({ "const": name }));
        self.variants
            .push(json!({ "properties": properties, "required": [self.tag], "allOf": [payload] }));
    }

    /// Adds the variant without a tag, which may also have a name.
    pub fn untagged(&mut self, name: Option<&str>, payload: Schema) {
        let names: Vec<_> = name.map(Value::from).into_iter().chain([Value::Null]).collect();
        let properties = self.tag_is(json!({ "enum": names }));
        self.variants.push(json!({ "properties": properties, "allOf": [payload] }));
        self.is_tag_required = false;
    }

    /// Returns the schema, including unknown variants.
    pub fn finish(mut self) -> Schema {
        let unknown = self.tag_is(json!({ "type": "string", "not": { "enum": self.names } }));
        self.variants.push(json!({ "properties": unknown, "required": [self.tag] }));
        let mut schema = json_schema!({ "type": "object", "anyOf": self.variants });
        if self.is_tag_required {
            schema.insert("required".into(), json!([self.tag]));
        }
        schema
    }

    fn tag_is(&self, schema: Value) -> Value {
        Value::Object(Map::from_iter([(self.tag.into(), schema)]))
    }
}

/// Returns the schema of a union by members: the first variant that matches, otherwise any object.
pub fn member_union(variants: Vec<(&str, bool, Schema)>) -> Schema {
    let schema = variants.into_iter().rev().fold(
        json!({ "type": "object" }),
        |others, (member, takes_null, payload)| {
            let value = if takes_null { true.into() } else { json!({ "not": { "type": "null" } }) };
            let is_there = Map::from_iter([(member.into(), value)]);
            json!({
                "type": "object",
                "if": { "properties": is_there, "required": [member] },
                "then": payload,
                "else": others,
            })
        },
    );
    schema.try_into().unwrap_or_default()
}

macro_rules! inline {
    ($(($($T:tt)+): $name:literal, $generator:ident => $schema:expr;)+) => { $(
        impl $($T)+ {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )+ };
}

inline! {
    (JsonSchema for Raw): "Raw", _generator => true.into();
    (JsonSchema for Extra): "Extra", _generator => any_object().into();
    (JsonSchema for Meta): "Meta", _generator => any_object().into();
    (JsonSchema for RequestId): "RequestId", _generator => json_schema!({ "type": ["string", "number", "null"] });
    (JsonSchema for ErrorCode): "ErrorCode", generator => generator.subschema_for::<i64>();
    (<T: JsonSchema> JsonSchema for Presence<T>): "Presence", generator => generator.subschema_for::<Option<T>>();
}
