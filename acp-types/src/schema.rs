//! The JSON Schemas of both versions, generated from the types (feature `schemars`).
//!
//! A schema describes what decoding accepts. It is therefore wider than the official one: unknown
//! members, names and variants are allowed. Annotations of members are the official keywords, such
//! as `x-deserialize-default-on-error`.
//!
//! ```
//! let schema = acp_types::schema::v1();
//! let chunk = &schema.as_value()["$defs"]["ContentChunk"];
//! assert_eq!(chunk["required"][0], "content");
//! assert_eq!(chunk["properties"]["messageId"]["x-deserialize-default-on-error"], true);
//! ```
use crate::{v1, v2};
use alloc::string::String;
use alloc::vec::Vec;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// Returns the schema of version 1: one definition for each type of parameters and results.
///
/// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
pub fn v1() -> Schema {
    let mut generator = generator();
    let messages = v1::dispatch::schemas(&mut generator);
    root("Agent Client Protocol, version 1", messages, generator)
}

/// **Preview.** Returns the schema of version 2, including the data of errors.
///
/// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
pub fn v2() -> Schema {
    let mut generator = generator();
    let mut messages = v2::dispatch::schemas(&mut generator);
    messages.push(generator.subschema_for::<v2::error::ErrorData>());
    root("Agent Client Protocol, version 2 (preview)", messages, generator)
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

fn root(title: &str, messages: Vec<Schema>, mut generator: SchemaGenerator) -> Schema {
    let any_of: Vec<Value> = messages.into_iter().map(Value::from).collect();
    let mut schema = schemars::json_schema!({ "title": title, "anyOf": any_of });
    if let Some(dialect) = &generator.settings().meta_schema {
        schema.insert(String::from("$schema"), Value::from(&**dialect));
    }
    schema.insert(String::from("$defs"), generator.take_definitions(true).into());
    schema
}
