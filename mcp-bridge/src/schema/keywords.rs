//! Keywords of a JSON Schema.
use super::SchemaViolation;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::pointer::{push_segment, segment_name};
use jsonrpc_core::wire::{Extra, Raw, Wire};

/// Returns the JSON pointer to a member of `parent`.
pub(super) fn pointer(parent: &str, name: &str) -> String {
    let mut pointer = String::from(parent);
    push_segment(&mut pointer, name);
    pointer
}

/// Returns the value of a keyword, if it has this type.
pub(crate) fn get<T: Wire>(schema: &Extra, keyword: &str) -> Option<T> {
    schema.get(keyword)?.decode().ok()
}

/// Resolves references and `allOf` at the top of a schema and merges them with the keywords beside
/// them.
///
/// `budget` is the number of references that may still be resolved, since a reference may be
/// recursive.
pub(crate) fn open(
    root: &Extra,
    schema: &Raw,
    at: &str,
    budget: &mut usize,
) -> Result<Extra, SchemaViolation> {
    let Ok(mut members) = schema.decode::<Extra>() else {
        // `true` permits anything, like an empty schema.
        let allows_anything = schema.as_str() == "true";
        return allows_anything
            .then(Extra::new)
            .ok_or_else(|| SchemaViolation::new(at, "a schema"));
    };
    loop {
        let mut parts = Vec::new();
        if let Some(reference) = get::<String>(&members, "$ref") {
            let target = resolve(root, &reference);
            parts.push(
                target.ok_or_else(|| SchemaViolation::new(at, "a reference into this schema"))?,
            );
        }
        parts.extend(get::<Vec<Raw>>(&members, "allOf").unwrap_or_default());
        if parts.is_empty() {
            return Ok(members);
        }
        *budget = budget
            .checked_sub(parts.len())
            .ok_or_else(|| SchemaViolation::new(at, "fewer references"))?;
        let mut merged = Extra::new();
        for part in parts {
            let part: Extra = part.decode().map_err(|_| SchemaViolation::new(at, "a schema"))?;
            merge(&mut merged, &part);
        }
        let beside = members.iter().filter(|(name, _)| !matches!(*name, "$ref" | "allOf"));
        let mut own = Extra::new();
        beside.for_each(|(name, value)| own.insert(name, value.clone()));
        merge(&mut merged, &own);
        members = merged;
    }
}

/// Merges another schema: properties are combined, other keywords replaced.
fn merge(schema: &mut Extra, other: &Extra) {
    for (name, value) in other.iter() {
        let both = match name {
            "properties" => schema.get(name).and_then(|old| join_objects(old, value)),
            "required" | "allOf" => schema.get(name).and_then(|old| join_lists(old, value)),
            _ => None,
        };
        schema.insert(name, both.unwrap_or_else(|| value.clone()));
    }
}

fn join_objects(one: &Raw, other: &Raw) -> Option<Raw> {
    let mut joined: Extra = one.decode().ok()?;
    let other: Extra = other.decode().ok()?;
    other.iter().for_each(|(name, value)| joined.insert(name, value.clone()));
    Raw::from_value(&joined).ok()
}

fn join_lists(one: &Raw, other: &Raw) -> Option<Raw> {
    let mut joined: Vec<Raw> = one.decode().ok()?;
    joined.extend(other.decode::<Vec<Raw>>().ok()?);
    Raw::from_value(&joined).ok()
}

/// Returns the target of a reference such as `#/$defs/Seat`.
fn resolve(root: &Extra, reference: &str) -> Option<Raw> {
    let path = reference.strip_prefix('#')?;
    if path.is_empty() {
        return Raw::from_value(root).ok();
    }
    let mut segments = path.strip_prefix('/')?.split('/').map(segment_name);
    let mut found = root.get(&segments.next()?)?.clone();
    for segment in segments {
        found = if found.as_str().starts_with('[') {
            found.decode::<Vec<Raw>>().ok()?.into_iter().nth(segment.parse().ok()?)?
        } else {
            found.decode::<Extra>().ok()?.get(&segment)?.clone()
        };
    }
    Some(found)
}
