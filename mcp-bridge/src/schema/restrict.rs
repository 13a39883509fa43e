//! Conversion of a schema into a form, and of an answer into the original structure.
use super::keywords::{get, open, pointer};
use super::{AnswerProblems, Form, Loss, LossKind, Violation};
use crate::mcp::elicitation::{
    BooleanSchema, EnumOption, MultiSelectEnumSchema, MultiSelectItems, NumberSchema,
    PrimitiveSchemaDefinition, RequestedSchema, SchemaType, StringFormat, StringSchema,
};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde_json::{Map, Number, Value};

/// Maximum number of fields of a form.
pub const MAX_FIELDS: usize = 256;

/// Number of levels of nested objects that become fields. Deeper objects become a field for JSON text.
pub const MAX_LEVELS: usize = 4;

/// Maximum number of references that are resolved in one schema.
const MAX_REFERENCES: usize = 1024;

/// Converts a schema into a form that strict clients accept. The [module](super) has the table of conversions.
///
/// Fields keep the order of the properties of the schema.
///
/// # Errors
/// Returns an error if the schema does not describe an object, refers to another document, or has more than
/// [`MAX_FIELDS`] fields.
pub fn restrict(schema: &Raw) -> Result<Form, Violation> {
    restrict_in_order(schema, |_| None)
}

