//! Values that an official schema permits, and values that differ from one of these in one place.
use serde_json::{Map, Value, json};

/// Nesting depth up to which values have optional members.
const MAX_FULL_DEPTH: usize = 6;

/// A string that is not a name of the protocol.
const OTHER: &str = "someday";

/// Returns values of a definition: each variant with all members, then with the required members.
pub fn instances(definitions: &Map<String, Value>, name: &str) -> Vec<Value> {
    let schema = &definitions[name];
    let make = |is_full| Maker { definitions, is_full }.values(schema, 0);
    let mut all = make(true);
    for value in make(false) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

struct Maker<'a> {
    definitions: &'a Map<String, Value>,
    is_full: bool,
}

impl Maker<'_> {
    /// Returns one value for each variant.
    fn values(&self, schema: &Value, depth: usize) -> Vec<Value> {
        if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)) {
            return vec![value.clone()];
        }
        let mut all: Vec<Value> = self.plain(schema, depth).into_iter().collect();
        if let Some(name) = schema["$ref"].as_str() {
            let short = name.rsplit('/').next().unwrap_or(name);
            all = merged(&all, &self.values(&self.definitions[short], depth));
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            all = merged(&all, &self.values(part, depth));
        }
        for word in ["anyOf", "oneOf"] {
            let Some(parts) = schema[word].as_array() else { continue };
            let is_null = |part: &Value| part["type"] == "null" && part.get("properties").is_none();
            let parts = parts.iter().filter(|part| !is_null(part));
            all =
                merged(&all, &parts.flat_map(|part| self.values(part, depth)).collect::<Vec<_>>());
        }
        if all.is_empty() { vec![json!({ "any": [1, null] })] } else { all }
    }

    /// Returns the value of the schema without its parts.
    fn plain(&self, schema: &Value, depth: usize) -> Option<Value> {
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.first().and_then(Value::as_str),
            kind => kind.as_str(),
        };
        Some(match kind {
            Some("string") if schema["format"] == "uri" => json!("https://example.com/a"),
            Some("string") if schema["contentEncoding"] == "base64" => json!("AAEC"),
            Some("string") => json!(OTHER),
            Some("integer") => json!(1),
            Some("number") => json!(0.5),
            Some("boolean") => json!(true),
            Some("null") => Value::Null,
            Some("array") => Value::Array(self.one(&schema["items"], depth).into_iter().collect()),
            _ if schema.get("properties").is_some() => self.object(schema, depth),
            Some("object") => match &schema["additionalProperties"] {
                property @ Value::Object(_) => json!({ "key": self.one(property, depth) }),
                Value::Bool(true) => json!({ "key": 1 }),
                _ => json!({}),
            },
            _ => return None,
        })
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let required = schema["required"].as_array().into_iter().flatten();
        let required: Vec<_> = required.filter_map(Value::as_str).collect();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let is_full = self.is_full && depth < MAX_FULL_DEPTH;
        let properties =
            properties.filter(|(name, _)| is_full || required.contains(&name.as_str()));
        let member = |(name, property): (&String, &Value)| {
            Some((name.clone(), self.one(property, depth + 1)?))
        };
        Value::Object(properties.filter_map(member).collect())
    }

    /// Returns the first variant.
    fn one(&self, schema: &Value, depth: usize) -> Option<Value> {
        self.values(schema, depth).into_iter().next()
    }
}

/// Combines each value of one with the members of each value of the other.
fn merged(some: &[Value], others: &[Value]) -> Vec<Value> {
    if some.is_empty() {
        return others.to_vec();
    }
    let pairs = some.iter().flat_map(|one| others.iter().map(move |other| (one, other)));
    let merge = |(one, other): (&Value, &Value)| match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            Value::Object(one.clone().into_iter().chain(other.clone()).collect())
        }
        (_, other) => other.clone(),
    };
    pairs.map(merge).collect()
}

