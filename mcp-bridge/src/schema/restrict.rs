//! Conversion of a schema into a form, and of an answer into the original structure.
use super::keywords::{get, open, pointer};
use super::{AnswerProblems, Form, LossKind, SchemaLoss, SchemaViolation};
use crate::mcp::elicitation::{PrimitiveSchemaDefinition, RequestedSchema, SchemaType};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde_json::{Map, Value};

mod primitive;

/// Maximum number of fields of a form.
pub const MAX_FIELDS: usize = 256;

/// Number of levels of nested objects that become fields. Deeper objects become a field for JSON
/// text.
pub const MAX_LEVELS: usize = 4;

/// Maximum number of references that are resolved in one schema.
const MAX_REFERENCES: usize = 1024;

/// Converts a schema into a form that strict clients accept. The [module](super) has the table of
/// conversions.
///
/// Fields keep the order of the properties of the schema.
///
/// # Errors
/// Returns an error if the schema does not describe an object, refers to another document, has too
/// many references, more than [`MAX_FIELDS`] fields, or fields that get the same name.
pub fn restrict(schema: &Raw) -> Result<Form, SchemaViolation> {
    restrict_in_order(schema, |_| None)
}

/// Converts a schema into a form. `order` returns the order of the members of the object at a path.
pub(super) fn restrict_in_order(
    schema: &Raw,
    order: impl Fn(&[String]) -> Option<&'static [&'static str]>,
) -> Result<Form, SchemaViolation> {
    let root = schema.decode::<Extra>().map_err(|_| SchemaViolation::new("", "an object"))?;
    let mut work =
        Work { root: &root, budget: MAX_REFERENCES, fields: Vec::new(), losses: Vec::new() };
    let members = open(&root, schema, "", &mut work.budget)?;
    let is_object = get::<String>(&members, "type").is_none_or(|name| name == "object");
    if !is_object || members.get("properties").is_none() {
        return Err(SchemaViolation::new("", "an object with properties"));
    }
    work.dropped(
        &members,
        "",
        &["$schema", "$defs", "definitions", "$id", "type", "properties", "required"],
    );
    work.object(&members, "", &Place { path: Vec::new(), is_required: true })?;
    let Work { mut fields, losses, .. } = work;
    fields.sort_by_cached_key(|field| field.rank(&order));
    let mut requested = RequestedSchema::new(SchemaType::Object, Extra::new());
    for field in &fields {
        let definition =
            Raw::from_value(&field.schema).map_err(|_| SchemaViolation::new("", "JSON"))?;
        requested.properties.insert(&*field.name, definition);
    }
    let required = fields.iter().filter(|field| field.is_required).map(|field| field.name.clone());
    requested.required = Some(required.collect::<Vec<_>>()).filter(|required| !required.is_empty());
    Ok(Form {
        requested_schema: Raw::from_value(&requested)
            .map_err(|_| SchemaViolation::new("", "JSON"))?,
        schema: requested,
        fields,
        losses,
        #[cfg(feature = "validate")]
        full: super::full::FullValidator::new(schema)?,
    })
}

/// A field of a form and the location of its value.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    /// Path of the value: member names, outermost first.
    path: Vec<String>,
    schema: PrimitiveSchemaDefinition,
    is_required: bool,
    /// Whether the answer is the JSON text of the value.
    is_json_text: bool,
}

impl Field {
    /// Returns the position of each path member among its siblings. Members without a known
    /// position come last, in schema order.
    fn rank(&self, order: impl Fn(&[String]) -> Option<&'static [&'static str]>) -> Vec<usize> {
        let mut rank = Vec::new();
        for (depth, member) in self.path.iter().enumerate() {
            let members = order(self.path.get(..depth).unwrap_or_default()).unwrap_or_default();
            let position = members.iter().position(|name| name == member);
            rank.push(position.unwrap_or(usize::MAX));
            if position.is_none() {
                break;
            }
        }
        rank
    }

    /// Returns the location of the value in the original structure.
    pub(super) fn pointer(&self) -> String {
        self.path.iter().fold(String::new(), |parent, name| pointer(&parent, name))
    }
}

/// Reassembles an answer in the structure of the schema.
pub(super) fn assemble(fields: &[Field], content: &Extra) -> Result<Value, AnswerProblems> {
    let mut whole = Map::new();
    for field in fields {
        let value = content.get(&field.name).filter(|value| value.as_str() != "null");
        let Some(value) = value else { continue };
        let problem = |expected: &str| AnswerProblems::one(&pointer("", &field.name), expected);
        let value = if field.is_json_text {
            let text: String = value.decode().map_err(|error| problem(error.problem()))?;
            serde_json::from_str(&text).map_err(|_| problem("expected JSON"))?
        } else {
            value.decode().map_err(|error| problem(error.problem()))?
        };
        insert(&mut whole, &field.path, value);
    }
    Ok(Value::Object(whole))
}

