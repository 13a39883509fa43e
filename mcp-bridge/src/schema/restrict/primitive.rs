//! Conversion of a property into a field of a form.
use super::Work;
use crate::mcp::elicitation::{
    BooleanSchema, EnumOption, MultiSelectEnumSchema, MultiSelectItems, NumberSchema,
    PrimitiveSchemaDefinition, StringFormat, StringSchema,
};
use crate::schema::LossKind;
use crate::schema::keywords::{get, open, pointer};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde_json::Number;

impl Work<'_> {
    /// Converts a schema that a form can express directly.
    pub(super) fn primitive(
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

    /// Returns the titled constants among the alternatives of a schema, or `None` if an alternative
    /// is not a constant.
    fn options(&mut self, schema: &Extra, at: &str) -> Option<Vec<EnumOption>> {
        let keyword = ["oneOf", "anyOf"].into_iter().find(|it| schema.get(it).is_some())?;
        let alternatives: Vec<Extra> = get(schema, keyword)?;
        let mut options = Vec::new();
        let mut untitled = false;
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
    pub(super) fn constants(
        &mut self,
        schema: &Extra,
        at: &str,
    ) -> Option<PrimitiveSchemaDefinition> {
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
    pub(super) fn json_text(&mut self, schema: &Extra, at: &str) -> PrimitiveSchemaDefinition {
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
