//! Members, names and variants that the schema does not define.
use super::report::Report;
use super::value::{Json, push, shown};
use super::{prose, rule};
use crate::schema;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Write;
use serde_json::{Map, Value};

/// Largest depth of checked values.
const MAX_DEPTH: usize = 64;

/// The schemas of both versions, created on first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Schemas {
    v1: Option<Arc<Value>>,
    v2: Option<Arc<Value>>,
}

impl Schemas {
    /// Checks `value` at `pointer` against the type `name`.
    pub(super) fn look_at(
        &mut self,
        version: u16,
        name: &str,
        value: Json<'_>,
        pointer: &str,
        report: &mut Report,
    ) {
        let root = if version == 2 {
            self.v2.get_or_insert_with(|| Arc::new(schema::v2().into()))
        } else {
            self.v1.get_or_insert_with(|| Arc::new(schema::v1().into()))
        };
        let Some(definitions) = root.get("$defs").and_then(Value::as_object) else { return };
        let Some(schema) = definitions.get(name) else { return };
        let mut walk =
            Walk { definitions, version, report, pointer: String::from(pointer), depth: 0 };
        walk.look_at(name, schema, value);
    }
}

struct Walk<'a> {
    definitions: &'a Map<String, Value>,
    version: u16,
    report: &'a mut Report,
    pointer: String,
    depth: usize,
}

/// The schema's definition of an object.
#[derive(Default)]
struct Known<'a> {
    members: Vec<(&'a str, &'a Value)>,
    /// Types of the object.
    types: Vec<&'a str>,
    /// The schema of additional members.
    others: Option<&'a Value>,
    /// Whether additional members are unknown: the schema describes an object.
    is_described: bool,
    /// The member that states an unknown kind of object.
    unknown: Option<&'a str>,
    /// Whether the definition depends on the value.
    is_variable: bool,
}

