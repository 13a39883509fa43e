//! A canonical form of schemas: equivalent schemas are equal.
//!
//! It omits what types cannot express: descriptions, limits, and the format of strings. It also
//! omits what all types of this repository permit: `null` for an optional member, unknown names and
//! unknown variants.
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A definition.
#[derive(Debug, PartialEq, Eq)]
pub enum Definition {
    /// One of these names.
    Names(BTreeSet<String>),
    /// An object with one of these sets of members.
    Variants(BTreeSet<Variant>),
    /// Another value, by its type.
    Value(String),
}

/// The members of an object.
pub type Variant = BTreeMap<String, Member>;

/// A member of an object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Whether the member is required.
    pub is_required: bool,
    /// The type of the member.
    pub of: String,
    /// The annotations for invalid values.
    pub marks: BTreeSet<String>,
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let presence = if self.is_required { "required" } else { "optional" };
        write!(f, "{presence} {}", self.of)?;
        self.marks.iter().try_for_each(|mark| write!(f, " {mark}"))
    }
}

/// Reads the definitions of a schema.
pub struct Definitions<'a> {
    /// The definitions by name.
    pub all: &'a Map<String, Value>,
    /// Returns whether a definition is named in the official schema; others are inlined.
    pub named: &'a dyn Fn(&str) -> bool,
}

impl Definitions<'_> {
    /// Returns the definition of a name.
    pub fn get(&self, name: &str) -> Definition {
        let schema = &self.all[name];
        if let Some(names) = names(schema) {
            return Definition::Names(names);
        }
        match self.variants(schema) {
            Some(mut variants) => {
                for variant in &mut variants {
                    variant.retain(|_, member| member.of != NO_TAG);
                }
                Definition::Variants(variants.into_iter().collect())
            }
            None => Definition::Value(self.of(schema)),
        }
    }

    /// Returns the possible sets of members of an object, or `None` for another schema.
    fn variants(&self, schema: &Value) -> Option<Vec<Variant>> {
        let is_part = |word: &&str| schema.get(word).is_some();
        let is_of_parts = ["$ref", "allOf", "anyOf", "oneOf", "if"].iter().any(is_part);
        let is_map = schema["additionalProperties"].is_object();
        if is_map
            || (schema["type"] != "object" && !is_of_parts && schema.get("properties").is_none())
        {
            return None;
        }
        let mut all = vec![self.members(schema)];
        if let Some(name) = schema["$ref"].as_str() {
            all = product(&all, &self.variants(self.find(name))?);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            all = product(&all, &self.variants(part)?);
        }
        for word in ["anyOf", "oneOf"] {
            let Some(parts) = schema[word].as_array() else { continue };
            let mut either = Vec::new();
            for part in parts.iter().filter(|part| !is_open(part)) {
                either.extend(self.variants(part)?);
            }
            all = product(&all, &either);
        }
        if schema.get("if").is_some() {
            let mut either = self.variants(&schema["then"])?;
            if !is_open(&schema["else"]) {
                either.extend(self.variants(&schema["else"])?);
            }
            all = product(&all, &either);
        }
        Some(all)
    }

    fn members(&self, schema: &Value) -> Variant {
        let is_required = |name: &str| {
            let required = schema["required"].as_array();
            required.is_some_and(|required| required.iter().any(|one| one == name))
        };
        let properties = schema["properties"].as_object().into_iter().flatten();
        let member = |(name, property): (&String, &Value)| {
            let marks = property.as_object().into_iter().flatten();
            let marks = marks.filter(|(word, value)| {
                // `_meta` keeps any value, and `null` is equivalent to absence.
                word.starts_with("x-deserialize-") && **value == true && name != "_meta"
            });
            let marks = marks.map(|(word, _)| word.clone()).collect();
            let of = if Self::is_no_tag(property) { NO_TAG.to_owned() } else { self.of(property) };
            (name.clone(), Member { is_required: is_required(name), of, marks })
        };
        properties.map(member).collect()
    }

    /// Returns whether a member is an optional tag: it has a name, or is absent.
    fn is_no_tag(schema: &Value) -> bool {
        schema["type"] == "null"
            || schema["enum"].as_array().is_some_and(|names| names.contains(&Value::Null))
    }

    /// Returns the type of a value, without `null`.
    fn of(&self, schema: &Value) -> String {
        if let Some(name) = schema["$ref"].as_str() {
            let short = name.rsplit('/').next().unwrap_or(name);
            return match short {
                // Defined by jsonrpc-core.
                "ErrorObject" => "Error".to_owned(),
                named if (self.named)(named) => named.to_owned(),
                _ => self.of(self.find(name)),
            };
        }
        if let Some(value) = schema.get("const") {
            return value.to_string();
        }
        for word in ["allOf", "anyOf", "oneOf"] {
            let Some(parts) = schema[word].as_array() else { continue };
            let is_known = |part: &&Value| {
                part["type"] != "null"
                    && **part != true
                    && part.as_object().is_some_and(|part| {
                        part.keys().any(|word| word != "title" && word != "description")
                    })
            };
            let parts = parts.iter().filter(is_known);
            let parts: BTreeSet<_> = parts.map(|part| self.of(part)).collect();
            return parts.into_iter().collect::<Vec<_>>().join("|");
        }
        if schema["type"] == serde_json::json!(["string", "number", "null"]) {
            // Defined by jsonrpc-core.
            return "RequestId".to_owned();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().find(|kind| **kind != "null"),
            Value::Null => None,
            kind => Some(kind),
        };
        match kind.and_then(Value::as_str) {
            Some("array") => format!("[{}]", self.of(&schema["items"])),
            Some("object") => match &schema["additionalProperties"] {
                property @ Value::Object(_) => format!("{{{}}}", self.of(property)),
                _ => "object".to_owned(),
            },
            Some(number @ ("integer" | "number")) => {
                format!("{number} {}", schema["format"].as_str().unwrap_or_default())
            }
            Some(kind) => kind.to_owned(),
            None => "any".to_owned(),
        }
    }

    fn find(&self, reference: &str) -> &Value {
        &self.all[reference.rsplit('/').next().unwrap_or(reference)]
    }
}

/// Returns the names of an enum.
fn names(schema: &Value) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let parts = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array())?;
    for part in parts {
        if part["type"] != "string" {
            return None;
        }
        let all = part["enum"].as_array().into_iter().flatten().chain(part.get("const"));
        names.extend(all.filter_map(Value::as_str).map(str::to_owned));
    }
    (!names.is_empty()).then_some(names)
}

/// Returns whether a schema is a placeholder for unknown values.
fn is_open(schema: &Value) -> bool {
    let properties = schema["properties"].as_object().into_iter().flatten();
    schema.get("not").is_some()
        || properties.into_iter().any(|(_, property)| property.get("not").is_some())
        || *schema == serde_json::json!({ "type": "object" })
        || *schema == true
}

/// The type of an absent tag.
const NO_TAG: &str = "no tag";

/// Combines each variant of one with each of the other. If both have a tag, the named one counts;
/// an optional one is no member.
fn product(some: &[Variant], others: &[Variant]) -> Vec<Variant> {
    let pairs = some.iter().flat_map(|one| others.iter().map(move |other| (one, other)));
    let merge = |(one, other): (&Variant, &Variant)| {
        let mut all = one.clone();
        for (name, member) in other {
            let known = all.entry(name.clone()).or_insert_with(|| member.clone());
            if member.of.starts_with('"') || member.of == NO_TAG {
                *known = member.clone();
            }
        }
        all
    };
    pairs.map(merge).collect()
}