fn insert(object: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => {
            object.insert(name.clone(), value);
        }
        [name, rest @ ..] => {
            let inner = object.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// Location of a property.
#[derive(Clone)]
struct Place {
    path: Vec<String>,
    is_required: bool,
}

struct Work<'a> {
    root: &'a Extra,
    budget: usize,
    fields: Vec<Field>,
    losses: Vec<SchemaLoss>,
}

impl Work<'_> {
    fn lose(&mut self, at: &str, kind: LossKind) {
        self.losses.push(SchemaLoss { pointer: at.into(), kind });
    }

    /// Records the keywords that are not `kept` as losses.
    fn dropped(&mut self, schema: &Extra, at: &str, kept: &[&str]) {
        for (keyword, _) in schema.iter().filter(|(keyword, _)| !kept.contains(keyword)) {
            self.lose(&pointer(at, keyword), LossKind::Dropped);
        }
    }

    /// Converts the properties of an object.
    fn object(&mut self, schema: &Extra, at: &str, place: &Place) -> Result<(), SchemaViolation> {
        let properties: Extra = get(schema, "properties").unwrap_or_default();
        let required: Vec<String> = get(schema, "required").unwrap_or_default();
        let at = pointer(at, "properties");
        for (name, property) in properties.iter() {
            let mut path = place.path.clone();
            path.push(name.to_owned());
            let is_required = place.is_required && required.iter().any(|it| it == name);
            self.property(property, &pointer(&at, name), Place { path, is_required })?;
        }
        Ok(())
    }

    fn property(
        &mut self,
        schema: &Raw,
        at: &str,
        mut place: Place,
    ) -> Result<(), SchemaViolation> {
        let members = open(self.root, schema, at, &mut self.budget)?;
        let (members, is_nullable) = self.without_null(members, at)?;
        if is_nullable {
            self.lose(at, LossKind::Nullable);
            place.is_required = false;
        }
        let kind: Option<String> = get(&members, "type");
        let is_nested = kind.as_deref().is_none_or(|kind| kind == "object")
            && members.get("properties").is_some();
        if is_nested && place.path.len() < MAX_LEVELS && self.is_free(&place) {
            self.lose(at, LossKind::Flattened);
            self.dropped(&members, at, &["type", "properties", "required"]);
            return self.object(&members, at, &place);
        }
        let (definition, is_json_text) = match self.primitive(&members, kind.as_deref(), at) {
            Some(definition) => (definition, false),
            None => match self.constants(&members, at) {
                Some(definition) => (definition, true),
                None => (self.json_text(&members, at), true),
            },
        };
        self.field(definition, is_json_text, at, place)
    }

    /// Returns whether no other field can have the same name as one below `place`.
    fn is_free(&self, place: &Place) -> bool {
        let prefix = format!("{}.", place.path.join("."));
        !self.fields.iter().any(|field| field.name.starts_with(&prefix))
    }

    fn field(
        &mut self,
        schema: PrimitiveSchemaDefinition,
        is_json_text: bool,
        at: &str,
        Place { path, is_required }: Place,
    ) -> Result<(), SchemaViolation> {
        let name = path.join(".");
        if self.fields.len() >= MAX_FIELDS {
            return Err(SchemaViolation::new(at, "fewer fields"));
        }
        if self.fields.iter().any(|field| field.name == name) {
            return Err(SchemaViolation::new(at, "a name that no other field has"));
        }
        self.fields.push(Field { name, path, schema, is_required, is_json_text });
        Ok(())
    }

    /// Removes `null` from the types, alternatives and constants of a schema. Returns whether it
    /// was present.
    fn without_null(&mut self, schema: Extra, at: &str) -> Result<(Extra, bool), SchemaViolation> {
        let mut schema = schema;
        let mut is_nullable = false;
        if let Some(mut types) = get::<Vec<String>>(&schema, "type") {
            let before = types.len();
            types.retain(|name| name != "null");
            is_nullable = types.len() < before;
            let types = match &types[..] {
                [one] => Raw::from_value(one),
                _ => Raw::from_value(&types),
            };
            schema.insert("type", types.map_err(|_| SchemaViolation::new(at, "types"))?);
        }
        if let Some(mut constants) = get::<Vec<Raw>>(&schema, "enum") {
            let before = constants.len();
            constants.retain(|constant| constant.as_str() != "null");
            if constants.len() < before {
                is_nullable = true;
                let constants = Raw::from_value(&constants);
                schema
                    .insert("enum", constants.map_err(|_| SchemaViolation::new(at, "constants"))?);
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(alternatives) = get::<Vec<Raw>>(&schema, keyword) else { continue };
            let mut left = Vec::new();
            let before = alternatives.len();
            for alternative in &alternatives {
                let opened = open(self.root, alternative, at, &mut self.budget)?;
                if !is_null(&opened) {
                    left.push(opened);
                }
            }
            is_nullable |= left.len() < before;
            schema =
                instead(&schema, keyword, left).ok_or_else(|| SchemaViolation::new(at, "JSON"))?;
        }
        Ok((schema, is_nullable))
    }
}

fn is_null(schema: &Extra) -> bool {
    get::<String>(schema, "type").is_some_and(|kind| kind == "null")
        || schema.get("const").is_some_and(|constant| constant.as_str() == "null")
}

/// Replaces the alternatives of a schema by the remaining ones. A single alternative is merged with
/// the keywords beside it.
fn instead(schema: &Extra, keyword: &str, left: Vec<Extra>) -> Option<Extra> {
    let mut result = Extra::new();
    match &left[..] {
        [one] => {
            one.iter().for_each(|(name, value)| result.insert(name, value.clone()));
            for (name, value) in schema.iter().filter(|(name, _)| *name != keyword) {
                result.insert(name, value.clone());
            }
        }
        _ => {
            for (name, value) in schema.iter() {
                let value =
                    if name == keyword { Raw::from_value(&left).ok()? } else { value.clone() };
                result.insert(name, value);
            }
        }
    }
    Some(result)
}