impl<'a> Walk<'a> {
    fn look_at(&mut self, name: &'a str, schema: &'a Value, value: Json<'_>) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        if value.is_object() {
            let mut known = Known::default();
            if !name.is_empty() {
                known.types.push(name);
            }
            self.collect(schema, value, &mut known, 0);
            self.look_at_object(&known, value);
        } else if value.is_array() {
            if let Some(schema) = self.items_of(schema, value, 0) {
                let known = self.known_of(schema);
                let length = self.pointer.len();
                for (index, item) in value.items().enumerate() {
                    // Writing to a string cannot fail.
                    let _ = write!(self.pointer, "/{index}");
                    match &known {
                        Some(known) if item.is_object() => self.look_at_known(known, item),
                        _ => self.look_at("", schema, item),
                    }
                    self.pointer.truncate(length);
                }
            }
        } else if value.is_string() {
            self.look_at_name(schema, value, 0);
        }
        self.depth -= 1;
    }

    /// Returns the definition of the objects in a list, unless it depends on their values.
    fn known_of(&self, schema: &'a Value) -> Option<Known<'a>> {
        let mut known = Known::default();
        self.collect(schema, Json::NULL, &mut known, 0);
        (!known.is_variable).then_some(known)
    }

    /// Checks an object with a known definition, one level deeper.
    fn look_at_known(&mut self, known: &Known<'a>, object: Json<'_>) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.look_at_object(known, object);
            self.depth -= 1;
        }
    }

    fn look_at_object(&mut self, known: &Known<'a>, object: Json<'_>) {
        if let Some(tag) = known.unknown {
            let kind = object.get(tag).and_then(Json::as_str).unwrap_or_default();
            if !self.is_extension(&kind) && !self.report.is_beyond(&rule::UNKNOWN_VARIANT) {
                let pointer = format!("{}/{tag}", self.pointer);
                let message = format!("unknown kind `{}`", shown(&kind));
                self.report.add(&rule::UNKNOWN_VARIANT, pointer, message);
            }
        }
        prose::look_at(&known.types, object, self.version, &self.pointer, self.report);
        for (name, value) in object.members() {
            let schema = known.members.iter().rfind(|(member, _)| *member == name);
            let schema = schema.map(|(_, schema)| *schema).or(known.others);
            match schema {
                Some(schema) => self.below(&name, |walk| {
                    if name == "_meta" && !value.is_object() && !value.is_null() {
                        let pointer = walk.pointer.clone();
                        walk.report.add(&rule::META_OBJECT, pointer, "expected an object");
                    }
                    walk.look_at("", schema, value);
                }),
                None if known.is_described && known.unknown.is_none() => {
                    if self.report.is_beyond(&rule::UNKNOWN_MEMBER) {
                        continue;
                    }
                    self.below(&name, |walk| {
                        let pointer = walk.pointer.clone();
                        let of = known.types.first().copied().unwrap_or("this object");
                        let message = format!("unknown member of `{of}`");
                        walk.report.add(&rule::UNKNOWN_MEMBER, pointer, message);
                    });
                }
                None => {}
            }
        }
    }

    /// Collects the definitions of an object from `schema`.
    fn collect(&self, schema: &'a Value, value: Json<'_>, known: &mut Known<'a>, depth: usize) {
        if depth >= MAX_DEPTH {
            return;
        }
        if let Some((name, schema)) = self.definition(schema) {
            known.types.push(name);
            self.collect(schema, value, known, depth + 1);
        }
        if let Some(members) = schema.get("properties").and_then(Value::as_object) {
            known.is_described = true;
            known.members.extend(members.iter().map(|(name, schema)| (name.as_str(), schema)));
        }
        if let Some(others) = schema.get("additionalProperties").filter(|it| it.is_object()) {
            known.others = Some(others);
        }
        for part in list(schema, "allOf") {
            self.collect(part, value, known, depth + 1);
        }
        if let (Some(condition), Some(then), Some(other)) =
            (schema.get("if"), schema.get("then"), schema.get("else"))
        {
            known.is_variable = true;
            let selects = list(condition, "required").iter().filter_map(Value::as_str);
            let is_there = |name: &str| value.get(name).is_some_and(|value| !value.is_null());
            let part = if selects.into_iter().all(is_there) { then } else { other };
            self.collect(part, value, known, depth + 1);
        }
        let variants = list(schema, "anyOf");
        match variants.iter().find_map(|variant| tag(variant)) {
            Some(tag) => self.collect_variant(tag, variants, value, known, depth),
            None => {
                let objects = variants.iter().filter(|it| self.may_be_object(it));
                objects.for_each(|variant| self.collect(variant, value, known, depth + 1));
            }
        }
    }

    fn collect_variant(
        &self,
        tag: &'a str,
        variants: &'a [Value],
        value: Json<'_>,
        known: &mut Known<'a>,
        depth: usize,
    ) {
        let kind = value.get(tag).unwrap_or(Json::NULL);
        let selects = |variant: &&Value| {
            let tag = variant.get("properties").and_then(|members| members.get(tag));
            tag.is_some_and(|tag| {
                let names = tag.get("const").into_iter().chain(list(tag, "enum"));
                names.into_iter().any(|name| is_same(kind, name))
            })
        };
        known.is_described = true;
        known.is_variable = true;
        known.members.push((tag, &Value::Bool(true)));
        match variants.iter().find(selects) {
            Some(variant) => self.collect(variant, value, known, depth + 1),
            None if kind.is_string() => known.unknown = Some(tag),
            // The decoder of the type reports the missing member.
            None => known.is_described = false,
        }
    }

    fn may_be_object(&self, schema: &Value) -> bool {
        let schema = self.definition(schema).map_or(schema, |(_, schema)| schema);
        match schema.get("type") {
            Some(Value::String(kind)) => kind == "object",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
            _ => schema.is_object(),
        }
    }

    /// Returns the schema of an array's items.
    fn items_of(&self, schema: &'a Value, items: Json<'_>, depth: usize) -> Option<&'a Value> {
        if depth >= MAX_DEPTH {
            return None;
        }
        if let Some((_, schema)) = self.definition(schema) {
            return self.items_of(schema, items, depth + 1);
        }
        if let Some(items) = schema.get("items") {
            return Some(items);
        }
        let candidates: Vec<_> = list(schema, "anyOf")
            .iter()
            .filter_map(|variant| self.items_of(variant, items, depth + 1))
            .collect();
        // Of several, the one with required members that the first item has.
        let fits = |schema: &&&Value| {
            let schema = self.definition(schema).map_or(**schema, |(_, schema)| schema);
            let required = list(schema, "required").iter().filter_map(Value::as_str);
            required
                .into_iter()
                .all(|name| items.items().next().is_some_and(|it| it.get(name).is_some()))
        };
        candidates.iter().find(fits).or(candidates.first()).copied()
    }

    /// Checks a string that may be one of a list of names.
    fn look_at_name(&mut self, schema: &'a Value, text: Json<'_>, depth: usize) {
        if depth >= MAX_DEPTH {
            return;
        }
        if let Some((_, schema)) = self.definition(schema) {
            return self.look_at_name(schema, text, depth + 1);
        }
        let variants = list(schema, "anyOf");
        let mut names = (variants.iter().chain([schema]))
            .flat_map(|variant| list(variant, "enum").iter().filter_map(Value::as_str))
            .peekable();
        if names.peek().is_none() {
            variants.iter().for_each(|variant| self.look_at_name(variant, text, depth + 1));
        } else if let Some(text) = text.as_str()
            && names.all(|name| *name != *text)
            && !self.is_extension(&text)
            && !self.report.is_beyond(&rule::UNKNOWN_NAME)
        {
            let message = format!("unknown name `{}`", shown(&text));
            self.report.add(&rule::UNKNOWN_NAME, self.pointer.clone(), message);
        }
    }

    fn is_extension(&self, name: &str) -> bool {
        self.version == 2 && name.starts_with('_')
    }

    fn definition(&self, schema: &Value) -> Option<(&'a str, &'a Value)> {
        let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        self.definitions.get_key_value(name).map(|(name, schema)| (name.as_str(), schema))
    }

    fn below(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        push(&mut self.pointer, name);
        look(self);
        self.pointer.truncate(length);
    }
}

/// Returns the member that distinguishes variants, if any.
fn tag(variant: &Value) -> Option<&str> {
    let members = variant.get("properties")?.as_object()?;
    let is_tag = |schema: &Value| schema.get("const").is_some() || schema.get("not").is_some();
    members.iter().find(|(_, schema)| is_tag(schema)).map(|(name, _)| name.as_str())
}

/// Returns whether a schema lists a value.
fn is_same(value: Json<'_>, expected: &Value) -> bool {
    match expected {
        Value::String(expected) => value.is_str(expected),
        other => serde_json::from_str::<Value>(value.as_text()).is_ok_and(|value| value == *other),
    }
}

fn list<'a>(schema: &'a Value, name: &str) -> &'a [Value] {
    schema.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
