//! Schemas of the arguments and results of tools, in the form that clients accept.
use crate::schema::keywords::{get, open};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};

/// Maximum number of references that are followed in alternatives of a schema.
const MAX_REFERENCES: usize = 64;

/// The schema of arguments in a form that clients accept.
pub(super) struct InputSchema {
    pub(super) schema: Raw,
    /// Whether the type accepts `null` instead of an object.
    pub(super) is_empty: bool,
}

impl InputSchema {
    /// Completes the schema of a type. Returns the type as an error if it is not an object.
    pub(super) fn new(schema: Raw, fields: Option<&[&str]>) -> Result<Self, String> {
        let given: Extra = schema.decode().map_err(|_| "any value")?;
        let kind: Option<String> = get(&given, "type");
        match kind.as_deref() {
            Some("null") => {
                let schema = Raw::from_text(r#"{"type":"object","properties":{}}"#);
                return schema
                    .map(|schema| Self { schema, is_empty: true })
                    .map_err(|error| error.to_string());
            }
            Some("object") => {}
            None if has_objects_only(&given) => {}
            Some(other) => return Err(format!("`{other}`")),
            None => return Err("of several kinds".into()),
        }
        let mut members = in_declared_order(&given, fields);
        if kind.is_none() {
            members.insert("type", Raw::from_value("object").map_err(|error| error.to_string())?);
        }
        let schema = Raw::from_value(&members).map_err(|error| error.to_string())?;
        Ok(Self { schema, is_empty: false })
    }
}

/// Returns the schema of a result. Properties keep the order of their declaration.
pub(super) fn output_schema(schema: Raw, fields: Option<&[&str]>) -> Raw {
    let given = schema.decode::<Extra>();
    let ordered =
        given.ok().and_then(|given| Raw::from_value(&in_declared_order(&given, fields)).ok());
    ordered.unwrap_or(schema)
}

/// Returns the members of a schema, with its properties in the order of `fields`.
fn in_declared_order(given: &Extra, fields: Option<&[&str]>) -> Extra {
    let mut members = Extra::new();
    for (keyword, value) in given.iter() {
        members.insert(keyword, value.clone());
    }
    if let (Some(fields), Some(properties)) = (fields, get::<Extra>(given, "properties")) {
        let mut ordered = Extra::new();
        let declared = fields.iter().filter_map(|name| Some((*name, properties.get(name)?)));
        declared.chain(properties.iter()).for_each(|(name, property)| {
            ordered.insert(name, property.clone());
        });
        members.insert("properties", Raw::of(&ordered));
    }
    members
}

/// Returns whether all alternatives of a schema, such as that of a tagged enum, are objects.
fn has_objects_only(schema: &Extra) -> bool {
    let keyword = ["oneOf", "anyOf"].into_iter().find(|keyword| schema.get(keyword).is_some());
    let alternatives = keyword.and_then(|keyword| get::<Vec<Raw>>(schema, keyword));
    alternatives.is_some_and(|alternatives| {
        alternatives.iter().all(|alternative| {
            let opened = open(schema, alternative, "", &mut MAX_REFERENCES.clone());
            opened.is_ok_and(|opened| get::<String>(&opened, "type").as_deref() == Some("object"))
        })
    })
}