/// Converts a schema into a form. `order` returns the order of the members of the object at a path.
pub(super) fn restrict_in_order(
    schema: &Raw,
    order: impl Fn(&[String]) -> Option<&'static [&'static str]>,
) -> Result<Form, Violation> {
    let root = schema.decode::<Extra>().map_err(|_| Violation::new("", "an object"))?;
    let mut work =
        Work { root: &root, budget: MAX_REFERENCES, fields: Vec::new(), losses: Vec::new() };
    let members = open(&root, schema, "", &mut work.budget)?;
    let is_object = get::<String>(&members, "type").is_none_or(|name| name == "object");
    if !is_object || members.get("properties").is_none() {
        return Err(Violation::new("", "an object with properties"));
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
        let definition = Raw::from_value(&field.schema).map_err(|_| Violation::new("", "JSON"))?;
        requested.properties.insert(&*field.name, definition);
    }
    let required = fields.iter().filter(|field| field.is_required).map(|field| field.name.clone());
    requested.required = Some(required.collect::<Vec<_>>()).filter(|required| !required.is_empty());
    Ok(Form {
        requested_schema: Raw::from_value(&requested).map_err(|_| Violation::new("", "JSON"))?,
        schema: requested,
        fields,
        losses,
        #[cfg(feature = "validate")]
        full: super::full::Full::new(schema)?,
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
    /// Returns the position of each path member among its siblings. Members without a known position come last, in
    /// schema order.
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
    losses: Vec<Loss>,
}

impl Work<'_> {
    fn lose(&mut self, at: &str, kind: LossKind) {
        self.losses.push(Loss { pointer: at.into(), kind });
    }

    /// Records the keywords that are not `kept` as losses.
    fn dropped(&mut self, schema: &Extra, at: &str, kept: &[&str]) {
        for (keyword, _) in schema.iter().filter(|(keyword, _)| !kept.contains(keyword)) {
            self.lose(&pointer(at, keyword), LossKind::Dropped);
        }
    }

    /// Converts the properties of an object.
    fn object(&mut self, schema: &Extra, at: &str, place: &Place) -> Result<(), Violation> {
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

    fn property(&mut self, schema: &Raw, at: &str, mut place: Place) -> Result<(), Violation> {
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
    ) -> Result<(), Violation> {
        let name = path.join(".");
        if self.fields.len() >= MAX_FIELDS {
            return Err(Violation::new(at, "fewer fields"));
        }
        if self.fields.iter().any(|field| field.name == name) {
            return Err(Violation::new(at, "a name that no other field has"));
        }
        self.fields.push(Field { name, path, schema, is_required, is_json_text });
        Ok(())
    }

    /// Removes `null` from the types, alternatives and constants of a schema. Returns whether it was present.
    fn without_null(&mut self, schema: Extra, at: &str) -> Result<(Extra, bool), Violation> {
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
            schema.insert("type", types.map_err(|_| Violation::new(at, "types"))?);
        }
        if let Some(mut constants) = get::<Vec<Raw>>(&schema, "enum") {
            let before = constants.len();
            constants.retain(|constant| constant.as_str() != "null");
            if constants.len() < before {
                is_nullable = true;
                let constants = Raw::from_value(&constants);
                schema.insert("enum", constants.map_err(|_| Violation::new(at, "constants"))?);
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(alternatives) = get::<Vec<Raw>>(&schema, keyword) else { continue };
            let (mut left, before) = (Vec::new(), alternatives.len());
            for alternative in &alternatives {
                let opened = open(self.root, alternative, at, &mut self.budget)?;
                if !is_null(&opened) {
                    left.push(opened);
                }
            }
            is_nullable |= left.len() < before;
            schema = instead(&schema, keyword, left).ok_or_else(|| Violation::new(at, "JSON"))?;
        }
        Ok((schema, is_nullable))
    }

    /// Converts a schema that a form can express directly.
    fn primitive(
        &mut self,
        schema: &Extra,
        kind: Option<&str>,
        at: &str,
    ) -> Option<PrimitiveSchemaDefinition> {
        if let Some(choices) = self.choices(schema, at) {
            return Some(choices);
        }
        if ["anyOf", "oneOf", "enum", "const", "not", "if"]
            .iter()
            .any(|it| schema.get(it).is_some())
        {
            return None;
        }
        match kind? {
            "string" => Some(self.string(schema, at)),
            "number" => Some(PrimitiveSchemaDefinition::Number(self.number(schema, at, false))),
            "integer" => Some(PrimitiveSchemaDefinition::Integer(self.number(schema, at, true))),
            "boolean" => {
                let mut field = BooleanSchema::new();
                (field.title, field.description) = labels(schema);
                field.default = get(schema, "default");
                self.kept(schema, &field, at);
                Some(PrimitiveSchemaDefinition::Boolean(Box::new(field)))
            }
            "array" => self.several(schema, at),
            _ => None,
        }
    }

    fn string(&mut self, schema: &Extra, at: &str) -> PrimitiveSchemaDefinition {
        let mut field = StringSchema::new();
        (field.title, field.description) = labels(schema);
        field.min_length = get(schema, "minLength");
        field.max_length = get(schema, "maxLength");
        field.format = get(schema, "format").filter(StringFormat::is_known);
        field.default = get(schema, "default");
        self.kept(schema, &field, at);
        PrimitiveSchemaDefinition::String(Box::new(field))
    }

    fn number(&mut self, schema: &Extra, at: &str, is_integer: bool) -> Box<NumberSchema> {
        let mut field = NumberSchema::new();
        (field.title, field.description) = labels(schema);
        field.minimum = get(schema, "minimum");
        field.maximum = get(schema, "maximum");
        field.default = get(schema, "default");
        self.kept(schema, &field, at);
        let bounds = [
            ("exclusiveMinimum", 1, &mut field.minimum),
            ("exclusiveMaximum", -1, &mut field.maximum),
        ];
        for (keyword, step, bound) in bounds {
            let exclusive = get::<i64>(schema, keyword).filter(|_| is_integer && bound.is_none());
            let Some(next) = exclusive.and_then(|exclusive| exclusive.checked_add(step)) else {
                continue;
            };
            *bound = Some(Number::from(next));
            let at = pointer(at, keyword);
            self.losses.iter_mut().filter(|loss| loss.pointer == at).for_each(|loss| {
                loss.kind = LossKind::Bound;
            });
        }
        Box::new(field)
    }

    /// Converts a choice of texts.
    fn choices(&mut self, schema: &Extra, at: &str) -> Option<PrimitiveSchemaDefinition> {
        let mut field = StringSchema::new();
        (field.title, field.description) = labels(schema);
        field.default = get(schema, "default");
        let kept: &[&str] = if let Some(constant) = get::<String>(schema, "const") {
            field.r#enum = Some(Vec::from([constant]));
            &["const"]
        } else if let Some(constants) = get::<Vec<String>>(schema, "enum") {
            field.r#enum = Some(constants).filter(|constants| !constants.is_empty());
            field.enum_names = get(schema, "enumNames");
            &["enum", "enumNames"]
        } else {
            field.one_of = Some(self.options(schema, at)?);
            &["oneOf", "anyOf"]
        };
        field.r#enum.is_some().then_some(()).or(field.one_of.as_ref().map(|_| ()))?;
        let is_kept = |keyword: &&str| {
            matches!(*keyword, "type" | "title" | "description")
                || kept.contains(keyword)
                || (*keyword == "default" && field.default.is_some())
        };
        let names: Vec<_> = schema.iter().map(|(name, _)| name).filter(is_kept).collect();
        self.dropped(schema, at, &names);
        Some(PrimitiveSchemaDefinition::String(Box::new(field)))
    }

    /// Returns the titled constants among the alternatives of a schema, or `None` if an alternative is not a constant.
    fn options(&mut self, schema: &Extra, at: &str) -> Option<Vec<EnumOption>> {
        let keyword = ["oneOf", "anyOf"].into_iter().find(|it| schema.get(it).is_some())?;
        let alternatives: Vec<Extra> = get(schema, keyword)?;
        let (mut options, mut untitled) = (Vec::new(), false);
        for alternative in alternatives {
            let constants = match get::<String>(&alternative, "const") {
                Some(constant) => Vec::from([constant]),
                None => get::<Vec<String>>(&alternative, "enum")?,
            };
            let (title, description) = labels(&alternative);
            untitled |= title.is_none();
            let title = title.or(description).filter(|_| constants.len() == 1);
            options.extend(constants.into_iter().map(|constant| {
                let title = title.clone().unwrap_or_else(|| constant.clone());
                EnumOption::new(constant, title)
            }));
        }
        if untitled {
            self.lose(&pointer(at, keyword), LossKind::TitleAdded);
        }
        Some(options).filter(|options| !options.is_empty())
    }

    /// Converts a list of choices of texts. Returns `None` for other lists.
    fn several(&mut self, schema: &Extra, at: &str) -> Option<PrimitiveSchemaDefinition> {
        let items = open(self.root, schema.get("items")?, at, &mut self.budget).ok()?;
        let items_at = pointer(at, "items");
        let mut choices = MultiSelectItems::new();
        if let Some(constants) = get::<Vec<String>>(&items, "enum") {
            choices.r#type = Some("string".into());
            choices.r#enum = Some(constants);
            self.dropped(&items, &items_at, &["type", "enum"]);
        } else {
            choices.any_of = Some(self.options(&items, &items_at)?);
            self.dropped(&items, &items_at, &["type", "oneOf", "anyOf"]);
        }
        let mut field = MultiSelectEnumSchema::new(choices);
        (field.title, field.description) = labels(schema);
        field.min_items = get(schema, "minItems");
        field.max_items = get(schema, "maxItems");
        field.default = get(schema, "default");
        self.kept(schema, &field, at);
        Some(PrimitiveSchemaDefinition::Array(Box::new(field)))
    }

    /// Converts a choice of constants that are not texts, represented by their JSON text.
    fn constants(&mut self, schema: &Extra, at: &str) -> Option<PrimitiveSchemaDefinition> {
        let constants = match schema.get("const") {
            Some(constant) => Vec::from([constant.clone()]),
            None => get::<Vec<Raw>>(schema, "enum").filter(|constants| !constants.is_empty())?,
        };
        let mut field = StringSchema::new();
        (field.title, field.description) = labels(schema);
        field.r#enum = Some(constants.iter().map(|constant| constant.as_str().into()).collect());
        self.lose(at, LossKind::AsText);
        self.dropped(schema, at, &["type", "title", "description", "const", "enum"]);
        Some(PrimitiveSchemaDefinition::String(Box::new(field)))
    }

    /// Creates a field for JSON text.
    fn json_text(&mut self, schema: &Extra, at: &str) -> PrimitiveSchemaDefinition {
        let mut field = StringSchema::new();
        let (title, description) = labels(schema);
        field.title = title;
        field.description = Some(match description {
            Some(description) => format!("{description} (JSON)"),
            None => "JSON".into(),
        });
        self.lose(at, LossKind::AsJson);
        PrimitiveSchemaDefinition::String(Box::new(field))
    }

    /// Records the keywords that the field does not preserve as losses.
    fn kept<T: serde::Serialize>(&mut self, schema: &Extra, field: &T, at: &str) {
        let field = Raw::from_value(field).ok().and_then(|field| field.decode::<Extra>().ok());
        let field = field.unwrap_or_default();
        let is_kept =
            |(keyword, _): &(&str, &Raw)| *keyword == "type" || field.get(keyword).is_some();
        let names: Vec<_> = schema.iter().filter(is_kept).map(|(keyword, _)| keyword).collect();
        self.dropped(schema, at, &names);
    }
}

fn labels(schema: &Extra) -> (Option<String>, Option<String>) {
    (get(schema, "title"), get(schema, "description"))
}

fn is_null(schema: &Extra) -> bool {
    get::<String>(schema, "type").is_some_and(|kind| kind == "null")
        || schema.get("const").is_some_and(|constant| constant.as_str() == "null")
}

/// Replaces the alternatives of a schema by the remaining ones. A single alternative is merged with the keywords beside
/// it.
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
