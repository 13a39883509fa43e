//! Validation of arguments against a tool's schema.
use alloc::format;
use alloc::string::{String, ToString};
use jsonrpc_core::pointer::push_segment;
use jsonrpc_core::wire::Raw;
use serde_json::{Map, Value};

/// Largest depth of evaluated schemas.
const MAX_DEPTH: usize = 32;

/// Finds the first value in `arguments` that violates `schema`. Returns its place as a JSON
/// pointer, and the expected value.
///
/// Evaluated are `type`, `required`, `properties`, `additionalProperties: false`, `items`, `enum`,
/// `const`, `minimum`, `maximum`, `minLength`, `maxLength`, `minItems`, `maxItems`. Other keywords
/// are left to the page. An invalid schema permits any value.
///
/// Spec: [JSON Schema Validation
/// 2020-12](https://json-schema.org/draft/2020-12/json-schema-validation)
pub(super) fn check(schema: &Raw, arguments: &Raw) -> Result<(), (String, String)> {
    let (Ok(schema), Ok(value)) = (schema.decode::<Value>(), arguments.decode::<Value>()) else {
        return Ok(());
    };
    check_value(&schema, &value, "", 0)
}

fn check_value(
    schema: &Value,
    value: &Value,
    pointer: &str,
    depth: usize,
) -> Result<(), (String, String)> {
    let Some(schema) = schema.as_object().filter(|_| depth < MAX_DEPTH) else { return Ok(()) };
    let wrong = |expected: String| Err((pointer.to_string(), expected));
    if let Some(expected) = unlike_type(schema, value) {
        return wrong(expected);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array)
        && !values.iter().any(|known| same(known, value))
    {
        return wrong(format!("one of {}", Value::from(values.clone())));
    }
    if let Some(constant) = schema.get("const")
        && !same(constant, value)
    {
        return wrong(constant.to_string());
    }
    if let Some(expected) = out_of_range(schema, value) {
        return wrong(expected);
    }
    match value {
        Value::Object(members) => check_members(schema, members, pointer, depth),
        Value::Array(items) => match schema.get("items") {
            Some(each) => items.iter().enumerate().try_for_each(|(index, item)| {
                check_value(each, item, &format!("{pointer}/{index}"), depth + 1)
            }),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn check_members(
    schema: &Map<String, Value>,
    members: &Map<String, Value>,
    pointer: &str,
    depth: usize,
) -> Result<(), (String, String)> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !members.contains_key(name) {
            return Err((below(pointer, name), "a value, since it is required".to_string()));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
        && schema.get("patternProperties").is_none();
    for (name, value) in members {
        match properties.and_then(|properties| properties.get(name)) {
            Some(schema) => check_value(schema, value, &below(pointer, name), depth + 1)?,
            None if closed => return Err((below(pointer, name), "no such member".to_string())),
            None => {}
        }
    }
    Ok(())
}

/// Returns the expected type, if the value has another.
fn unlike_type(schema: &Map<String, Value>, value: &Value) -> Option<String> {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n % 1.0 == 0.0)
        }
        _ => true,
    };
    match schema.get("type")? {
        Value::String(name) if !is(name) => Some(format!("type {name}")),
        Value::Array(names)
            if !names.iter().any(|name| name.as_str().is_none_or(is)) && !names.is_empty() =>
        {
            Some(format!("one of the types {}", Value::from(names.clone())))
        }
        _ => None,
    }
}

/// Returns the expected size, if the value has another.
fn out_of_range(schema: &Map<String, Value>, value: &Value) -> Option<String> {
    let (size, least, most, unit) = match value {
        Value::Number(number) => (number.as_f64()?, "minimum", "maximum", ""),
        Value::String(text) => {
            (text.chars().count() as f64, "minLength", "maxLength", " characters")
        }
        Value::Array(items) => (items.len() as f64, "minItems", "maxItems", " items"),
        _ => return None,
    };
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    if let Some(least) = limit(least).filter(|least| size < *least) {
        return Some(format!("at least {least}{unit}"));
    }
    limit(most).filter(|most| size > *most).map(|most| format!("at most {most}{unit}"))
}

/// Returns whether two values are equal; numbers by value.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

fn below(pointer: &str, name: &str) -> String {
    let mut below = pointer.to_string();
    push_segment(&mut below, name);
    below
}
