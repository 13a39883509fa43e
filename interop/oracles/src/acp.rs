//! ACP of the official crate: its types, its schema, values generated from the schema, and what
//! differs between its versions.

pub mod canonical;
pub mod delta;
pub mod instances;
pub mod types;

use acp_types::schema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use types::Type;

/// A version of the protocol.
pub struct Version {
    /// `v1` or `v2`.
    pub name: &'static str,
    /// The types of both crates.
    pub types: &'static [Type],
    /// The definitions of the official schema.
    pub official: Map<String, Value>,
    /// The definitions of the schema of acp-types.
    pub ours: Map<String, Value>,
}

/// Both versions, unstable parts included.
pub fn versions() -> [Version; 2] {
    [
        Version::new("v1", types::V1, &schema::v1().into()),
        Version::new("v2", types::V2, &schema::v2().into()),
    ]
}

impl Version {
    fn new(name: &'static str, types: &'static [Type], ours: &Value) -> Self {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        for one in types {
            (one.schema)(&mut generator);
        }
        let official = generator.take_definitions(true);
        let ours = ours["$defs"].as_object().cloned().unwrap_or_default();
        Self { name, types, official, ours }
    }
}