/// The kind of difference from a permitted value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A member is omitted.
    Removed,
    /// A member or item is `null`.
    Null,
    /// A member has another type.
    OtherKind,
    /// A string has another value: an unknown name or tag.
    OtherName,
    /// An object has an unknown member.
    NewMember,
    /// A list has an invalid item.
    BadItem,
}

/// Returns each value that differs from `value` in one place, with the kind and the position.
pub fn changed(value: &Value) -> Vec<(Change, String, Value)> {
    let mut all = Vec::new();
    visit(value, "", &mut |pointer, part| {
        let mut push = |change, part: Option<Value>| {
            all.push((change, pointer.to_owned(), with(value, pointer, part)));
        };
        if !pointer.is_empty() {
            if pointer.rsplit('/').next().is_some_and(|name| name.parse::<usize>().is_err()) {
                push(Change::Removed, None);
            }
            push(Change::Null, Some(Value::Null));
            let other = if part.is_boolean() { json!({}) } else { json!(false) };
            push(Change::OtherKind, Some(other));
        }
        match part {
            Value::String(text) => push(Change::OtherName, Some(json!(format!("{text}_{OTHER}")))),
            Value::Array(items) => {
                let items = items.iter().cloned().chain([json!(false)]);
                push(Change::BadItem, Some(items.collect()));
            }
            Value::Object(members) => {
                let mut members = members.clone();
                members.insert("newMember".to_owned(), json!([{ "a": 1.5 }, null]));
                push(Change::NewMember, Some(members.into()));
            }
            _ => {}
        }
    });
    all
}

/// Calls `at` with each part of a value and its position.
fn visit(value: &Value, pointer: &str, at: &mut impl FnMut(&str, &Value)) {
    at(pointer, value);
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                visit(member, &format!("{pointer}/{name}"), at);
            }
        }
        Value::Array(items) => {
            for (at_item, item) in items.iter().enumerate() {
                visit(item, &format!("{pointer}/{at_item}"), at);
            }
        }
        _ => {}
    }
}

/// Returns the value with another part, or without it.
fn with(value: &Value, pointer: &str, part: Option<Value>) -> Value {
    let mut copy = value.clone();
    match part {
        Some(part) => {
            if let Some(place) = copy.pointer_mut(pointer) {
                *place = part;
            }
        }
        None => {
            let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
            if let Some(Value::Object(members)) = copy.pointer_mut(parent) {
                members.remove(name);
            }
        }
    }
    copy
}

/// Returns the positions in `value` that `kept` lacks. A `null` counts only if another value is in
/// its place.
pub fn lost(value: &Value, kept: Option<&Value>) -> Vec<String> {
    let mut all = Vec::new();
    find_lost(value, kept, String::new(), &mut all);
    all
}

fn find_lost(value: &Value, kept: Option<&Value>, pointer: String, all: &mut Vec<String>) {
    match (value, kept) {
        (Value::Null, None | Some(Value::Null)) => {}
        (Value::Object(members), Some(Value::Object(kept))) => {
            for (name, member) in members {
                let name_below = name.replace('~', "~0").replace('/', "~1");
                find_lost(member, kept.get(name), format!("{pointer}/{name_below}"), all);
            }
        }
        (Value::Array(items), Some(Value::Array(kept))) if items.len() == kept.len() => {
            for (at, (item, kept)) in items.iter().zip(kept).enumerate() {
                find_lost(item, Some(kept), format!("{pointer}/{at}"), all);
            }
        }
        // A missing item is identified by the remaining ones.
        (Value::Array(items), Some(Value::Array(kept))) if items.len() > kept.len() => {
            let mut left = kept.iter().peekable();
            for (at, item) in items.iter().enumerate() {
                let is_left = left.peek().is_some_and(|kept| lost(item, Some(kept)).is_empty());
                if is_left {
                    left.next();
                } else {
                    all.push(format!("{pointer}/{at}"));
                }
            }
        }
        (Value::Number(one), Some(Value::Number(other))) if one.as_f64() == other.as_f64() => {}
        (one, Some(other)) if one == other => {}
        _ => all.push(pointer),
    }
}
